//! The steps that let somebody work: an agent, the user, a tool.

use super::load_steps::Steps;
use super::model::{
    AgentSpec, AskSpec, ChooserSpec, Claim, ConversationSpec, Enough, MustCall, QuestionSpec,
    ToolStepSpec,
};
use super::scope::{CALL_VARIABLES, CLAIM_VARIABLES};
use crate::condition::Condition;
use crate::nearest::nearest;
use agentctl_base::foreign::split_foreign;
use agentctl_base::yaml::{Node, Place};
use indexmap::IndexMap;
use std::sync::Arc;

pub(super) const AGENT_KEYS: &[&str] = &[
    "task",
    "instructions",
    "reads",
    "with",
    "writes",
    "tools",
    "maps",
    "contract",
    "verify",
    "must_call",
    "enough",
    "max_turns",
    "conversation",
    "speak",
    "reply_guard",
];
const READABLE: &[&str] = &["input", "answers", "run"];
/// What an agent that chooses a case is asked to do, where the flow has no name of its own for it.
const CHOOSE: &str = "route";

impl Steps<'_, '_> {
    pub(super) fn agent(&mut self, node: &Node, name: &Node, what: &str) -> Option<AgentSpec> {
        let agent = self.reader.text(name, "an agent")?;
        self.reader.agent(name.place, &agent, false);
        let task = self.reader.required(node, "task", what);
        let task = task.and_then(|n| self.reader.name(n, "a task"));
        let instructions = self.reader.required(node, "instructions", what);
        let instructions = instructions.and_then(|n| self.reader.text(n, "instructions"));
        let reads = self.reads(node);
        let with = node
            .get("with")
            .map_or_else(IndexMap::new, |n| self.expressions_of(n, "`with`"));
        let mut writes = Vec::new();
        if let Some(list) = node.get("writes") {
            for (place, field) in self.reader.names(list, "writes") {
                if let Some(spec) = self.field(place, &field)
                    && !spec.writers.contains(&agent)
                {
                    let owners = spec.writers.join(", ");
                    self.add(
                        place,
                        format!("{agent} is no writer of {field:?} (writers: {owners})"),
                    );
                }
                writes.push(field);
            }
        }
        let tools = node.get("tools").map(|list| self.tools_of(list));
        let maps = self.maps(node, &writes);
        let contract = self.reader.required(node, "contract", what);
        let contract = contract.and_then(|n| {
            let properties = n.get("properties");
            for field in writes.iter().filter(|field| !maps.contains_key(*field)) {
                if n.get("type").and_then(Node::as_text) == Some("object")
                    && properties.is_none_or(|p| p.get(field).is_none())
                {
                    self.add(
                        n.place,
                        format!("{what} writes {field:?}, but its contract has no such property"),
                    );
                }
            }
            if maps.is_empty() {
                self.writes_what_it_must(n, &writes, what);
            }
            self.reader.schema(n)
        });
        let verify = self.claims(node);
        let must_call = self.must_call(node);
        let enough = self.enough_calls(node).map(Box::new);
        let max_turns = node
            .get("max_turns")
            .and_then(|n| self.reader.count(n, "max_turns"));
        let conversation = self.conversation(node);
        let speak = self.text_key(node, "speak");
        let reply_guard = self.text_key(node, "reply_guard");
        Some(AgentSpec {
            agent,
            task: task?,
            instructions: instructions?,
            reads,
            with,
            writes,
            tools,
            maps,
            contract: contract?,
            verify,
            must_call,
            enough,
            max_turns,
            conversation,
            speak: speak.map(String::into_boxed_str),
            reply_guard: reply_guard.map(String::into_boxed_str),
            calls: Arc::default(),
        })
    }

    /// A key of the answer that has the name of a field goes there: one that must be given and may not be written is never accepted.
    fn writes_what_it_must(&mut self, contract: &Node, writes: &[String], what: &str) {
        let required = contract.get("required").and_then(Node::as_list);
        for key in required.into_iter().flatten() {
            let field = key.as_text().unwrap_or_default();
            if self.fields.contains_key(field) && !writes.iter().any(|name| name == field) {
                self.add(
                    key.place,
                    format!("{what} must answer {field:?}, which is a field that it does not write: add it to `writes`, or give the key another name"),
                );
            }
        }
    }

    fn conversation(&mut self, node: &Node) -> Option<ConversationSpec> {
        let node = node.get("conversation")?;
        let what = "`conversation`";
        self.reader
            .keys(node, what, &["history", "message", "focus"]);
        let history = node.get("history").and_then(|n| self.expression(n));
        let message = node.get("message").and_then(|n| self.expression(n));
        if history.is_none() && message.is_none() && node.as_map().is_some() {
            self.add(node.place, "`conversation` needs `history` or `message`");
        }
        let latest = node.get("focus").is_some_and(|n| match n.as_text() {
            Some("latest") => true,
            Some("all") => false,
            _ => {
                self.add(n.place, "`focus` must be latest or all");
                false
            }
        });
        Some(ConversationSpec {
            history,
            message,
            latest,
        })
    }

