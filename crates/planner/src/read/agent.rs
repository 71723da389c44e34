//! Agents: what they know, remember and may use, read from the words that describe them. Also the tools of an MCP server,
//! which are described the same way.

use crate::lexicon::{first, has, rx};
use crate::plan::{
    Arg, Cmp, Cond, Does, Knowledge, Memory as Store, Plan, Role, Step, Tool, Trigger, Val, Verb,
};
use crate::read::act::{Memory, named, object_in, service_of, services_in};
use crate::read::args;
use crate::read::clause::{Clause, strip_lead};
use crate::read::special::{APPROVAL, provider};
use crate::read::text::Masked;
use crate::read::value::{arg, clean_field, field, field_list, list, lit};

/// An agent in the middle of a workflow: "let an agent research it on the web (SerpAPI) and write an article".
pub fn researcher(mem: &mut Memory<'_>, text: &str) -> Step {
    let m = mem.m;
    let opened = m.open(text);
    let mut tools = builtin_tools(m, &opened);
    if tools.is_empty() && has(r"\b(?:web|internet|google|online|research\w*)\b", &opened) {
        tools.push(builtin("serpapi", "search the web"));
    }
    let memory = memory(m, &opened);
    mem.step(
        text,
        Does::Agent {
            provider: provider(m, &opened),
            instructions: system_prompt(m, &opened).unwrap_or_else(|| m.plain(text)),
            input: None,
            tools,
            memory,
            knowledge: knowledge(m, &opened),
            output_fields: returned(m, text),
        },
    )
}

/// "returns {severity, component}": the fields of a structured answer.
fn returned(m: &Masked, text: &str) -> Vec<String> {
    if !m.all(text, "b").is_empty()
        && has(
            r"\b(?:return|returns|answer with|output|outputs|liefert|structured|json|schema)\b",
            text,
        )
    {
        return crate::read::value::fields_in(m, text);
    }
    Vec::new()
}

fn builtin(name: &str, purpose: &str) -> Tool {
    Tool {
        name: None,
        purpose: purpose.to_owned(),
        step: None,
        builtin: Some(name.to_owned()),
        inputs: Vec::new(),
        approval: None,
    }
}

/// Search engines, encyclopedias, calculators that the text names.
fn builtin_tools(m: &Masked, text: &str) -> Vec<Tool> {
    let mut out: Vec<Tool> = m
        .all(text, "s")
        .iter()
        .filter_map(|e| e.service.filter(|s| s.is("tool")))
        .map(|s| builtin(&s.key, &format!("look things up with {}", s.label)))
        .collect();
    if has(
        r"\bcalculat\w+|\btaschenrechner\b|\bcalculadora\b|\bcalculatrice\b|\bdo (?:the )?math",
        text,
    ) {
        out.push(builtin("calculator", "calculate"));
    }
    if out.is_empty()
        && has(
            r"\b(?:search(?:es)? the (?:web|internet)|web search|google (?:it|things)|browse the web|im (?:web|internet) such\w*|busca\w* en (?:la web|internet)|cherche\w* sur (?:le web|internet))\b",
            text,
        )
    {
        out.push(builtin("serpapi", "search the web"));
    }
    out
}

/// "remembers the last 12 messages", "conversation memory per chat in Postgres", "Redis memory of 20 messages".
fn memory(m: &Masked, text: &str) -> Option<Store> {
    let found = rx(MEMORY).find(text)?;
    if forgets(text) {
        return None;
    }
    let number = format!(
        r"\b(?:last|latest|letzten?|últim[oa]s|derniers?|dernières|window(?: of| size)?)\s+({NUMBER})\s+(?:chat\s+)?{MESSAGES}|\b({NUMBER})\s+(?:chat\s+)?{MESSAGES}"
    );
    let window = first(&number, text).and_then(|n| m.plain(n).trim().parse().ok());
    // The store is named close to the word: in the same sentence.
    let end = text
        .get(found.end()..)
        .and_then(|t| t.find([';', '.']))
        .map_or(text.len(), |i| found.end() + i);
    let behind = text.get(found.start()..end).unwrap_or_default();
    // "Redis memory", "with Postgres chat memory": the word before
    let ahead = text
        .get(..found.start())
        .map(|t| {
            let from = t.rfind([';', '.', ',']).map_or(0, |i| i + 1);
            let near = t.get(from..).unwrap_or_default();
            let words: Vec<&str> = near.split_whitespace().rev().take(3).collect();
            words.into_iter().rev().collect::<Vec<_>>().join(" ")
        })
        .unwrap_or_default();
    let store = [behind, ahead.as_str()]
        .iter()
        .find_map(|near| {
            m.all(near, "s")
                .iter()
                .find_map(|e| {
                    e.service.map(|s| s.key.as_str()).and_then(|k| match k {
                        "postgres" | "redis" => Some(k.to_owned()),
                        "supabase" => Some("postgres".to_owned()),
                        "mongoDb" => Some("mongodb".to_owned()),
                        _ => None,
                    })
                })
                .or_else(|| {
                    first(
                        r"\b(redis|postgres|mongo ?db|zep|xata|motorhead)",
                        &m.plain(near),
                    )
                    .map(|n| n.to_lowercase().replace(' ', ""))
                })
        })
        .unwrap_or_else(|| "simple".into());
    let near = behind;
    let session = has(r"\b(?:per|for each|for every) (?:chat|user|session|customer|conversation|person|thread)\b|\bpro (?:chat|nutzer|kunde|benutzer)\b|\bpor (?:chat|usuario|cliente)\b|\bpar (?:chat|utilisateur|client)\b", near).then(|| {
        let by = first(r"\b(?:per|for each|for every|pro|por|par)\s+(\w+)", near).unwrap_or("chat");
        if by == "thread" {
            return Val::Expr {
                code: "$json.thread_ts || $json.ts || $json.threadId".into(),
            };
        }
        field(&format!("{by} id"))
    });
    Some(Store {
        store,
        window,
        session,
    })
}

