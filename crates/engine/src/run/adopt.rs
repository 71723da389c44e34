//! Taking over a run that this user's agentctl did not write. First it is shown what the run would let happen once it counts as
//! the user's own: `adoption` reads and writes nothing. Then, by the user's word only, `adopt` marks it. Nothing is carried out.

use super::{
    Effects, RunError,
    earlier_states::{Believe, EarlierStates},
    history, inspect, projection,
    reopen::take_lock,
};
use crate::guards::GuardState;
use crate::{
    pack::Pack,
    redact::Redactor,
    store::{self, Event, Foreign, Loaded, Project},
    toolset::{Difference, ResourceId, Resources, keyed},
    view::{Asked, RunView, SessionOf},
};
use agentctl_base::question::{AnsweredBy, Outcome};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What a run would let happen. Texts in it are the run's own and untrusted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Adoption {
    pub run_id: String,
    /// From where on it is not this user's; None: all of it is, and there is nothing to adopt.
    pub foreign: Option<Foreign>,
    pub records: u64,
    /// The chain's last hash: what is adopted is what was shown.
    pub head: String,
    pub request: String,
    pub session: Option<SessionOf>,
    pub flow: String,
    /// Whether it was made with the agents, flow and policy that are in force here.
    pub pack_in_force: bool,
    /// The place that it works on; None: the project's files.
    #[serde(skip)]
    pub place: Option<String>,
    /// What else of its input decides what it does outside, by the toolset's names.
    #[serde(flatten)]
    pub outside: Map<String, Value>,
    /// None: it was killed, or it runs.
    pub outcome: Option<Outcome>,
    /// It is over: `resume` does nothing.
    pub ended: bool,
    /// Recommendations are taken without asking.
    pub takes_recommendations: bool,
    /// What lies ready for questions that are still to be put.
    pub answers_ahead: Map<String, Value>,
    /// What `resume` would ask.
    pub questions: Vec<Pending>,
    /// Every answer that stands in it.
    pub answers: Vec<Answered>,
    /// Calls that were begun and have no result: `resume` and `undo` settle them by reading.
    pub begun: Vec<String>,
    /// What it changed, and what `undo` would do to each.
    pub resources: Vec<Touched>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pending {
    pub id: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answered {
    pub id: String,
    pub text: String,
    pub value: Value,
    pub by: AnsweredBy,
    /// For an approval: the rule, and the call.
    pub approves: Option<Approval>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Approval {
    pub rule: String,
    pub tool: String,
    pub arguments: Value,
    /// `resume` would act on it: it is a yes (or a choice) that no call has used up and whose time is not over.
    pub counts: bool,
}

/// Something that the run changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Touched {
    #[serde(flatten, with = "keyed")]
    pub resource: ResourceId,
    /// As it is called now; None: there is none, or it cannot be read.
    pub name: Option<String>,
    pub published: Option<bool>,
    /// What `undo` of the whole run would change; None: `why_not` says why that is not known.
    pub undo: Option<Difference>,
    pub why_not: Option<String>,
}

/// What the run would let happen. Nothing is written, no lock is taken.
pub async fn adoption(
    project: &Project,
    pack: &Pack,
    resources: &dyn Resources,
    redactor: &Redactor,
    run: &str,
    now: Timestamp,
) -> Result<Adoption, RunError> {
    let run_id = project.find_run(run)?;
    let loaded = inspect::read(project, &run_id)?;
    let view = RunView::of(&loaded.records);
    let input = |key: &str| view.input.get(key);
    let text = |key: &str| input(key).and_then(Value::as_str).map(str::to_owned);
    let (records, head) = loaded.head();
    let states = EarlierStates {
        project,
        resources,
        believe: Believe::Any,
    };
    let made = history::of_run(&run_id, &view.changes);
    let mut changed = Vec::new();
    for id in history::changed(&made) {
        changed.push(touched(&states, redactor, &id, &history::only(&made, &id)).await);
    }
    Ok(Adoption {
        foreign: loaded.foreign.clone(),
        records,
        head: head.to_owned(),
        request: text("request").unwrap_or_default(),
        session: view.session.clone(),
        flow: view.flow.clone(),
        pack_in_force: view.pack_hash == pack.hash,
        place: resources.place_of(&view.input).map(str::to_owned),
        outside: resources.decided_outside(&view.input),
        outcome: projection::outcome_of(&view),
        ended: view.ended.is_some(),
        takes_recommendations: input("yes") == Some(&Value::Bool(true)),
        answers_ahead: match input("answers") {
            Some(Value::Object(answers)) => answers.clone(),
            _ => Map::new(),
        },
        questions: projection::waiting_for(&view)
            .into_iter()
            .map(|question| Pending {
                id: question.id,
                text: question.text,
            })
            .collect(),
        answers: answers(&view, &loaded, now),
        begun: (view.unsettled().iter())
            .filter_map(|intent| match intent {
                Event::ToolIntent { call, .. } => Some(call.name.clone()),
                _ => None,
            })
            .collect(),
        resources: changed,
        run_id,
    })
}

fn answers(view: &RunView, loaded: &Loaded, now: Timestamp) -> Vec<Answered> {
    // What toolsets remember has no part in what a person answered.
    let mut guards = GuardState::new(Vec::new(), None);
    for record in &loaded.records {
        guards.observe(&record.event);
    }
    let answered = |asked: &Asked| {
        let (value, by) = asked.answer.clone()?;
        let question = &asked.question;
        let hash = question.approves.as_deref().unwrap_or_default();
        let approves = question.proposal.as_ref().map(|proposal| Approval {
            rule: proposal.rule.clone(),
            tool: proposal.tool.clone(),
            arguments: proposal.arguments.clone(),
            counts: view.ended.is_none()
                && (guards.answer(hash, now) == Some(true) || guards.choice(hash).is_some()),
        });
        Some(Answered {
            id: question.id.clone(),
            text: question.text.clone(),
            value,
            by,
            approves,
        })
    };
    view.questions.iter().filter_map(answered).collect()
}

async fn touched(
    states: &EarlierStates<'_>,
    redactor: &Redactor,
    id: &str,
    made: &[history::Made],
) -> Touched {
    let mut touched = Touched {
        resource: ResourceId::new(states.resources.kind(), id),
        name: None,
        published: None,
        undo: None,
        why_not: None,
    };
    let now = match states.now(id).await {
        Ok(now) => now,
        Err(error) => {
            touched.why_not = Some(error.to_string());
            return touched;
        }
    };
    touched.name = now.as_ref().map(|now| now.document.name.clone());
    touched.published = now.as_ref().map(|now| now.live);
    match states.document(id, made, 0, now.as_ref()).await {
        Ok(copy) => {
            let wanted = copy.as_ref().map(|copy| &copy.document);
            let now = now.as_ref().map(|now| &now.document);
            touched.undo = Some(states.resources.difference(redactor, now, wanted));
        }
        Err(error) => touched.why_not = Some(error.to_string()),
    }
    touched
}

/// Makes the run the user's, as it was shown: refused when it is another by now. None: it was the user's already.
pub fn adopt(
    project: &Project,
    resources: &dyn Resources,
    effects: &dyn Effects,
    shown: &Adoption,
) -> Result<Option<Foreign>, RunError> {
    let run_id = &shown.run_id;
    if let Some(ledger) = project.ledger() {
        return Err(RunError::Usage(format!(
            "run {run_id} is shared in {}: what is written there stays as it is. `agentctl runs export {run_id} FILE`, then import and adopt it in a folder without [journal]",
            ledger.place()
        )));
    }
    let _lock = take_lock(project, resources, effects, Some(run_id))?;
    let paths = project.run(run_id)?;
    project.refuse_links(Some(&paths))?;
    let from = shown.foreign.as_ref().map_or(1, |foreign| foreign.from);
    let snapshots = project.snapshots(&paths);
    let mut taken = BTreeMap::new();
    for told in RunView::of(&inspect::read(project, run_id)?.records).snapshots {
        // What stands there is what was shown, as far as its graph is the one that the journal names.
        if let Ok(text) = snapshots.read(&told.file) {
            taken.insert(
                told.file,
                agentctl_base::canonical::sha256_hex(text.as_bytes()),
            );
        }
    }
    let event = Event::Adopted {
        from,
        snapshots: taken,
    };
    Ok(store::adopt(
        project.disk().as_ref(),
        &paths.journal(),
        &project.marks(run_id),
        &shown.head,
        (effects.now(), &event),
    )?)
}
