//! `GET /runs`: the client's runs of all packs that it reaches, those that were written last first, page by page; and what the client
//! may do with them. `by=commands`: those that commands began, in their place.

use crate::answer::{Answer, json};
use crate::ask::Ask;
use crate::commands;
use crate::problem::Problem;
use crate::runs::{Found, standing};
use crate::server::Server;
use agentctl_sessions::{RunOf, RunsOf};
use hyper::StatusCode;
use serde_json::{Value, json as value};
use std::sync::Arc;

const PAGE: usize = 50;
const MOST: usize = 100;
/// So many rows are read at once.
const ROWS: u32 = 101;
/// So many characters of what began a run are told.
pub const SHOWN: usize = 300;

/// Which of them.
struct Wanted {
    limit: usize,
    /// Those behind this one, as the `next` of an answer had it.
    after: Option<String>,
    /// Those that commands began, in place of the client's own.
    by_commands: bool,
}

/// When a run was written, and its name.
type Place = (i64, String);

impl Wanted {
    fn of(query: &str) -> Result<Wanted, Problem> {
        let mut wanted = Wanted {
            limit: PAGE,
            after: None,
            by_commands: false,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let wrong = || {
                Problem::bad(format!("{pair:?} is not taken here")).hint(format!(
                    "limit=1 to {MOST}, after=the `next` of an answer, by=commands"
                ))
            };
            match pair.split_once('=').ok_or_else(wrong)? {
                ("limit", limit) => {
                    let limit = limit.parse().ok().filter(|n| (1..=MOST).contains(n));
                    wanted.limit = limit.ok_or_else(wrong)?;
                }
                ("after", place) if !place.is_empty() => wanted.after = Some(place.to_owned()),
                ("by", "commands") => wanted.by_commands = true,
                _ => return Err(wrong()),
            }
        }
        Ok(wanted)
    }

    /// Where the page of conversations' runs begins.
    fn place(&self) -> Result<Option<Place>, Problem> {
        let Some(text) = &self.after else {
            return Ok(None);
        };
        let parts = text.split_once('.');
        let place = parts.and_then(|(at, run)| Some((at.parse().ok()?, run.to_owned())));
        let wrong = || Problem::bad(format!("after={text:?} is no `next` of an answer"));
        place.map(Some).ok_or_else(wrong)
    }
}

pub async fn list(server: &Server, ask: &Ask, query: &str) -> Result<Answer, Problem> {
    let wanted = Wanted::of(query)?;
    let (runs, next) = match wanted.by_commands {
        true => commands::list(server, ask, wanted.after.as_deref(), wanted.limit)?,
        false => own(server, ask, &wanted).await?,
    };
    let packs = server.packs.keys().filter(|name| ask.client.reaches(name));
    let may = ask.client.may.iter().map(|may| may.name());
    Ok(json(
        StatusCode::OK,
        &value!({
            "client": ask.client.name, "may": may.collect::<Vec<_>>(), "packs": packs.collect::<Vec<_>>(), "runs": runs, "next": next,
        }),
    ))
}

/// The client's own, and where the next page begins.
async fn own(
    server: &Server,
    ask: &Ask,
    wanted: &Wanted,
) -> Result<(Vec<Value>, Option<String>), Problem> {
    let mut rows = rows(server, ask, wanted.limit, wanted.place()?).await?;
    let more = rows.len() > wanted.limit;
    rows.truncate(wanted.limit);
    let next = rows.last().filter(|_| more);
    let next = next.map(|last| format!("{}.{}", last.at, last.run));
    let runs = rows.iter().filter_map(|row| told(server, row));
    Ok((runs.collect(), next))
}

/// One more than are wanted, where there are so many.
async fn rows(
    server: &Server,
    ask: &Ask,
    limit: usize,
    after: Option<Place>,
) -> Result<Vec<RunOf>, Problem> {
    let mut all = Vec::new();
    for name in server.packs.keys().filter(|name| ask.client.reaches(name)) {
        let mut of = RunsOf {
            pack: name.clone(),
            tenants: ask.client.sees(),
            conversation: None,
            after: after.clone(),
        };
        let mut found = 0;
        while found <= limit {
            let rows = server.sessions.runs(&of, ROWS).await?;
            let Some(last) = rows.last() else { break };
            of.after = Some((last.at, last.run.clone()));
            let own = rows.into_iter();
            let own = own.filter(|row| ask.client.owns(&row.key.tenant));
            let before = all.len();
            all.extend(own);
            found += all.len() - before;
        }
    }
    all.sort_by(|a, b| (b.at, &b.run).cmp(&(a.at, &a.run)));
    all.truncate(limit + 1);
    Ok(all)
}

/// None: it cannot be read any more, so it is no run.
fn told(server: &Server, row: &RunOf) -> Option<Value> {
    let found = Found {
        run: row.run.clone(),
        key: row.key.clone(),
        pack: Arc::clone(server.packs.get(&row.key.pack)?),
    };
    let stands = standing(server, &found).ok()?;
    let at = jiff::Timestamp::from_millisecond(row.at).ok()?;
    let said: String = stands.message.chars().take(SHOWN).collect();
    let outcome = (stands.status == "ended").then_some(stands.report.outcome);
    let expects = stands.question().map(|(_, expects)| expects);
    Some(value!({
        "run_id": row.run, "session_id": row.key.id(), "pack": row.key.pack, "at": at.to_string(), "said": said,
        "status": stands.status, "outcome": outcome, "expects": expects,
    }))
}
