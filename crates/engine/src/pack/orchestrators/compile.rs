//! An orchestrator's file → the tree of a flow. Every node keeps its place in that file, so that what the flow's own reader finds wrong is
//! told there. The file has the form of its schema already; names and expressions are checked here and by that reader.

use super::{ORCHESTRATOR, Orchestrators, names};
use crate::condition::{Condition, ConditionError};
use crate::flow::{A2A, RemoteAgent};
use crate::nearest::nearest;
use agentctl_base::yaml::{Entry, Kind, Node, Place, Problems};

/// The keys that say what becomes of an agent's failures, in the file and on a step alike.
const HOW: [&str; 3] = ["timeout_s", "retry", "on_failure"];
/// What each agent gave, and why one gave nothing.
pub(super) const RESULTS: &str = "results";
pub(super) const AWAY: &str = "away";
/// What is said to another agent; what it is given besides goes along as data.
const SAID: &str = "text";
/// The orchestrator's input that lists who was asked for; empty or not there: all.
pub(super) const ASKED: &str = "agents";

/// The flow, and what its mistakes say in the file's own words: each of what was made of the file, with what stands there.
pub(super) fn compile(
    file: &Node,
    team: &Orchestrators,
    problems: &mut Problems,
) -> (Node, Vec<(String, String)>) {
    let place = file.place;
    let mut making = Making {
        file,
        team,
        problems,
        words: Vec::new(),
    };
    let mut steps = vec![making.nobody_else()];
    names::check(file, team, making.problems);
    let items = file.get("steps").and_then(Node::as_list);
    steps.extend(
        items
            .unwrap_or_default()
            .iter()
            .map(|item| making.item(item)),
    );
    let words = making.words;
    let field = || {
        let writers = list(place, vec![text(place, "program")]);
        let parts = [
            ("kind", text(place, "object")),
            ("writers", writers),
            ("default", map(place, [])),
        ];
        map(place, parts)
    };
    let own = file.get("agents");
    let agents = agents(file, team).into_iter().map(|name| {
        // Whose word it is: an agent's elsewhere.
        let remote = own.and_then(|own| own.get(&name)?.get(A2A)?.as_text());
        let elsewhere = remote.map(|remote| format!(", '{A2A}': '{remote}'"));
        let elsewhere = elsewhere.unwrap_or_default();
        format!("'{name}': {{'status': '{name}' in state.{RESULTS} ? 'completed' : '{name}' in state.{AWAY} ? 'failed' : 'not asked'{elsewhere}}}")
    });
    let agents: Vec<String> = agents.collect();
    let value = format!(
        "{{'{RESULTS}': state.{RESULTS}, '{AWAY}': state.{AWAY}, 'agents': {{{}}}}}",
        agents.join(", ")
    );
    let flow = [
        ("name", text(place, ORCHESTRATOR)),
        ("fields", map(place, [(RESULTS, field()), (AWAY, field())])),
        ("steps", list(place, steps)),
        ("output", map(place, [("value", text(place, &value))])),
    ];
    (map(place, flow), words)
}

/// Who may be asked for: the pack's agents, and those that the file names itself.
pub(super) fn agents(file: &Node, team: &Orchestrators) -> Vec<String> {
    let own = file.get("agents").and_then(Node::as_map);
    let own = own
        .unwrap_or_default()
        .iter()
        .map(|entry| entry.key.clone());
    let mut names: Vec<String> = team.agents.keys().cloned().chain(own).collect();
    names.sort();
    names.dedup();
    names
}

struct Making<'a> {
    file: &'a Node,
    team: &'a Orchestrators,
    problems: &'a mut Problems,
    words: Vec<(String, String)>,
}

