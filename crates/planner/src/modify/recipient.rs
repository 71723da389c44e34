//! More people who get a mail: beside those who get it already, in copy, in blind copy.

use agentctl_n8n::short_type;
use serde_json::{Map, Value, json};

use super::mention;
use crate::compile::existing::Patch;
use crate::lexicon::{has, rx};
use agentctl_n8n::Node;

const MAIL: &str = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+";
const MORE: &str = r"\b(?:as well|too|also|additionally|in addition|besides|add|include|cc|bcc|copy|auch|zusätzlich|außerdem|ebenfalls|hinzu\w*|ergänz\w*|kopie|también|además|añade|agrega|incluye|copia|aussi|également|ajoute\w*|copie)\b";
const INSTEAD: &str =
    r"\b(?:instead|rather than|statt\w*|anstatt|anstelle|en lugar|en vez|au lieu|à la place)\b";

/// Where the mail nodes keep their readers: type, to, cc, bcc.
const SLOTS: &[(&str, &str, &str, &str)] = &[
    ("gmail", "sendTo", "options.ccList", "options.bccList"),
    (
        "emailSend",
        "toEmail",
        "options.ccEmail",
        "options.bccEmail",
    ),
    (
        "microsoftOutlook",
        "toRecipients",
        "additionalFields.ccRecipients",
        "additionalFields.bccRecipients",
    ),
    (
        "sendGrid",
        "toEmail",
        "additionalFields.ccEmail",
        "additionalFields.bccEmail",
    ),
    ("mailgun", "toEmail", "ccEmail", "bccEmail"),
];

fn slots(node: &Node) -> Option<(&'static str, &'static str, &'static str)> {
    let short = short_type(node.node_type());
    SLOTS
        .iter()
        .find(|(name, ..)| *name == short)
        .map(|(_, to, cc, bcc)| (*to, *cc, *bcc))
}

pub(super) fn added(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let new: Vec<String> = rx(MAIL)
        .find_iter(clause)
        .map(|m| m.as_str().trim_end_matches('.').to_owned())
        .collect();
    // "also send a mail …" is a mail of its own
    let own = r"\b(?:an?|another|one more|eine?n?|noch eine?n?|una?|otr[oa]|une?)\s+(?:\w+\s+)?(?:e-?mail|mail|message|nachricht|correo|mensaje|courriel)\b";
    if new.is_empty() || !has(MORE, clause) || has(INSTEAD, clause) || has(own, clause) {
        return false;
    }
    // "After the ticket email X too" is one more mail, at that place.
    let language = super::said::spoken(clause);
    if super::place::says(patch.workflow(), clause, language) {
        return false;
    }
    let mails: Vec<String> = patch
        .workflow()
        .nodes
        .iter()
        .filter(|n| slots(n).is_some() && n.parameters().is_some_and(|p| addressed(n, p)))
        .map(|n| n.name().to_owned())
        .filter(|n| !kept.contains(n))
        .collect();
    let name = match mails.as_slice() {
        [one] => one.clone(),
        many => match mention::one(patch.workflow(), clause, kept) {
            Some(named) if many.contains(&named) => named,
            _ => return false,
        },
    };
    let Some(node) = patch.workflow_mut().node_by_name_mut(&name) else {
        return false;
    };
    let Some((to, cc, bcc)) = slots(node) else {
        return false;
    };
    let slot = if has(
        r"\b(?:bcc|blind copy|blindkopie|copia oculta|cci)\b",
        clause,
    ) {
        bcc
    } else if has(r"\b(?:cc|copy|kopie|copia|copie)\b", clause) {
        cc
    } else {
        to
    };
    node.edit_parameters(|params| append(params, slot, &new))
}

fn addressed(node: &Node, params: &Map<String, Value>) -> bool {
    slots(node).is_some_and(|(to, ..)| params.contains_key(to))
}

/// Adds to a list of addresses that is kept as one text with commas.
fn append(params: &mut Map<String, Value>, slot: &str, new: &[String]) -> bool {
    let (level, key) = match slot.split_once('.') {
        None => (params, slot),
        Some((group, key)) => {
            let inner = params.entry(group.to_owned()).or_insert_with(|| json!({}));
            match inner.as_object_mut() {
                Some(map) => (map, key),
                None => return false,
            }
        }
    };
    let mut text = match level.get(key) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(_) => return false,
    };
    for mail in new {
        if text.contains(mail.as_str()) {
            continue;
        }
        if !text.trim().is_empty() {
            text.push_str(", ");
        }
        text.push_str(mail);
    }
    level.insert(key.to_owned(), json!(text));
    true
}
