//! `get_best_practices`: how workflows of a kind are built. The techniques are the files of one skill, so a project can have its own.

use super::answers::knowledge_failure;
use crate::arguments::{arguments, text};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use agentctl_knowledge::{Knowledge, KnowledgeError};
use serde_json::{Map, Value, json};

/// The skill whose files are the techniques.
pub const TECHNIQUES: &str = "n8n-techniques";
/// Where they lie in it, and what they end with.
const FILES: (&str, &str) = ("references/", ".md");
/// So many at once: a workflow is of one kind or two.
const MOST: usize = 4;

arguments! {
    GetBestPractices {
        required techniques: Vec<String> = json!({
            "type": "array", "minItems": 1, "maxItems": MOST, "items": text("a technique that the skill n8n-techniques names, e.g. scheduling"),
        });
    }
}

pub(super) fn tool() -> Tool<Knowledge> {
    Tool::read::<GetBestPractices>(Head::new(
        "get_best_practices",
        can::BEST_PRACTICES,
        "How workflows of a kind are built: which nodes, in which order, and what goes wrong. A technique that is not known is told with those that are.",
        GetBestPractices::schema,
    ))
}

impl Read for On<Knowledge, GetBestPractices> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        let told = match practices(&self.on, &self.args.techniques) {
            Ok(texts) => Outcome::Ok(json!({"best_practices": texts})),
            Err(error) => knowledge_failure(&error),
        };
        Box::pin(std::future::ready(Ok(told)))
    }
}

/// Technique → its text.
fn practices(on: &Knowledge, asked: &[String]) -> Result<Map<String, Value>, KnowledgeError> {
    let (folder, end) = FILES;
    let skill = on.load_skill(TECHNIQUES)?;
    let files = skill.files.iter();
    let known: Vec<String> = files
        .filter_map(|file| file.strip_prefix(folder)?.strip_suffix(end))
        .map(str::to_owned)
        .collect();
    let mut texts = Map::new();
    for name in asked {
        if !known.contains(name) {
            return Err(KnowledgeError::NotFound {
                what: "technique",
                name: name.clone(),
                known,
            });
        }
        let text = on.skill_file(TECHNIQUES, &format!("{folder}{name}{end}"))?;
        texts.insert(name.clone(), text.into());
    }
    Ok(texts)
}
