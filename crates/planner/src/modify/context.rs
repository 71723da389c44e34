//! What the clauses of a message say about one another: reasons, asides, pronouns, remarks, the one thing and not the other. Afterwards
//! each clause says by itself what is to be done.

use super::{named, tidy, wire, words};
use crate::chart::{Item, chart};
use crate::lexicon::ServiceEntry;
use crate::spot::Kind;
use agentctl_n8n::Workflow;

pub(super) fn settle(clauses: &mut Vec<String>, workflow: &Workflow, language: &str) {
    contrasts(clauses, language);
    asides(clauses, workflow, language);
    reasons(clauses, workflow, language);
    resolve(clauses, language);
    pronouns(clauses, workflow, language);
    remarks(clauses, language);
}

/// "We have moved to Outlook. Send it with that instead of Gmail": a pronoun right before "instead of" is the one service that the
/// clause before is about, which then says nothing else.
fn resolve(clauses: &mut Vec<String>, language: &str) {
    let mut at = 1;
    while let Some([before, clause]) = clauses.get(at - 1..=at) {
        let items = chart(before, language).items;
        let mut named = items.iter().filter(|item| item.service().is_some());
        let service = named.next().filter(|_| named.next().is_none());
        let service = service.and_then(|item| before.get(item.from..item.to));
        let of = words::places(clause, language, "of").into_iter().next();
        let pronoun = of.and_then(|of| {
            let head = clause.get(..of.start)?.trim_end();
            let from = head.rfind(' ')? + 1;
            words::is_all(head.get(from..)?, language, "pronoun").then_some(from..head.len())
        });
        match (service.map(str::to_owned), pronoun) {
            (Some(service), Some(pronoun)) => {
                let mut clause = clause.clone();
                clause.replace_range(pronoun, &service);
                clauses.splice(at - 1..=at, [clause]);
            }
            _ => at += 1,
        }
    }
}

/// "We left Slack for Teams, so use Teams there", "we moved to Linear; replace it": why something is to be done says nothing that the
/// order does not, and an order of pronouns alone says nothing that the reason does not.
fn reasons(clauses: &mut Vec<String>, workflow: &Workflow, language: &str) {
    const ORDER: [&str; 6] = [
        "exchange",
        "bare",
        "pronoun",
        "filler",
        "please",
        "meanwhile",
    ];
    for clause in clauses.iter_mut() {
        let places = words::places(clause, language, "therefore");
        let order = places.iter().find_map(|place| {
            let reason = clause.get(..place.start)?.trim_end();
            let order = clause.get(place.end..)?.trim_start_matches([',', ' ']);
            let parted = reason.ends_with([',', ';']) && words::words(order).len() > 1;
            let order = match exchanged(workflow, reason, order, language) {
                Some(both) => both,
                None => order.to_owned(),
            };
            (parted && adds_nothing(workflow, reason, &order, language)).then_some(order)
        });
        if let Some(order) = order {
            *clause = order;
        }
    }
    let mut at = 1;
    while let Some([before, clause]) = clauses.get(at - 1..=at) {
        // "I don't like Notion, use Airtable".
        let both = exchanged(workflow, before, clause, language);
        let goes = words::has(before, language, "dislike")
            || words::has(before, language, "out") && words::begins(clause, language, "use");
        if let (Some(both), true) = (both, goes) {
            clauses.splice(at - 1..=at, [both]);
            continue;
        }
        let said: Vec<_> = { ORDER.iter() }
            .flat_map(|class| words::places(clause, language, class))
            .collect();
        let bare = words::words(clause).iter().all(|(word, _)| {
            said.iter()
                .any(|place| place.start <= word.start && word.end <= place.end)
        });
        let says_more = words::has(before, language, "exchange");
        match bare && says_more && words::has(clause, language, "exchange") {
            true => drop(clauses.remove(at)),
            false => at += 1,
        }
    }
}

/// "Not every 10 but every 5 minutes": the second instead of the first.
fn contrasts(clauses: &mut [String], language: &str) {
    for clause in clauses {
        let not = words::places(clause, language, "not").into_iter().next();
        let but = words::places(clause, language, "contrast")
            .into_iter()
            .next();
        let parts = not.zip(but).and_then(|(not, but)| {
            let head = clause.get(..not.start)?.trim();
            let old = clause.get(not.end..but.start)?.trim_matches([',', ' ']);
            let new = clause.get(but.end..)?.trim();
            let of = words::first_form(language, "contrasted")?;
            let whole = !old.is_empty() && !new.is_empty();
            whole.then(|| format!("{head} {new} {of} {old}").trim().to_owned())
        });
        if let Some(parts) = parts {
            *clause = parts;
        }
    }
}

