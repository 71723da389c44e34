//! New parts: steps, conditions, tools, error handling; and steps that go or are exchanged for another service.

use serde_json::{Map, Value, json};

use super::mention;
use crate::model::offline::compile::existing::Patch;
use crate::model::offline::compile::words::{fold, snake};
use crate::model::offline::lexicon::{has, rx};
use crate::model::offline::plan::{Arg, Cmp, Cond, Does, Role, Service, Step, Tool, Val, Verb};
use crate::model::offline::read::cond::condition;
use crate::model::offline::read::text::Masked;
use crate::model::offline::read::{ReadContext, read};

/// What must be tried before values: removals, models, retries, conditions.
pub(super) fn first(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    removal(patch, clause, kept)
        || tool(patch, clause)
        || failing(patch, clause, kept)
        || only_when(patch, clause, kept)
}

/// New steps, and a service in the place of another.
pub(super) fn apply(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    service_swap(patch, clause, kept)
        || conditional(patch, clause)
        || placed(patch, clause)
        || appended(patch, clause)
}

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
    for text in tries {
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

fn removal(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let pattern = rx(
        r"^\W*(?:please\s+|bitte\s+)?(?:remove|delete|drop|get rid of|take out|take away|throw out|throw away|cut out|kick out|ditch|scrap|entfern\w*|lösch\w*|nimm|streich\w*|wirf|schmeiß\w*|quita\w*|elimina\w*|borra\w*|saca|supprime\w*|enlève\w*|retire\w*|vire)\s+(?:the\s+|den\s+|die\s+|das\s+|el\s+|la\s+|le\s+)?(.+?)(?:\s+(?:raus|heraus|weg|hinaus|altogether|completely|entirely|again|wieder))?$",
    );
    let Some(c) = pattern.captures(clause) else {
        return false;
    };
    let what = c.get(1).map_or("", |m| m.as_str());
    let Some(name) = mention::one(patch.workflow(), what, kept) else {
        return false;
    };
    patch.remove(&name);
    true
}

/// "Give the agent a tool to look up HubSpot contacts by e-mail."
fn tool(patch: &mut Patch<'_>, clause: &str) -> bool {
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

/// Retries, and what happens when a step fails.
fn failing(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let retry = has(
        r"\b(?:retry|retries|try again|tries|attempts|wiederhol\w*|versuch\w*|reintent\w*|réessay\w*|tentatives?)\b",
        clause,
    );
    let fails = has(
        r"\b(?:fails?|failure|error|errors|goes wrong|fehlschlägt|fehler|schiefgeht|fall[ae]n?|error|échou\w*|erreur)\b",
        clause,
    );
    if !retry && !fails {
        return false;
    }
    let meant: Vec<String> = mention::all(patch.workflow(), clause)
        .into_iter()
        .filter(|n| !kept.contains(n))
        .collect();
    let outside: Vec<String> = patch
        .workflow()
        .nodes
        .iter()
        .filter(|n| {
            !n.is_sticky()
                && !n.node_type().to_lowercase().contains("trigger")
                && !n.node_type().ends_with("webhook")
                && n.node_type().starts_with("n8n-nodes-base.")
        })
        .filter(|n| {
            let short = n.node_type().rsplit('.').next().unwrap_or("");
            !matches!(
                short,
                "if" | "switch"
                    | "filter"
                    | "set"
                    | "merge"
                    | "code"
                    | "noOp"
                    | "wait"
                    | "splitInBatches"
                    | "aggregate"
                    | "respondToWebhook"
                    | "stickyNote"
            )
        })
        .map(|n| n.name().to_owned())
        .filter(|n| !kept.contains(n))
        .collect();
    let acting: Vec<String> = meant
        .iter()
        .filter(|n| outside.contains(n))
        .cloned()
        .collect();
    let all = if acting.is_empty() { outside } else { acting };
    let mut done = false;
    if retry {
        let tries = rx(r"(\d+)\s*(?:times|x|mal|veces|fois|tries|attempts|versuche)?")
            .captures(clause)
            .and_then(|c| c.get(1))
            .and_then(|m| m.as_str().parse::<u32>().ok())
            .unwrap_or(3);
        for name in &all {
            if let Some(node) = patch.workflow_mut().node_by_name_mut(name) {
                node.set("retryOnFail", Value::Bool(true));
                node.set("maxTries", json!(tries.clamp(2, 5)));
                done = true;
            }
        }
    }
    if fails {
        let then = rx(r"\b(?:fails?|failure|goes wrong|errors?|fehlschlägt|schiefgeht|fehler|falla|échoue|erreur)\b[^,:;]*[,:;]\s*(.+)$")
            .captures(clause)
            .and_then(|c| c.get(1))
            .map(|m| m.as_str().to_owned())
            .or_else(|| rx(r"^(.+?)\s+(?:if|when|whenever|wenn|falls|si|quand|cuando)\b.*\b(?:fails?|failure|error|fehl\w*|fall\w*|échoue)\b").captures(clause).and_then(|c| c.get(1)).map(|m| m.as_str().to_owned()));
        if let Some(then) = then.filter(|t| !has(r"\b(?:retry|try again)\b", t)) {
            let steps = steps_of(&then);
            if !steps.is_empty() {
                let targets: Vec<String> = all
                    .iter()
                    .filter(|n| !steps_mention(&steps, patch, n))
                    .cloned()
                    .collect();
                patch.on_error(&targets, &steps);
                done = true;
            }
        } else if has(
            r"\b(?:continue|go on|carry on|keep going|weiterlaufen|weitermachen|continua\w*|continue)\b",
            clause,
        ) {
            for name in &all {
                if let Some(node) = patch.workflow_mut().node_by_name_mut(name) {
                    node.set("onError", json!("continueRegularOutput"));
                    done = true;
                }
            }
        }
    }
    done
}

fn steps_mention(_steps: &[Step], _patch: &Patch<'_>, _name: &str) -> bool {
    false
}

/// "Only X when C, everything else Y"; "X only if C"; "skip X when C".
fn only_when(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let when = r"(?:when|if|in case|for|where|wenn|falls|bei|cuando|si|para|quand|lorsque|pour)";
    let other = r"(?:,|;|\.|–|-)?\s*(?:and |und |y |et |but |aber )?(?:for )?(?:everything else|anything else|all (?:the )?(?:others?|rest)|the rest|the others?|otherwise|or else|else|alles andere|alle anderen|sonst|andernfalls|ansonsten|der rest|todo lo demás|lo demás|los demás|si no|de lo contrario|sinon|tout le reste|le reste|les autres)\b";
    let patterns = [
        (
            format!(
                r"\b(?:only|just|nur|solo|sólo|seulement|uniquement)\b\s*(.*?)\s*\b{when}\b\s+(.+?)(?:{other}(.*))?$"
            ),
            false,
        ),
        (
            format!(
                r"^(.*?)\s+(?:only|just|nur|solo|sólo|seulement|uniquement)\s+{when}\s+(.+?)(?:{other}(.*))?$"
            ),
            false,
        ),
        (
            format!(
                r"\b(?:skip|don'?t|do not|never|not|überspring\w*|no)\b\s*(.*?)\s*\b{when}\b\s+(.+?)(?:{other}(.*))?$"
            ),
            true,
        ),
    ];
    for (pattern, negate) in &patterns {
        let Some(c) = rx(pattern).captures(clause) else {
            continue;
        };
        let group = |i: usize| c.get(i).map_or("", |m| m.as_str()).trim().to_owned();
        let (what, when, rest) = (group(1), group(2), group(3));
        let Some(cond) = read_condition(&when) else {
            continue;
        };
        let cond = if *negate {
            Cond::Not { of: Box::new(cond) }
        } else {
            cond
        };
        let Some(target) = target_of(patch, &what, kept) else {
            continue;
        };
        let otherwise = if rest.trim().is_empty() {
            Vec::new()
        } else {
            steps_of(&rest)
        };
        patch.gate(&target, &cond, &otherwise);
        return true;
    }
    false
}

/// The node that a condition goes before. Protected nodes may be gated: only what leads to them changes.
fn target_of(patch: &Patch<'_>, what: &str, _kept: &[String]) -> Option<String> {
    let flow: Vec<String> = patch
        .workflow()
        .edges()
        .filter(|(_, kind, _, _)| *kind == "main")
        .map(|(_, _, _, link)| link.node.clone())
        .collect();
    let found = mention::one(patch.workflow(), what, &[]).filter(|n| flow.contains(n));
    found.or_else(|| {
        let ends = mention::ends(patch.workflow());
        match ends.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        }
    })
}

pub(super) fn read_condition(text: &str) -> Option<Cond> {
    let clean = text.trim().trim_end_matches([',', ';', '.']).trim();
    let m = Masked::of(clean);
    if let Some(cond) = condition(&m, &m.text) {
        return Some(cond);
    }
    // "urgent tickets", "priority urgent"
    let is = rx(
        r"^(?:the\s+|its\s+|die\s+|der\s+|das\s+|la\s+|el\s+|le\s+)?(.+?)\s+(?:is|are|equals|=|ist|sind|es|est)\s+(.+)$",
    );
    let c = is.captures(clean)?;
    let (left, right) = (c.get(1)?.as_str(), c.get(2)?.as_str());
    Some(Cond::Compare {
        left: Val::Field {
            name: left.to_owned(),
            of: None,
        },
        op: Cmp::Eq,
        right: Val::Lit {
            value: json!(right.trim_matches(['\'', '"'])),
        },
    })
}

/// "Use Teams instead of Slack", "replace the Slack step by Discord".
fn service_swap(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let patterns = [
        r"\b(?:replace|swap|exchange|switch|change|ersetz\w*|tausch\w*|reemplaza|sustituye|cambia|remplace\w*)\b\s+(?:from\s+)?(.+?)\s+(?:by|with|for|to|durch|mit|gegen|auf|por|par|à|a)\s+(.+)$",
        r"()\b(?:use|send\w*|post\w*|go|nimm|nutze|verwende|schick\w*|usa|manda|utilise|envoie)\b\s+(?:it |them |that |this )?(?:to |via |by |with |an |über |per )?(.+?)\s+(?:instead of|rather than|statt|anstatt|en lugar de|en vez de|au lieu de)\s+(.+)$",
    ];
    for (i, pattern) in patterns.iter().enumerate() {
        let Some(c) = rx(pattern).captures(clause) else {
            continue;
        };
        let group = |i: usize| c.get(i).map_or("", |m| m.as_str()).trim().to_owned();
        let (old, new) = if i == 0 {
            (group(1), group(2))
        } else {
            (group(3), group(2))
        };
        let Some(name) = mention::one(patch.workflow(), &old, kept) else {
            continue;
        };
        let Some((service, mut args, verb)) = service_in(&new) else {
            continue;
        };
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

/// The service that a fragment names, with what it says about it.
fn service_in(text: &str) -> Option<(Service, Vec<Arg>, Verb)> {
    for attempt in [
        format!("send a message to {text}"),
        format!("send {text}"),
        format!("add a row to {text}"),
        text.to_owned(),
    ] {
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
}

/// "When C, also do Y": a branch of its own.
fn conditional(patch: &mut Patch<'_>, clause: &str) -> bool {
    let Some(c) = rx(r"^\W*(?:if|when|whenever|wenn|falls|si|cuando|quand)\s+(.+?),\s*(?:then\s+|dann\s+|also\s+)?(.+)$").captures(clause) else {
        return false;
    };
    let (when, what) = (
        c.get(1).map_or("", |m| m.as_str()),
        c.get(2).map_or("", |m| m.as_str()),
    );
    let Some(cond) = read_condition(when) else {
        return false;
    };
    let steps = steps_of(
        &rx(r"\b(?:also|additionally|zusätzlich|auch|también|aussi)\b\s*").replace_all(what, ""),
    );
    if steps.is_empty() {
        return false;
    }
    let Some(anchor) = source_of(patch) else {
        return false;
    };
    let gate = Step {
        id: "gate".to_owned(),
        said: when.to_owned(),
        does: Does::If {
            condition: cond,
            then: steps,
            otherwise: Vec::new(),
        },
        name: None,
    };
    patch.after(&anchor, 0, &[gate], false);
    true
}

/// The node whose data a new branch reads: the last one before the first acting end.
fn source_of(patch: &Patch<'_>) -> Option<String> {
    let ends = mention::ends(patch.workflow());
    let end = ends.first()?;
    let before = patch
        .workflow()
        .edges()
        .find(|(_, kind, _, link)| *kind == "main" && link.node == *end)
        .map(|(from, _, _, _)| from.to_owned());
    before.or_else(|| Some(end.clone()))
}

/// "After X has …, do Y", "before X, wait 5 minutes", "do Y after X".
fn placed(patch: &mut Patch<'_>, clause: &str) -> bool {
    let after = r"(?:after(?: each| every)?|once|as soon as|behind|nach(?:dem)?|sobald|después de(?: que)?|cuando|tras|après(?: que)?|une fois)";
    let before = r"(?:before|ahead of|bevor|vor|antes de(?: que)?|avant(?: que| de)?)";
    // the place ends at a comma, or where the work starts
    let verbs = r"(?:push|publish|forward|mail|email|ping|message|record|track|file|open|translate|summari[sz]e|classify|extract|call|fetch|get|look|check|read|pause|sort|remove duplicates|keep|filter|limit|set|rename|convert|write|save|store|insert|append|add|send|post|log|create|notify|tell|wait|update|upload|put|schreib\w*|speicher\w*|füge?|sende|schick\w*|poste|erstell\w*|warte|leg\w*|trag\w*|melde|benachrichtig\w*|informier\w*|protokollier\w*|übersetz\w*|hol\w*|ruf\w*|publica\w*|avisa\w*|notifica\w*|registra\w*|traduce|espera|añade|agrega|publie\w*|préviens|avertis|note|traduis|attends|escribe|guarda|envía|manda|crea|écris|enregistre|envoie|crée|ajoute)";
    let shapes = [
        (
            format!(
                r"^\W*{after}\s+(.+?)(?:,\s*|\s+)(?:then\s+|also\s+|additionally\s+|auch\s+|zusätzlich\s+|también\s+|aussi\s+|dann\s+)*({verbs}\b.+)$"
            ),
            true,
        ),
        (
            format!(
                r"^\W*{before}\s+(.+?)(?:,\s*|\s+)(?:then\s+|also\s+|additionally\s+|auch\s+|zusätzlich\s+|también\s+|aussi\s+|dann\s+)*({verbs}\b.+)$"
            ),
            false,
        ),
        (format!(r"^()({verbs}\b.+?)\s+{after}\s+(.+)$"), true),
        (
            format!(r"^()({verbs}\b.+?)\s+(?:right\s+|directly\s+)?{before}\s+(.+)$"),
            false,
        ),
    ];
    for (pattern, behind) in &shapes {
        let Some(c) = rx(pattern).captures(clause) else {
            continue;
        };
        let group = |i: usize| c.get(i).map_or("", |m| m.as_str()).trim().to_owned();
        let place = if group(1).is_empty() {
            group(3)
        } else {
            group(1)
        };
        let work = group(2);
        let Some(anchor) = mention::one(patch.workflow(), &place, &[])
            .or_else(|| super::brain::answerer(patch, &place))
        else {
            continue;
        };
        let mut steps = steps_of(&work);
        if steps.is_empty() {
            continue;
        }
        answer_columns(patch, &anchor, &work, &mut steps);
        if *behind {
            let inline = steps.iter().all(|s| {
                matches!(
                    s.does,
                    Does::Wait { .. }
                        | Does::Filter { .. }
                        | Does::SetFields { .. }
                        | Does::LimitTo { .. }
                        | Does::Sort { .. }
                        | Does::Dedupe { .. }
                        | Does::Llm { .. }
                )
            });
            patch.after(&anchor, 0, &steps, inline);
            keep_chat_answer(patch, &anchor);
        } else {
            patch.ahead(&anchor, &steps);
        }
        return true;
    }
    false
}

/// A chat answers with what the last node says: a step behind the agent must not take its place.
fn keep_chat_answer(patch: &mut Patch<'_>, anchor: &str) {
    let chat = !mention::of_type(patch.workflow(), "chatTrigger").is_empty();
    let agent = mention::of_type(patch.workflow(), "agent")
        .iter()
        .any(|n| n == anchor);
    let others = patch.targets(anchor).len();
    if chat && agent && others == 1 {
        patch.repeat(anchor, "output");
    }
}

/// "write question and answer into …": what was asked and what the agent said.
fn answer_columns(patch: &Patch<'_>, anchor: &str, work: &str, steps: &mut [Step]) {
    let asks = has(r"\b(?:question|frage|pregunta|question)\b", work)
        && has(r"\b(?:answer|reply|antwort|respuesta|réponse)\b", work);
    if !asks {
        return;
    }
    let chat = mention::of_type(patch.workflow(), "chatTrigger")
        .into_iter()
        .next();
    let code = |node: &str, path: &str| Val::Expr {
        code: format!("$('{}').item.json.{path}", node.replace('\'', "\\'")),
    };
    for step in steps.iter_mut() {
        if let Does::Service { args, .. } = &mut step.does {
            args.retain(|a| {
                !matches!(
                    &a.role,
                    Role::Field(_) | Role::Text | Role::Body | Role::Title
                )
            });
            if let Some(chat) = &chat {
                args.push(Arg {
                    role: Role::Field("question".into()),
                    value: code(chat, "chatInput"),
                });
            }
            args.push(Arg {
                role: Role::Field("answer".into()),
                value: code(anchor, "output"),
            });
        }
    }
}

/// A new step at the end.
fn appended(patch: &mut Patch<'_>, clause: &str) -> bool {
    let asks = has(
        r"^\W*(?:please\s+|bitte\s+|also\s+|additionally,?\s+|then\s+|zusätzlich\s+|außerdem\s+|por favor\s+|también\s+)*(?:also|add|insert|send|post|notify|tell|write|save|store|append|log|create|let|make|additionally|at the end|finally|füg\w*|ergänz\w*|send\w*|schick\w*|poste\w*|schreib\w*|speicher\w*|informier\w*|benachrichtig\w*|añade|agrega|envía|manda|guarda|avisa|ajoute|envoie|écris|enregistre|préviens)\b",
        clause,
    );
    if !asks {
        return false;
    }
    let text = rx(r"^\W*(?:also|additionally,?|at the end,?|finally,?|zusätzlich|außerdem|am ende|también|al final|aussi|à la fin)\s+").replace(clause, "").into_owned();
    let steps = steps_of(&text);
    if steps.is_empty() {
        return false;
    }
    let ends = mention::ends(patch.workflow());
    let anchor = match ends.as_slice() {
        [one] => Some(one.clone()),
        _ => source_of(patch),
    };
    let Some(anchor) =
        anchor.or_else(|| patch.workflow().nodes.first().map(|n| n.name().to_owned()))
    else {
        return false;
    };
    patch.after(&anchor, 0, &steps, false);
    true
}
