//! policy.yaml → [`Policy`]. Every mistake is reported in one pass; a rule whose examples disagree with it is a mistake.
//! A project's file stands on top of the pack's and may only tighten it.

use super::Limits;
use super::decide::{Effect, Policy, Rule, VARIABLES};
use super::load_limits::SetLimit;
use super::loosening;
use super::program::Program;
use super::reader::Reader;
use crate::condition::{Condition, ORIGIN_FUNCTIONS};
use crate::nearest::nearest;
use crate::vocabulary::{Capability, DELEGATE, Does, Vocabulary};
use agentctl_base::foreign::split_foreign;
use agentctl_base::yaml::{self, Node, Place, Problem, Problems};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Policy {
    /// Reads a whole policy, which may name what stands in the vocabulary.
    pub fn load(text: &str, file: &str, vocabulary: &Vocabulary) -> Result<Policy, Vec<Problem>> {
        let layer = read(text, file, vocabulary)?;
        let rules: Vec<Rule> = layer.rules.into_iter().map(|(_, rule)| rule).collect();
        Ok(Policy {
            roles: layer
                .roles
                .into_iter()
                .map(|(role, (_, can))| (role, can))
                .collect(),
            limits: layer
                .limits
                .into_iter()
                .fold(Limits::default(), |limits, (_, set)| set.apply(limits)),
            program: layer.program.with_rules(&rules),
            retired: layer
                .retired
                .into_iter()
                .map(|(role, (_, what))| (role, what))
                .collect(),
            rules,
            loosened: Vec::new(),
            notes: layer.notes,
        })
    }

    /// This policy with a project's file on top: a role that the file names has the capabilities listed there, rules are added,
    /// limits replaced. A role that the pack has retired gets nothing, and a note says so. Its own facts are there for its rules, and count as the program's word only with `allow_loosen`. Whatever would allow more than before is an error, or, with `allow_loosen`, done and listed in [`Policy::loosened`].
    pub fn with_project(
        &self,
        text: &str,
        file: &str,
        allow_loosen: bool,
    ) -> Result<Policy, Vec<Problem>> {
        let layer = read(text, file, self.vocabulary())?;
        let mut problems = Problems::new(file);
        let mut policy = self.clone();
        policy.notes.extend(layer.notes);
        // A copy of the pack's file says what the pack says.
        let news = layer.retired.into_iter();
        for (role, (place, _)) in news.filter(|(role, _)| !self.retired.contains_key(role)) {
            let whose = "only the policy of the pack itself says which roles are retired";
            problems.add(place, format!("{whose}; take {role:?} out of `retired`"));
        }
        let mut loosens = |place: Place, what: String| {
            if allow_loosen {
                policy.loosened.push(what);
            } else {
                problems.add(
                    place,
                    format!("a project may only tighten the policy: {what}"),
                );
            }
        };
        let mut roles = self.roles.clone();
        for (role, (place, can)) in layer.roles {
            if let Some(what) = self.retired.get(&role) {
                policy.notes.push(format!(
                    "{file}:{}: the role {role:?} is no more and may do nothing, whatever is listed here: {what}",
                    place.line
                ));
                continue;
            }
            let before = self.roles.get(&role).cloned().unwrap_or_default();
            let more = self.vocabulary().capabilities().map(|(c, _)| c);
            for capability in more.filter(|c| can.contains(c) && !before.contains(c)) {
                loosens(place, format!("{role} would get {}", capability.name()));
            }
            roles.insert(role, can);
        }
        for (place, rule) in layer.rules {
            if self.rules.contains(&rule) {
                continue;
            }
            let before = self.rules.iter().find(|r| r.id == rule.id);
            for what in loosening::by_rule(before, &rule) {
                loosens(place, what);
            }
            // A rule keeps its place: where several ask, the words of the built-in one are shown.
            let rule = in_its_words(before, rule, file);
            match policy.rules.iter_mut().find(|old| old.id == rule.id) {
                Some(old) => *old = rule,
                None => policy.rules.push(rule),
            }
        }
        let mut limits = self.limits;
        for (place, set) in layer.limits {
            let raised = set.apply(limits);
            if set.value > set.of(&limits) {
                loosens(
                    place,
                    format!(
                        "{} would rise from {} to {}",
                        set.name,
                        set.of(&limits),
                        set.value
                    ),
                );
            }
            limits = raised;
        }
        let mut facts = self.program.facts.clone();
        for (name, value) in layer.program.facts {
            match facts.get(&name) {
                Some(before) if *before == value => {}
                Some(_) => loosens(
                    Place::default(),
                    format!("the fact {name:?} would be another one"),
                ),
                // A rule that had to do without it could allow more with it.
                None if self.rules.iter().any(|rule| rule.reads_fact(&name)) => loosens(
                    Place::default(),
                    format!("a rule that stands already would read the new fact {name:?}"),
                ),
                None if allow_loosen => loosens(
                    Place::default(),
                    format!("what stands in the fact {name:?} would count as said by the program"),
                ),
                None => {}
            }
            facts.insert(name, value);
        }
        policy.roles = roles;
        policy.limits = limits;
        let mut program = Program::new(facts, self.vocabulary().clone());
        if !allow_loosen {
            // A rule that takes the program's word is about the facts that it was written with.
            program.texts = Arc::clone(&self.program.texts);
        }
        policy.program = program.with_rules(&policy.rules);
        if problems.is_empty() {
            Ok(policy)
        } else {
            Err(problems.into_sorted())
        }
    }
}