const MEMORY: &str = r"\b(?:remember\w*|memory|memories|gedächtnis\w*|erinner\w*|merkt? sich|sich merk\w*|sich\b.{0,40}?\bmerk\w*|gemerkt|memoria|recuerd\w*|recordar|mémoire|souvien\w*|retien\w*|mémorise\w*|context of the (?:chat|conversation)|chat history|conversation history|chatverlauf|historial)\b";
const NUMBER: &str = r"(?:\d+|§n\d+§)";
const MESSAGES: &str =
    r"(?:messages?|nachrichten|mensajes|turns|interactions|exchanges|interacciones|échanges)\b";

/// "No memory", "without remembering anything".
fn forgets(text: &str) -> bool {
    has(
        r"\b(?:no|without(?: any| a)?|not need(?: any)?|doesn'?t need(?: any)?|stateless|kein\w*|ohne|sin|sans|pas de|don'?t|does not|doesn'?t|nicht)\s+(?:a\s+|chat\s+|conversation\s+|need\s+)?(?:memory|memories|remember\w*|gedächtnis\w*|memoria|mémoire|recuerd\w*|souvien\w*|history|erinner\w*)\b|\bstateless\b|\bmemoryless\b",
        text,
    )
}

/// An MCP server that is used, not offered: it has an address, or an agent works with it.
pub fn mcp_client(whole: &str) -> bool {
    let offers = has(
        r"\b(?:expose\w*|offer\w*|provide\w*|publish\w*|act(?:s|ing)? as|serve\w*|as an? mcp|into an? mcp|(?:build|create|make|set up|want|need|run)\s+(?:me\s+)?(?:an?|our|my|the)\s+(?:\w+\s+)?mcp|mcp[- ]server (?:trigger|with|that (?:exposes|offers|provides|has))|bereitstell\w*|stell\w*\b.{0,40}\bbereit|als mcp|anbiet\w*|biete\w*|expon\w*|ofrece\w*|como (?:un )?servidor|exponga|expose\w*|propose\w*)\b",
        whole,
    );
    let uses = has(
        r"\bmcp[- ]server\b.{0,30}(?:\b(?:at|under|unter|on|auf|en|sur|à)\b\s*)?§u\d+§|\b(?:use[sd]?|using|via|through|connect\w*(?: to)?|from|call\w*|with|tools?(?: of| from)?:?|over|nutz\w*|verwend\w*|über|per|usa\w*|conect\w*|utilis\w*)\s+(?:(?:the|our|my|an?|unser\w*|dem|den|nuestro|notre|el|le|external|remote|existing)\s+){0,2}(?:[\w§]+\s+)?mcp[- ]server\b",
        whole,
    );
    let agent = has(
        r"\b(?:chat|agent\w*|assistant|assistent\w*|asistente|chatbot|bot)\b",
        whole,
    );
    uses && (!offers || agent && has(r"\bmcp[- ]server\b.{0,30}§u\d+§", whole))
}

/// "Mattermost-free", "no Slack", "never by e-mail": what is not wanted is taken out before it can be read as wanted.
pub fn without_unwanted(clauses: &mut Vec<Clause>) {
    for c in clauses.iter_mut() {
        if !has(
            r"§s\d+§\s*-?\s*(?:free|frei\w*|los\w*)\b|\b(?:no|without|ohne|kein\w*|sin|sans|pas de)\b",
            &c.text,
        ) {
            continue;
        }
        let text = rx(r"(?:,\s*)?(?:a\s+)?§s\d+§-(?:free|frei\w*|los\w*|less)\b,?")
            .replace_all(&c.text, "");
        let text = rx(r"(?:,\s*|\()?\b(?:with no|no|without(?: any| using)?|ohne|kein\w*|sin|sans|pas de)\s+§s\d+§(?:\s*(?:,|or|nor|oder|o|ou|and|und|y|et)\s*(?:no\s+|without\s+)?§s\d+§)*(?:\s+(?:please|bitte|at all|por favor|involved|needed|tools?|nodes?))?\)?(?:\s*$|(\s*[,;]))")
            .replace_all(&text, "$1");
        let text = text.trim().to_owned();
        if text != c.text {
            c.text = text;
        }
    }
    clauses.retain(|c| c.text.chars().any(char::is_alphanumeric));
}

