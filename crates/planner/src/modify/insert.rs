//! New parts: steps, conditions, tools, error handling; and steps that go or are exchanged for another service.

use serde_json::{Map, Value, json};

use super::{mention, words};
use crate::chart::{Item, chart};
use crate::compile::existing::Patch;
use crate::compile::rewire::reads;
use crate::compile::words::{fold, snake};
use crate::lexicon::{has, rx};
use crate::plan::{Arg, Does, Role, Service, Step, Tool, Val, Verb};
use crate::read::{ReadContext, read};
use crate::spot::Kind;
use std::ops::Range;

/// The steps that a fragment describes.
pub(super) fn steps_of(fragment: &str) -> Vec<Step> {
    let clean = fragment.trim().trim_matches([',', ';', '.']).trim();
    let lead = rx(
        r"^(?:please|bitte|then|dann|also|additionally|and|und|it should|should|must|let it|make it|i want it to|have it|insert a step (?:that|to|which)|add a (?:step|node) (?:that|to|which)|add a|füge einen schritt hinzu,? der|por favor|también|aussi)\s+",
    );
    let clean = lead.replace(clean, "").into_owned();
    let go = rx(
        r"^(?:(?:everything|anything|all) else|the rest|all (?:the )?others?|others|otherwise|else|alles andere|alle anderen|sonst|andernfalls|der rest|todo lo demás|lo demás|sinon|tout le reste|le reste)?,?\s*(?:should|must|shall|can|soll(?:en)?|muss|kann|debe|doit)?\s*(?:just\s+|only\s+|simply\s+)?(?:go(?:es)?|be sent|get sent|is sent|gehen|geht|gesendet werden|ir|va|aller)\b",
    );
    let mut tries = vec![clean.clone()];
    if go.is_match(&clean) {
        let rest = go.replace(&clean, "").into_owned();
        let mail = rx(r"^\s*(?:by|via|per|as|als|por|par|to|an|a|à)?\s*(?:an?\s+)?(?:e-?mail|mail|correo|courriel)\b").is_match(&rest);
        let rest_clean = rx(r"^\s*(?:by|via|per|as|als|por|par)\s+(?:an?\s+)?")
            .replace(&rest, "")
            .into_owned();
        let first = if mail {
            format!(
                "send an {}",
                rx(r"^(?:mail|correo|courriel)").replace(rest_clean.trim(), "email")
            )
        } else {
            format!("send a message {}", rest.trim())
        };
        tries.insert(0, first);
    } else {
        tries.push(format!("send {clean}"));
    }
    let language = super::said::spoken(&clean);
    tries.extend(as_order(&clean, language));
    // Only what goes somewhere is sent.
    let sends = sends(&clean, language);
    for text in tries {
        if !sends && text != clean && text.starts_with("send ") {
            continue;
        }
        let reading = read(&text, &ReadContext::default());
        let steps: Vec<Step> = reading
            .plan
            .steps
            .into_iter()
            .filter(|s| !matches!(s.does, Does::Nothing))
            .collect();
        if !steps.is_empty() {
            return steps;
        }
    }
    Vec::new()
}

/// Whether a text names what is sent or where it goes: a service, an address, a message.
fn sends(text: &str, language: &str) -> bool {
    const SENT: [&str; 2] = ["message", "email"];
    let chart = chart(text, language);
    let tells = |item: &Item| {
        let noun = item
            .noun()
            .is_some_and(|noun| SENT.contains(&noun.concept.as_str()));
        noun || item.service().is_some() || item.literal()
    };
    chart.items.iter().any(tells)
}

/// "An attente de 3 jours": a wait that is said as a thing.
fn waiting(text: &str, language: &str) -> Option<String> {
    let spans = crate::time::spans(text, language);
    let [span] = spans.as_slice() else {
        return None;
    };
    let crate::time::TimeMeaning::Duration { seconds } = span.means else {
        return None;
    };
    let (amount, unit) = super::value::as_said(seconds, text);
    let waits = mention::is_wait(text) || words::has(text, language, "waits");
    waits.then(|| format!("wait {amount} {unit}"))
}