/// What a person is asked for a built-in rule is not the project's to word; what a rule of the project's own says is told as
/// the project's.
fn in_its_words(before: Option<&Rule>, rule: Rule, file: &str) -> Rule {
    let reason = match before {
        Some(before) => before.reason.clone(),
        None if rule.effect != Effect::Ask => rule.reason,
        None => {
            let quoted = agentctl_base::untrusted::prose(&rule.reason).replace('"', "'");
            format!(
                "a rule of {file} in this folder, not one of agentctl's own, asks for your word; it says: \"{quoted}\""
            )
        }
    };
    Rule { reason, ..rule }
}

/// One file, read.
#[derive(Default)]
struct Layer {
    roles: IndexMap<String, (Place, BTreeSet<Capability>)>,
    retired: IndexMap<String, (Place, String)>,
    rules: Vec<(Place, Rule)>,
    limits: Vec<(Place, SetLimit)>,
    program: Program,
    notes: Vec<String>,
}

fn read(text: &str, file: &str, vocabulary: &Vocabulary) -> Result<Layer, Vec<Problem>> {
    let root = yaml::read(text, file).map_err(|problem| vec![problem])?;
    let mut reader = Reader {
        problems: Problems::new(file),
        program: Program::new(Map::new(), vocabulary.clone()),
        file: file.to_owned(),
        notes: Vec::new(),
    };
    let layer = reader.layer(&root);
    if reader.problems.is_empty() {
        Ok(layer)
    } else {
        Err(reader.problems.into_sorted())
    }
}

impl Reader {
    fn layer(&mut self, root: &Node) -> Layer {
        let mut layer = Layer {
            program: self.program.clone(),
            ..Layer::default()
        };
        let keys = ["roles", "retired", "facts", "rules", "limits"];
        self.keys(root, "the policy", &keys);
        if let Some(node) = root.get("facts") {
            match node.to_json() {
                Value::Object(facts) => {
                    self.program = Program::new(facts, self.vocabulary().clone());
                }
                _ => self
                    .problems
                    .add(node.place, "`facts` must be a map of name to value"),
            }
            layer.program = self.program.clone();
        }
        if let Some(node) = root.get("roles") {
            let Some(entries) = node.as_map() else {
                self.problems
                    .add(node.place, "`roles` must be a map of role to capabilities");
                return layer;
            };
            for entry in entries {
                let can = self.capabilities(&entry.value, &entry.key);
                layer
                    .roles
                    .insert(entry.key.clone(), (entry.key_place, can));
            }
        }
        if let Some(node) = root.get("retired") {
            layer.retired = self.retired(node, &layer.roles);
        }
        if let Some(node) = root.get("rules") {
            match node.as_list() {
                Some(items) => {
                    for item in items {
                        if let Some(rule) = self.rule(item) {
                            if layer.rules.iter().any(|(_, r)| r.id == rule.id) {
                                self.problems.add(
                                    item.place,
                                    format!("the rule {:?} stands twice", rule.id),
                                );
                            }
                            layer.rules.push((item.place, rule));
                        }
                    }
                }
                None => self.problems.add(node.place, "`rules` must be a list"),
            }
        }
        if let Some(node) = root.get("limits") {
            layer.limits = self.limits(node);
        }
        layer.notes = std::mem::take(&mut self.notes);
        layer
    }

