//! Triggers that are said in ways of their own: another workflow fails, another workflow calls, a file appears on the disk,
//! a feed has a new entry, a queue is consumed; and the named things ("topic orders", "folder Invoices") of a trigger's words.

use crate::lexicon::{self, first, has, rx};
use crate::plan::{Arg, Does, Role, Service, Trigger};
use crate::read::act::{Memory, services_in};
use crate::read::clause::{Clause, Join};
use crate::read::text::Masked;
use crate::read::trigger::{Found, tidy};
use crate::read::value::{arg, fields_in, list, lit};

const FAILED: &str = r"(?:(?:{if}|on|bei|al|wann immer|immer wenn|jedes mal,? wenn|chaque fois qu'?e?)\s+)?(?:\b(?:any|another|a|the|this|my|our|other|some|one of (?:my|our|the)|any of (?:my|our|the)|ein\w*|irgendein\w*|jeder|der|ein\w* (?:unserer|meiner|der)|irgendein\w* (?:unserer|meiner)|unser\w*|mein\w*|un|una|otro|cualquier|algún|alguno|alguno de (?:mis|nuestros|los)|uno de (?:mis|nuestros|los)|l'un de (?:mes|nos)|un de (?:mes|nos)|n'importe quel|n'importe lequel de (?:mes|nos)|un autre|l'un des)\s+)(?:other |anderer? |andere |otros? |autres? )?(?:§s\d+§[\s-]*|n8n[\s-]*)?(?:workflows?|flujos?(?: de trabajo)?|flux|automatisierung(?:en)?|automations?)(?:\s+(?:runs?|executions?))?(?:\s+(?:de|in|von|in)\s+§s\d+§)?\s+(?:(?:ever|run|has|have|had|einen?|mit|se|ha|tiene|a|est en|en|throws|runs into|stops with|ends with|ends in|da|termina con|tombe en|an)\s+)*(?:fails?|failed|errors?|crash\w*|breaks?|dies|fehl\w*|scheiter\w*|abst(?:ü|u)rzt\w*|abgestürzt|abbricht|abgebrochen|crasht|schief\s?geht|ausfällt|fall[aeóo]\w*|erró\w*|rompe\w*|échou\w*|plant\w*|erreur|panne)(?:\s+(?:ist|hat|wirft|läuft))?";

/// Verb first: "cuando falle cualquier workflow", "si falla alguno de mis flujos", "lorsque plante un workflow".
const FAILED_FIRST: &str = r"{if}\s+(?:se\s+)?(?:fall[aeóo]\w*|rompa|rompe|dé error|da error|plante\w*|échoue\w*)\s+(?:(?:un|una|el|algún|alguno|cualquiera?|otro|uno|n'importe quel|l'un)\s+)?(?:de\s+)?(?:mis |nuestros |los |mes |nos )?(?:§s\d+§[\s-]*)?(?:workflows?|flujos?(?: de trabajo)?|flux)(?:\s+(?:de|en)\s+§s\d+§)?|\b(?:on|bei|en caso de|en cas d')\s*(?:an?y?\s+|einem\s+|un\s+)?(?:workflow[\s-]*(?:errors?|failures?|fehlern?)|errors? in (?:any|a|one of (?:my|our)) workflows?|fallo de (?:un )?(?:workflow|flujo)|échec d'un workflow)\b";

const CALLED: &str = r"\b(?:called|triggered|invoked|started|run|executed|used|callable|reusable)\s+(?:by|from)\s+(?:other|another|any other|any|a different|some other|a parent|several|my other|our other|multiple)\s+(?:n8n )?workflows?\b|\bvon\s+(?:einem\s+)?ander(?:en|em)\s+workflows?\b|\b(?:llamad[oa]|invocad[oa]|ejecutad[oa]|lanzad[oa])\s+(?:por|desde)\s+(?:otros?|cualquier)\s+(?:workflows?|flujos?)\b|\bappelé\w*\s+(?:par|depuis)\s+(?:un |d'|des )?autres?\s+(?:workflows?|flux)\b";

