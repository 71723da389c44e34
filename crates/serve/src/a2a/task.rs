//! A run as a task. The journal is read each time: how a run stands there is the one source of a task's state, artifacts and history,
//! and `state` the one place that says which standing is which state.

use super::chain::GoesOn;
use crate::files::Attached;
use crate::problem::Problem;
use crate::runs::Found;
use crate::server::Server;
use crate::turning::asked;
use agentctl_a2a::{Artifact, Fault, Message, Part, Role, Status, Task, TaskState};
use agentctl_base::question::{Outcome, Question};
use agentctl_engine::run::{self, Reply, RunReport};
use agentctl_engine::store::{Event, Record};
use agentctl_turns::{Expects, TurnError};
use serde_json::{Value, json};

/// What the flow said.
pub const REPLY: &str = "reply";
/// What came of the flow, for machines.
const OUTPUT: &str = "output";
/// Why it did not come about.
const CAUSE: &str = "post-mortem";

/// A task as its journal tells it up to one record.
pub struct Seen {
    pub task: Task,
    /// The number of that record.
    pub last: u64,
    /// How many messages the flow had said.
    pub said: usize,
    /// The id of the question whose answer it waits for; an approval is none.
    pub question: Option<String>,
    /// Its run is at its end, and the pack waits for the next message.
    pub waits_for_a_message: bool,
    /// It was to wait for the next message, and that has come.
    pub is_overtaken: bool,
}

impl Seen {
    /// Whether its run tells nothing more.
    pub fn is_over(&self) -> bool {
        self.waits_for_a_message || self.task.status.state.is_terminal()
    }

    /// Keeps so many of the last messages; None: all.
    pub fn keep_history(&mut self, most: Option<usize>) {
        if let Some(most) = most {
            let gone = self.task.history.len().saturating_sub(most);
            self.task.history.drain(..gone);
        }
    }
}

/// How many messages a client wants; None: all.
pub fn history_length(given: Option<i64>) -> Result<Option<usize>, Fault> {
    let most = given.map(usize::try_from).transpose();
    most.map_err(|_| Fault::field("historyLength", "is a number of messages, from 0"))
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// `begun`: a step was taken.
    Works {
        begun: bool,
    },
    /// Nobody works on it.
    Rests(Outcome, Option<Expects>),
    Ended(Outcome),
}

fn state(stands: Stands) -> TaskState {
    use Outcome as O;
    match stands {
        Stands::Works { begun: false } => TaskState::Submitted,
        Stands::Works { begun: true } => TaskState::Working,
        Stands::Rests(O::Waiting, Some(Expects::Approval)) => TaskState::AuthRequired,
        Stands::Rests(O::Waiting, _) => TaskState::InputRequired,
        // Its limits are used up: nobody goes on with it.
        Stands::Rests(O::Budget, _) => TaskState::Failed,
        // It was interrupted; whoever did it ends it, or the next start of the server does.
        Stands::Rests(..) => TaskState::Working,
        Stands::Ended(O::Complete | O::Draft | O::Partial) => TaskState::Completed,
        Stands::Ended(O::Refused) => TaskState::Rejected,
        Stands::Ended(O::Cancelled) => TaskState::Canceled,
        Stands::Ended(O::Blocked | O::Failed | O::Budget | O::Waiting | O::Interrupted) => {
            TaskState::Failed
        }
    }
}

/// What is read of a journal beside its report.
#[derive(Default)]
struct Read {
    last: u64,
    /// Of the last record that changed how it stands.
    at: String,
    begun: bool,
    rests: Option<Outcome>,
    ended: Option<Outcome>,
    said: usize,
    history: Vec<Message>,
    /// The question that was asked last is an approval.
    approval: bool,
    /// What the client called the message that comes next.
    heard: Option<String>,
    goes_on: Option<GoesOn>,
}

