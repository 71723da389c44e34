//! `GET /runs/{id}/events`: what happens in a run, as it happens, read from its journal: in agentctl's own form or as AG-UI.

mod ag_ui;

use crate::answer::{Answer, Events};
use crate::ask::Ask;
use crate::files::Attached;
use crate::following::Following;
use crate::problem::Problem;
use crate::reads::Reads;
use crate::runs::Readable;
use crate::server::Server;
use ag_ui::AgUi;
use agentctl_engine::store::{Event, Record};
use agentctl_turns::Seen;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// So long nothing comes before a connection is shown to be alive, and the journal is looked at again: another process may write it.
const QUIET: Duration = Duration::from_secs(15);

/// What of the records a reader sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    /// What is said, asked and done, without its insides.
    User,
    /// Every record.
    All,
}

/// The form in which it is told.
enum Form {
    /// Each record is one event.
    Agentctl(View),
    /// A record is none, one or several events of the AG-UI protocol.
    AgUi(Box<AgUi>),
}

/// So many records are made ready before the reader is waited for.
const AT_ONCE: usize = 64;

/// An event as it is sent.
struct Line {
    /// Of the last event of a record: who comes back with it has seen all of the record.
    id: Option<u64>,
    name: Option<String>,
    data: String,
}

/// An event as it is written.
struct Told {
    /// The event's name, where the form has names beside its data.
    name: Option<String>,
    data: Value,
}

pub fn open(
    server: &Arc<Server>,
    ask: &Ask,
    found: Readable,
    query: &str,
) -> Result<Answer, Problem> {
    let (mut view, mut is_ag_ui) = (View::User, false);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair {
            "view=user" => view = View::User,
            "view=all" => view = View::All,
            "format=agentctl" => is_ag_ui = false,
            "format=ag-ui" => is_ag_ui = true,
            other => {
                return Err(Problem::bad(format!("{other:?} is not taken here"))
                    .hint("view=user, view=all, format=agentctl, format=ag-ui"));
            }
        }
    }
    let after = match ask.header("last-event-id")? {
        None => 0,
        Some(id) => id
            .parse()
            .map_err(|_| Problem::bad("Last-Event-ID is the number of an event"))?,
    };
    let form = match is_ag_ui {
        false => Form::Agentctl(view),
        true => {
            let ag_ui = AgUi::new(&found.run, &found.thread(), view == View::All);
            Form::AgUi(Box::new(ag_ui))
        }
    };
    let (events, answer) = Events::answer();
    let reads = ask.client.reads.clone();
    tokio::spawn(tell(
        Arc::clone(server),
        (found, reads),
        form,
        after,
        events,
    ));
    Ok(answer)
}

/// Tells the journal's records, those that are there and those that come, until there is nothing more to tell or the reader has gone.
async fn tell(
    server: Arc<Server>,
    (found, reads): (Readable, Reads),
    mut form: Form,
    after: u64,
    events: Events,
) {
    let Some(mut following) = Following::new(&server, found.clone()) else {
        return;
    };
    loop {
        let reading = reads.begin().await;
        let (records, read) = following.more().await;
        drop(reading);
        for some in records.chunks(AT_ONCE) {
            let reading = reads.begin().await;
            let Ok(lines) = form.lines(&server, &found, some, after).await else {
                return;
            };
            drop(reading);
            for Line { id, name, data } in lines {
                if !events.send(id, name.as_deref(), &data).await {
                    return;
                }
            }
        }
        if form.is_over(&records) || read.is_err() {
            return;
        }
        let rests = following.rests();
        tokio::select! {
            () = following.changed() => {}
            () = events.gone() => return,
            // A run that nobody goes on with here tells nothing more when the server ends.
            () = server.turns.ending(), if rests => return,
            () = tokio::time::sleep(QUIET) => {
                if !events.heartbeat().await {
                    return;
                }
            }
        }
    }
}

/// What goes with a record that says something.
async fn attached(server: &Server, found: &Readable, record: &Record) -> Result<Attached, Problem> {
    match (&record.event, &found.key) {
        (
            Event::Said {
                attachment: Some(place),
                ..
            },
            Some(key),
        ) => server.attached(&found.pack, key, &[place]).await,
        _ => Ok(Attached::default()),
    }
}

impl Form {
    /// What is sent of these records to who has seen the run up to `after`.
    async fn lines(
        &mut self,
        server: &Server,
        found: &Readable,
        records: &[Record],
        after: u64,
    ) -> Result<Vec<Line>, Problem> {
        let mut lines = Vec::with_capacity(records.len());
        for record in records {
            let attached = attached(server, found, record).await?;
            let told = self.told(record, record.seq > after, &attached);
            let last = told.len().saturating_sub(1);
            for (at, Told { name, data }) in told.into_iter().enumerate() {
                lines.push(Line {
                    id: (at == last).then_some(record.seq),
                    name,
                    data: data.to_string(),
                });
            }
        }
        Ok(lines)
    }

    /// `is_new`: the reader has not seen the record.
    fn told(&mut self, record: &Record, is_new: bool, attached: &Attached) -> Vec<Told> {
        match self {
            Form::Agentctl(_) if !is_new => Vec::new(),
            Form::Agentctl(view) => shown(record, *view, attached),
            Form::AgUi(ag_ui) => {
                let all = ag_ui.told(record, is_new, attached).into_iter();
                all.map(|data| Told { name: None, data }).collect()
            }
        }
    }

    /// Whether nothing comes after these.
    fn is_over(&self, records: &[Record]) -> bool {
        match self {
            Form::Agentctl(_) => {
                let ended = |record: &Record| matches!(record.event, Event::RunEnded { .. });
                records.iter().any(ended)
            }
            Form::AgUi(ag_ui) => ag_ui.is_over(),
        }
    }
}

/// A record as a reader sees it: as one event, several or none.
fn shown(record: &Record, view: View, attached: &Attached) -> Vec<Told> {
    if view == View::All {
        let line = record.line();
        let name = line.get("type").and_then(Value::as_str).map(str::to_owned);
        return vec![Told { name, data: line }];
    }
    let seen = agentctl_turns::seen(record).into_iter();
    seen.map(|Seen { kind, mut data }| {
        if let Some(place) = data.get_mut("attachment") {
            *place = attached.of(place.clone().as_str());
        }
        Told {
            name: Some(kind),
            data: Value::Object(data),
        }
    })
    .collect()
}
