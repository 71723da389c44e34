//! The fields of the items that nodes give out, as far as a node's parameters say it. None everywhere: not known.

use super::{
    javascript::JavaScript,
    script::Script,
    subject::{NodeView, Subject},
    template::{self, Part},
};
use crate::passing::hands_on_the_same;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

const WEBHOOK: &str = "n8n-nodes-base.webhook";
/// What a webhook's item is made of.
const OF_WEBHOOK: [&str; 7] = [
    "headers",
    "params",
    "query",
    "body",
    "webhookUrl",
    "executionMode",
    "jwtPayload",
];
const OF_SCHEDULE: [&str; 11] = [
    "timestamp",
    "Readable date",
    "Readable time",
    "Day of week",
    "Year",
    "Month",
    "Day of month",
    "Hour",
    "Minute",
    "Second",
    "Timezone",
];
/// What n8n's own chat sends.
const OF_CHAT: [&str; 5] = ["sessionId", "action", "chatInput", "files", "metadata"];
pub(super) const CODE: &str = "n8n-nodes-base.code";
/// An item of more fields is nobody's; so the work of a long row of nodes does not grow with all that stands before each.
const MOST: usize = 300;
/// Nodes in a row that hand on each take some of the stack.
const STACK_LEFT: usize = 128 * 1024;
const STACK_MORE: usize = 1024 * 1024;

pub(super) type Fields = BTreeSet<String>;

/// The fields of what each node gives out, worked out once for each and only when one is read.
pub(super) struct Made<'s, 'a> {
    subject: &'s Subject<'a>,
    /// By node; what is being worked out is not known, so that a circle says nothing.
    given: RefCell<Vec<Option<Known>>>,
    scripts: RefCell<FxHashMap<usize, Option<Rc<Script>>>>,
}

/// None: not known.
type Known = Option<Rc<Fields>>;

impl<'s, 'a> Made<'s, 'a> {
    pub fn of(subject: &'s Subject<'a>) -> Self {
        Made {
            subject,
            given: RefCell::new(vec![None; subject.nodes.len()]),
            scripts: RefCell::default(),
        }
    }

    /// The fields of the items that arrive.
    pub fn arriving(&self, node: &NodeView) -> Known {
        let mut all: Known = None;
        for edge in self.subject.entering(node.index) {
            if edge.kind != "main" || edge.input != 0 {
                return None;
            }
            let fields = self.given(edge.from?)?;
            match &mut all {
                None => all = Some(fields),
                Some(known) if Rc::ptr_eq(known, &fields) => {}
                Some(known) => Rc::make_mut(known).extend(fields.iter().cloned()),
            }
        }
        all
    }

    /// The fields of the items that a node gives out.
    pub fn given(&self, at: usize) -> Known {
        if let Some(known) = self.given.borrow().get(at)? {
            return known.clone();
        }
        self.note(at, None);
        let node = self.subject.nodes.get(at)?;
        let fields = stacker::maybe_grow(STACK_LEFT, STACK_MORE, || self.worked_out(node));
        let fields = fields.filter(|fields| fields.len() <= MOST);
        self.note(at, fields.clone());
        fields
    }

    fn note(&self, at: usize, fields: Known) {
        if let Some(place) = self.given.borrow_mut().get_mut(at) {
            *place = Some(fields);
        }
    }

    /// What was read in a Code node's JavaScript; None: it has none, or a computed one.
    pub fn script(&self, node: &NodeView) -> Option<Rc<Script>> {
        if let Some(script) = self.scripts.borrow().get(&node.index) {
            return script.clone();
        }
        let text = |key: &str| node.filled.get(key).and_then(Value::as_str);
        let is_script = text("language").is_none_or(|language| language == "javaScript");
        let code = text("jsCode").filter(|code| is_script && !code.starts_with('='));
        let script = code.map(|code| Rc::new(JavaScript::default().body_with_field_reads(code)));
        let mut scripts = self.scripts.borrow_mut();
        scripts.insert(node.index, script.clone());
        script
    }

    fn is_pinned(&self, node: &NodeView) -> bool {
        let name = node.name.unwrap_or_default();
        let pinned = self.subject.pinned;
        pinned.is_some_and(|pinned| pinned.contains_key(name))
    }

