//! What must be asked: a request that names no service, no address and nothing else to hold on to leaves open where the data
//! is, what is meant, when it starts and where it goes. Never asks what the text says.

use super::super::Reading;
use super::column;
use super::words::Hit;
use crate::clause::{Clause, Intro, Phrase};
use crate::lex::Table;
use crate::lexicon;
use crate::plan::{Does, Role, Step, Trigger, Verb};
use crate::spot::Kind;
use agentctl_base::question::{Question, QuestionOption};
use serde_json::{Value, json};
use std::ops::Range;

pub(super) const QUESTIONS: Table = Table {
    file: "gate/questions.tsv",
    text: include_str!("../../../knowledge/gate/questions.tsv"),
    columns: 5,
};
pub(super) const SYSTEMS: Table = Table {
    file: "gate/systems.tsv",
    text: include_str!("../../../knowledge/gate/systems.tsv"),
    columns: 9,
};
/// The most questions that are asked at once.
const MOST: usize = 6;
/// The most questions about where things are.
const MOST_SOURCES: usize = 2;
/// With one thing to hold on to, so many gaps make a request too open to build.
const OPEN: usize = 4;
/// Kinds of nouns that are kept somewhere.
const KEPT: &[&str] = &[
    "record",
    "container",
    "person",
    "file",
    "web",
    "number",
    "money",
    "event",
    "text",
    "ai",
    "message",
    "context",
];

/// The questions of a request; none where it can be built.
pub(super) fn questions(reading: &Reading<'_>, hits: &[Hit]) -> Vec<Question> {
    let gaps = Gaps {
        reading,
        hits,
        out: Vec::new(),
    };
    if gaps.says_nothing() {
        return gaps.introduce();
    }
    if gaps.thin() {
        return gaps.ask();
    }
    gaps.start()
}

struct Gaps<'r, 'a> {
    reading: &'r Reading<'a>,
    hits: &'r [Hit],
    out: Vec<Question>,
}

impl Gaps<'_, '_> {
    /// "hi", "what can you do?", "build me something": nothing that could be built, or asked about.
    fn says_nothing(&self) -> bool {
        const SHORT: usize = 4;
        const EMPTY: &[&str] = &[
            "CREATE", "WANT", "DO", "KNOW", "USE", "STATE", "TRY", "GET", "RUN", "SAY",
        ];
        let empty = |item: &crate::chart::Item| match &item.what {
            crate::chart::What::Word(sense) => match sense.class {
                crate::lex::Class::Verb => sense
                    .says
                    .first()
                    .is_some_and(|f| EMPTY.contains(&f.as_str())),
                crate::lex::Class::Noun => {
                    sense.kind() == "context"
                        || matches!(sense.concept.as_str(), "workflow" | "thing" | "bot")
                }
                _ => true,
            },
            crate::chart::What::Shape(kind) => matches!(kind, Kind::Mark | Kind::End),
            _ => false,
        };
        let items = &self.reading.chart.items;
        let words = items.iter().filter(|i| !i.stops()).count();
        let strange = items.iter().filter(|i| !empty(i)).count();
        let untimed = self.reading.clauses.iter().all(|c| c.times.is_empty());
        let unknown = items
            .iter()
            .all(|i| empty(i) || i.what == crate::chart::What::Unknown);
        self.anchors() == 0 && untimed && (strange == 0 || unknown && words <= SHORT)
    }

    fn introduce(mut self) -> Vec<Question> {
        self.topic("request", "");
        self.out
    }

    fn thin(&self) -> bool {
        let plan = &self.reading.plan;
        let own = plan.triggers.iter().any(|t| {
            matches!(
                t,
                Trigger::Webhook { .. }
                    | Trigger::Form { .. }
                    | Trigger::Chat { .. }
                    | Trigger::McpServer { .. }
            )
        });
        match self.anchors() {
            0 => !(own && (acts(&plan.steps) || mails(&plan.steps))),
            1 => self.gaps() >= OPEN,
            _ => false,
        }
    }

    /// A plan stands but nothing was understood that starts it: that may be answered, and a person starts it until then.
    fn start(mut self) -> Vec<Question> {
        if self.reading.plan.triggers.is_empty() {
            self.topic("timing", "");
        }
        self.out.iter_mut().for_each(|q| q.required = false);
        self.out
    }

    /// Things that a workflow can hold on to: services, addresses, names given word for word.
    fn anchors(&self) -> usize {
        let items = self.reading.chart.items.iter();
        let named = items.filter(|i| {
            i.service()
                .is_some_and(|s| !s.actions.is_empty() || !s.triggers.is_empty())
                || matches!(
                    i.shape(),
                    Some(
                        Kind::Quote
                            | Kind::Url
                            | Kind::Mail
                            | Kind::Phone
                            | Kind::Channel
                            | Kind::Path
                            | Kind::File
                            | Kind::Id
                    )
                )
        });
        named.count()
    }

    fn has(&self, class: &str) -> bool {
        self.hits.iter().any(|h| h.class == class)
    }