/// "System prompt: 'You are Birch.'": the words for the model, as given.
fn system_prompt(m: &Masked, text: &str) -> Option<String> {
    m.after(
        r"\b(?:system\s*-?\s*(?:prompt|message|instructions?|nachricht)|systemprompt|systemnachricht|prompt|instructions?|anweisung\w*|instrucciones|prompt de sistema|mensaje de sistema|message système|consignes?)\b[^§]{0,20}(§[qk]\d+§)",
        text,
    )
    .map(|e| e.value.trim().to_owned())
    .filter(|t| t.split_whitespace().count() > 1)
}

/// Takes the sentence of the system prompt out: it describes no tool.
fn without_prompt(text: &str) -> String {
    rx(r"(?:^|[.;,]\s*)[^.;,§]*\b(?:system\s*-?\s*(?:prompt|message|instructions?|nachricht)|systemprompt|systemnachricht|prompt|instructions?|anweisung\w*|instrucciones|message système|consignes?)\b[^§]{0,20}§[qk]\d+§")
        .replace_all(text, "")
        .into_owned()
}

/// Vector stores with their collections.
fn knowledge(m: &Masked, text: &str) -> Vec<Knowledge> {
    m.all(text, "s")
        .iter()
        .filter_map(|e| e.service.filter(|s| s.is("vector")).map(|s| (e, s)))
        .map(|(e, s)| Knowledge {
            store: service_of(s, &e.value),
            collection: m
                .after(r"\b(?:collection|index|namespace|sammlung|colección|class|table)\s+(?:named |called )?(§[qd]\d+§)", text)
                .map(|c| c.value.clone())
                .or_else(|| first(r"\b(?:collection|index|namespace|class)\s+(?:named |called )?([\w-]+)", text).map(str::to_owned)),
            embeddings: crate::read::models::embeddings(&m.plain(text)),
        })
        .collect()
}

const VERBS: &[(&str, Verb)] = &[
    (
        r"\b(?:read|reads|look(?:s)? ?up|look(?:s)?\b.*\bup|get|gets|fetch|check|checks|see|view|find|finds|search|searches|query|queries|list|lists|retrieve|access|selects?|sql|nachschlagen|nachsehen|lesen|suchen|abfragen|consultar|leer|buscar|consulter|lire|chercher)\b",
        Verb::GetMany,
    ),
    (
        r"\b(?:create|creates|add|adds|file|files|open|opens|book|books|schedule|schedules|make|insert|log|save|write|register|anlegen|erstellen|eintragen|erstellt|crear|añadir|abrir|créer|ajouter|draft|drafts|raise|place|submit)\b",
        Verb::Create,
    ),
    (
        r"\b(?:update|updates|change|changes|edit|modify|reschedule|mark|close|ändern|aktualisieren|actualizar|modifier)\b",
        Verb::Update,
    ),
    (
        r"\b(?:delete|deletes|remove|cancel|cancels|löschen|stornieren|borrar|cancelar|supprimer|annuler)\b",
        Verb::Delete,
    ),
    (
        r"\b(?:send|sends|post|posts|notify|message|ping|mail|mails|senden|schicken|benachrichtigen|enviar|avisar|envoyer|notifier|escalate\w*|hand ?off|hand over)\b",
        Verb::Send,
    ),
];