const SUB: &str = r"^(?:(?:a|an|the|build|create|make|me|us|i|we|need|want|this|is|it's|ein\w*|un|una|bau\w*|erstell\w*|mach\w*|mir|crea|crée|créer|construye|hazme|necesito|reusable|wiederverwendbar\w*|small|please|bitte)\s+)*(?:sub-?\s?workflows?|unter-?workflows?|teil-?workflows?|sub-?flujos?|sub-?flow|sous-?workflows?|sous-?flux|(?:sub)workflow)\b";

/// Finds such a trigger; its words leave the clauses.
pub fn early(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>, found: &mut Found) -> bool {
    failed(clauses, found)
        || called(mem, clauses, found)
        || feed(mem, clauses, found)
        || local_file(mem, clauses, found)
}

fn cut(clauses: &mut Vec<Clause>, at: usize, rest: &str) {
    if let Some(c) = clauses.get_mut(at) {
        c.text = tidy(rest);
    }
    clauses.retain(|c| c.text.chars().any(char::is_alphanumeric));
    if let Some(c) = clauses.first_mut() {
        c.join = Join::Start;
    }
}

fn failed(clauses: &mut Vec<Clause>, found: &mut Found) -> bool {
    let hit = clauses.iter().enumerate().take(3).find_map(|(i, c)| {
        rx(FAILED)
            .find(&c.text)
            .or(rx(FAILED_FIRST).find(&c.text))
            .map(|m| (i, c.text.clone(), m.range()))
    });
    let Some((i, text, span)) = hit else {
        return false;
    };
    found.triggers.push(Trigger::Error);
    let rest = format!(
        "{} {}",
        text.get(..span.start).unwrap_or_default(),
        text.get(span.end..).unwrap_or_default()
    );
    // what is left of the clause is an action, or nothing
    let rest = tidy(&rest);
    let rest = rx(r"^(?:then|dann|entonces|alors)\s+")
        .replace(&rest, "")
        .into_owned();
    let acts = crate::read::act::verb_in(&rest).is_some();
    cut(clauses, i, if acts { &rest } else { "" });
    true
}

