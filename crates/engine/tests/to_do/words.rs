//! What a policy and a flow may name with these tools, how claims are checked, and the sections of the report.

use crate::tools::{CAPABILITIES, CHECKS, heads};
use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_engine::claims::{Claim, Reported};
use agentctl_engine::condition::Function;
use agentctl_engine::flow::RESOURCE;
use agentctl_engine::vocabulary::{Fact, NamedTool, Sections, Vocabulary, Words};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The fact of a field that holds the verdict of the last check.
const REVIEW: &str = "review";
/// The section of the report about the list.
pub const LIST: &str = "list";

const FACTS: [Fact; 2] = [
    Fact {
        name: RESOURCE,
        check: settle_list,
    },
    Fact {
        name: REVIEW,
        check: settle_review,
    },
];

const FUNCTIONS: [Function; 1] = [Function {
    name: "open_items",
    arguments: 1,
    call: |given| match given {
        [Value::Array(items)] => {
            let open = items.iter().filter(|item| item["done"] != json!(true));
            Ok(open.cloned().collect())
        }
        _ => Err("open_items takes the items of a list".to_owned()),
    },
}];

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let named = heads().into_iter().map(|head| NamedTool {
        name: head.name,
        capability: head.capability,
        changes: head.changes,
    });
    Vocabulary::new(Words {
        tools: named.collect(),
        capabilities: CAPABILITIES.to_vec(),
        functions: FUNCTIONS.to_vec(),
        material: vec!["lists"],
        facts: FACTS.to_vec(),
        reports: vec![LIST, REVIEW],
        report: Some(sections),
        ..Words::default()
    })
    .unwrap()
});

pub fn to_do() -> &'static Vocabulary {
    &VOCABULARY
}

/// The list must be one that this run made or changed and that is still there.
fn settle_list(claim: &mut Map<String, Value>, by: &Claim<'_>) -> Vec<String> {
    let claimed = claim.get("id").and_then(Value::as_str).map(str::to_owned);
    let Some(last) = by.changes.last(claimed.as_deref()) else {
        return vec![format!(
            "this run did not make or change the list {:?}",
            claimed.unwrap_or_default()
        )];
    };
    let Some(revision) = &last.change.after else {
        return vec!["the list was deleted in this run".to_owned()];
    };
    let id = last.change.id();
    claim.insert("id".into(), json!(id));
    claim.insert("name".into(), json!(by.changes.name(id)));
    claim.insert("item_count".into(), json!(last.change.size));
    claim.insert("revision".into(), json!(revision));
    Vec::new()
}

/// The verdict must be the one of this step's last check.
fn settle_review(review: &mut Map<String, Value>, by: &Claim<'_>) -> Vec<String> {
    let is_check = |(result, of): &&(&ToolResult, Option<_>)| {
        result.status == ToolStatus::Ok && *of == Some(CHECKS)
    };
    let Some((checked, _)) = by.results.iter().rev().find(is_check) else {
        return vec!["this step checked no list".to_owned()];
    };
    let counted = checked.content["error_count"].as_u64();
    let mut faults = Vec::new();
    match review.get("error_count").and_then(Value::as_u64) {
        Some(claimed) if Some(claimed) != counted => faults.push(format!(
            "error_count is {claimed}, but the last check counted {}",
            counted.unwrap_or_default()
        )),
        _ => {
            review.insert("error_count".into(), json!(counted));
        }
    }
    if review.get("status") != Some(&json!("fail")) && counted != Some(0) {
        faults.push("only \"fail\" is true of a list with errors".to_owned());
    }
    faults
}

fn sections(of: &Reported<'_>) -> Sections {
    let claimed = (of.state_of)(LIST).and_then(|list| list.get("id")?.as_str());
    let list = of.changes.last(claimed).and_then(|last| {
        let id = last.change.id();
        let revision = last.change.after.as_ref()?;
        let stands = !of.undone.iter().any(|undone| undone == id);
        stands.then(|| {
            json!({
                "id": id,
                "name": of.changes.name(id),
                "file": of.changes.file(id),
                "item_count": last.change.size,
                "revision": revision,
            })
        })
    });
    let review = (of.state_of)(REVIEW).and_then(|review| {
        Some(json!({
            "status": review.get("status")?,
            "error_count": review.get("error_count"),
            "cycle": of.cycle,
        }))
    });
    let made = [(LIST, list), (REVIEW, review)];
    let made = made.map(|(name, section)| (name.to_owned(), json!(section)));
    (Map::from_iter(made), Map::new())
}