/// Tools that a description names: services with verbs, HTTP calls, other workflows, built-in ones.
fn tools_in(mem: &mut Memory<'_>, text: &str) -> Vec<Tool> {
    let m = mem.m;
    let mut out = builtin_tools(m, text);
    let guarded = rx(r"\s*(?:[–—-]+\s*)?\b(?:but|aber|pero|mais|however)\b.*$")
        .replace(text, "")
        .into_owned();
    let negative = rx(
        r"\b(?:never|nie|nunca|jamais|don't|do not|not allowed to|must not|may not|darf nicht)\b[^,;.–]*",
    );
    let allowed = negative.replace_all(&guarded, "").into_owned();
    let parts: Vec<String> = segments(&allowed);
    let mut verbs_before = String::new();
    for part in parts {
        let before = out.len();
        if let Some(tool) = mcp_tool(mem, &part) {
            out.push(tool);
        } else if let Some(url) = m.one(&part, "u") {
            let method = ["POST", "PUT", "PATCH", "DELETE", "GET"]
                .iter()
                .find(|w| part.split_whitespace().any(|x| x == **w))
                .map_or("GET", |w| w);
            let mut inputs: Vec<String> = rx(r"\{\{?([\w ]+)\}?\}|<([\w ]+)>")
                .captures_iter(&url.value)
                .filter_map(|c| c.get(1).or(c.get(2)).map(|x| x.as_str().to_owned()))
                .collect();
            if inputs.is_empty() && method == "GET" && !url.value.contains('?') {
                inputs.push("query".into());
            }
            let body = if method == "GET" {
                Vec::new()
            } else {
                inputs
                    .iter()
                    .map(|n| arg(Role::Field(n.clone()), field(n)))
                    .collect()
            };
            let step = mem.step(
                &part,
                Does::Http {
                    method: method.to_owned(),
                    url: url.value.clone(),
                    query: Vec::new(),
                    body,
                    auth: None,
                    save_as_file: false,
                    never_fail: false,
                    rate_per_second: None,
                },
            );
            out.push(Tool {
                name: None,
                purpose: m.plain(strip_lead(&part)),
                step: Some(Box::new(step)),
                builtin: None,
                inputs,
                approval: None,
            });
        } else if let Some(reference) = workflow_name(m, &part) {
            let inputs = inputs_of(m, &part);
            let wanted = inputs
                .iter()
                .map(|n| arg(Role::Field(n.clone()), field(n)))
                .collect();
            let step = mem.step(
                &part,
                Does::CallWorkflow {
                    reference,
                    inputs: wanted,
                    wait: true,
                },
            );
            out.push(Tool {
                name: None,
                purpose: m.plain(strip_lead(&part)),
                step: Some(Box::new(step)),
                builtin: None,
                inputs,
                approval: None,
            });
        } else if let Some(e) = services_in(m, &part).first().copied()
            && let Some(entry) = e.service
            && !entry.actions.is_empty()
            && !has(
                r"\b(?:memory|remember\w*|gedächtnis|memoria|mémoire)\b",
                &part,
            )
            && !has(APPROVAL, &part)
        {
            let said = format!("{verbs_before} {part}");
            let head = part
                .find('§')
                .and_then(|i| said.get(..said.len() - part.len() + i))
                .unwrap_or(&said)
                .to_owned();
            let head = if VERBS.iter().any(|(p, _)| has(p, &head)) {
                head
            } else {
                said.clone()
            };
            let mut verbs: Vec<Verb> = VERBS
                .iter()
                .filter(|(p, _)| has(p, &head))
                .map(|(_, v)| *v)
                .collect();
            if verbs.is_empty() && named_tool(m, &part).is_some() {
                // a verb of the service's own: the catalog knows it by its words
                verbs.push(Verb::Other);
            }
            if verbs.is_empty() {
                verbs.push(if has(r"\bdrafts?\b|\btickets?\b", &part)
                    && !has(r"^(?:and |the |our |all |an? )*(?:(?:open|closed|old|existing) )?(?:list\b|§s\d+§ tickets?$|tickets? (?:in|of|from) (?:the |our )?§s\d+§$)", strip_lead(&part))
                {
                    Verb::Create
                } else {
                    Verb::GetMany
                });
            }
            for verb in verbs {
                let mut verb = verb;
                let mark = m
                    .entities
                    .iter()
                    .position(|x| std::ptr::eq(x, e))
                    .map(|i| format!("§s{i}§"))
                    .unwrap_or_default();
                let mut object = object_in(&part, &mark);
                if has(r"\bdrafts?\b", &part) && entry.is("mail") {
                    object = Some("draft".into());
                } else if entry.is("mail") && verb == Verb::Create {
                    verb = Verb::Send;
                }
                if entry.is("db") {
                    object = Some("row".into());
                    verb = match verb {
                        Verb::Create => Verb::Insert,
                        other => other,
                    };
                } else if entry.is("sheet") {
                    object = Some("row".into());
                    verb = if verb == Verb::Create {
                        Verb::Append
                    } else {
                        verb
                    };
                } else if entry.is("chat") {
                    object = Some("message".into());
                    verb = if matches!(verb, Verb::Create | Verb::GetMany) {
                        Verb::Send
                    } else {
                        verb
                    };
                }
                let arguments: Vec<Arg> = args::for_reading(mem, &part, entry)
                    .into_iter()
                    .filter(|a| !matches!(a.role, Role::Status | Role::Field(_) | Role::TimeRange))
                    .chain(
                        args::recipients(mem, &part, entry)
                            .into_iter()
                            .filter(|a| matches!(a.value, Val::Lit { .. })),
                    )
                    .collect();
                let step = mem.step(
                    &part,
                    Does::Service {
                        service: service_of(entry, &e.value),
                        verb,
                        object,
                        args: arguments,
                        once: false,
                    },
                );
                out.push(Tool {
                    name: named_tool(m, &part),
                    purpose: m.plain(strip_lead(&part)),
                    step: Some(Box::new(step)),
                    builtin: None,
                    inputs: inputs_of(m, &part),
                    approval: None,
                });
            }
        }
        if out.len() == before {
            verbs_before = part.clone();
        } else {
            verbs_before.clear();
        }
    }
    // "a restart has to be approved by a human in Slack #incidents first"
    if let Some(guard) = rx(r"\b(?:but|aber|pero|mais|however|only (?:after|with)|nur nach)\b.*$")
        .find(text)
        .map(|f| f.as_str().to_owned())
        .filter(|g| has(APPROVAL, g))
    {
        let chat = services_in(m, &guard).first().and_then(|e| e.service);
        let service = chat.map_or_else(|| named("slack"), |s| service_of(s, &s.label));
        let to = chat
            .or_else(|| crate::lexicon::service("slack"))
            .map(|s| args::recipients(mem, &guard, s))
            .unwrap_or_default();
        let ask = mem.step(
            &guard,
            Does::Approval {
                service,
                args: to,
                approved: Vec::new(),
                rejected: Vec::new(),
            },
        );
        let words: Vec<String> = m
            .plain(&guard)
            .to_lowercase()
            .split_whitespace()
            .filter(|w| w.len() > 4)
            .map(str::to_owned)
            .collect();
        let best = out
            .iter()
            .enumerate()
            .max_by_key(|(i, t)| {
                (
                    words
                        .iter()
                        .filter(|w| t.purpose.to_lowercase().contains(w.trim_end_matches('s')))
                        .count(),
                    *i,
                )
            })
            .map(|(i, _)| i);
        if let Some(tool) = best.and_then(|i| out.get_mut(i)) {
            tool.approval = Some(Box::new(ask));
        }
    }
    out
}