fn called(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>, found: &mut Found) -> bool {
    let m = mem.m;
    let Some(at) = (0..clauses.len().min(3)).find(|i| {
        clauses.get(*i).is_some_and(|c| {
            let t = m.open(&c.text);
            has(CALLED, &t) && !has(r"\b{manual}\b", &t) || *i == 0 && has(SUB, &t)
        })
    }) else {
        return false;
    };
    if clauses.iter().any(|c| has(r"\b{manual}\b", &c.text)) {
        return false;
    }
    // "Sub-workflow: input email and plan"
    if clauses.get(at).is_some_and(|c| c.text.split_whitespace().count() <= 3)
        && clauses.get(at + 1).is_some_and(|c| {
            c.join == crate::read::clause::Join::Colon
                && has(r"^(?:the )?(?:inputs?|takes|accepts|receives|expects|parameters?|eingaben?|entradas?|entrées?)\b", &c.text)
        })
    {
        let inputs = clauses.remove(at + 1);
        if let Some(c) = clauses.get_mut(at) {
            c.text = format!("{} with {}", c.text, inputs.text);
        }
    }
    let Some(text) = clauses.get(at).map(|c| m.open(&c.text)) else {
        return false;
    };
    let (head, tail) = match rx(r"\s(?:that|which|and then)\s+(\w+)").captures(&text) {
        Some(c)
            if c.get(1).is_some_and(|w| {
                !has(r"^(?:takes|accepts|receives|expects)$", w.as_str())
                    && lexicon::verb(&w.as_str().to_lowercase()).is_some()
            }) && !has(
                CALLED,
                c.get(0)
                    .map_or("", |w| text.get(w.start()..).unwrap_or_default()),
            ) =>
        {
            let start = c.get(0).map_or(text.len(), |w| w.start());
            (
                text.get(..start).unwrap_or_default().to_owned(),
                rx(r"^\s*(?:that|which|and then)\s+")
                    .replace(text.get(start..).unwrap_or_default(), "")
                    .into_owned(),
            )
        }
        // "takes sku and quantity, checks stock in …": what it does follows its inputs
        _ => rx(r",\s+(?:and\s+)?(\w+s)\s+\S+")
            .captures_iter(&text)
            .find_map(|c| {
                let verb = c.get(1)?;
                lexicon::verb(&verb.as_str().to_lowercase()).filter(|v| v.role != "neutral")?;
                Some((
                    text.get(..c.get(0)?.start())?.to_owned(),
                    text.get(verb.start()..)?.to_owned(),
                ))
            })
            .unwrap_or_else(|| (text.clone(), String::new())),
    };
    let mut inputs = fields_in(m, &head);
    if inputs.is_empty() {
        inputs = first(
            r"\b(?:with|taking|takes|accepts|receives|mit|con|avec|inputs?:?|parameters?:?|eingaben:?|entradas:?)\s+(?:(?:the|den|der|die|las?|los|les|an?)\s+)?(?:inputs?|parameters?|fields?|eingaben?|parametern?|feldern?|entradas?|parámetros?|campos?|paramètres?|entrées?|champs?)?\s*:?\s*(.+?)(?:\s+(?:aufgerufen|gestartet|ausgeführt|wird|as inputs?|als eingaben?|is called|called|by|from|von|por|par)\b.*)?$",
            &head,
        )
        .map(list)
        .unwrap_or_default()
        .iter()
        .map(|p| tidy(&m.plain(p)))
        .map(|p| {
            rx(r"^(?:the|an?|der|die|das|den|el|la|le|un|une|ein\w*)\s+")
                .replace(&p, "")
                .trim_matches(['"', '\'', '`', '„', '“', '«', '»'])
                .to_owned()
        })
        .filter(|p| !p.is_empty() && p.split_whitespace().count() <= 3)
        .collect();
    }
    mem.fields.clone_from(&inputs);
    found.triggers.push(Trigger::SubWorkflow { inputs });
    cut(clauses, at, &tail);
    true
}

fn starts_event(text: &str) -> bool {
    has(
        r"^(?:(?:and|hey|hi|please|bitte|por favor),?\s+)?(?:{if}|wann immer|immer wenn|jedes mal,? wenn|à chaque|on|upon|for (?:each|every|all|any)|{each}|bei|nach|für jede\w*|por|para|pour|anything|{new}|watch\w*|monitor\w*|listen\w*|überwach\w*|beobacht\w*|vigila\w*|supervis\w*|surveille\w*|observe\w*|escucha\w*|écoute\w*|follow)\b",
        text,
    )
}

