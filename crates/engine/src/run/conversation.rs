//! A turn of a kept conversation: a run that does not hold the project and is never the active one. Who keeps conversations holds
//! this one while the turn lasts, hands in what was kept, and writes back what the turn leaves; the journal comes first, so a turn
//! that was killed is taken up again and leaves the same.

use super::{
    Reply, Resume, RunContext, RunError, RunOptions, RunReport,
    activation::{begin, can_begin},
    driver::Driver,
    projection, questions,
    reopen::take_up,
    run_id,
};
use crate::flow::{By, RouteSpec, StepKind};
use crate::store::{Event, Project};
use crate::view::Asked;
use agentctl_base::model::ToolStatus;
use agentctl_base::question::{AnsweredBy, Outcome, Question};
use serde_json::{Map, Value};

/// A turn that has begun.
pub struct Turn<'a> {
    driver: Driver<'a>,
    project: &'a Project,
    /// It was begun by an earlier activation.
    taken_up: bool,
}

/// An answer to one question of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerTo<'a> {
    pub question: &'a str,
    pub value: Value,
    /// It is an approval, by somebody who may give it.
    pub approves: bool,
    /// What the sender called the message that gives it.
    pub heard: Option<String>,
}

/// What a turn leaves to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Left {
    /// The fields that the flow keeps for a session, as they are now.
    pub fields: Map<String, Value>,
    /// The messages of before are forgotten.
    pub cleared: bool,
    /// What the flow said, in order.
    pub said: Vec<Reply>,
    /// The case that an agent chose, or that was left as the only one, in the first step that lets an agent choose; None: no such
    /// step was reached.
    pub route: Option<String>,
    /// The value of the version that the turn was made from.
    pub version: u64,
    /// The tools whose calls changed something, in order.
    pub did: Vec<String>,
    /// The tools whose calls were begun and may have changed something: what became of them was not seen.
    pub unsure: Vec<String>,
    /// What was asked in the turn and answered, approvals apart: the question and the answer, in words.
    pub asked: Vec<(String, String)>,
}

impl<'a> Turn<'a> {
    /// Begins a turn; its journal outlives this process when this returns, and a power loss from its first change or its end on.
    /// `options.session` says what it is a turn of.
    pub fn begin(cx: RunContext<'a>, options: RunOptions) -> Result<Turn<'a>, RunError> {
        if options.session.is_none() {
            return Err(RunError::Internal("a turn without a conversation".into()));
        }
        can_begin(&cx, &options)?;
        let project = cx.project;
        let run_id = run_id::of_turn(cx.effects);
        let driver = begin(cx, run_id, None, options)?;
        Ok(Turn {
            driver,
            project,
            taken_up: false,
        })
    }

    /// Takes up a turn that did not come to its end, or whose end was not kept. None: there is no journal, so nothing was done.
    pub fn reopen(
        cx: RunContext<'a>,
        run: &str,
        resume: Resume,
    ) -> Result<Option<Turn<'a>>, RunError> {
        let project = cx.project;
        if project.run(run).is_err() || !project.has_journal(run)? {
            return Ok(None);
        }
        let driver = take_up(cx, run.to_owned(), resume)?;
        match driver.recorder.log.session() {
            Some(_) => Ok(Some(Turn {
                driver,
                project,
                taken_up: true,
            })),
            None => Err(RunError::Usage(format!(
                "run {run} is no turn of a conversation"
            ))),
        }
    }

    pub fn run_id(&self) -> &str {
        &self.driver.recorder.view.run_id
    }

    /// What the turn was begun with.
    pub fn input(&self) -> &Map<String, Value> {
        self.driver.recorder.log.input()
    }

    /// Whether it came to its end already.
    pub fn has_ended(&self) -> bool {
        self.driver.recorder.view.ended.is_some()
    }

    /// The question that it waits for.
    pub fn question(&self) -> Option<&Question> {
        self.driver.recorder.log.open_questions().into_iter().next()
    }

    /// Takes a message as the answer to the question that the turn waits for: an option by its value or label in any case, else the
    /// text itself. False: there is none, the message does not fit, or it is an approval, which no message of a conversation gives.
    /// `heard`: what the sender calls the message.
    pub fn answer(&mut self, message: &str, heard: Option<&str>) -> Result<bool, RunError> {
        let said = message.trim();
        let Some(question) = self.question().filter(|q| q.approves.is_none()).cloned() else {
            return Ok(false);
        };
        let named = question.options.iter().find(|option| {
            option.label.eq_ignore_ascii_case(said)
                || option
                    .value
                    .as_str()
                    .is_some_and(|v| v.eq_ignore_ascii_case(said))
        });
        let value = named.map_or_else(|| said.into(), |option| option.value.clone());
        if questions::fits(&question, &value).is_err() {
            return Ok(false);
        }
        self.give(&question, value, heard.map(str::to_owned))
    }

