//! Tools that fail when a dialogue says so, whatever they are: what a pack does then is part of what it promises.

use agentctl_base::BoxFuture;
use agentctl_engine::guards::Memory;
use agentctl_engine::store::Event;
use agentctl_engine::store::event::Change as Changed;
use agentctl_engine::toolset::{
    Answer, Change, Cx, Fault, Head, Leftover, Outcome, Parsed, Planning, Read, Resources,
    Settling, Toolset, error_content,
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A toolset of which some tools fail.
pub struct Failing {
    of: Arc<dyn Toolset>,
    tools: Vec<String>,
}

impl Failing {
    pub fn new(of: Arc<dyn Toolset>, tools: &[String]) -> Self {
        Failing {
            of,
            tools: tools.to_vec(),
        }
    }
}

struct Fails;

impl Fails {
    fn outcome() -> Outcome {
        let why = "the dialogue says that this call fails";
        Outcome::Failed(error_content(why, "dialogue.fails", "try it again later"))
    }
}

impl Read for Fails {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Ok(Fails::outcome())))
    }
}

impl Change for Fails {
    fn plan<'a>(&'a self, _: &'a mut Cx<'_>, _: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(std::future::ready(Ok(Err(Fails::outcome()))))
    }
}

impl Toolset for Failing {
    fn backend(&self) -> &str {
        self.of.backend()
    }
    fn tools(&self) -> &[Head] {
        self.of.tools()
    }
    fn parse(&self, tool: &str, args: Map<String, Value>) -> Result<Parsed, String> {
        // Arguments that do not fit are refused as always.
        let parsed = self.of.parse(tool, args)?;
        if !self.tools.iter().any(|name| name == tool) {
            return Ok(parsed);
        }
        Ok(match parsed {
            Parsed::Read(_) => Parsed::Read(Box::new(Fails)),
            Parsed::Change(_) => Parsed::Change(Box::new(Fails)),
            // What fails of a flow are the calls in it.
            Parsed::Flow => Parsed::Flow,
        })
    }
    fn memory(&self) -> Option<Box<dyn Memory>> {
        self.of.memory()
    }
    fn resources(&self) -> Option<&dyn Resources> {
        self.of.resources()
    }
    fn hint(&self, rule: &str) -> Option<&'static str> {
        self.of.hint(rule)
    }
    fn settle<'a>(
        &'a self,
        cx: &'a mut Cx<'_>,
        intent: &'a Event,
    ) -> BoxFuture<'a, Result<Settling, Fault>> {
        self.of.settle(cx, intent)
    }
    fn settled<'a>(
        &'a self,
        intent: &'a Event,
        change: &'a Changed,
        now: jiff::Timestamp,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        self.of.settled(intent, change, now)
    }
    fn leaves(&self, intent: &Event) -> Option<Leftover> {
        self.of.leaves(intent)
    }
    fn leaves_sign(&self) -> Option<&'static str> {
        self.of.leaves_sign()
    }
    fn clear<'a>(&'a self, intent: &'a Event) -> BoxFuture<'a, Result<(), Fault>> {
        self.of.clear(intent)
    }
}