/// A new entry of a feed whose address is given.
fn feed(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>, found: &mut Found) -> bool {
    let m = mem.m;
    for i in 0..clauses.len().min(2) {
        let Some(c) = clauses.get(i).cloned() else {
            continue;
        };
        let text = m.open(&c.text);
        let about = has(r"\b(?:rss|atom|feeds?|flux)\b", &m.plain(&text));
        let urls = m.all(&text, "u");
        let news = has(
            r"\b(?:{new}|novedad\w*|nouveauté\w*|publi\w+|veröffentl\w+|appears?|erscheint|apare\w+|aparezca\w*|parai\w+|paraît|apparaî\w*|posts?|entr(?:y|ies|ada|adas|ée)|items?|eintr\w+|arti\w+|beitr\w+|changes?)\b",
            &text,
        );
        if !(about && starts_event(&c.text) && news) || urls.len() != 1 {
            continue;
        }
        let Some(entry) = lexicon::service("rssFeedRead") else {
            return false;
        };
        let Some(url) = urls.first().map(|u| u.value.clone()) else {
            continue;
        };
        mem.trigger = Some(entry);
        mem.topic = Some("article".to_owned());
        found.triggers.push(Trigger::Service {
            service: Service {
                said: entry.label.clone(),
                node_types: entry.triggers.clone(),
            },
            event: "new item".to_owned(),
            object: None,
            args: vec![arg(Role::Url, lit(url))],
        });
        // an action behind the address stays ("… https://…/feed post it to Slack")
        let mark = rx(r"§u\d+§").find_iter(&c.text).last().map(|f| f.end());
        let tail = mark
            .and_then(|e| c.text.get(e..))
            .map(|t| {
                rx(r"^\s*(?:has|have|hat|tiene|a|gets|bekommt)?\s*(?:{new}\s+)?(?:an?\s+)?(?:entr(?:y|ies)|items?|articles?|posts?|eintr\w+|beitr\w+)?\s*(?:is |are |wird |se )?(?:published|appears?|erscheint|veröffentlicht|hat)?")
                    .replace(t, "")
                    .into_owned()
            })
            .unwrap_or_default();
        let keep = crate::read::act::verb_in(&tail).is_some();
        let condition = crate::read::cond::condition(m, &text).filter(|_| {
            has(
                r"\b(?:contain\w*|enthält|contien\w*|contenga\w*|mentions?|whose|deren|dessen|cuyo)\b",
                &text,
            )
        });
        if let Some(condition) = condition {
            let step = mem.step(&c.text, Does::Filter { condition });
            found.first_steps.push(step);
        }
        cut(clauses, i, if keep { &tail } else { "" });
        return true;
    }
    false
}

/// A file that appears or changes in a folder of the machine.
fn local_file(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>, found: &mut Found) -> bool {
    let m = mem.m;
    let clause = clauses.first().cloned();
    let Some(c) = clause else { return false };
    let text = m.open(&c.text);
    let about = has(
        r"\b(?:files?|folder|directory|datei\w*|\w*ordner|verzeichnis\w*|archivos?|carpeta|directorio|fichiers?|dossier|répertoire|csvs?|pdfs?|xlsx|excel|images?|photos?|documents?|invoices?|rechnung\w*|something|anything|etwas|algo)\b",
        &text,
    );
    let event = has(
        r"\b(?:{new}|drop\w*|appears?|appear|lands?|arrives?|arrive|is (?:added|saved|put|placed|created|changed|modified|deleted|copied)|are (?:added|saved|put|placed)|gets? (?:added|saved|put|placed|created|changed|modified|deleted|copied)|shows up|changes?|abgelegt|gelegt|erscheint|auftaucht|landet|liegt|hinzukommt|geändert|gelöscht|gespeichert|aparec\w*|aparezca\w*|llegu?e\w*|deposit\w*|guard\w*|copi\w*|se (?:añad\w*|agreg\w*|cre\w*|modif\w*)|apparaî\w*|arriv\w*|dépos\w*|ajout\w*|modifi\w*|watch\w*|überwach\w*|vigila\w*|surveille\w*)\b",
        &text,
    );
    let Some(path) = m
        .one(&text, "h")
        .map(|e| e.value.clone())
        .or_else(|| first(r"\b([A-Za-z]:\\[^\s,;]+)", &m.plain(&text)).map(str::to_owned))
    else {
        return false;
    };
    let elsewhere = services_in(m, &text)
        .iter()
        .any(|e| e.service.is_some_and(|s| s.key != "localFile"));
    let network = has(
        r"\b(?:web ?hook|endpoint|post|get|put|ftp|sftp|request|url)\b",
        &text,
    ) && !has(r"\bget(?:s|ting)?\s+\w+ed\b|\bgets\b", &text);
    if !(about && event && starts_event(&c.text)) || elsewhere || network {
        return false;
    }
    let trigger_words = m.plain(&c.text);
    found.triggers.push(Trigger::Service {
        service: Service {
            said: "Local File".to_owned(),
            node_types: vec!["n8n-nodes-base.localFileTrigger".to_owned()],
        },
        event: trigger_words,
        object: Some("file".to_owned()),
        args: vec![arg(Role::Path, lit(path))],
    });
    let all = m.open(
        &clauses
            .iter()
            .map(|c| c.text.as_str())
            .collect::<Vec<_>>()
            .join(" . "),
    );
    if has(
        r"\b(?:csvs?|xlsx?|excel|pdfs?|json|upload\w*|read|parse|extract\w*|content|contents|import\w*|attach\w*|rows?|lines?|inhalt|lies|lesen|hochlad\w*|lade|zeilen?|anhang|anhäng\w*|lee|leer|sube|subir|súbe\w*|adjunt\w*|filas?|contenido|lis|lire|importe\w*|téléverse\w*|lignes?|contenu|transcribe|summari[sz]e|images?)\b",
        &all,
    ) && !has(r"\b(?:delet|gelöscht|elimin|supprim)", &text)
    {
        let step = mem.step(
            &c.text,
            Does::ReadDisk {
                path: "={{ $json.path }}".to_owned(),
            },
        );
        found.first_steps.push(step);
    }
    let ending = first(
        r"§h\d+§(?:\s+(?:on|auf|en|sur)\s+(?:the|dem|der|el|la|le)\s+(?:[\w§-]+\s*){1,2}?(?:machine|server|host|rechner|servidor|máquina|serveur))?[\s,]*(?:appears?|erscheint|auftaucht|abgelegt wird|gelegt wird|liegt|landet|changes?|is created|is added)?[\s,]+(.+)$",
        &c.text,
    )
    .map(str::to_owned)
    .filter(|t| crate::read::act::verb_in(t).is_some());
    cut(clauses, 0, ending.as_deref().unwrap_or(""));
    true
}