    /// Answers the question by its id. Error: it is not open, its time is over, or the answer does not fit it
    /// ([`RunError::Usage`]); an approval came as an answer, or an answer as an approval ([`RunError::Refused`]).
    pub fn answer_to(&mut self, given: AnswerTo<'_>) -> Result<(), RunError> {
        let id = given.question;
        let open = self.question().filter(|question| question.id == id);
        let Some(question) = open.filter(|_| !self.has_ended()).cloned() else {
            let open = match (self.has_ended(), self.question()) {
                (true, _) => "the run has ended".to_owned(),
                (false, Some(open)) => format!("it waits for {:?}", open.id),
                (false, None) => "it waits for nobody".to_owned(),
            };
            return Err(RunError::Usage(format!(
                "no question {id:?} is open: {open}"
            )));
        };
        if question.approves.is_some() != given.approves {
            let (is, is_not) = match given.approves {
                true => ("a question", "an approval"),
                false => ("an approval", "a question"),
            };
            return Err(RunError::Refused {
                message: format!("{id} is {is}, not {is_not}: nothing was answered"),
                hint: String::new(),
            });
        }
        let now = self.driver.recorder.effects.now();
        if given.approves && questions::is_too_late(&question, now) {
            return Err(RunError::Usage(format!(
                "the question {id:?} was asked too long ago to be answered"
            )));
        }
        questions::fits(&question, &given.value)
            .map_err(|why| RunError::Usage(format!("the answer to {id:?} does not fit: {why}")))?;
        self.give(&question, given.value, given.heard).map(drop)
    }

    fn give(
        &mut self,
        question: &Question,
        value: Value,
        heard: Option<String>,
    ) -> Result<bool, RunError> {
        let recorder = &self.driver.recorder;
        let Some(step) = recorder.log.asked_by(&question.id).map(str::to_owned) else {
            return Ok(false);
        };
        let means = Some(self.driver.means());
        self.driver.heard = heard;
        self.driver.activate("answer", means)?;
        self.taken_up = false;
        let given = Event::AnswerGiven {
            step,
            question_id: question.id.clone(),
            value: questions::kept(question, value),
            by: AnsweredBy::Command,
        };
        self.driver.record(given, true)?;
        Ok(true)
    }

    /// Goes on until the turn is at its end, waits for an answer, or cannot go on.
    pub async fn drive(mut self) -> Result<(RunReport, Left), RunError> {
        let report = match self.driver.recorder.view.ended.clone() {
            Some(ended) => self.report(ended.outcome, ended.exit_code, ended.message),
            None => {
                if self.taken_up {
                    let means = Some(self.driver.means());
                    self.driver.activate("resume", means)?;
                }
                self.driver.carry_on(self.project).await?
            }
        };
        let left = self.left();
        Ok((report, left))
    }

    /// Ends a turn that the program answers by itself, with that answer: no step of the flow is taken.
    pub fn conclude(mut self, outcome: Outcome, answer: &str) -> Result<RunReport, RunError> {
        self.driver.end(outcome, answer.to_owned())?;
        self.driver
            .close(self.project, Ok(super::driver::Stop::Ended))
    }

    /// Ends a turn that is not finished; what it did stays, and nothing of it is to be kept in the conversation.
    pub fn give_up(mut self, why: &str) -> Result<(RunReport, Left), RunError> {
        let report = match self.driver.recorder.view.ended.clone() {
            Some(ended) => self.report(ended.outcome, ended.exit_code, ended.message),
            None => {
                self.driver.activate("cancel", None)?;
                self.driver.end(Outcome::Cancelled, why.to_owned())?;
                self.driver
                    .close(self.project, Ok(super::driver::Stop::Ended))?
            }
        };
        let left = self.left();
        Ok((report, left))
    }

    fn report(&self, outcome: Outcome, exit_code: u8, message: String) -> RunReport {
        let recorder = &self.driver.recorder;
        projection::report(
            self.driver.pack,
            &recorder.view,
            &recorder.log,
            outcome,
            exit_code,
            message,
        )
    }

    fn left(&self) -> Left {
        let recorder = &self.driver.recorder;
        let (flow, log) = (recorder.flow, &recorder.log);
        let kept = flow.fields.iter().filter(|(_, spec)| spec.of_session);
        let fields = kept
            .filter_map(|(name, _)| Some((name.clone(), log.state().get(name)?.clone())))
            .collect();
        let route = flow
            .all_steps()
            .into_iter()
            .find_map(|step| match &step.kind {
                StepKind::Route(RouteSpec {
                    by: Some(By::Agent(_)),
                    ..
                }) => log.case_of(&step.id),
                _ => None,
            });
        Left {
            fields,
            cleared: log.session().is_some_and(|session| session.cleared),
            said: recorder.view.said.iter().map(Reply::from).collect(),
            route,
            version: log.session().map_or(0, |session| session.version),
            did: recorder
                .view
                .returned()
                .into_iter()
                .filter(|(call, got)| call.mutates() && got.result.status == ToolStatus::Ok)
                .map(|(call, _)| call.tool.clone())
                .collect(),
            unsure: recorder
                .view
                .unseen()
                .map(|call| call.tool.clone())
                .collect(),
            asked: recorder.view.questions.iter().filter_map(said).collect(),
        }
    }
}

/// A question that was answered, as a conversation keeps it.
fn said(asked: &Asked) -> Option<(String, String)> {
    let (answer, _) = asked.answer.as_ref()?;
    if asked.question.approves.is_some() {
        return None;
    }
    let answer = match answer {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Some((asked.question.text.clone(), answer))
}