    fn worked_out(&self, node: &NodeView) -> Known {
        let description = node.description()?;
        // A failed item has other fields, and so has one that somebody pinned; a node that is off may be meant to be on.
        if node.disabled
            || self.is_pinned(node)
            || node.raw.get("onError").is_some_and(|e| e != "stopWorkflow")
            || node.raw.get("continueOnFail") == Some(&Value::Bool(true))
        {
            return None;
        }
        if hands_on_the_same(node.node_type) {
            return self.arriving(node);
        }
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        let arriving = || self.arriving(node).map(Rc::unwrap_or_clone);
        let fields = match node.node_type {
            WEBHOOK => names(&OF_WEBHOOK),
            "n8n-nodes-base.scheduleTrigger" => names(&OF_SCHEDULE),
            "n8n-nodes-base.manualTrigger" => Fields::new(),
            "n8n-nodes-base.set" => {
                let (mut own, keeps) = of_set(node, description.version)?;
                match keeps {
                    Keeps::None => {}
                    Keeps::All => own.extend(arriving()?),
                    Keeps::These(these) => own.extend(these),
                    Keeps::AllBut(these) => {
                        let mut rest = arriving()?;
                        rest.retain(|field| !these.contains(field));
                        own.extend(rest);
                    }
                }
                own
            }
            "n8n-nodes-base.aggregate" => of_aggregate(node)?,
            "n8n-nodes-base.summarize" => of_summarize(node)?,
            "n8n-nodes-base.splitOut" => of_split_out(node, arriving)?,
            "n8n-nodes-base.renameKeys" => of_rename(node, arriving()?)?,
            "n8n-nodes-base.errorTrigger" => names(&["execution", "workflow", "trigger"]),
            "@n8n/n8n-nodes-langchain.chatTrigger" => names(&OF_CHAT),
            "n8n-nodes-base.formTrigger" => of_form(node)?,
            "n8n-nodes-base.executeWorkflowTrigger" => of_called(node)?,
            "n8n-nodes-base.httpRequest" => of_whole_response(node)?,
            // Code that returns objects that are written out.
            CODE => self.script(node)?.returns.as_ref()?.fields()?,
            _ => return None,
        };
        Some(Rc::new(fields))
    }
}

/// What a Set node keeps of an item besides what it writes.
enum Keeps {
    None,
    All,
    These(Fields),
    AllBut(Fields),
}

/// What a Set node writes, and what it keeps.
fn of_set(node: &NodeView, version: f64) -> Option<(Fields, Keeps)> {
    let text = |key: &str| node.filled.get(key).and_then(Value::as_str);
    let flag = |key: &str| node.filled.get(key).and_then(Value::as_bool);
    // A name with dots is a path, unless the node is told otherwise.
    let dots = option(node, "dotNotation") != Some(&Value::Bool(false));
    let name_of = |value: &Value| {
        let name = value.get("name")?.as_str()?;
        match dots {
            true => top(name),
            false => top(&name.replace(['.', '['], "_")).map(|_| name.to_owned()),
        }
    };
    if version < 3.0 {
        let keeps = match flag("keepOnlySet") {
            Some(true) => Keeps::None,
            _ => Keeps::All,
        };
        let mut names = Fields::new();
        let values = node.filled.get("values").and_then(Value::as_object);
        for list in values.into_iter().flat_map(Map::values) {
            for value in list.as_array().into_iter().flatten() {
                names.insert(name_of(value)?);
            }
        }
        return Some((names, keeps));
    }
    let listed = |key: &str| -> Option<Fields> {
        let list = text(key).filter(|list| !list.starts_with('=') && !list.contains("{{"))?;
        let names = list.split(',').map(str::trim);
        names.filter(|name| !name.is_empty()).map(top).collect()
    };
    let keeps = match (flag("includeOtherFields"), text("include")) {
        (Some(false), _) | (None, Some("none")) => Keeps::None,
        (Some(true) | None, Some("all") | None) => Keeps::All,
        (_, Some("selected")) => Keeps::These(listed("includeFields")?),
        (_, Some("except")) => Keeps::AllBut(listed("excludeFields")?),
        _ => return None,
    };
    if text("mode") == Some("raw") {
        return Some((keys_of_json(text("jsonOutput")?)?, keeps));
    }
    if text("mode") != Some("manual") {
        return None;
    }
    let list = ["assignments/assignments", "fields/values"]
        .iter()
        .find_map(|place| {
            let (group, list) = place.split_once('/')?;
            node.filled.get(group)?.get(list)?.as_array()
        });
    let mut names = Fields::new();
    for value in list.into_iter().flatten() {
        names.insert(name_of(value)?);
    }
    // Nothing is set: the node is not set up yet.
    (!matches!(keeps, Keeps::None) || !names.is_empty()).then_some((names, keeps))
}