    /// A key of the answer; the contract must say that it is a text.
    fn text_key(&mut self, node: &Node, name: &str) -> Option<String> {
        let speak = node.get(name)?;
        let key = self.reader.text(speak, &format!("`{name}`"))?;
        let of_contract = node.get("contract").and_then(|n| n.get("properties"));
        let kind = of_contract.and_then(|n| n.get(&key)?.get("type"));
        if kind.and_then(Node::as_text) != Some("string") {
            let message = format!(
                "`{name}` names {key:?}, which is no property of type string in the contract"
            );
            self.add(speak.place, message);
        }
        Some(key)
    }

    fn tools_of(&mut self, list: &Node) -> Vec<String> {
        let named = self.reader.names(list, "tools");
        for (place, tool) in &named {
            self.known_tool(*place, tool);
        }
        named.into_iter().map(|(_, tool)| tool).collect()
    }

    fn reads(&mut self, node: &Node) -> Vec<String> {
        let mut reads = Vec::new();
        if let Some(list) = node.get("reads") {
            for (place, field) in self.reader.names(list, "reads") {
                if !READABLE.contains(&field.as_str()) {
                    self.field(place, &field);
                }
                reads.push(field);
            }
        }
        reads
    }

    /// Field → what of the answer goes into it.
    fn maps(&mut self, node: &Node, writes: &[String]) -> IndexMap<String, Condition> {
        let mut maps = IndexMap::new();
        let Some(node) = node.get("maps") else {
            return maps;
        };
        for entry in self.reader.map(node, "`maps`").unwrap_or_default() {
            if !writes.contains(&entry.key) {
                let message = format!(
                    "{:?} is not among the fields that the step writes",
                    entry.key
                );
                self.add(entry.key_place, message);
            } else if self
                .fields
                .get(&entry.key)
                .is_some_and(|spec| spec.meaning.fact.is_some())
            {
                let message = format!(
                    "{:?} has a `fact`: what is claimed in it is checked in the answer itself, so it cannot be mapped",
                    entry.key
                );
                self.add(entry.key_place, message);
            }
            if let Some(condition) = self.about_the_answer(&entry.value) {
                maps.insert(entry.key.clone(), condition);
            }
        }
        if let Some(field) = writes.iter().find(|field| !maps.contains_key(*field)) {
            let message =
                format!("`maps` must name each field that the step writes; {field:?} is not there");
            self.add(node.place, message);
        }
        maps
    }

    /// An expression that sees `output`, and what the step called.
    fn about_the_answer(&mut self, node: &Node) -> Option<Condition> {
        self.expression_over(node, CLAIM_VARIABLES)
    }

    fn claims(&mut self, node: &Node) -> Vec<Claim> {
        let mut verify = Vec::new();
        for item in node.items("verify") {
            self.reader.keys(item, "a claim", &["that", "says"]);
            let that = self.reader.required(item, "that", "a claim");
            let that = that.and_then(|n| self.about_the_answer(n));
            let says = self.reader.required(item, "says", "a claim");
            let says = says.and_then(|n| self.reader.text(n, "`says`"));
            if let (Some(that), Some(says)) = (that, says) {
                verify.push(Claim { that, says });
            }
        }
        verify
    }

    /// One, or a list of them.
    fn must_call(&mut self, node: &Node) -> Vec<MustCall> {
        let Some(given) = node.get("must_call") else {
            return Vec::new();
        };
        let alone = given.as_list().is_none().then_some(given);
        let all: Vec<&Node> = alone.into_iter().chain(node.items("must_call")).collect();
        all.into_iter()
            .filter_map(|one| self.one_must_call(one))
            .collect()
    }

    fn one_must_call(&mut self, node: &Node) -> Option<MustCall> {
        let what = "`must_call`";
        self.reader
            .keys(node, what, &["tool", "fresh", "if_changed"]);
        let tool = self.reader.required(node, "tool", what)?;
        let place = tool.place;
        let tool = self.reader.text(tool, "a tool")?;
        self.known_tool(place, &tool);
        let fresh = self.reader.flag(node, "fresh", false);
        let if_changed = self.reader.flag(node, "if_changed", false);
        Some(MustCall {
            tool,
            fresh,
            if_changed,
        })
    }