impl Read {
    fn take(&mut self, record: &Record, run: &str) {
        self.last = record.seq;
        let mut turn = |role, part: Part| {
            let heard = self.heard.take().filter(|_| role == Role::User);
            let id = heard.unwrap_or_else(|| format!("{run}-{}", record.seq));
            self.history.push(Message::new(id, role, vec![part]));
        };
        match &record.event {
            Event::RunStarted { input, .. } => {
                self.goes_on = GoesOn::of(input);
                // A turn without a message takes back that its task waits.
                if let Some(said) = input.get("message").and_then(Value::as_str) {
                    turn(Role::User, Part::text(said));
                }
                self.at.clone_from(&record.at);
            }
            Event::QuestionAsked { question, .. } => {
                self.approval = question.approves.is_some();
                turn(Role::Agent, Part::text(question.text.clone()));
            }
            Event::AnswerGiven { value, .. } if !self.approval => match value {
                Value::String(text) => turn(Role::User, Part::text(text.clone())),
                other => turn(Role::User, Part::data(other.clone())),
            },
            Event::StepStarted { .. } | Event::FlowDecided { .. } if !self.begun => {
                self.begun = true;
                self.at.clone_from(&record.at);
            }
            Event::Said { .. } => self.said += 1,
            Event::ActivationStarted { heard, .. } => {
                // Of the message that began it, or of the answer that follows.
                match (heard, self.history.as_mut_slice()) {
                    (Some(heard), [first]) => first.message_id.clone_from(heard),
                    (heard, _) => self.heard.clone_from(heard),
                }
                self.rests = None;
                self.at.clone_from(&record.at);
            }
            Event::ActivationEnded { outcome, .. } => {
                self.rests = Some(*outcome);
                if self.ended.is_none() {
                    self.at.clone_from(&record.at);
                }
            }
            Event::RunEnded { outcome, .. } => {
                self.ended = Some(*outcome);
                self.at.clone_from(&record.at);
            }
            _ => {}
        }
    }

    fn stands(&self, question: Option<&Question>) -> Stands {
        match (self.ended, self.rests) {
            (Some(outcome), _) => Stands::Ended(outcome),
            (None, Some(outcome)) => Stands::Rests(outcome, question.map(expects)),
            (None, None) => Stands::Works { begun: self.begun },
        }
    }
}

fn expects(question: &Question) -> Expects {
    match question.approves {
        Some(_) => Expects::Approval,
        None => Expects::Answer,
    }
}

/// The task that a run is, as its journal stands now.
pub async fn look(server: &Server, found: &Found) -> Result<Seen, Problem> {
    let mut read = Read::default();
    let mut each = |record: &Record| read.take(record, &found.run);
    let report = run::show(&found.pack.project, &found.pack.pack, &found.run, &mut each);
    let report = report.map_err(|e| Problem::from(TurnError::from(e)))?;
    let said = &report.messages;
    let attached = server.attached_to(&found.pack, &found.key, said).await?;
    let question = report.questions.first();
    let state = state(read.stands(question));
    let is_to_wait = state == TaskState::Completed && is_to_wait(found, &report);
    let place = match is_to_wait {
        true => Some(place(server, found).await?),
        false => None,
    };
    let state = match place {
        Some(Place::Last) => TaskState::InputRequired,
        Some(Place::NotKept) => TaskState::Working,
        Some(Place::Overtaken) | None => state,
    };
    let told = match (question, state) {
        (None, TaskState::InputRequired) => {
            let text = said.last().map_or("", |reply| reply.text.as_str());
            Some(vec![
                Part::text(text),
                Part::data(json!({
                    "run_id": found.run, "question": {"id": REPLY, "text": text}, "expects": Expects::Answer
                })),
            ])
        }
        (Some(question), TaskState::InputRequired | TaskState::AuthRequired) => Some(vec![
            Part::text(asked(question, expects(question), &found.run)),
            Part::data(json!({
                "run_id": found.run, "question": question, "expects": expects(question)
            })),
        ]),
        (_, state) if state.is_terminal() && !report.message.is_empty() => {
            Some(vec![Part::text(report.message.clone())])
        }
        _ => None,
    };
    let id = read
        .goes_on
        .as_ref()
        .map_or(&found.run, |goes_on| &goes_on.task);
    let of_task = |mut message: Message| {
        message.context_id = Some(found.key.conversation.clone());
        message.task_id = Some(id.clone());
        message
    };
    let before = said_before(found, read.goes_on.as_ref())?;
    let history = before.into_iter().chain(read.history);
    let of_status = format!("{}-status-{}", found.run, read.last);
    let message = told.map(|parts| of_task(Message::new(of_status, Role::Agent, parts)));
    let task = Task {
        id: id.clone(),
        context_id: found.key.conversation.clone(),
        status: Status {
            state,
            message,
            timestamp: read.at,
        },
        artifacts: artifacts(&report, &attached),
        history: history.map(of_task).collect(),
        metadata: None,
    };
    Ok(Seen {
        task,
        last: read.last,
        said: read.said,
        question: question
            .filter(|question| question.approves.is_none())
            .map(|question| question.id.clone()),
        waits_for_a_message: place == Some(Place::Last),
        is_overtaken: place == Some(Place::Overtaken),
    })
}

/// Whether the pack says that it waits for the next message, as the run left its fields.
fn is_to_wait(found: &Found, report: &RunReport) -> bool {
    let channel = &found.pack.pack.manifest.channels.a2a;
    channel.may_wait() && channel.waits(&report.state)
}

/// Where a run that is at its end stands among the turns of its conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// No turn came after it, and none is under way.
    Last,
    /// Its journal is at its end, and the conversation does not hold yet what came of it.
    NotKept,
    /// A turn came after it, or is under way.
    Overtaken,
}

