//! `GET /files/{run}/{name}`: files that runs made, for whoever has a link to one. A link is signed with the user's key, counts for one
//! file and one day, and is made only for the conversation whose run made the file; who has it may hand it on.

use crate::answer::{Answer, whole};
use crate::problem::{Problem, of_store};
use crate::server::{ServedPack, Server};
use agentctl_engine::run::Reply;
use agentctl_engine::store::RunFile;
use agentctl_mcp::serve::Guest;
use agentctl_sessions::SessionKey;
use hyper::StatusCode;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY};
use serde_json::{Value, json};
use std::collections::HashMap;

/// As long as a request sent again gets the same answer, with the links in it.
const SECONDS: i64 = 24 * 60 * 60;

/// What a file may do in a browser that shows it after all: nothing.
const MAY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

/// What goes with replies, by its place, as somebody outside can have it: of a run's file its name and a link, all else as the flow said.
#[derive(Debug, Default)]
pub struct Attached(HashMap<String, Value>);

impl Attached {
    pub fn of(&self, place: Option<&str>) -> Value {
        let place = place.unwrap_or_default();
        match self.0.get(place) {
            Some(file) => file.clone(),
            None if place.is_empty() => Value::Null,
            None => place.into(),
        }
    }

    /// A message's text, with where its file is, for those that read text alone.
    pub fn told(&self, text: &str, attachment: Option<&str>) -> String {
        let file = self.of(attachment);
        let of = |key: &str| file.get(key).and_then(Value::as_str);
        match (of("name"), of("url")) {
            (Some(name), Some(url)) => format!("{text}\n\n{name}: {url}"),
            _ => text.to_owned(),
        }
    }

    /// A message as it is told outside.
    pub fn message(&self, reply: &Reply) -> Value {
        json!({"text": reply.text, "data": reply.data, "attachment": self.of(reply.attachment.as_deref())})
    }
}

impl Server {
    /// The conversation that a run is of, also when it began just now.
    pub(crate) async fn whose(&self, run: &str) -> Result<Option<SessionKey>, Problem> {
        match self.live.key(run) {
            Some(key) => Ok(Some(key)),
            None => Ok(self.sessions.of_run(run).await?),
        }
    }

    /// What goes with what a flow said in a conversation.
    pub(crate) async fn attached_to(
        &self,
        pack: &ServedPack,
        key: &SessionKey,
        said: &[Reply],
    ) -> Result<Attached, Problem> {
        let places = said.iter().filter_map(|m| m.attachment.as_deref());
        self.attached(pack, key, &places.collect::<Vec<_>>()).await
    }

    /// What goes with the messages of a conversation that name these. A place comes from a flow, and may come from a model: a file of another
    /// conversation is like one that is not there.
    pub(crate) async fn attached(
        &self,
        pack: &ServedPack,
        key: &SessionKey,
        places: &[&str],
    ) -> Result<Attached, Problem> {
        let mut attached = Attached::default();
        for place in places {
            let Some(file) = RunFile::at(place) else {
                continue;
            };
            let is_ours = self.whose(file.run()).await?.as_ref() == Some(key);
            let size = match is_ours {
                true => pack
                    .project
                    .run_file_size(&file)
                    .map_err(|e| of_store(&e))?,
                false => None,
            };
            let until = pack.effects.now().as_second().saturating_add(SECONDS);
            let link = size.and_then(|_| {
                let mark = pack.project.link_mark(&file, until)?;
                let (run, name) = (file.run(), file.name());
                let url = self.limits.url.trim_end_matches('/');
                Some(format!(
                    "{url}/files/{run}/{name}?until={until}&mark={mark}"
                ))
            });
            let told = json!({
                "name": file.name(), "mime": file.media_type(), "size": size, "url": link
            });
            attached.0.insert((*place).to_owned(), told);
        }
        Ok(attached)
    }

    /// The file that a link is for.
    pub(crate) async fn file(
        &self,
        guest: &Guest,
        (run, name): (&str, &str),
        query: &str,
    ) -> Result<Answer, Problem> {
        let none = || {
            Problem::not_found("such file, or the link to it is not whole")
                .hint("GET /runs/{id} makes a new link")
        };
        let file = RunFile::of(run, name).ok_or_else(none)?;
        let (until, mark) = parts(query).ok_or_else(none)?;
        let mut packs = self.packs.values();
        let pack = packs.find(|pack| pack.project.is_link_mark(&file, until, mark));
        let pack = pack.ok_or_else(none)?;
        if pack.effects.now().as_second() >= until {
            let problem = Problem::new(StatusCode::NOT_FOUND, "the time of this link is over");
            return Err(problem.hint("GET /runs/{id} makes a new one"));
        }
        self.seat(guest).await?;
        let bytes = pack.project.run_file(&file).map_err(|e| of_store(&e))?;
        let mut answer = whole(StatusCode::OK, file.media_type(), bytes.ok_or_else(none)?);
        let headers = answer.headers_mut();
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(MAY));
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert(
            "cross-origin-resource-policy",
            HeaderValue::from_static("same-origin"),
        );
        let saved = format!("attachment; filename=\"{name}\"");
        let saved = HeaderValue::from_str(&saved).map_err(|_| none())?;
        headers.insert(CONTENT_DISPOSITION, saved);
        Ok(answer)
    }
}

/// `until=SECONDS&mark=HEX`, and nothing else.
fn parts(query: &str) -> Option<(i64, &str)> {
    let (until, mark) = query.split_once('&')?;
    let until = until.strip_prefix("until=")?.parse().ok()?;
    Some((until, mark.strip_prefix("mark=")?))
}
