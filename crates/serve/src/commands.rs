//! The runs that commands of the project began (`agentctl build`), for clients that may `oversee`, of the packs that they reach. They are
//! looked at and not touched: a command goes on with them, on the machine and by the hand of who began them.

use crate::answer::{Answer, json};
use crate::ask::Ask;
use crate::clients::May;
use crate::listed::SHOWN;
use crate::problem::Problem;
use crate::router::named;
use crate::runs::{self, Found, Readable, Standing, standing_of};
use crate::server::Server;
use agentctl_base::question::{Outcome, Question};
use agentctl_base::shell;
use agentctl_engine::run::{self, OfCommand};
use agentctl_engine::store::Project;
use agentctl_turns::TurnError;
use hyper::StatusCode;
use serde_json::{Map, Value, json as value};
use std::sync::Arc;

/// A run that a command began.
pub struct Begun {
    of: OfCommand,
    readable: Readable,
}

impl Begun {
    fn standing(&self) -> Result<Standing, Problem> {
        let (readable, pack) = (&self.readable, self.readable.as_it_runs());
        standing_of(&readable.pack.project, &pack, &readable.run, false)
    }
}

/// Where the commands of the project work too.
fn project(server: &Server) -> Option<&Project> {
    server.packs.values().next().map(|pack| &*pack.project)
}

fn is_seen(server: &Server, ask: &Ask, of: &OfCommand) -> bool {
    ask.client.reaches(&of.pack) && server.packs.contains_key(&of.pack)
}

/// None: it is a conversation's, or the client may not see it, or there is none.
pub async fn find(server: &Server, ask: &Ask, run: &str) -> Result<Option<Begun>, Problem> {
    if ask.may(May::Oversee).is_err() || server.whose(run).await?.is_some() {
        return Ok(None);
    }
    let of = match project(server) {
        Some(project) => run::of_command(project, run),
        None => Ok(None),
    };
    let of = of.map_err(|e| Problem::from(TurnError::from(e)))?;
    let seen = of.filter(|of| is_seen(server, ask, of));
    Ok(seen.and_then(|of| {
        let readable = Readable {
            run: of.run_id.clone(),
            key: None,
            pack: Arc::clone(server.packs.get(&of.pack)?),
            flow: of.flow.clone(),
        };
        Some(Begun { of, readable })
    }))
}

/// A run that the client may look at.
pub async fn readable(server: &Server, ask: &Ask, run: &str) -> Result<Readable, Problem> {
    match find(server, ask, run).await? {
        Some(begun) => Ok(begun.readable),
        None => Ok(runs::find(server, ask, run).await?.into()),
    }
}

/// A run that is the client's to go on with or to end. Who sees a command's run is told what does that.
pub async fn touched(server: &Server, ask: &Ask, run: &str) -> Result<Found, Problem> {
    match find(server, ask, run).await? {
        Some(begun) => {
            let told = format!("a command began the run {run}, and only commands go on with it");
            let stands = begun.standing().ok();
            let next = next(&begun, stands.as_ref());
            let next = next.unwrap_or_else(|| format!("agentctl runs show {run}"));
            Err(Problem::new(StatusCode::CONFLICT, told).hint(next))
        }
        None => runs::find(server, ask, run).await,
    }
}

/// Those behind the run `after`, in a page, and where the next one begins.
pub fn list(
    server: &Server,
    ask: &Ask,
    after: Option<&str>,
    most: usize,
) -> Result<(Vec<Value>, Option<String>), Problem> {
    ask.may(May::Oversee)?;
    let Some(project) = project(server) else {
        return Ok((Vec::new(), None));
    };
    let listed = run::of_commands(project, after, most, &|of| is_seen(server, ask, of));
    let (all, more) = listed.map_err(|e| Problem::from(TurnError::from(e)))?;
    let next = all.last().filter(|_| more).map(|last| last.run_id.clone());
    Ok((all.iter().map(row).collect(), next))
}

/// `running` also where it was killed: nobody but its process knows.
fn status(of: &OfCommand) -> &'static str {
    match of.outcome {
        _ if of.over => "ended",
        None => "running",
        Some(Outcome::Waiting) => "waiting",
        Some(_) => "stopped",
    }
}

fn row(of: &OfCommand) -> Value {
    let status = status(of);
    let said: String = of.request.chars().take(SHOWN).collect();
    let outcome = of.outcome.filter(|_| matches!(status, "ended" | "stopped"));
    value!({
        "run_id": of.run_id, "session_id": null, "pack": of.pack, "at": of.updated_at, "said": said, "status": status, "outcome": outcome,
        "taken_back": of.taken_back, "by": "command",
    })
}

/// The command that goes on with it; None: nothing does. Without how it stands the command itself tells what is asked.
fn next(begun: &Begun, stands: Option<&Standing>) -> Option<String> {
    let run = &begun.of.run_id;
    let questions = stands.map(|stands| stands.report.questions.as_slice());
    match status(&begun.of) {
        "waiting" => Some(answer_command(run, questions.unwrap_or_default())),
        "stopped" => Some(format!("agentctl resume {run}")),
        _ => None,
    }
}

fn answer_command(run: &str, questions: &[Question]) -> String {
    let open = questions.iter().filter(|q| q.required).map(|q| {
        let id = shell::word(&q.id);
        match q.approves {
            Some(_) => format!(" {id}=approve"),
            None => format!(" {id}=…"),
        }
    });
    format!("agentctl answer {run}{}", open.collect::<String>())
}

/// `GET /runs/{id}` of such a run.
pub fn show(begun: &Begun) -> Result<Answer, Problem> {
    let run = &begun.of.run_id;
    let mut shown = row(&begun.of);
    let stands = match begun.standing() {
        Ok(stands) => stands,
        // Of another version of the pack, or of an orchestrator that was chosen: only the command knows which.
        Err(problem) if problem.status == StatusCode::INTERNAL_SERVER_ERROR => {
            if let Value::Object(map) = &mut shown {
                map.insert("next".to_owned(), value!(next(begun, None)));
                map.insert("unread".to_owned(), problem.detail.as_str().into());
            }
            return Ok(named(json(StatusCode::OK, &shown), Some(run), None));
        }
        Err(problem) => return Err(problem),
    };
    if let Value::Object(map) = &mut shown {
        let report = &stands.report;
        let status = status(&begun.of);
        let said = report.messages.iter().map(|m| m.text.as_str());
        let mut more = Map::from_iter([
            ("messages".to_owned(), value!(said.collect::<Vec<_>>())),
            ("usage".to_owned(), value!(report.usage)),
            ("next".to_owned(), value!(next(begun, Some(&stands)))),
        ]);
        match status {
            "waiting" => {
                more.insert("questions".into(), value!(report.questions));
            }
            "ended" | "stopped" => {
                more.insert("message".into(), report.message.clone().into());
            }
            _ => {}
        }
        map.extend(more);
    }
    Ok(named(json(StatusCode::OK, &shown), Some(run), None))
}
