//! Keys in a pack: agents, flow, policy and skills are shown to models and checked in, so a secret in one is a mistake, told by
//! its place and kind and never by its text.

use agentctl_base::secrets::{MARK, mask};
use agentctl_base::yaml::{Place, Problem};
use agentctl_knowledge::SkillPlace;
use std::borrow::Cow;

pub(super) fn in_text(file: &str, text: &str, problems: &mut Vec<Problem>) {
    // A text may speak of marks itself.
    let text = text.replace(MARK, "(redacted:");
    let Cow::Owned(masked) = mask(&text) else {
        return;
    };
    // A key may span lines, so lines are counted in the masked text, where each mark stands at the key's first line.
    for (at, _) in masked.match_indices(MARK) {
        let before = masked.get(..at).unwrap_or_default();
        let kind = masked.get(at + MARK.len()..).unwrap_or_default();
        let kind = kind.split(']').next().unwrap_or_default();
        let last = before.rsplit('\n').next().unwrap_or_default();
        problems.push(Problem {
            file: file.to_owned(),
            place: Place {
                line: before.matches('\n').count() as u64 + 1,
                column: last.chars().count() as u64 + 1,
            },
            message: format!(
                "a secret stands here ({kind}); take it out, revoke it, and let a variable or an n8n credential hold the new one"
            ),
        });
    }
}

pub(super) fn in_skill(folder: &str, place: &SkillPlace, problems: &mut Vec<Problem>) {
    for name in std::iter::once("SKILL.md".to_owned()).chain(place.files()) {
        // What cannot be read as text is never shown to a model either.
        if let Ok(text) = place.read(&name) {
            in_text(&format!("{folder}/{name}"), &text, problems);
        }
    }
}