impl Making<'_> {
    fn items(&mut self, items: &Node) -> Node {
        let list_of = items.as_list().unwrap_or_default();
        let steps = list_of.iter().map(|item| self.item(item)).collect();
        list(items.place, steps)
    }

    /// The first step: who is asked for has to be somebody.
    fn nobody_else(&self) -> Node {
        let place = self.file.place;
        let known = agents(self.file, self.team);
        let listed: Vec<String> = known.iter().map(|name| format!("'{name}'")).collect();
        let unknown = format!("input.{ASKED}.filter(a, !(a in [{}]))", listed.join(", "));
        let message = format!(
            "'there is no agent ' + join({unknown}, ', ') + '; there are {}'",
            known.join(", ")
        );
        let end = [
            ("outcome", text(place, "failed")),
            ("message", text(place, &message)),
        ];
        let when = format!("has(input.{ASKED}) && size({unknown}) > 0");
        let step = [
            ("id", text(place, "nobody")),
            ("when", text(place, &when)),
            ("end", map(place, end)),
        ];
        map(place, step)
    }

    fn item(&mut self, item: &Node) -> Node {
        let place = item.place;
        let pattern = item.get("pattern").and_then(Node::as_text);
        let mut step = vec![("id", copied(item, "id"))];
        match pattern {
            Some("conditional") => {
                let then = item.get("then").map(|n| self.items(n));
                let mut cases = vec![map(
                    place,
                    [
                        ("case", text(place, "then")),
                        ("when", copied(item, "if")),
                        ("steps", then.unwrap_or_else(|| list(place, Vec::new()))),
                    ],
                )];
                let otherwise = item.get("else").map(|n| self.items(n));
                cases.push(map(
                    place,
                    [
                        ("case", text(place, "else")),
                        (
                            "else",
                            Node {
                                place,
                                kind: Kind::Bool(true),
                            },
                        ),
                        (
                            "steps",
                            otherwise.unwrap_or_else(|| list(place, Vec::new())),
                        ),
                    ],
                ));
                step.push(("route", list(place, cases)));
                map(place, step)
            }
            Some("parallel") => self.parallel(item, step),
            _ => {
                let mut steps = Vec::new();
                for agent in self.each_once(item) {
                    steps.extend(self.one_after_another(item, agent));
                }
                step.push(("steps", list(place, steps)));
                map(place, step)
            }
        }
    }

    /// The agents of an item. One that stands there twice is a mistake.
    fn each_once<'n>(&mut self, item: &'n Node) -> Vec<&'n Node> {
        let mut once: Vec<&Node> = Vec::new();
        for agent in item.items("agents") {
            let name = name_of(agent);
            if once.iter().any(|other| name_of(other) == name) {
                let message = format!(
                    "the agent {name:?} stands twice in {:?}: give it another name in `agents` (`as`), or an item of its own",
                    item_id(item)
                );
                self.problems.add(agent.place, message);
            } else {
                once.push(agent);
            }
        }
        once
    }

    /// Branches; what becomes of an agent's failure is said in its own.
    fn parallel(&mut self, item: &Node, mut step: Vec<(&str, Node)>) -> Node {
        let place = item.place;
        let agents = self.each_once(item).into_iter();
        let branches = agents.map(|agent| {
            let steps = list(agent.place, self.one_after_another(item, agent));
            let id = text(agent.place, name_of(agent));
            map(agent.place, [("id", id), ("steps", steps)])
        });
        let branches = branches.collect();
        let at_once = item.get("max_at_once");
        let how = at_once.map(|n| ("max_at_once", n.clone()));
        step.push(("parallel", map(place, how)));
        step.push(("branches", list(place, branches)));
        map(place, step)
    }

    /// One agent's step, and behind it the one that says that it is away.
    fn one_after_another(&mut self, item: &Node, agent: &Node) -> Vec<Node> {
        let place = agent.place;
        let name = name_of(agent);
        let id = step_id(item, agent);
        let goes_on = self.how(item, name, "on_failure");
        let goes_on = goes_on.is_some_and(|n| n.as_text() == Some("continue"));
        let mut steps = vec![self.call(item, agent)];
        if goes_on {
            let failed = text(place, &format!("steps['{id}'].status == 'failed'"));
            let why = text(place, &format!("{{'{name}': steps['{id}'].error}}"));
            steps.push(map(
                place,
                [
                    ("id", text(place, &format!("{id}-{AWAY}"))),
                    ("when", failed),
                    ("set", map(place, [(AWAY, why)])),
                ],
            ));
        }
        steps
    }

    /// The step that calls the agent's flow.
    fn call(&mut self, item: &Node, agent: &Node) -> Node {
        let place = agent.place;
        let name = name_of(agent);
        let own = self.file.get("agents").and_then(|agents| agents.get(name));
        let mut with: Vec<(&str, Node)> = vec![
            (RESULTS, text(place, &format!("state.{RESULTS}"))),
            (AWAY, text(place, &format!("state.{AWAY}"))),
        ];
        for key in &self.team.input {
            with.push((key, text(place, &format!("input['{key}']"))));
        }
        let remote = own.filter(|own| own.get(A2A).is_some());
        if let Some(first) = self.team.input.first().filter(|_| remote.is_some()) {
            with.push((SAID, text(place, &format!("input['{first}']"))));
        }
        for given in [own, Some(agent)]
            .into_iter()
            .flatten()
            .filter_map(|n| n.get("with"))
        {
            for entry in given.as_map().unwrap_or_default() {
                with.retain(|(key, _)| *key != entry.key);
                with.push((&entry.key, entry.value.clone()));
            }
        }
        let id = step_id(item, agent);
        let said = format!("the agent {name:?} of {:?}", item_id(item));
        self.words.push((format!("the step {id:?}"), said));
        let mut step = vec![("id", text(place, &id))];
        step.extend(self.when(agent).map(|when| ("when", when)));
        step.push(("call", self.called(agent, name, own)));
        step.push(("with", map(place, with)));
        let take = text(place, &format!("{{'{name}': output}}"));
        step.push(("take", map(place, [(RESULTS, take)])));
        for key in HOW {
            step.extend(self.how(item, name, key).map(|n| (key, n)));
        }
        map(place, step)
    }

    /// Another agent, or a flow of the pack.
    fn called(&mut self, agent: &Node, name: &str, own: Option<&Node>) -> Node {
        let Some(remote) = own.and_then(RemoteAgent::of) else {
            return text(agent.place, self.flow_of(agent, name, own).as_str());
        };
        let place = own.map_or(agent.place, |own| own.place);
        if let Err((place, message)) = remote {
            self.problems.add(place, message);
        }
        let keys = RemoteAgent::KEYS.into_iter();
        let said = keys.filter_map(|key| Some((key, own?.get(key)?.clone())));
        // In the place of the pack's agent of that name it gives what that one would.
        let member = self.team.agents.get(name);
        let like = member.map(|member| ("like", text(place, &member.flow)));
        map(place, said.chain(like))
    }

    /// The flow of an agent, by its own name or by that of the pack's agent that it stands for.
    fn flow_of(&mut self, agent: &Node, name: &str, own: Option<&Node>) -> String {
        let (place, member) = match own.and_then(|own| own.get("as")) {
            Some(n) => (n.place, n.as_text().unwrap_or_default()),
            None => (agent.place, name),
        };
        match self.team.agents.get(member) {
            Some(member) => member.flow.clone(),
            None => {
                let known = || self.team.agents.keys().map(String::as_str);
                let near = nearest(member, known());
                let known: Vec<&str> = known().collect();
                let message = format!(
                    "there is no agent {member:?}{near}; the pack has {}",
                    known.join(", ")
                );
                self.problems.add(place, message);
                String::new()
            }
        }
    }

    /// Whether the agent works: it was asked for, or nobody in particular was, and its own condition holds.
    fn when(&mut self, agent: &Node) -> Option<Node> {
        let name = name_of(agent);
        let member = self
            .file
            .get("agents")
            .and_then(|agents| agents.get(name)?.get("as"));
        let member = member.and_then(Node::as_text).unwrap_or(name);
        let always = self
            .team
            .agents
            .get(member)
            .is_none_or(|member| member.always);
        let own = agent.get("if").filter(|n| n.as_text().is_some());
        // By itself: within another one its own mistakes could not be told apart.
        if let Some(own) = own
            && let Err(error @ ConditionError::Syntax { .. }) =
                Condition::compile(own.as_text().unwrap_or_default(), &[])
        {
            self.problems.add(own.place, error.to_string());
            return None;
        }
        let asked = format!(
            "(!has(input.{ASKED}) || size(input.{ASKED}) == 0 || '{name}' in input.{ASKED})"
        );
        match (own, always) {
            (None, true) => None,
            (None, false) => Some(text(agent.place, &asked)),
            (Some(own), true) => Some(own.clone()),
            (Some(own), false) => {
                let source = own.as_text().unwrap_or_default();
                let whole = format!("{asked} && ({source}\n)");
                self.words.push((whole.clone(), source.to_owned()));
                Some(text(own.place, &whole))
            }
        }
    }

    /// What is said of failures: nearest first, by the agent, the item, the file.
    fn how(&self, item: &Node, agent: &str, key: &str) -> Option<Node> {
        let own = self.file.get("agents");
        let own = own.and_then(|agents| agents.get(agent)?.get(key));
        let said = own.or_else(|| item.get(key)).or_else(|| self.file.get(key));
        said.cloned()
    }
}

/// A name alone, or a map with one.
fn name_of(agent: &Node) -> &str {
    let named = agent.as_text().or_else(|| agent.get("agent")?.as_text());
    named.unwrap_or_default()
}

/// An agent may work in several items.
fn step_id(item: &Node, agent: &Node) -> String {
    format!("{}-{}", item_id(item), name_of(agent))
}

fn item_id(item: &Node) -> &str {
    item.get("id").and_then(Node::as_text).unwrap_or_default()
}

fn copied(of: &Node, key: &str) -> Node {
    of.get(key).cloned().unwrap_or(Node {
        place: of.place,
        kind: Kind::Null,
    })
}

fn text(place: Place, text: &str) -> Node {
    Node {
        place,
        kind: Kind::Text(text.to_owned()),
    }
}

fn list(place: Place, items: Vec<Node>) -> Node {
    Node {
        place,
        kind: Kind::List(items),
    }
}

fn map<'k>(place: Place, entries: impl IntoIterator<Item = (&'k str, Node)>) -> Node {
    let entries = entries.into_iter().map(|(key, value)| Entry {
        key: key.to_owned(),
        key_place: value.place,
        value,
    });
    Node {
        place,
        kind: Kind::Map(entries.collect()),
    }
}
