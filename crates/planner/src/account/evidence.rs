//! What a workflow shows of what it does: its nodes, their operations, the words of their parameters.

use crate::chart::Item;
use crate::compile::is_called;
use crate::lex::{Class, Lexicon, Table};
use crate::lexicon::{self, ServiceEntry};
use crate::modify;
use crate::spot::Kind;
use crate::time::TimeMeaning;
use agentctl_n8n::workflow::short_type;
use agentctl_n8n::{Node, Workflow};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const ANSWERS_FOR: Table = Table {
    file: "answers_for.tsv",
    text: include_str!("../../knowledge/answers_for.tsv"),
    columns: 2,
};

/// The evidence of one or two workflows.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// The request, in lower case, and its words.
    request: String,
    asked: BTreeSet<String>,
    /// It says that a person starts the workflow.
    by_hand: bool,
    /// Types without their package, with the name of a node of each.
    nodes: BTreeMap<String, String>,
    /// Operations and resources, with the node that has each.
    operations: BTreeMap<String, String>,
    /// Kinds of services.
    tags: BTreeMap<String, String>,
    services: BTreeMap<&'static str, String>,
    /// Words of parameters' names and values, each with the node that holds it.
    words: BTreeMap<String, String>,
    /// Words of addresses.
    hosts: BTreeMap<String, String>,
    /// Words of values that are no expressions: what is compared, chosen, asked for.
    plain: BTreeMap<String, String>,
    /// States that a read asks for, or that a filter behind it tests.
    shown: BTreeMap<&'static str, String>,
    /// Concepts of those words.
    concepts: BTreeMap<String, String>,
    /// Names of nodes that choose.
    choices: Vec<String>,
    /// Names of nodes with two used outputs.
    branches: Vec<String>,
    triggers: Vec<String>,
    /// What tests without a left side were to compare: conditions that were not understood.
    pub(super) open: Vec<String>,
}

/// Nodes that let items pass by a test.
pub(in crate::account) const CHOOSERS: &[&str] = &[
    "if",
    "switch",
    "filter",
    "compareDatasets",
    "textClassifier",
    "removeDuplicates",
];

impl Evidence {
    pub(super) fn of(workflows: &[&Workflow], request: &str, by_hand: bool) -> Self {
        let request = request.to_lowercase();
        let asked = words(&request).map(str::to_owned).collect();
        let mut evidence = Evidence {
            request,
            asked,
            by_hand,
            ..Evidence::default()
        };
        for workflow in workflows {
            for node in workflow
                .nodes
                .iter()
                .filter(|n| !n.is_sticky() && !n.disabled())
            {
                evidence.node(node);
            }
            evidence.states_tested(workflow);
            let mut outputs: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
            for (from, kind, output, _) in workflow.edges() {
                if kind == "main" {
                    outputs.entry(from).or_default().insert(output);
                }
            }
            let two = outputs
                .iter()
                .filter(|(_, used)| used.len() > 1 || used.iter().any(|o| *o > 0));
            evidence
                .branches
                .extend(two.map(|(name, _)| (*name).to_owned()));
        }
        let english = Lexicon::of("en");
        for (word, node) in &evidence.words {
            for sense in english.senses(word) {
                if matches!(sense.class, Class::Noun | Class::Adjective | Class::Verb) {
                    evidence
                        .concepts
                        .entry(sense.concept.clone())
                        .or_insert_with(|| node.clone());
                }
            }
        }
        evidence
    }

