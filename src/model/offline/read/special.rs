//! Actions that are no operation of a service: waiting, HTTP calls, models, files, approvals, filters, other workflows.

use crate::model::offline::lexicon::{self, first, has, rx};
use crate::model::offline::plan::{Arg, Cmp, Cond, Does, LlmTask, Role, Step, Val};
use crate::model::offline::read::act::{
    Memory, named, read_step, service_of, services_in, verb_in,
};
use crate::model::offline::read::args;
use crate::model::offline::read::clause::strip_lead;
use crate::model::offline::read::cond;
use crate::model::offline::read::text::Masked;
use crate::model::offline::read::value::{
    arg, clean_field, field, field_list, fields_in, list, lit, template,
};
use crate::model::offline::read::when;

/// Steps of a clause that a special rule understands.
pub fn steps(mem: &mut Memory<'_>, text: &str) -> Option<Vec<Step>> {
    let t = strip_lead(text).to_owned();
    if has(
        r"^(?:return|returns|gib\b.*\bzurück|devuelve|renvoie|retourne)\b",
        &t,
    ) && services_in(mem.m, &t).is_empty()
    {
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

/// The language-model provider that a text names.
pub fn provider(m: &Masked, t: &str) -> Option<String> {
    m.all(t, "s")
        .iter()
        .find_map(|e| e.service.filter(|s| s.is("llm")).map(|s| s.key.clone()))
}

fn media(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    if has(r"\b(?:transcri\w+|transkribier\w*|transcrib\w+)\b", t) && !has(r"\bagent\b", t) {
        let mut out = Vec::new();
        let drive = mem
            .trigger
            .filter(|e| e.is("files") && !e.actions.is_empty());
        if let Some(store) = drive {
            out.push(mem.step(
                t,
                Does::Service {
                    service: service_of(store, &store.label),
                    verb: crate::model::offline::plan::Verb::Download,
                    object: Some("file".into()),
                    args: Vec::new(),
                    once: false,
                },
            ));
        }
        out.push(mem.step(
            t,
            Does::Transcribe {
                provider: provider(m, t),
            },
        ));
        return Some(out);
    }
    if has(
        r"\b(?:generate|create|make|draw|render|produce|erzeuge|erstelle|generiere|genera|crea|génère|crée)\b.{0,30}\b(?:images?|picture|illustration|header image|thumbnail|cover|bild|imagen|image|artwork|logo)\b",
        t,
    ) {
        return Some(vec![mem.step(
            t,
            Does::GenerateImage {
                provider: provider(m, t),
                prompt: m.plain(t),
            },
        )]);
    }
    None
}

const MODEL_WORDS: &str =
    r"\b(?:llm|ai|ki|gpt|ia|language model|sprachmodell|modelo de lenguaje|agent|agente)\b|§s\d+§";

fn model(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    let opened = m.open(t);
    let provider = provider(m, &opened);
    let by_model = provider.is_some()
        || has(
            r"\b(?:llm|ai|ki|ia|gpt|language model|sprachmodell|agent|agente)\b",
            &opened,
        );
    let instructions = m.plain(t);
    let llm = |mem: &mut Memory<'_>, task: LlmTask| {
        Some(vec![mem.step(
            t,
            Does::Llm {
                task,
                provider: provider.clone(),
                instructions: instructions.clone(),
                input: None,
            },
        )])
    };
    if has(
        r"\b(?:classif\w+|categori[sz]\w+|klassifizier\w*|kategorisier\w*|clasific\w+|catégoris\w+|classe[rz]?|triage|label(?:l?ed)? (?:it |them )?(?:by (?:an )?(?:llm|ai)|as)|sort(?:ed)? (?:them )?into)\b",
        &opened,
    ) && !has(r"^classe\b.*\bdans\b", &opened)
    {
        let labels = first(r"\b(?:as|into|in|als|nach|como|en|comme|between|either|whether (?:it is|it's)|:)\s+(?:either\s+|one of\s+)?((?:[\w§'’ -]+(?:,|/| or | and | oder | und | o | ou | y | et ))+[\w§'’ -]+)", t)
            .map(|x| list(&m.plain(x)).iter().map(|l| clean_field(l).trim_matches(['"', '\'']).to_owned()).filter(|l| !l.is_empty() && l.split_whitespace().count() <= 4).collect::<Vec<_>>())
            .or_else(|| {
                m.all(&opened, "r").iter().map(|e| field_list(m, &e.value.replace('/', ","))).find(|l| l.len() > 1)
            })
            .unwrap_or_default();
        let labels = if labels.is_empty() {
            m.all(t, "r")
                .iter()
                .map(|e| field_list(m, &e.value.replace('/', ",")))
                .find(|l| l.len() > 1)
                .unwrap_or_default()
        } else {
            labels
        };
        return llm(mem, LlmTask::Classify { labels });
    }
    if has(
        r"\b(?:sentiment|stimmung|sentimiento|tonalité|tone of)\b",
        &opened,
    ) {
        return llm(mem, LlmTask::Sentiment);
    }
    if by_model
        && has(r"\bpdfs?\b", &opened)
        && has(
            r"\b(?:extract|extracts|pull out|extrahier\w*|extrae|extraer|extrai\w*|read)\b",
            &opened,
        )
        && services_in(m, t).is_empty()
        && fields_tail(m, t).len() > 1
    {
        return Some(vec![
            mem.step(
                t,
                Does::FromFile {
                    format: "pdf".into(),
                    options: Vec::new(),
                },
            ),
            mem.step(
                t,
                Does::Llm {
                    task: LlmTask::Extract {
                        fields: fields_tail(m, t),
                    },
                    provider: provider.clone(),
                    instructions: instructions.clone(),
                    input: None,
                },
            ),
        ]);
    }
    if by_model
        && has(
            r"\b(?:extract|extracts|pull out|pulls out|extrahier\w*|extrae|extraer|extrai\w*|parse|auslesen|read out)\b",
            &opened,
        )
        || has(r"^(?:extract|extrahiere|extrae|extrais)\b", &opened)
            && !has(r"\btext\b|\bzip\b|\barchive\b|\bcsv\b", &opened)
            && fields_tail(m, t).len() > 1
    {
        return llm(
            mem,
            LlmTask::Extract {
                fields: fields_tail(m, t),
            },
        );
    }
    if has(
        r"\b(?:summari[sz]e[sd]?|summari[sz]ing|zusammenfass\w*|zusammengefasst|fasse\b.*\bzusammen|resum(?:e|ir|a|elos?|elas?|irlos?)|résum(?:e|er|ez|és))\b",
        &opened,
    ) {
        let mut out = source_reads(mem, t);
        out.extend(llm(mem, LlmTask::Summarize).unwrap_or_default());
        return Some(out);
    }
    if has(
        r"\b(?:translate\w*|übersetz\w*|traduc\w+|tradui\w*)\b",
        &opened,
    ) {
        let language = first(r"\b(?:to|into|ins|in|nach|auf|al|a|en)\s+(english|german|spanish|french|italian|portuguese|dutch|polish|japanese|chinese|englische?|deutsche?|spanische?|französische?|inglés|alemán|español|francés|anglais|allemand|espagnol|français)\b", &opened).unwrap_or("English");
        if let Some(tool) = m.all(&opened, "s").into_iter().find_map(|e| {
            e.service
                .filter(|s| matches!(s.key.as_str(), "deepL" | "googleTranslate" | "lingvaNex"))
        }) {
            let args = vec![
                arg(Role::Text, field("text")),
                arg(Role::Field("language".into()), lit(language)),
            ];
            mem.used.push(tool);
            return Some(vec![mem.step(
                t,
                Does::Service {
                    service: service_of(tool, &tool.label),
                    verb: crate::model::offline::plan::Verb::Run,
                    object: None,
                    args,
                    once: false,
                },
            )]);
        }
        let mut out = source_reads(mem, t);
        out.extend(
            llm(
                mem,
                LlmTask::Translate {
                    language: language.to_owned(),
                },
            )
            .unwrap_or_default(),
        );
        return Some(out);
    }
    if services_in(m, t).is_empty()
        && has(
            r"^(?:an?|the|our|my|ein\w*|der|un|el|l'|une?)\s*(?:\w+ )?(?:ai[- ]|llm[- ]|gpt[- ]|ki-?)?agente?n?\b",
            &opened,
        )
    {
        return Some(vec![crate::model::offline::read::agent::researcher(mem, t)]);
    }
    if provider.is_none()
        && m.all(&opened, "s").iter().any(|e| {
            e.service.is_some_and(|s| {
                matches!(s.key.as_str(), "deepL" | "googleTranslate" | "lingvaNex")
            })
        })
    {
        return None;
    }
    let writes = has(
        r"\b(?:write|writes|written|generated|geschrieben\w*|verfasst\w*|escrit[oa]s?|rédigée?s?|draft|compose|rewrite|personali[sz]e\w*|critique|review|suggest|detect|determine|identify|recogni[sz]e|generate|improve|brainstorm|come up with|formulier\w*|schreib\w*|verfass\w*|redacta\w*|escrib\w*|rédige\w*|écri\w*|score|rate|analy[sz]e\w*|analysier\w*|evaluate|bewerte\w*|answer|decide|check)\b",
        &opened,
    );
    // "Let GPT write a LinkedIn post about our latest article (RSS …)": the post itself comes later.
    if by_model
        && writes
        && has(
            r"^(?:let|have|ask|use|lass|deja|pide|laisse|demande)\b",
            &opened,
        )
    {
        let mut out = Vec::new();
        for e in services_in(m, &opened) {
            let Some(entry) = e.service else { continue };
            if entry.key == "rssFeedRead" {
                let mut reading = source_reads(mem, t);
                reading.retain(|s| matches!(&s.does, Does::Service { service, .. } if service.node_types == entry.actions));
                out.extend(reading);
            } else {
                mem.used.push(entry);
            }
        }
        out.extend(llm(mem, LlmTask::Write).unwrap_or_default());
        return Some(out);
    }
    if by_model && writes && services_in(m, t).is_empty() {
        let agentic = has(
            r"\b(?:agent|agente|research\w*|on the web|web search|search the web)\b",
            &opened,
        );
        if agentic {
            return Some(vec![crate::model::offline::read::agent::researcher(mem, t)]);
        }
        return llm(mem, LlmTask::Write);
    }
    if by_model
        && services_in(m, t).is_empty()
        && has(
            r"^(?:let|have|ask|use|lass|deja|pide|laisse|demande|run it through|pass it to|feed|give)\b",
            &opened,
        )
    {
        if has(r"\b(?:agent|agente)\b", &opened) {
            return Some(vec![crate::model::offline::read::agent::researcher(mem, t)]);
        }
        return llm(mem, LlmTask::Write);
    }
    let _ = MODEL_WORDS;
    None
}

/// Services that a model's clause reads from and that nothing has read yet.
fn source_reads(mem: &mut Memory<'_>, t: &str) -> Vec<Step> {
    let m = mem.m;
    let mut out = Vec::new();
    for e in services_in(m, t) {
        let Some(entry) = e.service else { continue };
        if mem.trigger.is_some_and(|x| x.key == entry.key)
            || mem.read.iter().any(|(x, _)| x.key == entry.key)
            || entry.actions.is_empty()
        {
            continue;
        }
        out.push(read_step(mem, t, e));
    }
    out
}

fn fields_tail(m: &Masked, t: &str) -> Vec<String> {
    let listed = fields_in(m, t);
    if !listed.is_empty() {
        return listed;
    }
    first(r"\b(?:extract|extracts|pull out|pulls out|extrahiere|extrahieren|extrae|extraer|extrais|extraire|auslesen)\s+(?:the\s+)?(.+?)(?:\s+(?:from|out of|aus|de|with|using|mit)\s.*)?$", t)
        .map(|x| list(&m.plain(x)).iter().map(|f| clean_field(f)).filter(|f| !f.is_empty()).collect())
        .unwrap_or_default()
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
    let body = if method == "GET" {
        Vec::new()
    } else {
        fields_in(m, t)
            .iter()
            .map(|n| arg(Role::Field(n.clone()), field(n)))
            .collect()
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
            && !mem.trigger.is_some_and(|x| x.key == entry.key)
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

/// "ignore an alert if the same alertname was handled in the last 30 minutes (Redis key with TTL 1800)".
fn recently_handled(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    let opened = m.open(t);
    let c = rx(r"\b(?:same|dieselbe\w*|gleiche\w*|mism[oa]|même)\s+([\w-]+).{0,40}\b(?:in|within|innerhalb|en|dans)\s+(?:the |der |les |los |las )?(?:last|past|letzten|últim[oa]s|derni\w+)\s+(.+)").captures(&opened)?;
    let key = clean_field(c.get(1)?.as_str());
    let window = first(r"\bTTL\s*(?:of\s*|=\s*)?(\d+)", &opened)
        .and_then(|n| n.parse().ok())
        .or_else(|| when::duration(c.get(2)?.as_str()))?;
    let store = m
        .all(t, "s")
        .iter()
        .find_map(|e| e.service.filter(|s| s.is("kv")));
    let Some(store) = store else {
        return Some(vec![mem.step(
            t,
            Does::Dedupe {
                key: field(&key),
                window_seconds: Some(window),
            },
        )]);
    };
    let named_key = || arg(Role::Field("key".into()), field(&key));
    let lookup = mem.step(
        t,
        Does::Service {
            service: service_of(store, &store.label),
            verb: crate::model::offline::plan::Verb::Get,
            object: Some("key".into()),
            args: vec![named_key()],
            once: false,
        },
    );
    let not_in = mem.step(
        t,
        Does::NotIn {
            lookup: Box::new(lookup),
            key: field(&key),
        },
    );
    let set = mem.step(
        t,
        Does::Service {
            service: service_of(store, &store.label),
            verb: crate::model::offline::plan::Verb::Set,
            object: Some("key".into()),
            args: vec![
                named_key(),
                arg(Role::Field("value".into()), field(&key)),
                arg(Role::Field("ttl".into()), lit(window)),
            ],
            once: false,
        },
    );
    Some(vec![not_in, set])
}

fn sifting(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    if let Some(done) = recently_handled(mem, t) {
        return Some(done);
    }
    // Never twice.
    if has(
        r"\b(?:never|not|no|nie|nicht|nunca|jamais|don't|do not|without|keine?|sin|sans)\b.{0,40}\b(?:twice|doppelt|zweimal|dos veces|deux fois|duplicates?|duplikate|duplicad\w+|doublons?|repeat(?:ed)?|again)\b|\b(?:de-?dup\w*|only once|nur einmal|una sola vez|une seule fois|only (?:the )?new ones|skip (?:the )?(?:ones|those|items) (?:we|that|already))\b",
        t,
    ) && services_in(m, t).is_empty()
    {
        let by = first(
            r"\b(?:de-?dup\w*|duplicates?|duplikate|duplicad\w+|doublons?)\b.{0,20}?\b(?:by|on|nach|anhand|über|por|par)\s+(?:the\s+|der\s+|die\s+)?([\w-]+)",
            t,
        );
        if let Some(by) = by {
            return Some(vec![mem.step(
                t,
                Does::Dedupe {
                    key: field(by),
                    window_seconds: None,
                },
            )]);
        }
        let what = first(
            r"\b(?:same|dieselbe\w*|denselben|gleiche\w*|mism[oa]|même)\s+([\w-]+)",
            t,
        )
        .unwrap_or("item");
        let key = field(&format!("{what} id"));
        return Some(vec![mem.step(
            t,
            Does::Dedupe {
                key,
                window_seconds: None,
            },
        )]);
    }
    // Already in a store.
    if has(
        r"^(?:{filterout}|keep only|only keep|behalte nur|nur)\b.*\b(?:already|schon|bereits|ya|déjà|exist\w*|in (?:the )?)\b",
        t,
    ) && let Some(e) = services_in(m, t).first().copied()
        && has(
            r"\b(?:that|which|who|everyone|everybody|anyone|if|die|que|qui|all|alle)\b",
            t,
        )
        && !has(r"^(?:keep only|only keep)", t)
    {
        let key = first(r"^(?:{filterout})\s+(?:all\s+|any\s+|the\s+|everyone|everybody|anyone)?\s*([\w -]*?)\s*(?:that|which|who|if|die|que|qui)\b", t).map(clean_field).unwrap_or_default();
        let key = if key.is_empty() || has(r"^(?:contacts?|people|leads?|customers?|users?)$", &key)
        {
            "email".to_owned()
        } else {
            key.trim_end_matches('s').to_owned()
        };
        let lookup = read_step(mem, t, e);
        return Some(vec![mem.step(
            t,
            Does::NotIn {
                lookup: Box::new(lookup),
                key: field(&key),
            },
        )]);
    }
    if let Some(tail) = first(r"^(?:{filterout})\s+(.+)$", t)
        && services_in(m, t).is_empty()
        && let Some(c) = cond::condition(m, &relative(tail))
    {
        return Some(vec![mem.step(
            t,
            Does::Filter {
                condition: Cond::Not { of: Box::new(c) },
            },
        )]);
    }
    if let Some(tail) = first(
        r"^(?:keep only|only keep|only take|filter (?:for|by|on|to)|filter|behalte nur|nur|filtere(?: nach)?|quédate solo con|filtra|garde uniquement|ne garde que|only)\s+(.+)$",
        t,
    ) && services_in(m, t).is_empty()
        && let Some(c) = cond::condition(m, &relative(tail))
    {
        return Some(vec![mem.step(t, Does::Filter { condition: c })]);
    }
    if has(r"^(?:sort|order|sortier\w*|ordena|trie)\b", t) {
        let by = first(r"\b(?:by|nach|por|par)\s+(?:the\s+)?([\w -]+?)(?:\s+(?:descending|ascending|desc|asc|absteigend|aufsteigend|highest first|newest first|.*first))?$", t).unwrap_or("date");
        return Some(vec![mem.step(t, Does::Sort { by: field(by), descending: has(r"\b(?:desc\w*|absteigend|highest|newest|latest|largest|descendente|décroissant)\b", t) })]);
    }
    if let Some(n) = first(
        r"^(?:take|keep|only|limit (?:it |them )?to|nimm|toma|garde|pick)\s+(?:only\s+|just\s+)?(?:the\s+)?(?:top|first|newest|latest|best|ersten|primer\w*|premi\w*)\s+(\d+)",
        t,
    ) {
        return Some(vec![mem.step(
            t,
            Does::LimitTo {
                n: n.parse().unwrap_or(10),
            },
        )]);
    }
    if has(
        r"^(?:calculate|compute|add up|sum up|berechne\w*|calcula\w*|calcule\w*|count|work out)\b",
        t,
    ) {
        let fields = fields_in(m, t);
        if !fields.is_empty() {
            return Some(vec![
                mem.step(
                    t,
                    Does::SetFields {
                        fields: fields
                            .iter()
                            .map(|n| arg(Role::Field(n.clone()), field(n)))
                            .collect(),
                    },
                ),
            ]);
        }
    }
    None
}

/// "those that are paid" → "are paid".
fn relative(text: &str) -> String {
    rx(r"^(?:the|those|ones|all|any|items?|rows?|entries|orders?|tickets?|leads?|contacts?|\w+s)?\s*(?:that|which|who|whose|where|if|with|die|deren|que|cuyo|qui|dont)\s+(?:are|is|have|has|a|an)?\s*").replace(text, "").into_owned()
}

/// A reply to the webhook's caller.
pub fn respond(mem: &mut Memory<'_>, text: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    let t = strip_lead(text).to_owned();
    if !has(
        r"^(?:answers?|responds?|reply|replies|returns?|antworte\w*|gib\b|responde|devuelve|réponds|renvoie|send back|the (?:response|answer)|die antwort)\b",
        &t,
    ) || !services_in(m, &t).is_empty()
        || m.one(&t, "m").is_some()
    {
        return None;
    }
    let status = first(r"\b([1-5]\d\d)\b", &t)
        .and_then(|s| s.parse().ok())
        .unwrap_or(200);
    let body: Vec<Arg> = fields_in(m, &t)
        .iter()
        .map(|n| arg(Role::Field(n.clone()), field(n)))
        .collect();
    let as_text: Option<Val> = m
        .one(&t, "q")
        .map(|e| template(&e.value))
        .filter(|_| body.is_empty());
    Some(vec![mem.step(
        &t,
        Does::Respond {
            status,
            body,
            as_text,
        },
    )])
}

/// A condition after a read: "all users whose status is SUSPENDED", "who has birthday today", "without activity for 30 days".
pub fn read_filter(mem: &mut Memory<'_>, text: &str) -> Option<Step> {
    let m = mem.m;
    let tail = first(r"\b((?:whose|where|wer|quién|qui a|deren|cuyo|cuya|dont)\s.+)$", text)
        .or(first(r"\b((?:older|newer|more|less|overdue|älter|jünger)\s+than\s.+)$", text))
                .or(first(r"\b((?:from|of|in|within)\s+the (?:last|past)\s+.+)$", text))
        .or(first(
            r"\b((?:without|with no|sans|sin|ohne)\s.+)$", text))
        .or(first(r"\b((?:that|which|who) (?:are|is|have|has|was|were|cost|costs|report|reports)\s.+)$", text))
        .or(first(r"\b(with (?:a |an )?[\w ]+ (?:of |is )?(?:over|above|below|under|more than|less than|at least|at most|greater than)\s.+)$", text))
        .or(first(r"\b((?:over|above|below|under|more than|less than|at least)\s+[$€£]?\s?\d.*)$", text))?;
    let condition = cond::condition(m, tail)?;
    if let Cond::Compare {
        left: Val::Field { name, .. },
        op: Cmp::IsTrue,
        ..
    } = &condition
        && name.split_whitespace().count() > 4
    {
        return None;
    }
    Some(mem.step(text, Does::Filter { condition }))
}

/// An answer to the caller, where there is one.
pub fn respond_if_webhook(mem: &mut Memory<'_>, text: &str) -> Option<Vec<Step>> {
    if mem.answers_caller {
        respond(mem, text)
    } else {
        None
    }
}