    fn gaps(&self) -> usize {
        let plan = &self.reading.plan;
        let untimed = plan.triggers.is_empty();
        let idle = !acts(&plan.steps);
        [
            untimed,
            idle,
            self.has("vague"),
            self.has("broad"),
            self.has("thing"),
            self.has("usual"),
        ]
        .into_iter()
        .filter(|g| *g)
        .count()
            + usize::from(self.has("usual"))
    }

    fn ask(mut self) -> Vec<Question> {
        let broad = self.has("broad");
        if self.has("usual") {
            self.topic("context", "");
        }
        self.systems();
        let placed = self.goes_to_a_system();
        self.sources();
        if self.has("escalate") {
            self.topic("escalate_when", "");
            self.topic("escalate_to", "");
            return self.out;
        }
        self.meanings();
        let agent = self.has("n:agent");
        if agent {
            self.topic("channel", "");
        } else if self.tells() && !placed && !self.addressed() {
            self.topic("recipient", "");
        }
        if self.stores() {
            let what = self.thing();
            self.topic("target", &what);
        }
        if broad {
            self.topic("rules", "");
            self.topic("authority", "");
        }
        let what = self.thing();
        if !self
            .reading
            .plan
            .triggers
            .iter()
            .any(|t| matches!(t, Trigger::Schedule { .. }))
            && !agent
        {
            self.topic("timing", "");
        }
        self.topic("action", &what);
        if !agent && !placed && !self.addressed() {
            self.topic("recipient", "");
        }
        // What is done there the verb says.
        let told = self
            .out
            .iter_mut()
            .filter(|q| placed && q.topic == "action");
        told.for_each(|q| q.required = false);
        self.out.truncate(MOST);
        self.out
    }

    /// "post our new stuff on social media": the system that was asked about is where it goes.
    fn goes_to_a_system(&self) -> bool {
        let place = |p: &Phrase| {
            let goes = matches!(p.prep.as_str(), "to" | "on" | "in" | "into" | "at");
            let concept = self.reading.concept(p);
            let asked = |q: &Question| names(&q.topic, concept);
            goes && self.reading.kind(p) == "place" && self.out.iter().any(asked)
        };
        self.tells()
            && self
                .reading
                .clauses
                .iter()
                .flat_map(Clause::phrases)
                .any(place)
    }

    fn topic(&mut self, topic: &str, what: &str) {
        let column = column(self.reading.chart.language);
        let found = QUESTIONS.rows().find(|cells| cells.at(0) == topic);
        if let Some(text) = found.map(|cells| cells.at(1 + column)) {
            let text = text.replace("{what}", what);
            self.push(topic, text, Vec::new());
        }
    }

    fn push(&mut self, topic: &str, text: String, options: Vec<QuestionOption>) {
        let again = topic != "source" && self.out.iter().any(|q| q.topic == topic);
        if again || self.out.iter().any(|q| q.text == text) {
            return;
        }
        self.out.push(Question {
            options,
            ..Question::open(topic, text)
        });
    }

    /// Kinds of systems that a noun tells of and no service answers.
    fn systems(&mut self) {
        let language = column(self.reading.chart.language);
        for cells in SYSTEMS.rows() {
            let [topic, tags, concepts, services, many, texts @ ..] = cells.as_slice() else {
                continue;
            };
            let concepts: Vec<String> = concepts.split(',').map(|c| format!("n:{c}")).collect();
            let told = concepts.iter().any(|c| self.has(c));
            let tags = || tags.split(',');
            let named = self
                .reading
                .chart
                .items
                .iter()
                .filter_map(crate::chart::Item::service);
            let answered = named.into_iter().any(|s| tags().any(|t| s.is(t)));
            if !told || answered || self.out.len() >= MOST_SOURCES {
                continue;
            }
            let Some(text) = texts.get(language) else {
                continue;
            };
            let options = services.split(',').filter_map(lexicon::service);
            let options = options.map(|s| QuestionOption::new(s.label.as_str(), s.label.as_str()));
            let options: Vec<QuestionOption> = options.collect();
            let schema = (*many == "several").then(|| any_of(&options));
            let asked = self.out.len();
            self.push(topic, (*text).to_owned(), options);
            if let (Some(question), Some(schema)) = (self.out.get_mut(asked), schema) {
                question.schema = schema;
            }
        }
    }

    /// Where the things are that the request speaks of and that no system's question covers.
    fn sources(&mut self) {
        let left = MOST_SOURCES.saturating_sub(self.out.len());
        for what in self.things().into_iter().take(left) {
            self.topic("source", &what);
        }
    }

    /// What vague words and conditions mean.
    fn meanings(&mut self) {
        let condition = |c: &&Clause| {
            matches!(c.intro, Intro::If | Intro::When | Intro::Unless) && c.to > c.from + 1
        };
        let told = self.reading.clauses.iter().find(condition);
        if let Some(clause) = told {
            let said = self.bare(clause);
            self.topic("detect", &said);
            return;
        }
        let vague = self.hits.iter().find(|h| h.class == "vague");
        if let Some(said) = vague.and_then(|h| self.reading.text.get(h.at.clone())) {
            let said = said.to_owned();
            self.topic("threshold", &said);
        }
    }