/// The tools of an MCP server that the text names with its address.
fn mcp_tool(mem: &mut Memory<'_>, part: &str) -> Option<Tool> {
    let m = mem.m;
    if !has(r"\bmcp\b|§s\d+§[- ]server", part) || !has(r"\bmcp\b", &m.plain(part)) {
        return None;
    }
    let url = m
        .one(part, "u")
        .map_or_else(String::new, |u| u.value.clone());
    let plain = m.plain(part);
    let auth = [
        ("bearer", r"\bbearer\b"),
        (
            "header",
            r"\b(?:header auth\w*|api[- ]key|x-[\w-]+ header)\b",
        ),
        ("oauth2", r"\boauth\w*\b"),
    ]
    .iter()
    .find(|(_, words)| has(words, &plain))
    .map(|(kind, _)| (*kind).to_owned());
    let step = mem.step(
        part,
        Does::Http {
            method: if has(r"\bsse\b", &plain) {
                "SSE"
            } else {
                "POST"
            }
            .to_owned(),
            url,
            query: Vec::new(),
            body: Vec::new(),
            auth,
            save_as_file: false,
            never_fail: false,
            rate_per_second: None,
        },
    );
    Some(Tool {
        name: None,
        purpose: plain,
        step: Some(Box::new(step)),
        builtin: Some("mcp".into()),
        inputs: Vec::new(),
        approval: None,
    })
}

/// `"pause_music" that pauses …`, `a tool create_ticket which …`: the tool's own name.
fn named_tool(m: &Masked, part: &str) -> Option<String> {
    let name = m
        .after(
            r"(§[qkd]\d+§)\s*(?:\(|:|–|-|=|that|which|to|for|der|die|das|que|qui|pour|para|um)",
            part,
        )
        .map(|e| e.value.clone())
        .or_else(|| first(r"\b([a-z]+(?:_[a-z]+)+)\b", part).map(str::to_owned))?;
    let name = rx(r"\W+").replace_all(name.trim(), "_").to_lowercase();
    (name.split('_').count() <= 5 && !name.contains("http")).then_some(name)
}

/// Parts of a list of abilities; a part without a service of its own keeps with the next ("read and create Calendar events").
fn segments(text: &str) -> Vec<String> {
    let cut = rx(
        r"\s*(?:[,;.]\s+(?:and|und|y|et|or)?\s*|\s[–—-]\s|\s(?:and|und|y|et|plus|as well as|sowie|or)\s)\s*",
    );
    let mut out: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut from = 0;
    let mut ended = false;
    let ends: Vec<(usize, usize)> = cut
        .find_iter(text)
        .map(|f| (f.start(), f.end()))
        .chain(std::iter::once((text.len(), text.len())))
        .collect();
    for (start, end) in ends {
        let part = text.get(from..start).unwrap_or_default().trim();
        from = end;
        if part.is_empty() {
            continue;
        }
        // "Memory per thread. It may …": a sentence about the memory stands alone
        if ended && has(MEMORY, &current) {
            out.push(std::mem::take(&mut current));
        }
        ended = text
            .get(start..end)
            .is_some_and(|cut| cut.contains(['.', ';']));
        if !current.is_empty() {
            current.push_str(" and ");
        }
        current.push_str(part);
        let whole = has(r"§[su]\d+§|workflow\s+§|workflow\s+[\w-]*_", &current);
        if whole || current.split_whitespace().count() > 6 {
            out.push(std::mem::take(&mut current));
        }
    }
    if !current.is_empty() {
        match out.last_mut() {
            Some(last) if !has(r"§[su]\d+§", &current) => {
                last.push_str(", ");
                last.push_str(&current);
            }
            _ => out.push(current),
        }
    }
    out
}

