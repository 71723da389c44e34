//! Actions that are no operation of a service: waiting, HTTP calls, models, files, approvals, filters, other workflows.

use crate::lexicon::{self, first, has, rx};
use crate::plan::{Arg, Cmp, Cond, Does, LlmTask, Role, Step, Val};
use crate::read::act::{Memory, read_step, service_of, services_in, verb_in};
use crate::read::args;
use crate::read::clause::strip_lead;
use crate::read::cond;
use crate::read::text::Masked;
use crate::read::value::{
    arg, clean_field, field, field_list, fields_in, list, lit, operator, template,
};
use crate::read::when;

mod models;
mod sifting;

pub use models::provider;
use models::*;
use sifting::*;
pub use sifting::{read_filter, respond, respond_if_webhook};

/// Steps of a clause that a special rule understands.
pub fn steps(mem: &mut Memory<'_>, text: &str) -> Option<Vec<Step>> {
    let t = strip_lead(text).to_owned();
    if mem.answers_caller
        && has(r"^(?:returns?|answers?|responds?|gives?|delivers?)\b", &t)
        && !services_in(mem.m, &t).is_empty()
    {
        let mut out = source_reads(mem, &t);
        out.push(mem.step(
            &t,
            Does::Respond {
                status: 200,
                body: Vec::new(),
                as_text: None,
            },
        ));
        return Some(out);
    }
    if has(
        r"^(?:return|returns|gib\b.*\bzurück|devuelve|renvoie|retourne)\b",
        &t,
    ) && services_in(mem.m, &t).is_empty()
    {
        let t = rx(r"\s+(?:back\s+)?(?:to|an|a|al|à|au)\s+(?:the\s+|den\s+|el\s+|la\s+)?(?:caller|calling (?:workflow|flow)|parent(?: workflow)?|main workflow|aufrufer|llamador|appelant)\b.*$").replace(&t, "").into_owned();
        let names: Vec<String> = first(r"^\S+\s+(?:back\s+)?(.+)$", &t)
            .map(|x| {
                list(&mem.m.plain(x))
                    .iter()
                    .map(|n| clean_field(n))
                    .filter(|n| !n.is_empty())
                    .collect()
            })
            .unwrap_or_default();
        if !names.is_empty() {
            return Some(vec![
                mem.step(
                    &t,
                    Does::SetFields {
                        fields: names
                            .iter()
                            .map(|n| arg(Role::Field(n.clone()), field(n)))
                            .collect(),
                    },
                ),
            ]);
        }
    }
    wait(mem, &t)
        .or_else(|| approval(mem, &t))
        .or_else(|| workflow(mem, &t))
        .or_else(|| media(mem, &t))
        .or_else(|| model(mem, &t))
        .or_else(|| files(mem, &t))
        .or_else(|| http(mem, &t))
        .or_else(|| sifting(mem, &t))
}

fn wait(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    let waits = has(
        r"^(?:wait|waits|pause|sleep|delay|hold|warte\w*|espera\w*|attend\w*|pausa)\b",
        t,
    );
    let later = has(
        r"^(?:after\s+)?{num}\s+(?:{second}|{minute}|{hour}|{day}|{week})\s*(?:later|after that|afterwards|danach|später|después|après|plus tard)?$",
        t,
    ) || has(
        r"^(?:after|nach|después de|après|dentro de|tras)\s+{num}\s+(?:{second}|{minute}|{hour}|{day}|{week})",
        t,
    ) && verb_in(t).is_none();
    if !waits && !later
        || has(
            r"\bfor (?:the|an?|his|her|their) (?:answer|reply|response|approval|antwort)\b|\bauf (?:die )?antwort",
            t,
        )
    {
        return waits.then(Vec::new).filter(|_| when::duration(t).is_none());
    }
    let seconds = when::duration(t)?;
    Some(vec![mem.step(t, Does::Wait { seconds })])
}

