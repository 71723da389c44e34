//! The question before an undo touches what is live: what is put back, or deleted, is live at once.

use super::{
    RunError, USER,
    driver::Driver,
    questions::{self, Got},
    undo::Plan,
};
use crate::store::Event;
use agentctl_base::question::{Proposal, Question, QuestionOption};
use serde_json::{Map, Value, json};

/// As which step it is journaled.
const STEP: &str = "undo";

impl Driver<'_> {
    /// Asks for each resource that is published, or would be. What was asked and answered, as events; refused where nobody
    /// says yes.
    pub(super) fn ask_published(&mut self, plans: &[Plan]) -> Result<Vec<Event>, RunError> {
        let mut said = Vec::new();
        for plan in plans {
            if !self.goes_live(plan) {
                continue;
            }
            let question = self.about_published(plan, said.len());
            let mut notes = Vec::new();
            let asker = self.asker.as_deref_mut();
            let got = questions::find(&question, None, false, asker, &mut notes);
            for note in notes {
                self.recorder.observer.mistake(&note);
            }
            let (kind, id) = (self.resources.kind(), &plan.id);
            let (value, by) = match got {
                Got::Answer(value, by) if value == "approve" => (value, by),
                Got::Answer(..) => {
                    return Err(RunError::Refused {
                        message: format!("you said no: the {kind} {id:?} stays as it is"),
                        hint: String::new(),
                    });
                }
                Got::Nothing | Got::Interrupted => {
                    return Err(RunError::Refused {
                        message: format!(
                            "the {kind} {id:?} is published, so what is put back is live at once; nothing was done"
                        ),
                        hint: format!(
                            "`agentctl diff {}` shows what would be taken back; to allow it: --allow publish",
                            self.recorder.view.run_id
                        ),
                    });
                }
            };
            let question_id = question.id.clone();
            said.push(Event::QuestionAsked {
                step: STEP.to_owned(),
                question,
            });
            said.push(Event::AnswerGiven {
                step: STEP.to_owned(),
                question_id,
                value,
                by,
            });
        }
        Ok(said)
    }

    /// Whether something changes in what is published, or is published by it.
    fn goes_live(&self, plan: &Plan) -> bool {
        let now = plan.now.as_ref();
        let wanted = plan.target.as_ref().map(|target| &target.document);
        if now.map(|now| &now.document) == wanted {
            return false;
        }
        let comes_live = wanted.is_some_and(|wanted| self.resources.comes_live(wanted));
        now.is_some_and(|now| now.live) || comes_live
    }

    fn about_published(&self, plan: &Plan, asked: usize) -> Question {
        let now = plan.now.as_ref().map(|now| &now.document);
        let wanted = plan.target.as_ref().map(|target| &target.document);
        let redactor = self.gateway.redactor();
        let difference = self.resources.difference(redactor, now, wanted);
        let kind = self.resources.kind();
        let resource = Map::from_iter([(format!("{kind}_id"), Value::from(plan.id.as_str()))]);
        let what = match wanted {
            Some(_) => "put back",
            None => "delete",
        };
        let name = now.or(wanted).map_or("", |document| &document.name);
        let name = self.gateway.clean_text(name);
        Question {
            id: format!("undo-{}-{asked}", self.recorder.journal.head().0),
            topic: "approve-publish".to_owned(),
            text: format!(
                "Allow to {what} the {kind} {name:?}? It is published: the change is live at once."
            ),
            options: vec![
                QuestionOption::new("approve", "Yes, this once"),
                QuestionOption::new("refuse", "No, leave it as it is"),
            ],
            recommended: None,
            required: true,
            schema: json!({"type": "string", "enum": ["approve", "refuse"]}),
            approves: None,
            proposal: Some(Box::new(Proposal {
                after: None,
                glance: None,
                rule: "guard.publish".to_owned(),
                role: USER.to_owned(),
                tool: STEP.to_owned(),
                arguments: Value::Object(resource),
                diff: Some(difference.diff).filter(|diff| !diff.is_empty()),
                expires_at: self.recorder.effects.now().to_string(),
                hidden: None,
            })),
            asked_by: None,
            asks_secret: false,
        }
    }
}