async fn place(server: &Server, found: &Found) -> Result<Place, Problem> {
    let session = server.sessions.load(&found.key).await?;
    let is_own = |run: &Option<String>| run.as_ref() == Some(&found.run);
    Ok(match &session.open_run {
        None if is_own(&session.last_run) => Place::Last,
        open if is_own(open) => Place::NotKept,
        _ => Place::Overtaken,
    })
}

/// Whether no turn of its conversation came after a run, and none is under way.
pub async fn is_last(server: &Server, found: &Found) -> Result<bool, Problem> {
    Ok(place(server, found).await? == Place::Last)
}

/// What was said in the turns of the task before, at most so many of them.
fn said_before(found: &Found, goes_on: Option<&GoesOn>) -> Result<Vec<Message>, Problem> {
    const TURNS: usize = 100;
    let mut turns = Vec::new();
    let mut next = goes_on.map(|goes_on| goes_on.after.clone());
    while let Some(run) = next.take().filter(|_| turns.len() < TURNS) {
        let mut read = Read::default();
        let mut each = |record: &Record| read.take(record, &run);
        let shown = run::show(&found.pack.project, &found.pack.pack, &run, &mut each);
        shown.map_err(|e| Problem::from(TurnError::from(e)))?;
        next = read.goes_on.map(|goes_on| goes_on.after);
        turns.push(read.history);
    }
    Ok(turns.into_iter().rev().flatten().collect())
}

fn artifacts(report: &RunReport, attached: &Attached) -> Vec<Artifact> {
    let mut artifacts = Vec::new();
    let said: Vec<Part> = {
        let all = report.messages.iter();
        all.flat_map(|m| parts(m, attached)).collect()
    };
    if !said.is_empty() {
        artifacts.push(artifact(REPLY, "what the agent said", said));
    }
    let mut machine = |id, name, value: &Option<Value>| {
        if let Some(value) = value.as_ref().filter(|value| !value.is_null()) {
            artifacts.push(artifact(id, name, vec![Part::data(value.clone())]));
        }
    };
    machine(OUTPUT, "what came of it, for machines", &report.output);
    machine(CAUSE, "why it did not come about", &report.cause);
    artifacts
}

fn artifact(id: &str, description: &str, parts: Vec<Part>) -> Artifact {
    Artifact {
        artifact_id: id.to_owned(),
        name: id.to_owned(),
        description: description.to_owned(),
        parts,
        metadata: None,
    }
}

/// A message of the flow.
pub fn parts(reply: &Reply, attached: &Attached) -> Vec<Part> {
    let mut parts = vec![Part::text(reply.text.clone())];
    if !reply.data.is_null() {
        parts.push(Part::data(reply.data.clone()));
    }
    if let Some(place) = &reply.attachment {
        let attachment = attached.of(Some(place));
        let of = |key: &str| attachment.get(key).and_then(Value::as_str);
        parts.push(match (of("url"), of("name"), of("mime")) {
            (Some(url), Some(name), Some(mime)) => Part::file(url, name, mime),
            _ => Part::data(json!({"attachment": attachment})),
        });
    }
    parts
}

/// The part of the artifact [`REPLY`] that a message is.
pub fn chunk(reply: &Reply, attached: &Attached) -> Artifact {
    artifact(REPLY, "what the agent said", parts(reply, attached))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_standing_is_one_state() {
        use Outcome as O;
        let all = [
            (Stands::Works { begun: false }, TaskState::Submitted),
            (Stands::Works { begun: true }, TaskState::Working),
            (
                Stands::Rests(O::Waiting, Some(Expects::Answer)),
                TaskState::InputRequired,
            ),
            (
                Stands::Rests(O::Waiting, Some(Expects::Approval)),
                TaskState::AuthRequired,
            ),
            (Stands::Rests(O::Budget, None), TaskState::Failed),
            (Stands::Rests(O::Interrupted, None), TaskState::Working),
            (Stands::Ended(O::Complete), TaskState::Completed),
            (Stands::Ended(O::Draft), TaskState::Completed),
            (Stands::Ended(O::Blocked), TaskState::Failed),
            (Stands::Ended(O::Failed), TaskState::Failed),
            (Stands::Ended(O::Refused), TaskState::Rejected),
            (Stands::Ended(O::Cancelled), TaskState::Canceled),
        ];
        for (stands, expected) in all {
            assert_eq!(state(stands), expected, "{stands:?}");
        }
    }

    #[test]
    fn a_history_is_as_long_as_it_is_asked_for() {
        assert_eq!(history_length(None).unwrap(), None);
        assert_eq!(history_length(Some(0)).unwrap(), Some(0));
        assert!(history_length(Some(-1)).is_err());
    }
}