    fn node(&mut self, node: &Node) {
        let name = node.name();
        let short = short_type(node.node_type()).to_owned();
        if CHOOSERS.contains(&short.as_str()) {
            self.choices.push(name.to_owned());
        }
        let starts = short.ends_with("Trigger") && (self.by_hand || short != "manualTrigger");
        if starts || matches!(short.as_str(), "webhook" | "emailReadImap") {
            self.triggers.push(name.to_owned());
        }
        for service in lexicon::services() {
            if service.has_node(node.node_type()) {
                self.services
                    .entry(&service.key)
                    .or_insert_with(|| name.to_owned());
                for tag in &service.tags {
                    self.tags
                        .entry(tag.clone())
                        .or_insert_with(|| name.to_owned());
                }
            }
        }
        self.states_of(&short, node);
        let rhythm = short == "scheduleTrigger";
        for (key, value) in node.parameters().into_iter().flatten() {
            // "days" and "hours" of a rhythm show no other time: only its figures count.
            if rhythm {
                self.figures_of(value, name);
                continue;
            }
            if let (true, Value::String(value)) = (
                matches!(key.as_str(), "operation" | "resource" | "event" | "events"),
                value,
            ) {
                self.operations
                    .entry(value.to_lowercase())
                    .or_insert_with(|| name.to_owned());
            }
            // An address of mail where a telephone number belongs shows nothing but a mistake.
            if !modify::is_astray(&short, key, value) {
                self.parameter(key, value, name);
            }
        }
        for key in node.map().keys() {
            if matches!(
                key.as_str(),
                "onError" | "retryOnFail" | "maxTries" | "executeOnce" | "waitBetweenTries"
            ) {
                self.words_of(key, name);
                match node.map().get(key) {
                    Some(Value::String(value)) => self.words_of(value, name),
                    Some(Value::Number(n)) => self.words_of(&n.to_string(), name),
                    _ => {}
                }
            }
        }
        self.words_of(&short, name);
        self.nodes.entry(short).or_insert_with(|| name.to_owned());
    }

    /// The states that filters test as the services of a workflow show them.
    fn states_tested(&mut self, workflow: &Workflow) {
        let nodes = || workflow.nodes.iter().filter(|n| !n.disabled());
        let shorts: BTreeSet<&str> = nodes().map(|n| short_type(n.node_type())).collect();
        let rows: Vec<_> = shorts.into_iter().flat_map(crate::states::of).collect();
        for node in nodes().filter(|n| CHOOSERS.contains(&short_type(n.node_type()))) {
            let conditions = node.parameters().and_then(|p| p.get("conditions"));
            let conditions = conditions.map(Value::to_string).unwrap_or_default();
            for row in rows.iter().filter(|row| row.is_tested_by(&conditions)) {
                for concept in row.concepts() {
                    self.shown
                        .entry(concept)
                        .or_insert_with(|| node.name().to_owned());
                }
            }
        }
    }

    /// The states that a read asks for by its own parameters.
    fn states_of(&mut self, short: &str, node: &Node) {
        let Some(parameters) = node.parameters() else {
            return;
        };
        for row in crate::states::of(short).filter(|row| row.stands_in(parameters)) {
            for concept in row.concepts() {
                self.shown
                    .entry(concept)
                    .or_insert_with(|| node.name().to_owned());
            }
        }
    }

    fn parameter(&mut self, key: &str, value: &Value, node: &str) {
        self.words_of(key, node);
        match value {
            // The request itself, put into a text, shows nothing of what is done with it, nor does what is still to be filled in.
            Value::String(text) if self.repeats(text) || modify::is_open(text) => {}
            Value::String(text) => {
                let text = &unnamed(text);
                self.words_of(text, node);
                if text.contains("://") {
                    for word in words(&text.to_lowercase()) {
                        self.hosts
                            .entry(word.to_owned())
                            .or_insert_with(|| node.to_owned());
                    }
                }
                let fixed = if text.starts_with('=') {
                    quoted(text)
                } else {
                    text.clone()
                };
                let words = fixed
                    .split(|c: char| !c.is_alphanumeric())
                    .filter(|w| !w.is_empty());
                let parts = words.flat_map(|w| std::iter::once(w).chain(camel(w)));
                for word in parts.map(str::to_lowercase).collect::<Vec<_>>() {
                    self.plain.entry(word).or_insert_with(|| node.to_owned());
                }
            }
            Value::Array(list) => list.iter().for_each(|v| self.parameter("", v, node)),
            // A test without a left side is one that was not understood.
            Value::Object(map)
                if map.get("leftValue").and_then(Value::as_str) == Some("")
                    && map.contains_key("rightValue") =>
            {
                let right = map.get("rightValue").and_then(Value::as_str);
                self.open.extend(right.map(str::to_owned));
            }
            Value::Object(map) => map.iter().for_each(|(k, v)| self.parameter(k, v, node)),
            Value::Number(n) => self.words_of(&n.to_string(), node),
            Value::Bool(_) | Value::Null => {}
        }
    }

    /// The figures of a rhythm.
    fn figures_of(&mut self, value: &Value, node: &str) {
        match value {
            Value::Array(list) => list.iter().for_each(|v| self.figures_of(v, node)),
            Value::Object(map) => map.values().for_each(|v| self.figures_of(v, node)),
            Value::Number(n) => self.words_of(&n.to_string(), node),
            Value::String(text) => {
                let figures = words(text).filter(|w| w.chars().all(|c| c.is_ascii_digit()));
                figures.for_each(|w| self.word_in(w, node));
            }
            Value::Bool(_) | Value::Null => {}
        }
    }