    /// A clause without the word that introduces it.
    fn bare(&self, clause: &Clause) -> String {
        let items = self.reading.items(clause);
        let introduces = |i: &&crate::chart::Item| ["if", "when", "unless"].iter().any(|c| i.is(c));
        let first = items.iter().find(|i| !introduces(i) && !i.stops());
        let range = first.zip(items.last()).map(|(f, l)| f.from..l.to);
        range
            .and_then(|r| self.reading.text.get(r))
            .unwrap_or("")
            .to_owned()
    }

    /// Something goes to people.
    fn tells(&self) -> bool {
        ["v:SEND", "v:MAIL", "v:NOTIFY", "v:ASK", "v:REPLY", "v:KNOW"]
            .iter()
            .any(|f| self.has(f))
    }

    fn stores(&self) -> bool {
        ["v:STORE", "v:ARCHIVE", "v:UPLOAD"]
            .iter()
            .any(|f| self.has(f))
    }

    fn addressed(&self) -> bool {
        let items = &self.reading.chart.items;
        items.iter().any(|i| {
            matches!(
                i.shape(),
                Some(Kind::Mail | Kind::Phone | Kind::Channel | Kind::Handle)
            ) || i.service().is_some_and(|s| s.speaks())
        })
    }

    /// What the request is about, in its own words, each once.
    fn things(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let phrases = self.reading.clauses.iter().flat_map(Clause::phrases);
        for phrase in phrases.filter(|p| self.thingy(p)) {
            let words = self.reading.words(phrase);
            if !words.is_empty() && !found.iter().any(|f| f.eq_ignore_ascii_case(&words)) {
                found.push(words);
            }
        }
        found
    }

    fn thingy(&self, phrase: &Phrase) -> bool {
        phrase.head.is_some()
            && phrase.service.is_none()
            && KEPT.contains(&self.reading.kind(phrase))
            && !matches!(
                self.reading.concept(phrase),
                "thing"
                    | "nothing"
                    | "one"
                    | "workflow"
                    | "time"
                    | "agent"
                    | "person"
                    | "message"
                    | "approval"
            )
    }

    /// The first thing; else the words of the first verb's clause.
    fn thing(&self) -> String {
        let vague = || {
            self.hits
                .iter()
                .find(|h| h.class == "thing")
                .and_then(|h| self.reading.text.get(h.at.clone()))
                .map(str::to_owned)
        };
        let clause = || self.reading.clauses.first().map(|c| self.reading.said(c));
        vague()
            .or_else(|| self.things().into_iter().next())
            .or_else(clause)
            .unwrap_or_default()
    }
}

/// The answer to a question of which several options may be taken, and others in the user's own words: a list, or one text.
fn any_of(options: &[QuestionOption]) -> Value {
    let values: Vec<&Value> = options.iter().map(|option| &option.value).collect();
    let text = json!({"type": "string", "minLength": 1});
    json!({"type": ["array", "string"], "minLength": 1, "minItems": 1, "uniqueItems": true,
        "items": {"anyOf": [{"enum": values}, text]}})
}

/// Whether the question about a kind of systems is asked for a concept.
fn names(topic: &str, concept: &str) -> bool {
    let mut rows = SYSTEMS.rows().filter(|row| row.at(0) == topic);
    rows.any(|row| row.at(2).split(',').any(|c| c == concept))
}

/// Where a request speaks of the kind of systems that a question is about, in bytes.
pub(crate) fn spoken_of(request: &str, language: &str, topic: &str) -> Option<Range<usize>> {
    let items = crate::chart::chart(request, language).items;
    let asked = |i: &&crate::chart::Item| i.noun().is_some_and(|n| names(topic, &n.concept));
    items.iter().find(asked).map(|i| i.from..i.to)
}

/// Whether a step sends a mail: to the user's own address, where nobody is named.
fn mails(steps: &[Step]) -> bool {
    steps.iter().any(|s| match &s.does {
        Does::Service { service, verb, .. } => {
            let mail = service.node_types.iter().any(|t| t.ends_with("emailSend"));
            mail && *verb == Verb::Send
        }
        _ => false,
    })
}

/// Whether a step does something with a service that was named, or with data.
fn acts(steps: &[Step]) -> bool {
    steps.iter().any(|s| match &s.does {
        Does::If {
            then, otherwise, ..
        } => acts(then) || acts(otherwise),
        Does::Switch { cases, .. } => cases.iter().any(|c| acts(&c.steps)),
        Does::Loop { body, after, .. } => acts(body) || acts(after),
        Does::Service { service, args, .. } => {
            let reached = args
                .iter()
                .any(|a| matches!(a.role, Role::To | Role::Recipient | Role::Channel));
            service.node_types.len() == 1 || reached
        }
        Does::Agent {
            tools, knowledge, ..
        } => !tools.is_empty() || !knowledge.is_empty(),
        Does::Http { .. }
        | Does::Respond { .. }
        | Does::Code { .. }
        | Does::CallWorkflow { .. } => true,
        _ => false,
    })
}