    fn enough_calls(&mut self, node: &Node) -> Option<Enough> {
        let node = node.get("enough")?;
        let what = "`enough`";
        self.reader.keys(node, what, &["when", "answer"]);
        let when = self.reader.required(node, "when", what);
        let when = when.and_then(|n| self.expression_over(n, CALL_VARIABLES));
        let answer = self.reader.required(node, "answer", what);
        let answer = answer.and_then(|n| self.expression_over(n, CALL_VARIABLES));
        Some(Enough {
            when: when?,
            answer: answer?,
        })
    }

    /// `by: {agent: …}` of a route.
    pub(super) fn chooser(&mut self, node: &Node, what: &str) -> Option<ChooserSpec> {
        let of = format!("`by` of {what}");
        let keys = [
            "agent",
            "task",
            "instructions",
            "reads",
            "with",
            "otherwise",
            "max_turns",
            "conversation",
        ];
        self.reader.keys(node, &of, &keys);
        let agent = self.reader.required(node, "agent", &of);
        let agent = agent.and_then(|n| {
            let agent = self.reader.text(n, "an agent")?;
            self.reader.agent(n.place, &agent, false);
            Some(agent)
        });
        let task = node.get("task").map_or_else(
            || Some(CHOOSE.to_owned()),
            |n| self.reader.name(n, "a task"),
        );
        let instructions = node
            .get("instructions")
            .and_then(|n| self.reader.text(n, "instructions"));
        let reads = self.reads(node);
        let with = node
            .get("with")
            .map_or_else(IndexMap::new, |n| self.expressions_of(n, "`with`"));
        let otherwise = self.reader.required(node, "otherwise", &of);
        let otherwise = otherwise.and_then(|n| self.reader.name(n, "a case"));
        let max_turns = node
            .get("max_turns")
            .and_then(|n| self.reader.count(n, "max_turns"));
        let conversation = self.conversation(node);
        Some(ChooserSpec {
            agent: agent?,
            task: task?,
            instructions,
            reads,
            with,
            otherwise: otherwise?,
            max_turns,
            conversation,
        })
    }

    pub(super) fn ask(&mut self, node: &Node) -> Option<AskSpec> {
        self.reader.keys(node, "`ask`", &["from", "questions"]);
        match (node.get("from"), node.get("questions")) {
            (Some(from), None) => self.expression(from).map(AskSpec::From),
            (None, Some(list)) => {
                let items = list.as_list().unwrap_or_default();
                if items.is_empty() {
                    self.add(list.place, "`questions` must be a list of questions");
                }
                Some(AskSpec::Questions(
                    items.iter().filter_map(|q| self.question(q)).collect(),
                ))
            }
            _ => {
                self.add(
                    node.place,
                    "`ask` needs either `from` (an expression) or `questions`",
                );
                None
            }
        }
    }

    fn question(&mut self, node: &Node) -> Option<QuestionSpec> {
        let what = "a question";
        let keys = [
            "id",
            "topic",
            "text",
            "options",
            "recommended",
            "required",
            "schema",
        ];
        self.reader.keys(node, what, &keys);
        let id = self.reader.required(node, "id", what);
        let id = id.and_then(|n| self.reader.name(n, what));
        let text = self.reader.required(node, "text", what);
        let text = text.and_then(|n| self.expression(n));
        let topic = node
            .get("topic")
            .and_then(|n| self.reader.name(n, "a topic"));
        let options = node.get("options").and_then(|n| self.expression(n));
        let recommended = node.get("recommended").and_then(|n| self.expression(n));
        let schema = node.get("schema").and_then(|n| self.reader.schema(n));
        let required = self.reader.flag(node, "required", true);
        let id = id?;
        Some(QuestionSpec {
            topic: topic.unwrap_or_else(|| id.clone()),
            id,
            text: text?,
            options,
            recommended,
            required,
            schema: schema.map(|s| s.value().clone()),
        })
    }

    fn known_tool(&mut self, place: Place, tool: &str) {
        if let Some(vocabulary) = self.reader.known.vocabulary
            && !vocabulary.is_tool(tool)
            // Which tools another server has is not known here; the policy must name them.
            && split_foreign(tool).is_none()
        {
            let hint = nearest(tool, vocabulary.tools().iter().map(|tool| tool.name));
            self.add(place, format!("there is no tool {tool:?}{hint}"));
        }
    }

    pub(super) fn tool(&mut self, node: &Node, name: &Node, what: &str) -> Option<ToolStepSpec> {
        let tool = self.reader.text(name, "a tool")?;
        self.known_tool(name.place, &tool);
        let role = self.reader.required(node, "role", what);
        let role = role.and_then(|n| {
            let role = self.reader.text(n, "a role")?;
            self.reader.agent(n.place, &role, true);
            Some(role)
        });
        let args = node
            .get("args")
            .map_or_else(IndexMap::new, |n| self.expressions_of(n, "`args`"));
        Some(ToolStepSpec {
            tool,
            role: role?,
            args,
        })
    }
}