    /// Whether a text is a stretch of the request, longer than a name, that was not given word for word in quotation marks; or
    /// several stretches in a row.
    fn repeats(&self, text: &str) -> bool {
        const LONGEST_NAME: usize = 5;
        /// Words, and how many hundredths of them are the request's own, from which on a text is put together from it.
        const TOGETHER: (usize, usize) = (12, 95);
        let text = text.trim_start_matches('=').trim().to_lowercase();
        if text.split_whitespace().count() <= LONGEST_NAME {
            return false;
        }
        let quoted = |at: usize| {
            let before = crate::cut::text(&self.request, 0, at).chars().next_back();
            before.is_some_and(|c| "'\"`\u{201c}\u{201e}\u{ab}\u{2018}".contains(c))
        };
        if text.starts_with("select ") {
            return false;
        }
        let (all, own) = words(&text).fold((0, 0), |(all, own), word| {
            (all + 1, own + usize::from(self.asked.contains(word)))
        });
        let (least, share) = TOGETHER;
        let together = all >= least && own * 100 >= all * share && !text.contains("{{");
        match self.request.find(&text) {
            Some(at) => !quoted(at),
            None => together,
        }
    }

    /// The words of a text, with the parts of names in camel case, and the whole.
    fn words_of(&mut self, text: &str, node: &str) {
        for whole in text.split(|c: char| !(c.is_alphanumeric())) {
            if whole.is_empty() {
                continue;
            }
            self.word_in(whole, node);
            for part in camel(whole) {
                self.word_in(part, node);
            }
        }
    }

    fn word_in(&mut self, word: &str, node: &str) {
        self.words
            .entry(word.to_lowercase())
            .or_insert_with(|| node.to_owned());
    }

    pub(super) fn service(&self, service: &ServiceEntry, said: &str) -> Option<String> {
        let part = || {
            let key = service.key.to_lowercase();
            let of = |(n, _): &(&String, &String)| n.to_lowercase().contains(&key);
            self.nodes.iter().find(of).map(|(_, name)| name.clone())
        };
        let direct = self
            .services
            .get(service.key.as_str())
            .cloned()
            .or_else(part);
        direct
            .or_else(|| {
                said.split(' ')
                    .all(|w| self.hosts.contains_key(w))
                    .then(|| "address".to_owned())
            })
            .or_else(|| {
                // A kind of service that has no node of its own ("email", "sms", "calendar"): any of its kind.
                let general = service.actions.is_empty() || service.tags.contains(&service.key);
                general
                    .then(|| service.tags.iter().find_map(|t| self.tags.get(t).cloned()))
                    .flatten()
            })
    }

    pub(super) fn word(&self, word: &str, language: &str) -> Option<String> {
        let parts: Vec<&str> = word
            .split([' ', '-', '\''])
            .filter(|p| !p.is_empty())
            .collect();
        let each = |part: &&str| {
            self.words.contains_key(*part)
                || Lexicon::of(language)
                    .senses(part)
                    .iter()
                    .any(|s| s.class != Class::Function && self.concepts.contains_key(&s.concept))
                || self.near(part)
        };
        (!parts.is_empty() && parts.iter().all(&each)).then(|| {
            parts
                .iter()
                .find_map(|p| self.words.get(*p))
                .cloned()
                .unwrap_or_else(|| "word".to_owned())
        })
    }

    /// What holds a word in a value that is no expression.
    pub(super) fn plainly(&self, word: &str) -> Option<String> {
        self.plain.get(word).cloned()
    }

    /// Whether the parameters hold all words of a name, as they stand there.
    pub(super) fn names(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        words(&name).all(|w| self.words.contains_key(w) || self.near(w))
    }

    /// A word of at least four letters that differs by its ending only.
    fn near(&self, word: &str) -> bool {
        const SHORTEST: usize = 4;
        let letters: Vec<char> = word.chars().collect();
        if letters.len() < SHORTEST {
            return false;
        }
        let stem: String =
            crate::cut::before(&letters, letters.len().saturating_sub(2).max(SHORTEST))
                .iter()
                .collect();
        self.words
            .range(stem.clone()..)
            .take_while(|(w, _)| w.starts_with(&stem))
            .any(|(w, _)| w.chars().count().abs_diff(letters.len()) <= 2)
    }