/// "A message should also go to Slack #sales", "poste-le aussi sur Discord": without "should" and "also"; and what goes to the one
/// service that is named.
fn as_order(text: &str, language: &str) -> Vec<String> {
    let chart = chart(text, language);
    let mut out: Vec<Range<usize>> = ["be", "goes", "filler"]
        .iter()
        .flat_map(|class| words::places(text, language, class))
        .collect();
    let also = chart.items.iter().filter(|item| item.is("also"));
    out.extend(also.map(|item| item.from..item.to));
    out.sort_by_key(|place| std::cmp::Reverse(place.start));
    let (mut plain, mut cut) = (text.to_owned(), text.len());
    for place in out {
        if place.end <= cut {
            cut = place.start;
            plain.replace_range(place, "");
        }
    }
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    // So few words are often of no language.
    let any = agentctl_kit::language::languages();
    let mut tries: Vec<String> = waiting(text, language).into_iter().collect();
    tries.extend(any.filter_map(|language| waiting(text, language)));
    let mails: Vec<&Item> = { chart.items.iter() }
        .filter(|item| item.shape() == Some(Kind::Mail))
        .collect();
    if let ([mail], true) = (mails.as_slice(), words::has(text, language, "receives")) {
        let mail = text.get(mail.from..mail.to).unwrap_or_default();
        tries.push(format!("send an email to {mail}"));
    }
    tries.extend([plain.clone(), format!("send {plain}")]);
    // "Put a wait of 10 minutes": the thing alone.
    let put = ["put", "more"]
        .iter()
        .flat_map(|class| words::places(&plain, language, class));
    if let Some(put) = put
        .filter(|place| place.start == 0)
        .max_by_key(|place| place.end)
    {
        let rest = plain.get(put.end..).unwrap_or_default().trim_start();
        let article = words::places(rest, language, "article");
        let article = article
            .iter()
            .filter(|place| place.start == 0)
            .map(|place| place.end)
            .max();
        let thing = rest.get(article.unwrap_or(0)..).unwrap_or_default();
        tries.push(thing.trim().to_owned());
    }
    // "Get a text by Twilio": what somebody gets is sent.
    let gets = words::places(&plain, language, "receives")
        .into_iter()
        .next();
    if let (Some(gets), Some(send)) = (gets, words::first_form(language, "send")) {
        let what = plain.get(gets.end..).unwrap_or_default();
        tries.push(format!("{send} {}", what.trim()));
    }
    let mut named = chart.items.iter().filter(|item| item.service().is_some());
    if let (Some(item), None) = (named.next(), named.next())
        && let (Some(service), Some(rest)) = (item.service(), text.get(item.from..))
    {
        tries.push(match service.speaks() {
            true => format!("send a message to {rest}"),
            false => format!("add a row to {rest}"),
        });
    }
    tries
}

pub(super) fn removal(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let pattern = rx(
        r"^\W*(?:please\s+|bitte\s+)?(?:remove|delete|drop|skip|omit|leave out|get rid of|take out|take away|throw out|throw away|cut out|kick out|ditch|scrap|entfern\w*|lösch\w*|nimm|streich\w*|wirf|schmeiß\w*|quita\w*|elimina\w*|borra\w*|saca|supprime\w*|enlève\w*|retire\w*|vire)\s+(?:the\s+|den\s+|die\s+|das\s+|el\s+|la\s+|le\s+)?(.+?)(?:\s+(?:raus|heraus|weg|hinaus|altogether|completely|entirely|again|wieder))?$",
    );
    let Some(c) = pattern.captures(clause) else {
        return false;
    };
    let what = c.get(1).map_or("", |m| m.as_str());
    // what goes is a step; items that go are told by a condition, a column or a number
    let items = r"\b(?:whose|that|which|where|who|with|without|if|when|older|newer|below|above|under|over|by|duplicates?|deren|dessen|mit|ohne|wenn|bei|doppelte\w*|duplikate?|cuy[oa]s?|que|con|sin|cuando|si|duplicad\w+|dont|avec|sans|quand|doublons?)\b";
    if has(items, what) {
        return false;
    }
    // "the Slack step, the sheet and the condition": all of them, or none and a question
    let mut names: Vec<String> = Vec::new();
    for piece in rx(r"\s*(?:,|\b(?:and|und|sowie|y|e|et)\b)\s*").split(what) {
        let piece = piece.trim();
        if piece.is_empty() {
            continue;
        }
        match mention::one(patch.workflow(), piece, kept).filter(|n| !names.contains(n)) {
            Some(name) => names.push(name),
            None => return false,
        }
    }
    for name in &names {
        patch.remove(name);
    }
    !names.is_empty()
}

