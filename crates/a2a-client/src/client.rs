//! The operations of the protocol, one request each.

use crate::agent::{Credentials, Fetched, Limits};
use crate::error::Error;
use crate::events::Events;
use crate::wire::{self, Binding, Operation};
use agentctl_a2a::{
    CardKeys, ListTasks, MEDIA_TYPE, Message, SendMessage, StreamResponse, Task, TaskList, VERSION,
    VERSION_HEADER,
};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use url::Url;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// What a message comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    Task(Box<Task>),
    /// The agent answers without a task.
    Message(Box<Message>),
}

/// One agent, reached by one of the ways that its card offers.
#[derive(Debug)]
pub struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) binding: Binding,
    pub(crate) url: Url,
    pub(crate) tenant: String,
    pub(crate) streams: bool,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) limits: Limits,
    pub(crate) keys: Option<CardKeys>,
}

impl Client {
    /// Whether the card says that events are streamed.
    pub fn streams(&self) -> bool {
        self.streams
    }

    /// # Errors
    /// [`Error::is_unmade`] says whether a task may have been made.
    pub async fn send(&self, message: &SendMessage) -> Result<Reply, Error> {
        let answer = self.one(Operation::Send, object(message)?).await?;
        match typed(answer)? {
            StreamResponse::Task(task) => Ok(Reply::Task(task)),
            StreamResponse::Message(message) => Ok(Reply::Message(Box::new(message))),
            _ => Err(Error::Unreadable(
                "the answer is neither a task nor a message".to_owned(),
            )),
        }
    }

    /// # Errors
    /// As for [`Client::send`].
    pub async fn stream(&self, message: &SendMessage) -> Result<Events, Error> {
        self.events(Operation::Stream, object(message)?).await
    }

    /// # Errors
    /// There is no such task, or no answer.
    pub async fn get(&self, id: &str, history: Option<i64>) -> Result<Task, Error> {
        let mut params = named(id);
        if let Some(most) = history {
            params.insert("historyLength".to_owned(), most.into());
        }
        typed(self.one(Operation::Get, params).await?)
    }

    /// # Errors
    /// The query does not fit, or no answer came.
    pub async fn list(&self, query: &ListTasks) -> Result<TaskList, Error> {
        typed(self.one(Operation::List, object(query)?).await?)
    }

    /// # Errors
    /// There is no such task, it is at its end, or no answer came.
    pub async fn cancel(&self, id: &str) -> Result<Task, Error> {
        typed(self.one(Operation::Cancel, named(id)).await?)
    }

    /// # Errors
    /// There is no such task, it is at its end, or no answer came.
    pub async fn subscribe(&self, id: &str) -> Result<Events, Error> {
        self.events(Operation::Subscribe, named(id)).await
    }

    /// The card that the agent shows to those that it lets in.
    ///
    /// # Errors
    /// It has none, or none for this caller; none of the agent's keys signed it; or no answer came.
    pub async fn extended_card(&self) -> Result<Fetched, Error> {
        let whole = self.one(Operation::ExtendedCard, Map::new()).await?;
        Fetched::read(whole, self.keys.as_ref())
    }

    async fn one(&self, operation: Operation, params: Map<String, Value>) -> Result<Value, Error> {
        let request = self.request(operation, params, JSON);
        // A timeout of the whole: a server that trickles is not waited for.
        let answer = request.timeout(self.limits.answer).send().await;
        let answer = answer.map_err(|e| Error::of(&e))?;
        let status = answer.status().as_u16();
        let body = wire::whole(answer, self.limits.max_bytes).await?;
        wire::result(self.binding, status, &body)
    }

    async fn events(
        &self,
        operation: Operation,
        params: Map<String, Value>,
    ) -> Result<Events, Error> {
        let answer = self.request(operation, params, EVENTS).send().await;
        let answer = answer.map_err(|e| Error::of(&e))?;
        let status = answer.status().as_u16();
        let kind = answer.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if status == 200 && kind.starts_with(EVENTS) {
            return Ok(Events::new(answer, self.binding, self.limits));
        }
        let body = wire::whole(answer, self.limits.max_bytes).await?;
        wire::result(self.binding, status, &body)?;
        Err(Error::Unreadable(
            "the agent was asked for events and answered otherwise".to_owned(),
        ))
    }

    fn request(
        &self,
        operation: Operation,
        params: Map<String, Value>,
        accept: &str,
    ) -> reqwest::RequestBuilder {
        let (request, kind) = match self.binding {
            Binding::JsonRpc => {
                let call = wire::call(operation, &self.tenant, params);
                let request = self.http.post(self.url.clone());
                (request.body(call.to_string()), JSON)
            }
            Binding::HttpJson => {
                let rest = operation.rest(&self.tenant, params);
                let mut url = self.url.clone();
                let base = url.path().trim_end_matches('/').to_owned();
                url.set_path(&format!("{base}/"));
                // The path is put together of encoded segments, and joined as text: `join` would read `message:send` as a scheme.
                let mut url = Url::parse(&format!("{}{}", url.as_str(), rest.path)).unwrap_or(url);
                if !rest.query.is_empty() {
                    url.query_pairs_mut().extend_pairs(&rest.query);
                }
                let request = self.http.request(rest.method, url);
                match rest.body {
                    Some(body) => (request.body(body.to_string()), MEDIA_TYPE),
                    None => (request, MEDIA_TYPE),
                }
            }
        };
        let accept = match (self.binding, accept) {
            (Binding::HttpJson, JSON) => MEDIA_TYPE,
            (_, other) => other,
        };
        let request = request
            .header(VERSION_HEADER, VERSION)
            .header(CONTENT_TYPE, kind)
            .header(ACCEPT, accept);
        match &self.credentials {
            None => request,
            Some(Credentials::Bearer(token)) => request.bearer_auth(token),
            Some(Credentials::Basic { user, password }) => request.basic_auth(user, Some(password)),
        }
    }
}

fn named(id: &str) -> Map<String, Value> {
    let mut params = Map::new();
    params.insert("id".to_owned(), id.into());
    params
}

fn object(of: &impl Serialize) -> Result<Map<String, Value>, Error> {
    match serde_json::to_value(of) {
        Ok(Value::Object(map)) => Ok(map),
        _ => Err(Error::Unreadable(
            "the request cannot be written".to_owned(),
        )),
    }
}

pub(crate) fn typed<T: DeserializeOwned>(answer: Value) -> Result<T, Error> {
    serde_json::from_value(answer)
        .map_err(|e| Error::Unreadable(format!("the answer does not fit the protocol: {e}")))
}
