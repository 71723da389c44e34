//! How long a request waits for its answer.

use super::mention;
use crate::compile::existing::Patch;
use crate::lexicon::has;
use crate::time::{TimeMeaning, spans};
use serde_json::json;

/// "Set the deploy hook's timeout to 20s", "Timeout der Abfrage auf 1 Minute".
pub(super) fn timeout(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let language = super::said::spoken(clause);
    if !has(
        r"\b(?:time-?out|zeitlimit|zeitüberschreitung|tiempo de espera|tiempo límite|délai d'attente|délai d’attente|délai)\b",
        clause,
    ) {
        return false;
    }
    let spans = spans(clause, language);
    let [span] = spans.as_slice() else {
        return false;
    };
    let TimeMeaning::Duration { seconds } = span.means else {
        return false;
    };
    let requests = mention::of_type(patch.workflow(), "httpRequest");
    let mut requests: Vec<String> = { requests.into_iter() }
        .filter(|n| !kept.contains(n))
        .collect();
    if let Some(named) =
        mention::one(patch.workflow(), clause, kept).filter(|n| requests.contains(n))
    {
        requests = vec![named];
    }
    let [name] = requests.as_slice() else {
        return false;
    };
    let Some(node) = patch.workflow_mut().node_by_name_mut(name) else {
        return false;
    };
    const MILLISECONDS: u64 = 1000;
    node.edit_parameters(|params| {
        let options = params.entry("options").or_insert_with(|| json!({}));
        let options = options.as_object_mut();
        options.is_some_and(|options| {
            options.insert("timeout".into(), json!(seconds * MILLISECONDS));
            true
        })
    })
}