    pub(super) fn concept(&self, concept: &str) -> Option<String> {
        let called = |(option, _): &(&String, &String)| is_called(concept, option);
        let by = self
            .concepts
            .get(concept)
            .or_else(|| self.words.get(concept));
        by.or_else(|| Some(self.operations.iter().find(called)?.1))
            .cloned()
    }

    /// A state ("open", "paid") as a value that is compared, chosen or asked for; the name of a field shows none.
    pub(super) fn state(&self, concept: &str, word: &str, language: &str) -> Option<String> {
        let own = |w: &str| self.plain.get(w).cloned();
        let same = |w: &String| {
            let of = |l: &str| {
                Lexicon::of(l)
                    .senses(w)
                    .iter()
                    .any(|s| s.concept == concept)
            };
            of("en") || of(language)
        };
        let empty = || match concept {
            "missing" => own("empty").or_else(|| own("exists")),
            _ => None,
        };
        let shown = || self.shown.get(concept).cloned();
        let first = own(concept)
            .or_else(|| own(word))
            .or_else(empty)
            .or_else(shown);
        let told = || {
            let found = self.plain.iter().find(|(w, _)| same(w));
            found.map(|(_, n)| n.clone())
        };
        first.or_else(told).or_else(|| self.answers(concept))
    }

    /// What answers for a time: a schedule for a rhythm, a wait or an expression with dates for all others.
    pub(super) fn time(&self, means: &TimeMeaning) -> Option<String> {
        let dated = || self.answers("date");
        match means {
            TimeMeaning::Schedule { .. } | TimeMeaning::AtTime { .. } => self.answers("schedule"),
            TimeMeaning::Zone { .. } => self.answers("zone").or_else(dated),
            TimeMeaning::Rate { .. } => self.answers("rate"),
            TimeMeaning::Duration { .. } => self.answers("duration").or_else(dated),
            TimeMeaning::Window { .. } => {
                let own = self.answers("moment").or_else(dated);
                own.or_else(|| self.answers("window"))
            }
            _ => self.answers("moment").or_else(dated),
        }
    }

    /// What goes on at intervals: the schedule, or else the pause between two attempts or batches.
    pub(super) fn rhythm(&self) -> Option<String> {
        self.answers("rhythm")
    }

    /// The first of what `knowledge/answers_for.tsv` lists for something said.
    pub(super) fn answers(&self, said: &str) -> Option<String> {
        let mut rows = ANSWERS_FOR.rows().filter(|cells| cells.at(0) == said);
        rows.find_map(|cells| cells.at(1).split_whitespace().find_map(|t| self.shows(t)))
    }

    /// Whether an id, or an address, stands in the workflow with each of its words. A quoted text may be put together there.
    pub(super) fn holds(&self, item: &Item) -> bool {
        let whole = matches!(
            item.shape(),
            Some(Kind::Id | Kind::Url | Kind::Mail | Kind::Channel | Kind::Handle | Kind::Path)
        );
        !whole || words(&item.text.to_lowercase()).all(|w| self.words.contains_key(w))
    }

    /// What holds a figure: as it stands, or one more or less (a bound), or in hundredths, as money is.
    pub(super) fn figure(&self, text: &str) -> Option<String> {
        let known = |n: f64| self.words.contains_key(&format!("{}", n.trunc()));
        // An id has more digits than a figure holds.
        let shown = self.words.contains_key(text)
            || crate::assemble::figure(text)
                .is_none_or(|n| [n, n - 1.0, n + 1.0, n * 100.0, -n].into_iter().any(known));
        shown.then(|| "value".to_owned())
    }

