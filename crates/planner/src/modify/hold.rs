//! What holds items back on their way: batches with pauses, and the word of a person.

use super::insert::steps_of;
use super::mention;
use crate::compile::existing::Patch;
use crate::compile::rewire::acts;
use crate::lexicon::{has, rx};
use crate::plan::{Does, Step};
use crate::read::when;

/// "In batches of 20 with 15 seconds between them."
pub(super) fn batches(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let size = rx(
        r"\b(?:in|into|as|en|par|zu)?\s*(?:batch(?:es)?|chunks?|groups?|stapeln?|blöcken?|paketen?|lotes?|grupos?|lots?|paquets?)\s+(?:of|von|zu|mit|de)\s+(?:je\s+)?(\d+)\b|\b(\d+)\s+(?:items?\s+)?(?:at a time|at once|per batch|auf einmal|pro stapel|a la vez|por lote|à la fois|par lot)\b",
    )
    .captures(clause)
    .and_then(|c| c.get(1).or_else(|| c.get(2)))
    .and_then(|m| m.as_str().parse::<u32>().ok());
    let Some(size) = size.filter(|n| *n > 0) else {
        return false;
    };
    if !mention::of_type(patch.workflow(), "splitInBatches").is_empty() {
        return false;
    }
    let pause = has(
        r"\b(?:pause|wait\w*|between|break|delay|sleep|dazwischen|zwischen|warte\w*|espera|pausa|entre|attend\w*|attente)\b",
        clause,
    )
    .then(|| when::duration(clause))
    .flatten();
    let Some(first) = first_acting(patch, clause, kept) else {
        return false;
    };
    patch.batch(&first, size, pause)
}

/// The node that is named, when it acts; else the first one that does.
pub(super) fn first_acting(patch: &Patch<'_>, clause: &str, kept: &[String]) -> Option<String> {
    let acting: Vec<String> = patch
        .workflow()
        .nodes
        .iter()
        .filter(|n| acts(n) && !patch.leads_to(n.name()).is_empty())
        .map(|n| n.name().to_owned())
        .collect();
    mention::one(patch.workflow(), clause, kept)
        .filter(|n| acting.contains(n))
        .or_else(|| {
            let first = |n: &&String| {
                !patch
                    .leads_to(n)
                    .iter()
                    .any(|before| acting.contains(before))
            };
            acting.iter().find(first).cloned()
        })
}

const APPROVAL: &str = r"\b(?:approv\w*|permission|confirmation|confirms?|sign-?off|go-ahead|freigabe|freigeb\w*|genehmig\w*|zustimm\w*|bestätig\w*|aprob\w*|autoriz\w*|visto bueno|approbation|approuv\w*|validation|feu vert)\b";

/// "Ask for approval in Slack #review before the reply goes out."
pub(super) fn approval(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    if !has(APPROVAL, clause) {
        return false;
    }
    let (before, work) = split_place(clause);
    let Some(step) = steps_of(&work)
        .into_iter()
        .find(|step| matches!(step.does, Does::Approval { .. }))
    else {
        return false;
    };
    let named = before.and_then(|place| mention::one(patch.workflow(), &place, &[]));
    let ends: Vec<String> = mention::ends(patch.workflow());
    let target = match (named, ends.as_slice()) {
        (Some(named), _) if !patch.leads_to(&named).is_empty() => named,
        (_, [one]) => one.clone(),
        _ => return false,
    };
    let keep = kept.contains(&target);
    patch.ahead(&target, &[step], keep);
    true
}

/// The words that say before what, and the words that say what to do.
fn split_place(clause: &str) -> (Option<String>, String) {
    let shapes = [
        r"^\W*(?:before|bevor|vor|antes de(?: que)?|avant(?: que| de)?)\s+(?P<place>.+?),\s*(?P<work>.+)$",
        r"^(?P<work>.+?)\s+(?:before|bevor|vor(?:her)?|antes de(?: que)?|avant(?: que| de)?)\s+(?P<place>.+)$",
        r"^(?P<place>.+?)\s+(?:must|should|may|can|shall|darf|dürfen|soll\w*|debe\w*|doi\w*|peu\w*)\s*(?:not|no longer|n't|nicht|no|pas|only|nur|solo|seulement)\b[^:;,]*[:;,]\s*(?P<work>.+)$",
        r"^(?P<place>.+?)\s+(?:needs?|requires?|braucht|brauchen|necesita\w*|nécessite\w*)\s+(?P<work>.+)$",
    ];
    for shape in shapes {
        if let Some(c) = rx(shape).captures(clause) {
            let part = |name: &str| c.name(name).map(|m| m.as_str().trim().to_owned());
            let work = part("work").unwrap_or_default();
            if has(APPROVAL, &work) {
                let asks = has(
                    r"^\W*(?:an?\s+|the\s+|one\s+)?(?:approv|permission|confirm|freigabe|genehm|aprob|approb)",
                    &work,
                );
                let work = if asks {
                    format!("ask for {work}")
                } else {
                    work
                };
                return (part("place"), without_first(&work));
            }
        }
    }
    (None, without_first(clause))
}

fn without_first(work: &str) -> String {
    rx(r"^\W*(?:first|please|zuerst|erst|bitte|primero|d'abord|then|dann)\s+")
        .replace(work, "")
        .into_owned()
}

/// "Declined → open a ticket", "if it is approved, post it": behind the approval that is there.
pub(super) fn decided(patch: &mut Patch<'_>, clause: &str, _kept: &[String]) -> bool {
    let no = r"(?:declined?|rejected?|refused?|denied|not approved|disapproved|abgelehnt|nicht (?:genehmigt|freigegeben)|rechazad[oa]|no aprobad[oa]|refusée?|rejetée?|non approuvée?)";
    let yes =
        r"(?:approved|accepted|confirmed|genehmigt|freigegeben|aprobad[oa]|approuvée?|validée?)";
    let lead = r"^\W*(?:(?:if|when|on|in case|wenn|falls|bei|si|cuando|quand)\s+)?(?:(?:it|they|this|that|es|das|sie|se|c'|il|elle)\s*(?:is|are|was|gets?|wird|ist|es|fue|est)?\s+)?";
    let tail = r"\s*(?:→|->|=>|:|,|\bthen\b|\bdann\b)\s*(.+)$";
    let found = [(no, 1), (yes, 0)].into_iter().find_map(|(word, output)| {
        let c = rx(&format!("{lead}{word}{tail}")).captures(clause)?;
        Some((output, c.get(1)?.as_str().to_owned()))
    });
    let Some((output, work)) = found else {
        return false;
    };
    let Some(check) = patch.approval_check() else {
        return false;
    };
    let steps: Vec<Step> = steps_of(&work);
    if steps.is_empty() {
        return false;
    }
    patch.after(&check, output, &steps, false);
    true
}