/// What a thing is called in a request.
const THINGS: [(&str, &str); 22] = [
    ("topic", r"topics?|thema|tema|sujets?"),
    (
        "queue",
        r"queues?|warteschlangen?|colas?|file d'attente|file",
    ),
    (
        "group",
        r"(?:consumer[\s-]?)?groups?(?:[\s-]?ids?)?|(?:consumer-)?gruppen?|grupo(?: de consumidores)?|groupe(?: de consommateurs)?",
    ),
    (
        "workspace",
        r"workspaces?|arbeitsbereich|espacio de trabajo|espace de travail",
    ),
    ("repository", r"repos?|repository|repositorio|dépôt"),
    (
        "folder",
        r"folders?|(?:\w+-)?ordner|carpetas?|dossiers?|director(?:y|io)|verzeichnis",
    ),
    ("board", r"boards?|tableros?|tableau"),
    ("list", r"lists?|listen?|listas?"),
    ("channel", r"channels?|kan[aä]le?|canal(?:es)?|canaux"),
    (
        "calendar",
        r"calendars?|kalender|calendario|calendrier|agenda",
    ),
    ("project", r"projects?|projekte?|proyectos?|projets?"),
    (
        "database",
        r"databases?|datenbank|base de datos|base de données",
    ),
    ("table", r"tables?|tabellen?|tablas?"),
    ("form", r"forms?|formulare?|formularios?|formulaires?"),
    ("path", r"path|pfad|ruta|chemin"),
    ("team", r"teams?|equipo|équipe"),
    ("site", r"sites?|sitio"),
    ("base", r"bases?"),
    ("space", r"spaces?|espacio|espace"),
    ("exchange", r"exchange"),
    ("survey", r"surveys?|umfrage|encuesta|enquête|sondage"),
    ("subscription", r"subscriptions?"),
];