/// "Give the agent a tool to look up HubSpot contacts by e-mail."
pub(super) fn tool(patch: &mut Patch<'_>, clause: &str, _kept: &[String]) -> bool {
    if !has(
        r"\b(?:tool|werkzeug|herramienta|outil|able to|can also|ability|möglichkeit|fähigkeit)\b",
        clause,
    ) {
        return false;
    }
    let agents = mention::of_type(patch.workflow(), "agent");
    let Some(agent) = mention::one(patch.workflow(), clause, &[])
        .filter(|n| agents.contains(n))
        .or_else(|| agents.first().cloned())
    else {
        return false;
    };
    let purpose = rx(r"\b(?:tool|werkzeug|herramienta|outil|able|ability|möglichkeit|fähigkeit)\b\s*(?:that can|that|which|to|so that it can|for|with which it can|um|zum|zu|para|pour)?\s*(.+)$")
        .captures(clause)
        .and_then(|c| c.get(1))
        .map(|m| m.as_str().trim().to_owned())
        .unwrap_or_else(|| clause.to_owned());
    let builtin = [
        ("calculator", "calculator"),
        ("rechner", "calculator"),
        ("wikipedia", "wikipedia"),
        ("serp", "serpapi"),
        ("web search", "serpapi"),
        ("search the web", "serpapi"),
        ("wolfram", "wolfram"),
        ("think", "think"),
    ]
    .iter()
    .find(|(w, _)| fold(clause).contains(w))
    .map(|(_, b)| (*b).to_owned());
    let inputs: Vec<String> = rx(r"\b(?:by|per|anhand|über|nach|por|par|using|with)\s+(?:the\s+|their\s+|its\s+|der\s+|die\s+)?([\w-]+(?:\s+(?:address|number|id|name|nummer))?)")
        .captures_iter(&purpose)
        .filter_map(|c| c.get(1).map(|m| m.as_str().replace("e-mail", "email").replace("E-Mail", "email")))
        .map(|i| snake(&i))
        .collect();
    let step = if builtin.is_some() {
        None
    } else {
        tool_step(&purpose)
    };
    if builtin.is_none() && step.is_none() {
        return false;
    }
    patch.tool(
        &agent,
        &Tool {
            name: None,
            purpose: super::super::compile::words::capital(&purpose),
            step: step.map(Box::new),
            builtin,
            inputs,
            approval: None,
        },
    );
    true
}

fn tool_step(purpose: &str) -> Option<Step> {
    let steps = steps_of(purpose);
    let looks_up = has(
        r"\b(?:look\w* up|find|search|get|read|fetch|check|query|nachschlag\w*|such\w*|find\w*|les\w*|abfrag\w*|busca\w*|consulta\w*|cherche\w*|lire)\b",
        purpose,
    );
    let mut found = steps.into_iter().find(|s| {
        matches!(
            s.does,
            Does::Service { .. } | Does::Http { .. } | Does::CallWorkflow { .. }
        )
    })?;
    if let Does::Service { verb, args, .. } = &mut found.does {
        if looks_up && !matches!(verb, Verb::Get | Verb::GetMany | Verb::Search | Verb::Query) {
            *verb = Verb::Search;
        }
        if looks_up
            && matches!(verb, Verb::Get | Verb::GetMany)
            && has(r"\b(?:by|per|anhand|por|par)\b", purpose)
        {
            *verb = Verb::Search;
        }
        // what is looked up by is what the model fills in
        args.retain(|a| {
            matches!(
                a.role,
                Role::Container | Role::Part | Role::Channel | Role::Template | Role::Url
            )
        });
    }
    Some(found)
}

/// "Use Teams instead of Slack", "replace the Slack step by Discord".
pub(super) fn service_swap(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let patterns = [
        r"\b(?:statt|anstatt|instead of|en lugar de|en vez de|au lieu de)\s+(\S+)\s+(?:,\s*)?(?:bitte |lieber |please |use |usa |utilise )*(\S+)$",
        r"\b(?:replace|swap|exchange|switch|change|ersetz\w*|tausch\w*|reemplaza|sustituye|cambia|remplace\w*)\b\s+(?:from\s+)?(.+?)\s+(?:by|with|for|to|durch|mit|gegen|auf|por|par|à|a)\s+(.+)$",
        r"()\b(?:use|send\w*|post\w*|go|write|save|store|put|append|log|insert|add|nimm|nutze|verwende|schick\w*|schreib\w*|speicher\w*|usa|manda|escribe|guarda|utilise|envoie|écris|enregistre)\b\s+(?:it |them |that |this |everything |the \w+ |alles |es |sie )?(?:to |into |in |via |by |with |an |über |per |en |dans )?(.+?)\s+(?:instead of|rather than|statt|anstatt|en lugar de|en vez de|au lieu de)\s+(.+)$",
    ];
    for (i, pattern) in patterns.iter().enumerate() {
        let Some(c) = rx(pattern).captures(clause) else {
            continue;
        };
        let group = |i: usize| c.get(i).map_or("", |m| m.as_str()).trim().to_owned();
        let (old, mut new) = if i < 2 {
            (group(1), group(2))
        } else {
            (group(3), group(2))
        };
        let language = super::said::spoken(clause);
        // "send the report with Outlook"
        let by = [" with ", " mit ", " con ", " avec ", " über "];
        if let Some((_, service)) = by
            .iter()
            .find_map(|by| new.rsplit_once(by))
            .filter(|_| i > 1)
        {
            new = service.to_owned();
        }
        let last = new.rsplit(' ').next().unwrap_or(&new);
        if super::words::is_all(last, language, "pronoun") {
            continue;
        }
        let Some(name) = mention::one(patch.workflow(), &old, kept) else {
            continue;
        };
        // what stands in parentheses behind the old one is said of the new one
        let aside = rx(r"\(([^)]*)\)\s*$").captures(&old).and_then(|c| c.get(1));
        let aside = aside.map_or("", |m| m.as_str());
        let upsert = has(r"\b(?:upsert\w*|insert or update|add or update)\b", clause);
        if upsert {
            new = rx(r"\s*\([^)]*\)\s*$").replace(&new, "").into_owned();
        } else if !aside.is_empty() {
            new = format!("{new} ({aside})");
        }
        let Some((service, mut args, mut verb)) = service_in(&new, stores(patch, &name)) else {
            continue;
        };
        if upsert {
            verb = Verb::Upsert;
        }
        if let Some(key) = rx(r"\b(?:key(?:ed (?:on|by))?|match(?:ed|ing)? (?:on|by)|schlüssel|clave|clé)\s+(?:column\s+|is\s+)?(\w+)").captures(clause).and_then(|c| c.get(1)) {
            args.push(Arg {
                role: Role::MatchOn,
                value: Val::Lit { value: json!(key.as_str()) },
            });
        }
        carry(patch, &name, &mut args);
        if patch
            .replace_service(&name, &service, verb, &args)
            .is_some()
        {
            return true;
        }
    }
    false
}