    /// What stands for any noun of a kind.
    pub(super) fn kind(&self, kind: &str, concept: &str) -> Option<String> {
        let tags: &[&str] = match (kind, concept) {
            (_, "email" | "inbox") => &["mail"],
            (_, "calendar" | "event") => &["calendar"],
            ("message", _) => &["chat", "mail", "sms", "queue"],
            ("place", _) => &["chat"],
            (_, "spreadsheet" | "tab" | "row" | "column") => &["sheet", "db", "base"],
            (_, "table" | "database") => &["db", "base", "sheet"],
            ("container", _) => &[
                "files",
                "mail",
                "task",
                "issue",
                "base",
                "newsletter",
                "db",
                "sheet",
            ],
            ("file", _) => &["files"],
            ("ai", _) => &["llm", "vector"],
            (_, "contact" | "lead" | "deal") => &["crm"],
            _ => &[],
        };
        let nodes: &[&str] = match kind {
            "web" => &[
                "httpRequest",
                "webhook",
                "formTrigger",
                "rssFeedRead",
                "rssFeedReadTrigger",
                "html",
                "form",
            ],
            "ai" => &[
                "agent",
                "chainLlm",
                "chatTrigger",
                "textClassifier",
                "openAi",
                "sentimentAnalysis",
            ],
            "file" => &[
                "convertToFile",
                "extractFromFile",
                "readWriteFile",
                "compression",
            ],
            "record" if concept == "error" => &["errorTrigger", "stopAndError"],
            "record" if concept == "data" => &["set", "webhook", "httpRequest", "code"],
            "message" => &["emailSend", "respondToWebhook", "chat"],
            "date" => &["scheduleTrigger", "dateTime", "wait"],
            _ => &[],
        };
        // What one service calls a title another one calls a name.
        if concept == "title" {
            let named = ["name", "subject", "summary"].iter();
            let own = named.filter_map(|w| self.words.get(*w)).next();
            if let Some(own) = own {
                return Some(own.clone());
            }
        }
        let tagged = tags.iter().find_map(|t| self.tags.get(*t));
        tagged
            .or_else(|| nodes.iter().find_map(|n| self.nodes.get(*n)))
            .cloned()
    }

    /// Whether a token of the table of frames holds.
    pub(super) fn shows(&self, token: &str) -> Option<String> {
        match token.split_once('=') {
            Some(("op", op)) => {
                let op = op.to_lowercase();
                let begins = self.operations.range(op.clone()..).next();
                begins
                    .filter(|(o, _)| o.starts_with(&op))
                    .map(|(_, n)| n.clone())
            }
            Some(("node", node)) => {
                let begins = |(n, _): &(&String, &String)| n.starts_with(node);
                self.nodes.iter().find(begins).map(|(_, n)| n.clone())
            }
            Some(("tag", tag)) => self.tags.get(tag).cloned(),
            Some(("text", text)) => self.words.get(&text.to_lowercase()).cloned(),
            _ => match token {
                "trigger" => self.starts(),
                "branch" => self.choice(),
                _ => None,
            },
        }
    }

    /// A node that starts the workflow by itself.
    pub(super) fn starts(&self) -> Option<String> {
        self.triggers.first().cloned()
    }

    /// What takes only what is new: what an event starts, or, of what is read again and again, what drops what was seen or asks
    /// for a time.
    pub(super) fn fresh(&self) -> Option<String> {
        let rhythm = self.nodes.get("scheduleTrigger");
        let event = self.triggers.iter().find(|t| Some(*t) != rhythm);
        event.cloned().or_else(|| self.answers("new"))
    }

    /// A node that tests something, a query with a condition, or an output for errors.
    pub(super) fn choice(&self) -> Option<String> {
        let first = self
            .choices
            .first()
            .or_else(|| self.branches.first())
            .cloned();
        first.or_else(|| self.answers("choice"))
    }

    /// A node whose items go several ways.
    pub(super) fn branches(&self) -> Option<String> {
        self.branches.first().cloned()
    }

    /// A comparison of size, or a limit.
    pub(super) fn bound(&self) -> Option<String> {
        self.answers("bound")
    }
}

/// An expression without the names of nodes that it reads (`$('Only paid')`): they say nothing of what is done.
fn unnamed(text: &str) -> String {
    const NODE: &str = "$('";
    let mut parts = text.split(NODE);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("$(");
        out.push_str(part.split_once("')").map_or("", |(_, rest)| rest));
    }
    out
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
}

/// The parts of a name in camel case.
fn camel(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut last = ' ';
    for (i, c) in name.char_indices() {
        if c.is_uppercase() && last.is_lowercase() {
            parts.extend(name.get(start..i));
            start = i;
        }
        last = c;
    }
    parts.extend(name.get(start..));
    parts
}

/// The quoted texts of an expression.
fn quoted(expression: &str) -> String {
    let mut out = String::new();
    for mark in ['\'', '"'] {
        let parts = expression.split(mark).skip(1).step_by(2);
        for part in parts {
            out.push_str(part);
            out.push(' ');
        }
    }
    out
}