pub const APPROVAL: &str = r"\b(?:approv\w*|sign[- ]?off|genehmig\w*|freigabe|freigeben|bestätigen lassen|aprob\w*|aprueb\w*|approuv\w*|validation humaine|confirm(?:ation)? (?:from|by) (?:a|the|my) (?:human|person|manager|boss)|ok(?:ay)? from)\b";

fn approval(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    if !has(APPROVAL, t)
        || has(
            r"^(?:once |if |when |after |wenn )?(?:it(?:'s| is)? )?(?:approved|rejected|declined|genehmigt|abgelehnt|aprobad\w+|rechazad\w+)\b|approved automatically|automatically approved|automatisch genehmigt|aprobad\w+ automáticamente",
            t,
        )
    {
        return None;
    }
    if !has(
        r"\b(?:ask|asks|needs?|requires?|request|require|must|has to|have to|should|get|wait|muss|braucht|erst|frage?|bitte|pide|pedir|necesita|requiere|demande\w*|doit|faut|send|approval|approve|approval by)\b",
        t,
    ) {
        return None;
    }
    let entry = services_in(m, t)
        .iter()
        .rev()
        .find_map(|e| e.service.filter(|s| s.is("chat") || s.is("mail")))
        .or_else(|| m.one(t, "m").and_then(|_| lexicon::service("email")))
        .or_else(|| {
            m.one(t, "ca").and_then(|_| {
                mem.used
                    .iter()
                    .rev()
                    .find(|e| e.is("chat"))
                    .copied()
                    .or_else(|| lexicon::service("slack"))
            })
        })
        .or_else(|| mem.trigger.filter(|e| e.is("chat")))
        .or_else(|| lexicon::service("email"))?;
    let mut arguments = args::recipients(mem, t, entry);
    if arguments.is_empty()
        && entry.is("mail")
        && let Some(who) = first(
            r"\b(manager|boss|supervisor|team lead|vorgesetzte\w*|chef\w*|jefe|gerente|responsable)\b",
            t,
        )
    {
        arguments.push(arg(Role::To, field(&format!("{who} email"))));
    }
    if has(
        r"\b(?:at most|max\w*|up to|no longer than|within|höchstens|maximal|bis zu|innerhalb|como máximo|máximo|hasta|au plus|au maximum|jusqu'à|timeout|frist|plazo|délai)\b",
        t,
    ) && let Some(seconds) = when::duration(t)
        && !arguments.iter().any(|a| a.role == Role::TimeRange)
    {
        arguments.push(arg(Role::TimeRange, lit(seconds)));
    }
    Some(vec![mem.step(
        t,
        Does::Approval {
            service: service_of(entry, &entry.label),
            args: arguments,
            approved: Vec::new(),
            rejected: Vec::new(),
        },
    )])
}

fn workflow(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    let name = m
        .after(r"\b(?:sub-?workflow|workflow|flujo|unterworkflow)\s+(?:called |named |namens )?(§[qdkn]\d+§)", t)
        .map(|e| e.value.clone())
        .or_else(|| first(r"\b(?:sub-?workflow)\s+([\w-]*[_\d][\w-]*)", t).map(str::to_owned))?;
    if !has(
        r"\b(?:call|calls|run|runs|start|starts|trigger|triggers|execute|executes|invoke|use|hand|pass|rufe?|starte?|führe?|ausführen|aufrufen|llama|ejecuta|appelle|lance|exécute)\b",
        t,
    ) {
        return None;
    }
    let inputs = first(r"\bwith\s+([^→]+)$", t)
        .map(|x| field_list(m, x))
        .unwrap_or_default();
    let wait = !has(
        r"\b(?:without waiting|don't wait|fire and forget|ohne zu warten)\b",
        t,
    );
    Some(vec![
        mem.step(
            t,
            Does::CallWorkflow {
                reference: name,
                inputs: inputs
                    .iter()
                    .map(|n| arg(Role::Field(n.clone()), field(n)))
                    .collect(),
                wait,
            },
        ),
    ])
}