/// Another service in the place of a node, with what the node says.
pub(super) fn swap(patch: &mut Patch<'_>, node: &str, new: &str) -> bool {
    let Some((service, mut args, verb)) = service_in(new, stores(patch, node)) else {
        return false;
    };
    let old = patch.workflow().node_by_name(node);
    // What reads is no place to write to.
    let verb = match old.is_some_and(reads) {
        true => Verb::Query,
        false => verb,
    };
    carry(patch, node, &mut args);
    patch.replace_service(node, &service, verb, &args).is_some()
}

/// The service that a fragment names, with what it says about it.
fn service_in(text: &str, store: bool) -> Option<(Service, Vec<Arg>, Verb)> {
    let (sends, adds) = (
        [format!("send a message to {text}"), format!("send {text}")],
        [format!("add a row to {text}"), text.to_owned()],
    );
    let attempts: Vec<String> = if store {
        adds.into_iter().chain(sends).collect()
    } else {
        sends.into_iter().chain(adds).collect()
    };
    for attempt in attempts {
        for step in steps_of(&attempt) {
            if let Does::Service {
                service,
                verb,
                args,
                ..
            } = step.does
                && !service.node_types.is_empty()
            {
                return Some((service, args, verb));
            }
        }
    }
    None
}

/// A node that keeps rows: what takes its place keeps rows too.
fn stores(patch: &Patch<'_>, name: &str) -> bool {
    let node = patch.workflow().node_by_name(name);
    node.and_then(|n| n.parameters())
        .is_some_and(|p| p.contains_key("columns") || p.contains_key("table"))
}

/// Text, subject and recipient of the node that goes carry over where the request says nothing new.
fn carry(patch: &Patch<'_>, old: &str, args: &mut Vec<Arg>) {
    let empty = Map::new();
    let Some(node) = patch.workflow().node_by_name(old) else {
        return;
    };
    let params = node.parameters().unwrap_or(&empty);
    let has_role = |args: &[Arg], role: &Role| args.iter().any(|a| a.role == *role);
    for (role, keys) in [
        (
            Role::Text,
            &["text", "message", "content", "html", "bodyContent"][..],
        ),
        (Role::Subject, &["subject"][..]),
        (Role::To, &["sendTo", "toEmail", "toRecipients"][..]),
    ] {
        if has_role(args, &role) {
            continue;
        }
        if let Some(value) = keys
            .iter()
            .find_map(|k| params.get(*k))
            .and_then(Value::as_str)
        {
            args.push(Arg {
                role,
                value: Val::Lit {
                    value: json!(value),
                },
            });
        }
    }
    let table = params
        .get("table")
        .map(|table| table.get("value").unwrap_or(table));
    if let Some(table) = table.filter(|_| !has_role(args, &Role::Container)) {
        args.push(Arg {
            role: Role::Container,
            value: Val::Lit {
                value: table.clone(),
            },
        });
    }
    // columns that were filled one by one
    let columns = params
        .get("columns")
        .and_then(|c| c.get("value"))
        .and_then(Value::as_object);
    let named = args.iter().any(|a| matches!(a.role, Role::Field(_)));
    for (column, value) in columns.into_iter().flatten().filter(|_| !named) {
        args.push(Arg {
            role: Role::Field(column.clone()),
            value: Val::Lit {
                value: value.clone(),
            },
        });
    }
}