    fn retired(
        &mut self,
        node: &Node,
        roles: &IndexMap<String, (Place, BTreeSet<Capability>)>,
    ) -> IndexMap<String, (Place, String)> {
        let mut retired = IndexMap::new();
        let Some(entries) = node.as_map() else {
            self.problems.add(
                node.place,
                "`retired` must be a map of role to what to do where it is still named",
            );
            return retired;
        };
        for entry in entries {
            let (role, place) = (&entry.key, entry.key_place);
            if roles.contains_key(role) {
                self.problems.add(
                    place,
                    format!("the role {role:?} stands under `roles` and under `retired`"),
                );
            }
            if let Some(what) = self.text(node, role, "`retired`") {
                retired.insert(role.clone(), (place, what));
            }
        }
        retired
    }

    fn capabilities(&mut self, node: &Node, role: &str) -> BTreeSet<Capability> {
        let mut can = BTreeSet::new();
        for item in self.granted_items(node, role) {
            let name = item.as_text().unwrap_or_default();
            if let Some(capability) = self.vocabulary().capability(name) {
                can.insert(capability);
            } else if let Some(what) = self.vocabulary().retired(name) {
                let (file, line) = (&self.file, item.place.line);
                self.notes.push(format!(
                    "{file}:{line}: the capability {name:?} is no more and gives {role:?} nothing: {what}"
                ));
            } else {
                let all = self.vocabulary().capabilities();
                let all: Vec<&str> = all.map(|(capability, _)| capability.name()).collect();
                let message = format!(
                    "{} is no capability; there are {}{}",
                    item.to_json(),
                    all.join(", "),
                    nearest(name, all.iter().copied())
                );
                self.problems.add(item.place, message);
            }
        }
        let vocabulary = self.vocabulary().clone();
        let flow = vocabulary
            .flows()
            .find(|tool| can.contains(&Capability::named(tool)));
        if let Some(tool) = flow.filter(|_| !can.contains(&DELEGATE)) {
            let message = format!(
                "the role {role:?} has the tool {tool}, which calls another agent: it needs {DELEGATE} too"
            );
            self.problems.add(node.place, message);
        }
        can
    }

