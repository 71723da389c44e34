//! Where a new step goes: behind or ahead of a named one, at the end, where data is made ready.

use super::insert::steps_of;
use super::mention;
use crate::compile::existing::Patch;
use crate::lexicon::{has, rx};
use crate::plan::{Arg, Does, Role, Step, Val, Verb};

/// The node whose data a new branch reads, and its output: what leads to the one end; of several ends the last that leads to all of them,
/// by the same output, so that what is meant for all items is not put on one way of them.
pub(super) fn source_of(patch: &Patch<'_>) -> Option<(String, u32)> {
    let ends = mention::ends(patch.workflow());
    let end = ends.first()?;
    let mut ways = vec![end.clone()];
    let mut before: Vec<(String, u32)> = Vec::new();
    let mut at = 0;
    while let Some(name) = ways.get(at).cloned() {
        for (from, output, _) in patch.sources(&name) {
            if !ways.contains(&from) {
                ways.push(from.clone());
            }
            before.push((from, output));
        }
        at += 1;
    }
    let leads_to_all = |(from, output): &&(String, u32)| {
        let mut reached: Vec<String> = { patch.targets(from).into_iter() }
            .filter_map(|(o, to, _)| (o == *output).then_some(to))
            .collect();
        let mut at = 0;
        while let Some(name) = reached.get(at).cloned() {
            for (_, to, _) in patch.targets(&name) {
                if !reached.contains(&to) {
                    reached.push(to);
                }
            }
            at += 1;
        }
        ends.iter().all(|end| reached.contains(end))
    };
    let common = before.iter().find(leads_to_all).or_else(|| before.first());
    Some(common.cloned().unwrap_or_else(|| (end.clone(), 0)))
}

/// Something goes: a step that only comes in addition is not what was asked for.
const INSTEAD: &str = r"\b(?:instead|rather than|in place of|replac\w*|statt|stattdessen|anstatt|anstelle|ersetz\w*|en lugar|en vez|sustituy\w*|reemplaz\w*|au lieu|à la place|remplac\w*)\b";

/// "After X has …, do Y", "before X, wait 5 minutes", "do Y after X".
pub(super) fn placed(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
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
    let language = agentctl_kit::language::language(clause);
    if let Some((anchor, work, behind)) = super::wire::beside(patch.workflow(), clause, language) {
        return beside(patch, &anchor, &work, behind, kept);
    }
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
        if beside(patch, &anchor, &work, *behind, kept) {
            return true;
        }
    }
    false
}

/// Steps right behind a node, or right before it.
pub(super) fn beside(
    patch: &mut Patch<'_>,
    anchor: &str,
    work: &str,
    behind: bool,
    kept: &[String],
) -> bool {
    let mut steps = steps_of(work);
    // A step that is there already is put, and no new one.
    if steps.is_empty() || !super::wire::all_named(patch.workflow(), work).is_empty() {
        return false;
    }
    answer_columns(patch, anchor, work, &mut steps);
    if behind {
        let inline = steps.iter().all(|s| {
            matches!(
                s.does,
                Does::Wait { .. }
                    | Does::Filter { .. }
                    | Does::SetFields { .. }
                    | Does::LimitTo { .. }
                    | Does::Sort { .. }
                    | Does::Unique { .. }
                    | Does::Dedupe { .. }
                    | Does::Llm { .. }
            )
        });
        patch.after(anchor, 0, &steps, inline);
        keep_chat_answer(patch, anchor);
    } else {
        let kept = kept.iter().any(|name| name == anchor);
        patch.ahead(anchor, &steps, kept);
    }
    true
}