fn files(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    let opened = m.open(t);
    let path = m.one(t, "h").map(|e| e.value.clone());
    let no_service = services_in(m, t).is_empty();
    if has(
        r"\b(?:unzip|decompress|unpack|extract the (?:zip|archive)|entpack\w*|descomprim\w+|décompress\w+)\b",
        &opened,
    ) {
        return Some(vec![mem.step(
            t,
            Does::FromFile {
                format: "zip".into(),
                options: Vec::new(),
            },
        )]);
    }
    if has(
        r"^(?:zip|compress|komprimier\w*|comprim\w+|compress\w+)\b",
        &opened,
    ) {
        return Some(vec![mem.step(
            t,
            Does::ToFile {
                format: "zip".into(),
                file_name: args::file_name(m, t),
            },
        )]);
    }
    if no_service
        && has(
            r"\b(?:extract|read|get|pull|extrahier\w*|extrae|extrais)\b.{0,20}\b(?:text|content|inhalt|texto|texte)\b",
            &opened,
        )
    {
        return Some(vec![mem.step(
            t,
            Does::FromFile {
                format: "pdf".into(),
                options: Vec::new(),
            },
        )]);
    }
    // The file that started the flow: "parse it", "turn it into JSON".
    if no_service
        && path.is_none()
        && m.one(t, "u").is_none()
        && let Some(format) = mem.incoming_file.clone()
        && (has(
            r"^(?:parse|read|open|extract|import|load|process|lies|lese|parse\w*|öffne|lee|abre|analiza|procesa|lis|ouvre|analyse)\w*\s+(?:it|them|this|that|the (?:file|csv|rows?|content|contents|data|sheet|attachment)|es|sie|ihn|die (?:datei|zeilen|daten)|den inhalt|lo|los|el archivo|las filas|le fichier|le|la|les lignes|its \w+)\b|^(?:parséalo|léelo|ábrelo|lis-le)",
            &opened,
        ) || format != "json"
            && has(
                r"^(?:convert|turn|transform|wandle?|konvertiere|convierte|conviértelo|convertis)\w*\s+(?:it|them|this|the (?:file|csv|rows?)|es|sie|die datei|lo|le)?\s*(?:to|into|in|a|en)\s+(?:an?\s+)?json\b",
                &opened,
            ))
    {
        mem.incoming_file = None;
        return Some(vec![mem.step(
            t,
            Does::FromFile {
                format,
                options: Vec::new(),
            },
        )]);
    }
    if no_service
        && has(
            r"\b(?:parse|read|convert|extract)\w*\b.{0,25}\b(csv|xlsx|excel|json|xml|html|pdf|ics|ods)s?\b",
            &opened,
        )
        && path.is_none()
        && !has(
            r"\b(?:to|as|into) (?:a )?(?:csv|json|excel|xlsx|pdf)\b",
            &opened,
        )
        && m.one(t, "u").is_none()
    {
        let format = first(r"\b(csv|xlsx|excel|json|xml|html|pdf|ics|ods)s?\b", &opened)
            .unwrap_or("csv")
            .to_lowercase();
        let mut options = Vec::new();
        if has(r"\bsemicolon|semikolon|punto y coma|point-virgule", &opened) {
            options.push(arg(Role::Field("delimiter".into()), lit(";")));
        } else if has(r"\btab[- ]separated|\btabs\b", &opened) {
            options.push(arg(Role::Field("delimiter".into()), lit("\t")));
        } else if has(r"\bpipe[- ]separated", &opened) {
            options.push(arg(Role::Field("delimiter".into()), lit("|")));
        }
        let format = if format == "excel" {
            "xlsx".to_owned()
        } else {
            format
        };
        return Some(vec![mem.step(t, Does::FromFile { format, options })]);
    }
    if no_service
        && path.is_none()
        && let Some(format) = first(
            r"^(?:convert|konvertier|wandle|convierte|convertis|transform|turn|export|save|speicher|guarda)\w*\b.{0,30}?\b(?:to|into|as|in|als|a|en)\s+(?:an?\s+|ein\w*\s+|un\w*\s+)?(csv|excel|xlsx|json|html|pdf)\b",
            &opened,
        )
    {
        let format = if format.eq_ignore_ascii_case("excel") {
            "xlsx".to_owned()
        } else {
            format.to_lowercase()
        };
        return Some(vec![mem.step(
            t,
            Does::ToFile {
                format,
                file_name: args::file_name(m, t),
            },
        )]);
    }
    let disk = no_service
        && path.as_deref().is_some_and(|p| p.contains('.'))
        && !has(r"\b(?:webhook|run|execute|GET|POST)\b", t);
    if disk
        && has(
            r"^(?:read|load|open|take|get|lies|lese|lade|lee|lis|importiere|import)\b",
            t,
        )
    {
        let path = path?;
        let mut out = vec![mem.step(t, Does::ReadDisk { path: path.clone() })];
        if let Some(format) = extension(&path).filter(|f| {
            matches!(
                f.as_str(),
                "csv" | "xlsx" | "xls" | "json" | "xml" | "html" | "pdf" | "txt" | "ods" | "ics"
            )
        }) {
            out.push(mem.step(
                t,
                Does::FromFile {
                    format,
                    options: Vec::new(),
                },
            ));
        }
        return Some(out);
    }
    if disk
        && has(
            r"\b(?:write|writes|save|store|export|schreib\w*|speicher\w*|escrib\w*|guarda\w*|écri\w*|enregistre\w*)\b",
            t,
        )
    {
        let path = path?;
        let format = args::file_format(&opened)
            .or_else(|| extension(&path))
            .unwrap_or_else(|| "json".into());
        return Some(vec![
            mem.step(
                t,
                Does::ToFile {
                    format,
                    file_name: None,
                },
            ),
            mem.step(t, Does::WriteDisk { path }),
        ]);
    }
    None
}