fn option<'n>(node: &'n NodeView, name: &str) -> Option<&'n Value> {
    node.filled.get("options")?.get(name)
}

/// Stands for what an expression comes to: a number as a value, and within a text a mark.
const COMPUTED: &str = "7046029254386353";

/// The keys of a JSON object that is written out; the values of its expressions do not matter. None: it is none, or a key is computed.
fn keys_of_json(text: &str) -> Option<Fields> {
    let plain: String = match text.strip_prefix('=') {
        None => text.to_owned(),
        Some(template) => template::parts(template)
            .into_iter()
            .map(|part| match part {
                Part::Text(text) => text,
                Part::Code { .. } => COMPUTED,
            })
            .collect(),
    };
    match serde_json::from_str(&plain) {
        Ok(Value::Object(map)) if !map.keys().any(|key| key.contains(COMPUTED)) => {
            Some(map.into_iter().map(|(key, _)| key).collect())
        }
        _ => None,
    }
}

/// The parts of a list, each an item. An entry that is an object is spread out, so without the others and without a name of its own the
/// fields are not known.
fn of_split_out(node: &NodeView, arriving: impl Fn() -> Option<Fields>) -> Option<Fields> {
    let text = |key: &str| node.filled.get(key).and_then(Value::as_str);
    let split =
        |list: &str| -> Option<Fields> { list.split(',').map(|name| top(name.trim())).collect() };
    let lists = text("fieldToSplitOut")?;
    let of = split(lists)?;
    let named = option(node, "destinationFieldName").and_then(Value::as_str);
    let named = named.filter(|name| !name.is_empty());
    let own = named.map_or_else(|| Some(of.clone()), split)?;
    match text("include") {
        Some("allOtherFields") => {
            let mut fields = arriving()?;
            for list in lists
                .split(',')
                .map(str::trim)
                .filter(|list| is_whole(list))
            {
                fields.remove(list);
            }
            fields.extend(own);
            Some(fields)
        }
        Some("selectedOtherFields") => {
            let mut fields = split(text("fieldsToInclude")?)?;
            fields.extend(own);
            Some(fields)
        }
        _ => named.map(|_| own),
    }
}

fn of_rename(node: &NodeView, mut fields: Fields) -> Option<Fields> {
    let more = node
        .filled
        .get("additionalOptions")
        .and_then(Value::as_object);
    if more.is_some_and(|more| !more.is_empty()) {
        return None;
    }
    let list = node.filled.get("keys")?.get("key")?.as_array()?;
    for key in list {
        let name = |of: &str| key.get(of).and_then(Value::as_str);
        let from = name("currentKey")?;
        let (first, to) = (top(from)?, top(name("newKey")?)?);
        if fields.contains(&first) {
            if is_whole(from) {
                fields.remove(&first);
            }
            fields.insert(to);
        }
    }
    Some(fields)
}

/// A form gives its fields by their labels or names, and what it adds itself.
fn of_form(node: &NodeView) -> Option<Fields> {
    let list = node.filled.get("formFields")?.get("values")?.as_array()?;
    let mut names: Fields = ["submittedAt", "formMode", "formQueryParameters"]
        .map(str::to_owned)
        .into();
    for field in list {
        let of = |key: &str| field.get(key).and_then(Value::as_str);
        let given = ["fieldLabel", "fieldName", "elementName"].map(of);
        for name in given.into_iter().flatten() {
            if name.starts_with('=') {
                return None;
            }
            names.insert(name.to_owned());
        }
    }
    (!list.is_empty()).then_some(names)
}

