//! One tool of a toolset: what is told of it, and how its arguments become a call. Its head says that it changes something exactly
//! when its calls are changes, because both come from the same type.

use agentctl_engine::toolset::{Change, Head, Parsed, Read};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A call with its arguments typed, and what the tool works on.
pub(crate) struct On<E, A> {
    pub on: Arc<E>,
    pub args: A,
}

type Parse<E> = fn(Arc<E>, Map<String, Value>) -> Result<Parsed, String>;

/// A tool that works on an `E`.
pub(crate) struct Tool<E> {
    head: Head,
    parse: Parse<E>,
}

impl<E> Tool<E> {
    #[cfg(test)]
    pub fn spec(&self) -> agentctl_base::model::ToolSpec {
        self.head.spec()
    }

    pub fn read<A: DeserializeOwned>(head: Head) -> Self
    where
        On<E, A>: Read + 'static,
    {
        Tool {
            head: Head {
                changes: false,
                ..head
            },
            parse: |on, args| {
                let args = typed(args)?;
                Ok(Parsed::Read(Box::new(On::<E, A> { on, args })))
            },
        }
    }

    pub fn change<A: DeserializeOwned>(head: Head) -> Self
    where
        On<E, A>: Change + 'static,
    {
        Tool {
            head: Head {
                changes: true,
                ..head
            },
            parse: |on, args| {
                let args = typed(args)?;
                Ok(Parsed::Change(Box::new(On::<E, A> { on, args })))
            },
        }
    }
}

fn typed<A: DeserializeOwned>(args: Map<String, Value>) -> Result<A, String> {
    serde_json::from_value(Value::Object(args)).map_err(|e| e.to_string())
}

/// The tools of a toolset.
pub(crate) struct Table<E> {
    pub heads: Vec<Head>,
    parsers: Vec<Parse<E>>,
}

impl<E> Table<E> {
    pub fn new(tools: Vec<Tool<E>>) -> Self {
        Table {
            parsers: tools.iter().map(|tool| tool.parse).collect(),
            heads: tools.into_iter().map(|tool| tool.head).collect(),
        }
    }

    pub fn parse(
        &self,
        on: &Arc<E>,
        tool: &str,
        args: Map<String, Value>,
    ) -> Result<Parsed, String> {
        let mut named = self.heads.iter().zip(&self.parsers);
        match named.find(|(head, _)| head.name == tool) {
            Some((_, parse)) => parse(Arc::clone(on), args),
            None => Err(format!("there is no tool {tool:?}")),
        }
    }
}