const NO_NAME: &str = r"^(?:is|are|was|be|in|on|of|off|from|with|without|and|or|to|for|at|by|gets?|has|have|changes?|changed|arrives?|comes?|appears?|created|updated|added|moved|it|the|a|an|that|which|called|named|when|if|then|new|every|each|our|my|post|send|write|into|via|as|über|in|im|auf|von|aus|mit|und|oder|der|die|das|dem|den|ein\w*|wird|ist|sind|kommt|eintrifft|eingeht|ankommt|de|del|en|con|y|o|el|la|los|las|un|una|que|se|por|para|llega|llegue|du|des|le|les|et|ou|dans|sur|avec|qui|est|une|arrive|pour|par|members?|items?|rows?|ids?|names?|messages?|nachrichten|mensajes|events?)$";

/// "topic orders", "the `jobs` queue", "folder 'Invoices'": what a trigger's words name.
pub fn things(m: &Masked, text: &str) -> Vec<Arg> {
    let mut out: Vec<Arg> = Vec::new();
    let text = &m.open(text);
    for (thing, words) in THINGS {
        let behind = format!(
            r"\b(?:{words})\b(?:\s+(?:(?:in|im|de|en|dans)\s+)?§s\d+§,?)?(?:\s+(?:called|named|namens|llamad[oa]|nommée?|id|nr\.?|number|mit der id|con id))*\s*[:=]?\s*(§[qkdhnfcb]\d+§(?:/[\w.-]+)?|(?-i:[A-Z][\w-]*(?:\s+(?:[A-Z][\w-]*|\d+))+)|[A-Za-z0-9][\w./:-]*)"
        );
        let before = format!(
            r"\b(?:the|der|die|das|dem|den|our|my|unser\w*)\s+(?:§s\d+§[\s-]+)?(§[qkdhfc]\d+§|[A-Za-z0-9][\w./:-]*)[\s-]+(?:§s\d+§[\s-]+)?(?:{words})\b"
        );
        let value = [behind, before].iter().find_map(|p| {
            let caps = rx(p).captures(text)?;
            let said = caps.get(1)?.as_str();
            let value = match m.entity(said) {
                Some(e) => e.value.clone(),
                None => m.plain(said).trim_end_matches(['.', ':', ',']).to_owned(),
            };
            let word = value.to_lowercase();
            let known = lexicon::verb(&word).is_some()
                && !said.starts_with('§')
                && !matches!(thing, "topic" | "queue");
            let quoted = said.starts_with('§');
            (!value.is_empty() && (quoted || !has(NO_NAME, &word)) && !known).then_some(value)
        });
        if let Some(value) = value {
            out.push(arg(Role::Field(thing.to_owned()), lit(value)));
        }
    }
    if !out
        .iter()
        .any(|a| matches!(&a.role, Role::Field(n) if n == "topic"))
        && let Some(path) = first(
            r"§s\d+§[\s-]*(?:(?:topic|thema|tema|sujet)\s+)?([\w-]+(?:/[\w+#-]+)+)",
            text,
        )
    {
        out.push(arg(Role::Field("topic".into()), lit(path)));
    }
    out
}

/// The service's own events already say this state ("payment failed"): no condition is needed.
pub fn says_state(entry: &lexicon::ServiceEntry, state: &str) -> bool {
    let stem: String = state.to_lowercase().chars().take(4).collect();
    if stem.chars().count() < 4 {
        return false;
    }
    let catalog = agentctl_n8n::catalog::Catalog::embedded();
    entry
        .triggers
        .iter()
        .filter_map(|t| catalog.lookup(t, None).known())
        .any(|d| {
            d.properties.iter().any(|p| {
                !p.name.to_lowercase().contains("status")
                    && p.options.iter().any(|o| {
                        o.value
                            .as_str()
                            .is_some_and(|v| v.to_lowercase().contains(&stem))
                    })
            })
        })
}

#[cfg(test)]
#[path = "signal_tests.rs"]
mod signal_tests;