fn workflow_name(m: &Masked, text: &str) -> Option<String> {
    m.after(r"\b(?:sub-?workflow|workflow|flujo|unterworkflow)\s+(?:called |named |namens )?(§[qdkn]\d+§)", text)
        .map(|e| e.value.clone())
        .or_else(|| first(r"\b(?:sub-?workflow|workflow)\s+(?:called |named )?([\w-]*[_\d-][\w-]*)", text).map(str::to_owned))
}

/// "by employee e-mail", "with employee, from and to".
fn inputs_of(m: &Masked, text: &str) -> Vec<String> {
    let plain = m.plain(text);
    if let Some(tail) = first(
        r"\b(?:with|mit|con|avec|taking|given)\s+(?:the\s+)?([^§()]+?)\)?$",
        &plain,
    ) && !has(r"https?://|\bGET\b|\bPOST\b", tail)
    {
        let names = field_list(m, tail);
        if !names.is_empty() {
            return names;
        }
        let loose: Vec<String> = list(tail)
            .iter()
            .map(|n| clean_field(n))
            .filter(|n| !n.is_empty() && n.split_whitespace().count() <= 3)
            .collect();
        if !loose.is_empty() {
            return loose;
        }
    }
    first(r"\b(?:by|via|anhand|über|por|par|nach)\s+(?:the\s+|their\s+|der\s+|die\s+)?([\w -]{2,30}?)\)?$", &plain)
        .map(|n| vec![clean_field(n)])
        .unwrap_or_default()
}