/// "Sort them by date first", "remove duplicates by id": data is made ready ahead of the first step that acts.
pub(super) fn prepared(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let steps = steps_of(
        &rx(r"\s*\b(?:first(?: of all)?|beforehand|zuerst|vorher|primero|antes|d'abord)\b\W*$")
            .replace(clause, ""),
    );
    let only_prepares = |step: &Step| {
        matches!(
            step.does,
            Does::LimitTo { .. } | Does::Sort { .. } | Does::Unique { .. } | Does::Dedupe { .. }
        )
    };
    if steps.is_empty() || !steps.iter().all(only_prepares) {
        return false;
    }
    let Some(target) = super::hold::first_acting(patch, "", kept) else {
        return false;
    };
    patch.ahead(&target, &steps, kept.contains(&target));
    true
}

/// "After the last ticket post one message", "when all are done, tell …": once, when everything went through.
pub(super) fn at_the_end(patch: &mut Patch<'_>, clause: &str, _kept: &[String]) -> bool {
    let last = r"(?:after|behind|once|when|nach|wenn|sobald|después de|cuando|tras|après|quand|une fois)\s+(?:the\s+|der|dem|die|das|el|la|le)?\s*(?:(?:last|final|letzte[nrms]?|últim[oa]|derni[eè]re?)\s+[\w-]+|(?:all|every|each|alle[ns]?|todo[s]?|toda[s]?|tou[st]e?s?)\b[^,]*?(?:done|through|processed|finished|saved|handled|written|imported|fertig|verarbeitet|durch|gespeichert|procesad\w+|terminad\w+|listo|traité\w*|terminé\w*|finis?))";
    let Some(work) = [
        format!(r"^\W*{last}\s*(?:batch\s*)?,?\s*(.+)$"),
        format!(r"^(.+?)\s+{last}\W*$"),
    ]
    .iter()
    .find_map(|p| Some(rx(p).captures(clause)?.get(1)?.as_str().to_owned())) else {
        return false;
    };
    let steps = steps_of(
        &rx(r"\b(?:a single|one|exactly one|eine einzige|una? sol[oa]|une? seule?)\b")
            .replace(&work, "a"),
    );
    if steps.is_empty() {
        return false;
    }
    let rounds = mention::of_type(patch.workflow(), "splitInBatches");
    let ends = mention::ends(patch.workflow());
    let anchor = match (rounds.as_slice(), ends.as_slice()) {
        ([round], _) => round,
        ([], [end]) => end,
        _ => return false,
    }
    .clone();
    let collect = Step {
        id: "all".to_owned(),
        said: String::new(),
        does: Does::Aggregate {
            format: "list".to_owned(),
            group_by: None,
        },
        name: None,
    };
    let together = steps
        .iter()
        .any(|s| matches!(s.does, Does::Aggregate { .. }));
    let mut all: Vec<Step> = (!together).then_some(collect).into_iter().collect();
    all.extend(steps);
    patch.after(&anchor, 0, &all, false);
    true
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

/// "Make the Slack message say X": of a service that has its node, where nothing says that it is one more, nor to where.
pub(super) fn is_there(patch: &Patch<'_>, clause: &str, language: &str) -> bool {
    let chart = crate::chart::chart(clause, language);
    let used = |service: &crate::lexicon::ServiceEntry| {
        let nodes = patch.workflow().nodes.iter();
        { nodes }.any(|node| service.actions.iter().any(|t| t == node.node_type()))
    };
    let there = chart
        .items
        .iter()
        .filter_map(crate::chart::Item::service)
        .any(used);
    // "Write into the mail: …": a thing with its article, which a node works on.
    let definite = super::words::places(clause, language, "definite");
    let by_kind = chart.items.iter().any(|item| {
        let said = clause.get(item.from..item.to).unwrap_or_default();
        let known = definite.iter().any(|place| place.end + 1 == item.from);
        known && item.noun().is_some() && !mention::all(patch.workflow(), said).is_empty()
    });
    let elsewhere = |item: &crate::chart::Item| {
        use crate::spot::Kind;
        matches!(
            item.shape(),
            Some(Kind::Channel | Kind::Mail | Kind::Phone | Kind::Url)
        )
    };
    let more = super::slot::adds(clause, language) || super::words::has(clause, language, "then");
    (there || by_kind) && !more && !chart.items.iter().any(elsewhere)
}

/// "Slack #incidents too": something more, of a service that is not there yet.
fn also(patch: &Patch<'_>, clause: &str) -> bool {
    let language = super::said::spoken(clause);
    const OTHER: [&str; 8] = [
        "gone", "stop", "off", "on", "of", "instead", "exchange", "unlink",
    ];
    if OTHER
        .iter()
        .any(|class| super::words::has(clause, language, class))
    {
        return false;
    }
    let chart = crate::chart::chart(clause, language);
    let services: Vec<_> = { chart.items.iter() }
        .filter_map(crate::chart::Item::service)
        .collect();
    let used = |s: &&crate::lexicon::ServiceEntry| {
        let mut nodes = patch.workflow().nodes.iter();
        nodes.any(|n| s.has_node(n.node_type()))
    };
    let is_new = services.iter().any(|s| !used(s));
    // "One more row in the Google Sheet Ledger": of a service that is there, as a thing of its own.
    let thing = chart.items.iter().any(|i| i.noun().is_some());
    if thing && !services.is_empty() && super::slot::adds(clause, language) {
        return true;
    }
    let verb = chart
        .items
        .iter()
        .find(|i| i.verb().is_some() || i.noun().is_some());
    // "Boss@x.example should get a mail too": where nothing mails yet.
    let mails = chart
        .items
        .iter()
        .any(|i| i.shape() == Some(crate::spot::Kind::Mail));
    let is_new = is_new || mails && mention::all(patch.workflow(), "mail").is_empty();
    is_new && (super::slot::adds(clause, language) || verb.is_some_and(|i| i.verb().is_some()))
}

/// A new step at the end.
pub(super) fn appended(patch: &mut Patch<'_>, clause: &str, _kept: &[String]) -> bool {
    let language = super::said::spoken(clause);
    if has(INSTEAD, clause) || super::words::has(clause, language, "between") {
        return false;
    }
    let asks = has(
        r"^\W*(?:please\s+|bitte\s+|also\s+|additionally,?\s+|then\s+|zusätzlich\s+|außerdem\s+|por favor\s+|también\s+)*(?:also|add|insert|send|post|notify|tell|write|save|store|append|log|create|let|make|additionally|at the end|finally|füg\w*|ergänz\w*|send\w*|schick\w*|poste\w*|schreib\w*|speicher\w*|informier\w*|benachrichtig\w*|añade|agrega|envía|manda|guarda|avisa|ajoute|envoie|écris|enregistre|préviens)\b",
        clause,
    );
    if !asks && !also(patch, clause) {
        return false;
    }
    let text = rx(r"^\W*(?:also|additionally,?|at the end,?|finally,?|zusätzlich|außerdem|am ende|también|al final|aussi|à la fin)\s+").replace(clause, "").into_owned();
    let steps = steps_of(&text);
    // A place that is said is none at the end.
    let elsewhere = super::place::says(patch.workflow(), clause, language);
    // "Get it on Slack too" is no look into the channel.
    let looks = |step: &Step| {
        matches!(
            &step.does,
            Does::Service {
                verb: Verb::Get | Verb::GetMany | Verb::Search,
                ..
            }
        )
    };
    let looks = steps.iter().any(looks) && super::slot::adds(clause, language);
    if steps.is_empty() || looks || elsewhere || is_there(patch, clause, language) {
        return false;
    }
    if super::branch::is_asked(patch, &steps) {
        return true;
    }
    let ends = mention::ends(patch.workflow());
    let first = || {
        patch
            .workflow()
            .nodes
            .first()
            .map(|n| (n.name().to_owned(), 0))
    };
    let anchor = match ends.as_slice() {
        [one] => Some((one.clone(), 0)),
        _ => source_of(patch).or_else(first),
    };
    let Some((anchor, output)) = anchor else {
        return false;
    };
    patch.after(&anchor, output, &steps, false);
    true
}
