//! What a language model does: classify, extract, summarise, translate, write.

use super::Reading;
use crate::clause::Clause;
use crate::plan::{Does, LlmTask, Step};

impl Reading<'_> {
    pub(super) fn think(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let provider = self
            .services_of(clause)
            .into_iter()
            .find(|s| s.is("llm"))
            .map(|s| s.key.clone());
        let model = provider.is_some() || clause.phrases().any(|p| self.kind(p) == "ai");
        let names: Vec<String> = clause
            .after
            .iter()
            .filter(|p| p.prep == "as" || p.prep == "into" || p.listed || p.aside)
            .map(|p| self.field_name(p))
            .filter(|n| !n.is_empty())
            .collect();
        let task = match frame {
            "CLASSIFY" if names.len() > 1 => LlmTask::Classify { labels: names },
            "ANALYZE" if clause.phrases().any(|p| self.concept(p) == "sentiment") => {
                LlmTask::Sentiment
            }
            "EXTRACT" => {
                let fields = self.fields(i);
                if fields.is_empty() {
                    return Vec::new();
                }
                LlmTask::Extract { fields }
            }
            "SUMMARIZE" => LlmTask::Summarize,
            "TRANSLATE" => {
                let to = clause
                    .after
                    .iter()
                    .find(|p| matches!(p.prep.as_str(), "to" | "into"))
                    .map(|p| self.words(p));
                let Some(language) = to.filter(|w| !w.is_empty()) else {
                    return Vec::new();
                };
                LlmTask::Translate { language }
            }
            "WRITE" | "ANALYZE" if model => LlmTask::Write,
            _ => return Vec::new(),
        };
        if let LlmTask::Classify { labels } = &task {
            self.topic.labels.clone_from(labels);
        }
        let said = self.said(clause);
        vec![self.step(
            &said.clone(),
            Does::Llm {
                task,
                provider,
                instructions: said,
                input: None,
            },
        )]
    }
}