/// A workflow that others call, where it says what it takes.
fn of_called(node: &NodeView) -> Option<Fields> {
    let text = |key: &str| node.filled.get(key).and_then(Value::as_str);
    match text("inputSource")? {
        "workflowInputs" => {
            let list = node
                .filled
                .get("workflowInputs")?
                .get("values")?
                .as_array()?;
            let names = list
                .iter()
                .map(|of| of.get("name")?.as_str().map(str::to_owned));
            let names: Option<Fields> = names.collect();
            names.filter(|names| !names.is_empty())
        }
        "jsonExample" => keys_of_json(text("jsonExample")?),
        _ => None,
    }
}

/// The answer as a whole: its text or file stands below a name of its own.
fn of_whole_response(node: &NodeView) -> Option<Fields> {
    let response = option(node, "response")?.get("response")?;
    if response.get("fullResponse") != Some(&Value::Bool(true)) {
        return None;
    }
    let mut names: Fields = ["headers", "statusCode", "statusMessage", "body", "data"]
        .map(str::to_owned)
        .into();
    let named = response.get("outputPropertyName").and_then(Value::as_str);
    names.extend(named.and_then(top));
    Some(names)
}

fn of_aggregate(node: &NodeView) -> Option<Fields> {
    let text = |key: &str| node.filled.get(key).and_then(Value::as_str);
    if text("aggregate")? == "aggregateAllItemData" {
        return Some(Fields::from([top(text("destinationFieldName")?)?]));
    }
    let list = node.filled.get("fieldsToAggregate")?;
    let mut names = Fields::new();
    for field in list.get("fieldToAggregate")?.as_array()? {
        let of = |key: &str| field.get(key).and_then(Value::as_str);
        let renamed = field.get("renameField") == Some(&Value::Bool(true));
        let name = of(if renamed {
            "outputFieldName"
        } else {
            "fieldToAggregate"
        })?;
        names.insert(top(name)?);
        // A path gives its last name.
        names.extend(name.rsplit('.').next().map(str::to_owned));
    }
    (!names.is_empty()).then_some(names)
}

/// How the node writes what it did to a field before the field's name.
const SUMS: [&str; 8] = [
    "appended_",
    "average_",
    "concatenated_",
    "count_",
    "unique_count_",
    "max_",
    "min_",
    "sum_",
];

fn of_summarize(node: &NodeView) -> Option<Fields> {
    // In one item the values of the fields to split by are its keys.
    if option(node, "outputFormat").is_some_and(|format| format != "separateItems") {
        return None;
    }
    let split = node.filled.get("fieldsToSplitBy").and_then(Value::as_str);
    let mut names = Fields::new();
    let split = split.unwrap_or_default().split(',').map(str::trim);
    for name in split.filter(|name| !name.is_empty()) {
        names.insert(top(name)?);
        names.insert(name.replace([' ', '.'], "_"));
        names.extend(name.rsplit('.').next().map(str::to_owned));
    }
    let list = node.filled.get("fieldsToSummarize")?;
    let list = list.get("values")?.as_array()?;
    for value in list {
        let name = value.get("field")?.as_str()?;
        top(name)?;
        let name = name.replace([' ', '.'], "_");
        names.extend(SUMS.iter().map(|sum| format!("{sum}{name}")));
    }
    // Nothing is summed up: the node is not set up yet.
    (!list.is_empty()).then_some(names)
}

/// Whether the name is that of a field itself, not of one within it.
fn is_whole(name: &str) -> bool {
    !name.contains(['.', '['])
}

/// The key that a name with dots stands below; None: it is computed.
fn top(name: &str) -> Option<String> {
    let fixed = !name.starts_with('=') && !name.contains("{{") && !name.trim().is_empty();
    let first = name.split(['.', '[']).next().unwrap_or(name);
    fixed.then(|| first.to_owned())
}

#[cfg(test)]
#[path = "made_tests.rs"]
mod made_tests;