/// An assistant (or an MCP server) that the whole request describes. False: the request is no such thing.
pub fn whole(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>, plan: &mut Plan) -> bool {
    let m = mem.m;
    let text = clauses
        .iter()
        .map(|c| c.text.as_str())
        .collect::<Vec<_>>()
        .join(". ");
    if let Some(Trigger::McpServer { tools, .. }) = plan.triggers.first_mut() {
        *tools = server_tools(mem, &text);
        return true;
    }
    let chats = matches!(plan.triggers.first(), Some(Trigger::Chat { .. }));
    let bot = mem.trigger.is_some_and(|t| t.is("chat"))
        && has(
            r"\b(?:agent|assistant|bot|chatbot|asistente|assistent|answers?|gpt|llm)\b",
            &m.plain(&text),
        );
    let fixed = has(
        r"\b(?:answer|reply|respond|antworte|responde|réponds)\w*\s+(?:(?:to\s+)?(?:it|them|him)\s+)?(?:with|mit|con|avec)\s+(?:the (?:text|message)\s+)?§q\d+§",
        &text,
    );
    let served = serves(m, plan);
    let text = if served { m.text.clone() } else { text };
    if !chats && !served && (!bot || fixed) {
        return false;
    }
    let opened = m.open(&text);
    let mut steps = Vec::new();
    if let Some(filter) = only_me(mem, &opened) {
        steps.push(filter);
    }
    if has(
        r"\bvoice\b|\baudio\b|\bsprachnachricht\w*|\bnotas? de voz\b|\bmessages? vocaux?\b",
        &opened,
    ) && let Some(host) = mem.trigger
    {
        let get = mem.step(
            "voice message",
            Does::Service {
                service: service_of(host, &host.label),
                verb: Verb::Download,
                object: Some("file".into()),
                args: vec![arg(
                    Role::Id,
                    Val::Field {
                        name: "voice file id".into(),
                        of: Some("trigger".into()),
                    },
                )],
                once: false,
            },
        );
        let hear = mem.step(
            "transcribe the voice message",
            Does::Transcribe {
                provider: provider(m, &opened),
            },
        );
        let condition = Cond::Compare {
            left: Val::Field {
                name: "voice".into(),
                of: Some("trigger".into()),
            },
            op: Cmp::Exists,
            right: lit(true),
        };
        steps.push(mem.step(
            "voice message",
            Does::If {
                condition,
                then: vec![get, hear],
                otherwise: Vec::new(),
            },
        ));
    }
    // What happens after the answer is no tool.
    let after_at = clauses.iter().position(|c| has(r"^(?:after(?:wards)? (?:the agent|it|each|every|answering)|(?:every|each) (?:conversation|chat|question|answer)|log (?:every|each|all)|save (?:every|each|all))\b", strip_lead(&c.text)));
    let afterwards: Vec<Clause> = after_at.map(|i| clauses.split_off(i)).unwrap_or_default();
    let described = clauses.iter().filter(|c| !has(r"\b(?:back to (?:the )?(?:same )?(?:chat|user)|goes back|nobody|no one|only (?:me|i)|may use it|same chat)\b", &c.text)).map(|c| c.text.as_str()).collect::<Vec<_>>().join(". ");
    let described = m.open(&described);
    let host = mem.trigger.map(|t| t.key.clone());
    let mut tools = tools_in(mem, &without_prompt(&described));
    tools.retain(|t| !matches!(t.step.as_deref().map(|s| &s.does), Some(Does::Service { service, .. }) if host.as_deref().and_then(crate::lexicon::service).is_some_and(|h| h.actions == service.node_types)));
    dedupe(&mut tools);
    let memory = memory(m, &opened).or_else(|| {
        (!forgets(&opened)).then(|| Store {
            store: "simple".into(),
            window: None,
            session: None,
        })
    });
    let instructions = system_prompt(m, &opened)
        .unwrap_or_else(|| m.plain(&described.replace(" ( ", " (").replace(" ) ", ")")));
    let answered: Vec<String> = m
        .after(
            r"\b(?:responds?|answers?|returns?|repl(?:y|ies)|antwortet?|responde|répond)\b[^.]*?(§b\d+§)",
            &text,
        )
        .filter(|_| served)
        .map(|e| crate::read::value::field_list(m, &e.value))
        .unwrap_or_default();
    let agent = mem.step(
        &text,
        Does::Agent {
            provider: provider(m, &opened),
            instructions,
            input: served.then(|| question_of(plan)),
            tools,
            memory: memory.filter(|_| {
                !served
                    || !forgets(&opened)
                        && has(
                            r"\b(?:memory|remember\w*|gedächtnis|memoria|mémoire)\b",
                            &opened,
                        )
            }),
            knowledge: knowledge(m, &opened),
            output_fields: answered.clone(),
        },
    );
    let id = agent.id.clone();
    steps.push(agent);
    if served
        && has(
            r"\b(?:respond|responds|answers?|returns?|repl(?:y|ies)|antwortet?|responde|répond)\b",
            &opened,
        )
    {
        let of = |name: &str| Val::Field {
            name: name.to_owned(),
            of: Some(id.clone()),
        };
        let mut body: Vec<_> = answered
            .iter()
            .map(|f| arg(Role::Field(f.clone()), of(f)))
            .collect();
        if body.is_empty() {
            body.push(arg(Role::Field("answer".into()), of("output")));
        }
        steps.push(mem.step(
            "answer the caller",
            Does::Respond {
                status: 200,
                body,
                as_text: None,
            },
        ));
    }
    if bot && let Some(host) = mem.trigger {
        let answer = Val::Field {
            name: "output".into(),
            of: Some(id),
        };
        let to = Val::Field {
            name: if host.key == "slack" {
                "channel"
            } else {
                "chat id"
            }
            .into(),
            of: Some("trigger".into()),
        };
        let thread =
            (host.key == "slack" && has(r"\b(?:threads?|hilo|fil)\b", &opened)).then(|| {
                arg(
                    Role::Named("thread".into()),
                    Val::Field {
                        name: "ts".into(),
                        of: Some("trigger".into()),
                    },
                )
            });
        steps.push(
            mem.step(
                "answer in the same chat",
                Does::Service {
                    service: service_of(host, &host.label),
                    verb: Verb::Send,
                    object: Some("message".into()),
                    args: vec![
                        arg(
                            if host.key == "slack" {
                                Role::Channel
                            } else {
                                Role::Recipient
                            },
                            to,
                        ),
                        arg(Role::Text, answer),
                    ]
                    .into_iter()
                    .chain(thread)
                    .collect(),
                    once: false,
                },
            ),
        );
    }
    if !afterwards.is_empty() {
        let rest: Vec<Clause> = afterwards
            .into_iter()
            .map(|mut c| {
                c.text = rx(r"^(?:and\s+)?after(?:wards)?\b.*?(?:answered|answer|replied|responded|conversation)\b[,:]?\s*").replace(&c.text, "").into_owned();
                c
            })
            .collect();
        let (more, _) = crate::read::flow::steps(mem, &rest, Vec::new());
        steps.extend(more);
    }
    plan.steps = steps;
    true
}

/// An agent that a webhook serves: the request opens with it and describes nothing else.
fn serves(m: &Masked, plan: &Plan) -> bool {
    matches!(plan.triggers.as_slice(), [Trigger::Webhook { .. }])
        && has(
            r"^\s*(?:(?:please\s+)?(?:build|create|make|set up|i need|i want|erstelle|crea|crée)\s+(?:me\s+)?)?(?:an?\s+|einen?\s+|une?\s+|un\s+)?(?:\w+\s+)?(?:(?:ai|ki|ia|llm)[ -])?(?:agent|agente|assistant)\b",
            &m.plain(&m.text),
        )
}

/// What the caller asks: the field of the body that says so.
fn question_of(plan: &Plan) -> Val {
    let fields = match plan.triggers.first() {
        Some(Trigger::Webhook { fields, .. }) => fields.as_slice(),
        _ => &[],
    };
    let name = fields
        .iter()
        .find(|f| has(r"question|query|message|prompt|text|frage|pregunta", f))
        .or(fields.first())
        .cloned()
        .unwrap_or_else(|| "question".to_owned());
    Val::Field {
        name,
        of: Some("trigger".into()),
    }
}

