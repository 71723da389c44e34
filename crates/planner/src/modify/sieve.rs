//! Filters, limits and pauses that go before or after a named node: "before the limit only items whose title contains X may pass".

use super::condition::read_condition;
use super::mention;
use crate::compile::existing::Patch;
use crate::lexicon::rx;
use crate::plan::{Cond, Does, Step};

const BEFORE: &str = r"(?:before|ahead of|in front of|bevor|vor|antes de(?:l)?|avant)";
const AFTER: &str = r"(?:after|behind|nach|hinter|después de(?:l)?|tras|après)";

pub(super) fn pass(patch: &mut Patch<'_>, clause: &str, _kept: &[String]) -> bool {
    let Some((keep, condition)) = condition(clause) else {
        return false;
    };
    let Some((anchor, ahead)) = place(patch, clause) else {
        return false;
    };
    let cond = if keep {
        condition
    } else {
        Cond::Not {
            of: Box::new(condition),
        }
    };
    if ahead {
        patch.gate(&anchor, &cond, &[]);
    } else {
        let step = Step {
            id: "sieve".to_owned(),
            said: clause.to_owned(),
            does: Does::Filter { condition: cond },
            name: None,
        };
        patch.after(&anchor, 0, &[step], true);
    }
    true
}

/// The condition, and whether what meets it passes (or is dropped).
fn condition(clause: &str) -> Option<(bool, Cond)> {
    let things = r"(?:the\s+|all\s+|any\s+|every\s+|die\s+|alle\s+|los\s+|las\s+|les\s+|de[rn]\s+)*(?:[\p{L}-]+)?";
    let which = r"(?:whose|where|with|that have|that has|having|if|when|which have|deren|dessen|mit|bei denen|wo|wenn|cuy[oa]s?|con|donde|cuando|si|dont|avec|où|that|which|die|que|qui)";
    let lets = r"(?:\s*,?\s*(?:may|can|should|must|are allowed to|dürfen|sollen|können|deben|pueden|doivent|peuvent)?\s*(?:pass(?:ieren)?|pass through|go through|go on|continue|get through|durch|weiter(?:gehen|laufen)?|durchgehen|pasar|seguir|passer|continuer)\b)?";
    let shapes = [
        (
            format!(
                r"\b(?:only|just|nur|solo|sólo|seulement|uniquement|keep|let)\b\s*(?:let\s+|keep\s+|pass\s+)?{things}\s*\b({which})\s+(.+?){lets}(?:\s+{BEFORE}\s.+|\s+{AFTER}\s.+)?$"
            ),
            true,
        ),
        (
            format!(
                r"\bfilter\b(?:\s+(?:step|node))?\s*(?:that|which|der|que|qui)?\s*(?:only\s+)?(?:lets?|keeps?|passes|nur)?\s*(?:through\s+)?(?:only\s+)?{things}\s*\b({which})\s+(.+?){lets}(?:\s+{BEFORE}\s.+|\s+{AFTER}\s.+)?$"
            ),
            true,
        ),
        (
            format!(
                r"\b(?:drop|skip|discard|ignore|remove|delete|filter out|throw away|verwirf|überspring\w*|ignorier\w*|descarta\w*|ignora\w*|ignore\w*|écarte\w*)\s+{things}\s*\b({which})\s+(.+?)(?:\s+{BEFORE}\s.+|\s+{AFTER}\s.+)?$"
            ),
            false,
        ),
    ];
    shapes.iter().find_map(|(pattern, keep)| {
        let caps = rx(pattern).captures(clause)?;
        let text = caps.get(2)?.as_str().trim().trim_end_matches([',', '.']);
        Some((*keep, read_condition(text)?))
    })
}

/// The named node, and whether the new one goes ahead of it.
fn place(patch: &Patch<'_>, clause: &str) -> Option<(String, bool)> {
    for (words, ahead) in [(BEFORE, true), (AFTER, false)] {
        for pattern in [
            format!(
                r"^\W*(?:and\s+|und\s+|y\s+|et\s+)?(?:right\s+|directly\s+|direkt\s+)?{words}\s+(.+?)(?:,|\s+(?:only|just|let|add|insert|put|drop|skip|discard|keep|filter|nur|füge?|setze?|solo|sólo|añade|deja|seulement|ajoute|dürfen|sollen)\b)"
            ),
            format!(r"\s(?:right\s+|directly\s+|direkt\s+)?{words}\s+([^,]+)$"),
        ] {
            let Some(named) = rx(&pattern)
                .captures(clause)
                .and_then(|c| c.get(1))
                .map(|m| m.as_str().to_owned())
            else {
                continue;
            };
            let node = mention::one(patch.workflow(), &named, &[]);
            if let Some(node) = node.filter(|n| !ahead || flows_into(patch, n)) {
                return Some((node, ahead));
            }
        }
    }
    let first = super::hold::first_acting(patch, "", &[])?;
    Some((first, true))
}

fn flows_into(patch: &Patch<'_>, name: &str) -> bool {
    patch
        .workflow()
        .edges()
        .any(|(_, kind, _, link)| kind == "main" && link.node == name)
}