    /// A list of capabilities and of the pack's own tools, or a map of `can` and `tools`.
    fn granted_items<'n>(&mut self, node: &'n Node, role: &str) -> Vec<&'n Node> {
        if let Some(items) = node.as_list() {
            return items.iter().collect();
        }
        if node.as_map().is_none() {
            self.problems.add(
                node.place,
                format!("the role {role:?} must have a list of capabilities"),
            );
            return Vec::new();
        }
        self.keys(node, "a role", &["can", "tools"]);
        let parts = ["can", "tools"].into_iter().filter_map(|key| node.get(key));
        let mut items = Vec::new();
        for part in parts {
            match part.as_list() {
                Some(list) => items.extend(list),
                None => self
                    .problems
                    .add(part.place, "a list of names must stand here"),
            }
        }
        items
    }

    fn rule(&mut self, node: &Node) -> Option<Rule> {
        let keys = [
            "id",
            "effect",
            "roles",
            "tools",
            "when",
            "reason",
            "read_only",
            "does",
            "match",
            "not_match",
        ];
        self.keys(node, "a rule", &keys);
        let id = self.text(node, "id", "a rule")?;
        let what = format!("the rule {id:?}");
        let effect_node = node.get("effect");
        let effect = match effect_node.and_then(Node::as_text) {
            Some("allow") => Some(Effect::Allow),
            Some("ask") => Some(Effect::Ask),
            Some("deny") => Some(Effect::Deny),
            _ => {
                let place = effect_node.map_or(node.place, |n| n.place);
                self.problems
                    .add(place, format!("{what}: effect must be allow, ask or deny"));
                None
            }
        };
        let reason = self.text(node, "reason", &what);
        let mut tools = Vec::new();
        match node.get("tools") {
            None => self
                .problems
                .add(node.place, format!("{what} names no tools")),
            Some(list) => {
                for (place, tool) in self.texts(list, "a tool's name") {
                    let many = tool.ends_with('*');
                    if many && (effect == Some(Effect::Allow) || !is_beginning(&tool)) {
                        let message = format!(
                            "{what}: {tool:?} names many tools; only an ask or deny rule may, and only mcp__* or mcp__server__*"
                        );
                        self.problems.add(place, message);
                    } else if !many
                        && !self.vocabulary().is_tool(&tool)
                        && split_foreign(&tool).is_none()
                    {
                        let message = format!(
                            "{what}: there is no tool {tool:?}; tools of other servers are named mcp__server__tool"
                        );
                        self.problems.add(place, message);
                    }
                    if effect == Some(Effect::Allow) && self.vocabulary().is_tool(&tool) {
                        let message = format!(
                            "{what}: {tool} is granted by a capability under `roles`, not by a rule"
                        );
                        self.problems.add(place, message);
                    }
                    tools.push(tool);
                }
            }
        }
        let place = node.get("when").map_or(node.place, |n| n.place);
        let roles = node.get("roles").map(|list| {
            self.texts(list, "a role")
                .into_iter()
                .map(|(_, role)| role)
                .collect()
        });
        let when = node.get("when").and_then(|n| {
            let Some(source) = n.as_text() else {
                self.problems
                    .add(n.place, format!("{what}: `when` must be an expression"));
                return None;
            };
            let functions = self.vocabulary().functions();
            match Condition::compile_with(source.trim(), VARIABLES, ORIGIN_FUNCTIONS, functions) {
                Ok(condition) => Some(condition),
                Err(error) => {
                    self.problems.add(n.place, error.to_string());
                    None
                }
            }
        });
        if node.get("when").is_some() && when.is_none() {
            return None;
        }
        if let Some(when) = &when {
            self.names_of(when, &tools, (&what, place));
        }
        let grants_foreign =
            effect == Some(Effect::Allow) && tools.iter().any(|t| split_foreign(t).is_some());
        if grants_foreign && when.is_none() {
            let message = format!(
                "{what} lets a tool of another server pass, so it must name the arguments allowed under `when` (`true`: any)"
            );
            self.problems.add(node.place, message);
        }
        let read_only = match node.get("read_only") {
            None => false,
            Some(flag) => match flag.to_json() {
                Value::Bool(read_only) if effect == Some(Effect::Allow) => read_only,
                _ => {
                    let message =
                        format!("{what}: read_only is true or false, and belongs to an allow rule");
                    self.problems.add(flag.place, message);
                    false
                }
            },
        };
        let does = node.get("does").and_then(|n| {
            let found = n.as_text().and_then(Does::from_name);
            if found.is_none() || effect != Some(Effect::Allow) {
                let message =
                    format!("{what}: does is read, egress or change, and belongs to an allow rule");
                self.problems.add(n.place, message);
            } else if read_only && found == Some(Does::Change) {
                let message = format!("{what} says both that it changes something and read_only");
                self.problems.add(n.place, message);
            }
            found
        });
        let rule = Rule {
            id,
            effect: effect?,
            roles,
            tools,
            when,
            reason: reason?,
            read_only,
            does,
        };
        self.examples(node, &rule, "match", true);
        self.examples(node, &rule, "not_match", false);
        Some(rule)
    }
}

impl Reader {
    /// A condition names what the model says as `args` and what the program fills in as `bound`: one that mixes them up would never hold.
    fn names_of(&mut self, when: &Condition, tools: &[String], (what, place): (&str, Place)) {
        let vocabulary = self.vocabulary().clone();
        let declared: Vec<_> = (tools.iter())
            .filter_map(|tool| vocabulary.declared(tool))
            .collect();
        let others = declared.len() < tools.len();
        let bound = |name: &String| declared.iter().any(|tool| tool.bound.contains(name));
        let taken = |name: &String| declared.iter().any(|tool| tool.takes.contains(name));
        for path in when.paths() {
            let (Some(root), Some(name)) = (path.first(), path.get(1)) else {
                continue;
            };
            let why = match root.as_str() {
                "args" if bound(name) && !taken(name) && !others => {
                    format!("{name} is bound by the program and no argument: write bound.{name}")
                }
                "bound" if !bound(name) => {
                    format!("bound.{name}: none of its tools binds {name}")
                }
                _ => continue,
            };
            self.problems.add(place, format!("{what}: {why}"));
        }
    }
}

/// `mcp__*`, or a server's `mcp__server__*`.
fn is_beginning(tool: &str) -> bool {
    let server = tool
        .strip_suffix("__*")
        .and_then(|beginning| beginning.strip_prefix("mcp__"));
    tool == "mcp__*" || server.is_some_and(|server| !server.is_empty() && !server.contains('*'))
}