fn dedupe(tools: &mut Vec<Tool>) {
    let mut seen: Vec<String> = Vec::new();
    tools.retain(|t| {
        let key = match t.step.as_deref().map(|s| &s.does) {
            Some(Does::Service {
                service,
                verb,
                object,
                ..
            }) => format!("{:?}{verb:?}{object:?}", service.node_types.first()),
            Some(Does::Http { url, .. }) => url.clone(),
            Some(Does::CallWorkflow { reference, .. }) => reference.clone(),
            _ => t.builtin.clone().unwrap_or_default(),
        };
        let fresh = !seen.contains(&key);
        seen.push(key);
        fresh
    });
}

/// "nobody but me (user id 4455667) may use it".
fn only_me(mem: &mut Memory<'_>, text: &str) -> Option<Step> {
    let m = mem.m;
    if !has(
        r"\b(?:nobody|no one|noone|only (?:me|i|my|user)|just (?:me|my)|niemand|nur (?:ich|mein\w*|für mich)|solo yo|nadie|seulement moi|personne)\b",
        text,
    ) {
        return None;
    }
    let id = m
        .after(
            r"\b(?:id|user|chat|nutzer|usuario|utilisateur)\s*(?:id|:|=|is)?\s*(§n\d+§)",
            text,
        )
        .map(|e| e.value.clone())
        .or_else(|| {
            first(r"\b(?:user|chat)?\s*id\s*(?:is|:|=)?\s*(-?\d{4,})", text).map(str::to_owned)
        })?;
    let condition = Cond::Compare {
        left: Val::Field {
            name: "user id".into(),
            of: Some("trigger".into()),
        },
        op: Cmp::Eq,
        right: lit(id),
    };
    Some(mem.step(text, Does::Filter { condition }))
}

/// "get_balance (reads table x by e-mail) and request_leave (calls workflow y with …)".
fn server_tools(mem: &mut Memory<'_>, text: &str) -> Vec<Tool> {
    let m = mem.m;
    let pattern = rx(r"(§[dqk]\d+§|\b[a-z]+(?:_[a-z]+)+\b)\s*(?:(§r\d+§)|[:–-]\s*([^§]*§[^.;]*))");
    let mut out = Vec::new();
    for caps in pattern.captures_iter(text) {
        let name = caps.get(1).map(|x| {
            m.entity(x.as_str())
                .map_or_else(|| x.as_str().to_owned(), |e| e.value.clone())
        });
        let what = caps
            .get(2)
            .and_then(|x| m.entity(x.as_str()))
            .and_then(|e| e.inner.clone())
            .or_else(|| caps.get(3).map(|x| x.as_str().to_owned()))
            .unwrap_or_default();
        let found = one_tool(mem, &what);
        if let Some(mut tool) = found {
            tool.name = name.map(|n| rx(r"\W+").replace_all(&n.to_lowercase(), "_").into_owned());
            out.push(tool);
        }
    }
    if out.is_empty() {
        out = tools_in(mem, &m.open(text));
    }
    out
}

/// A tool whose description stands alone, inputs at its end.
fn one_tool(mem: &mut Memory<'_>, what: &str) -> Option<Tool> {
    let m = mem.m;
    if let Some(reference) = workflow_name(m, what) {
        let inputs = inputs_of(m, what);
        let wanted = inputs
            .iter()
            .map(|n| arg(Role::Field(n.clone()), field(n)))
            .collect();
        let step = mem.step(
            what,
            Does::CallWorkflow {
                reference,
                inputs: wanted,
                wait: true,
            },
        );
        return Some(Tool {
            name: None,
            purpose: m.plain(what),
            step: Some(Box::new(step)),
            builtin: None,
            inputs,
            approval: None,
        });
    }
    let mut tool = tools_in(mem, what).into_iter().next()?;
    tool.purpose = m.plain(what);
    tool.inputs = inputs_of(m, what);
    if let (Some(step), Some(key)) = (&mut tool.step, tool.inputs.first())
        && let Does::Service { args, .. } = &mut step.does
    {
        args.push(arg(Role::MatchOn, lit(key.clone())));
    }
    Some(tool)
}

/// Tools for an agent that is there already ("with two tools: …", "it may use …").
pub fn equip(mem: &mut Memory<'_>, step: &mut Step, text: &str) -> bool {
    let opened = mem.m.open(text);
    let found = tools_in(mem, &opened);
    let said = mem.m.plain(text);
    if let Does::Agent {
        tools,
        instructions,
        memory: store,
        ..
    } = &mut step.does
    {
        if let Some(m) = memory(mem.m, &opened) {
            *store = Some(m);
        } else if found.is_empty() {
            return false;
        }
        *instructions = format!("{instructions}: {said}");
        tools.extend(found);
        dedupe(tools);
        return true;
    }
    false
}