fn extension(path: &str) -> Option<String> {
    first(r"\.(\w{2,4})$", path)
        .map(|e| e.to_lowercase())
        .map(|e| if e == "xls" { "xlsx".into() } else { e })
}

/// "send it to https://…", "forward the order as JSON to https://…": the item itself is what is sent.
const WHOLE_TO: &str = r"^(?:send|post|put|forward|push|submit|pass|deliver|transmit|schick\w*|sende\w*|leite|übermittle|envía|manda|reenvía|envoie\w*|transmets)\s+(?:it|them|this|that|these|those|everything|(?:the|all|its|their|each|every|die|das|den|alle|el|la|los|las|le|les)(?: [\w-]+){1,4}?)(?: on| along| weiter)?(?: (?:as|via|in|with|als|como|en) (?:an? )?(?:json|http|post)(?: \w+)?)?\s+(?:to|an|a|à)\s+(?:(?:the|our|my|die|den|la|el|l') ?(?:\w+ ){0,2})?§u";

fn http(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    let url = m.one(t, "u")?;
    let sheet_url = has(
        r"docs\.google\.com|airtable\.com|notion\.so|sharepoint\.com|drive\.google\.com|trello\.com",
        &url.value,
    );
    let owned = services_in(m, t).iter().any(|e| {
        e.service.is_some_and(|s| {
            s.is("sheet") || s.is("base") || s.is("files") || s.is("chat") || s.key == "rssFeedRead"
        })
    });
    if sheet_url
        || owned
            && !has(
                r"\b(?:GET|POST|PUT|api|call|calls|request|requests|hit|query|fetch|rufe?|aufrufen|llama|appelle)\b",
                t,
            )
    {
        return None;
    }
    let (verb, _) = verb_in(t)?;
    let method = first(
        r"\b(GET|POST|PUT|PATCH|DELETE|HEAD)\b",
        &rx(r"(?i-u:[a-z])").replace_all("", ""),
    )
    .map(str::to_owned);
    let method = method
        .or_else(|| {
            ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]
                .iter()
                .find(|w| {
                    t.split_whitespace()
                        .any(|x| x.trim_matches(|c: char| !c.is_alphabetic()) == **w)
                })
                .map(|w| (*w).to_owned())
        })
        .unwrap_or_else(|| {
            let push = matches!(
                verb.verb.as_str(),
                "send" | "post" | "import" | "create" | "add"
            ) && !has(r"^(?:ping|check)\b", t);
            if push { "POST".into() } else { "GET".into() }
        });
    let method_of = method.clone();
    let auth = first(
        r"\b(bearer|basic auth|api key|header auth|oauth2?)\b",
        &m.open(t),
    )
    .map(str::to_lowercase);
    let named = fields_in(m, t);
    let body = match method.as_str() {
        "GET" => Vec::new(),
        "POST" | "PUT" | "PATCH" if named.is_empty() && has(WHOLE_TO, t) => {
            vec![arg(
                Role::Body,
                Val::Expr {
                    code: "$json".into(),
                },
            )]
        }
        _ => named
            .iter()
            .map(|n| arg(Role::Field(n.clone()), field(n)))
            .collect(),
    };
    let save = has(
        r"\b(?:download|file|pdf|image|herunterlad\w*|descarga\w*|télécharge\w*)\b",
        t,
    ) && has(
        r"\b(?:download|herunterlad\w*|descarga\w*|télécharge\w*|save)\b",
        t,
    );
    let never_fail = has(
        r"^(?:ping|check|monitor|prüf\w*|überwach\w*|comprueba|vérifie)\b",
        t,
    );
    let rate = rate(t);
    let step = mem.step(
        t,
        Does::Http {
            method,
            url: url.value.clone(),
            query: Vec::new(),
            body,
            auth,
            save_as_file: save,
            never_fail,
            rate_per_second: rate,
        },
    );
    let data = first(r"\.(csv|xlsx|xls|json|xml|ics)$", &url.value)
        .or(first(r"\b(csv|excel)\b", t))
        .map(str::to_lowercase)
        .filter(|f| f != "json" && never_post(&method_of));
    let mut step = step;
    if data.is_some()
        && let Does::Http { save_as_file, .. } = &mut step.does
    {
        *save_as_file = true;
    }
    let mut out = Vec::new();
    // "for each URL in column 'url' of a Google Sheet call …": the list is read first.
    for e in services_in(m, t) {
        if let Some(entry) = e.service
            && mem.trigger.is_none_or(|x| x.key != entry.key)
            && !mem.read.iter().any(|(x, _)| x.key == entry.key)
            && (entry.is("sheet") || entry.is("db") || entry.is("base") || entry.is("crm"))
        {
            out.push(read_step(mem, t, e));
        }
    }
    out.push(step);
    if let Some(format) = data {
        let format = if format == "excel" || format == "xls" {
            "xlsx".to_owned()
        } else {
            format
        };
        out.push(mem.step(
            t,
            Does::FromFile {
                format,
                options: Vec::new(),
            },
        ));
    }
    Some(out)
}

fn never_post(method: &str) -> bool {
    method == "GET"
}

/// "at most 5 requests per second", "under 100 mails per minute": how many in a second.
pub fn rate(t: &str) -> Option<f64> {
    let c = rx(r"(\d+)\s+(?:[\w-]+\s+)?(?:per|a|an|each|every|pro|por|par|/)\s*({second}|{minute}|{hour})\b").captures(t)?;
    if !has(
        r"\b(?:at most|max\w*|no more than|not more than|under|below|limit\w*|up to|höchstens|como máximo|au plus|rate)\b",
        t,
    ) {
        return None;
    }
    let n: f64 = c.get(1)?.as_str().parse().ok()?;
    let unit = c.get(2)?.as_str();
    let seconds = when::duration(&format!("1 {unit}"))?;
    #[expect(clippy::cast_precision_loss, reason = "a small figure")]
    Some(n / seconds as f64)
}