/// "I'm going on holiday, switch it off": what somebody tells of himself, with nothing in it that could be a change, is none.
fn asides(clauses: &mut Vec<String>, workflow: &Workflow, language: &str) {
    const CHANGES: [&str; 14] = [
        "instead", "of", "more", "off", "on", "gone", "stop", "link", "unlink", "put", "exchange",
        "only", "bound", "remark",
    ];
    let is_aside = |text: &str| {
        let names = !named::meant(workflow, text, language, 1).is_empty();
        let items = chart(text, language).items;
        let tells = |item: &Item| {
            let number = item.shape() == Some(Kind::Number);
            number || item.service().is_some() || item.literal()
        };
        let changes = CHANGES
            .iter()
            .any(|class| words::has(text, language, class));
        let timed = !crate::time::spans(text, language).is_empty();
        words::begins(text, language, "aside")
            && !(names || changes || timed || items.iter().any(tells))
    };
    for clause in clauses.iter_mut() {
        let parted = clause.split_once(", ").filter(|(head, _)| is_aside(head));
        let rest = parted.map(|(_, rest)| tidy::tidy(rest, Some(workflow), language));
        if let Some(rest) = rest {
            *clause = rest;
        }
    }
    if !clauses.iter().all(|clause| is_aside(clause)) {
        clauses.retain(|clause| !is_aside(clause));
    }
}

/// "We don't use Telegram any more, so send it with WhatsApp": the one comes for the other.
fn exchanged(workflow: &Workflow, reason: &str, order: &str, language: &str) -> Option<String> {
    let services = |text: &str| {
        let items = chart(text, language).items;
        let all: Vec<_> = items.iter().filter_map(Item::service).collect();
        all
    };
    let used = |service: &ServiceEntry| {
        let mut nodes = workflow.nodes.iter();
        nodes.any(|node| service.actions.iter().any(|t| t == node.node_type()))
    };
    let old = services(reason).into_iter().find(|service| used(service))?;
    let new = services(order);
    let [new] = new.as_slice() else { return None };
    let alike = new.tags.iter().any(|tag| old.tags.contains(tag));
    let of = words::first_form(language, "of")?;
    (alike && !used(new)).then(|| format!("{order} {of} {}", old.label))
}

/// "Rename A to B and disable it": what nothing but a pronoun names is the node of the clause before.
fn pronouns(clauses: &mut Vec<String>, workflow: &Workflow, language: &str) {
    const DOES: [&str; 6] = ["off", "on", "gone", "filler", "please", "meanwhile"];
    let mut at = 1;
    while let Some([before, clause]) = clauses.get(at - 1..=at) {
        let (before, clause) = (before.clone(), clause.clone());
        at += 1;
        let named = wire::all_named(workflow, &before);
        let places = words::places(&clause, language, "pronoun");
        let does: Vec<_> = { DOES.iter() }
            .flat_map(|class| words::places(&clause, language, class))
            .chain(places.iter().cloned())
            .collect();
        let whole = words::words(&clause).iter().all(|(word, _)| {
            does.iter()
                .any(|place| place.start <= word.start && word.end <= place.end)
        });
        let both_go = [&before, &clause]
            .iter()
            .all(|c| words::has(c, language, "gone"));
        if whole && both_go && places.len() == 1 {
            // "It isn't needed, drop it" says it twice.
            at -= 1;
            clauses.remove(at);
            continue;
        }
        if let ([node], [place], true) = (named.as_slice(), places.as_slice(), whole)
            && let Some(said) = clauses.get_mut(at - 1)
        {
            said.replace_range(place.clone(), node);
        }
    }
}

/// Whether all services and literals of a reason are in the order too, or in the workflow.
fn adds_nothing(workflow: &Workflow, reason: &str, order: &str, language: &str) -> bool {
    let items = chart(reason, language).items;
    let told = |item: &Item| {
        let said = reason.get(item.from..item.to).unwrap_or_default();
        let again = order.to_lowercase().contains(&said.to_lowercase());
        let used = item.service().is_some_and(|service| {
            let mut nodes = workflow.nodes.iter();
            nodes.any(|node| service.has_node(node.node_type()))
        });
        again || used
    };
    let named = items
        .iter()
        .filter(|item| item.service().is_some() || item.literal());
    { named }.all(told)
}

/// "100 is too low, make it 250": what is wrong with a thing belongs to what is to be done about it.
fn remarks(clauses: &mut Vec<String>, language: &str) {
    let mut at = 1;
    while let Some([before, clause]) = clauses.get(at - 1..=at) {
        match words::has(before, language, "remark") {
            true => {
                let both = format!("{before}, {clause}");
                clauses.splice(at - 1..=at, [both]);
            }
            false => at += 1,
        }
    }
}
