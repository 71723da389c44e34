//! Noun phrases: a head with what stands around it, the preposition before it, and the names that it is given.

use crate::chart::{Chart, Item, What};
use crate::lex::{Class, Sense};
use crate::lexicon::ServiceEntry;
use crate::spot::Kind;

/// A phrase. Items are indices into the chart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Phrase {
    /// The preposition before it: its class ("to", "with", "from") in every language; empty where there is none.
    pub prep: String,
    /// The classes that its preposition may have.
    pub preps: Vec<String>,
    pub from: usize,
    pub to: usize,
    pub head: Option<usize>,
    /// Nouns and unknown words before the head.
    pub modifiers: Vec<usize>,
    /// Adjectives.
    pub states: Vec<usize>,
    pub service: Option<&'static ServiceEntry>,
    /// Literal things, and capitalised words that name what the head is.
    pub names: Vec<usize>,
    pub numbers: Vec<usize>,
    /// "each", "all", "every".
    pub quantity: Option<usize>,
    pub pronoun: Option<usize>,
    /// A comparison sign or word before it ("more than", ">=").
    pub compared: Option<usize>,
    pub negated: bool,
    /// Joined to the phrase before it by a comma, "and" or "or".
    pub listed: bool,
    /// It stands in brackets, or after a colon.
    pub aside: bool,
}

impl Phrase {
    pub fn head<'c>(&self, chart: &'c Chart) -> Option<&'c Item> {
        self.head.and_then(|i| chart.items.get(i))
    }
    pub fn noun<'c>(&self, chart: &'c Chart) -> Option<&'c Sense> {
        self.head(chart).and_then(Item::noun)
    }
    /// The concept of the head; empty where there is none.
    pub fn concept<'c>(&self, chart: &'c Chart) -> &'c str {
        self.noun(chart).map_or("", |n| n.concept.as_str())
    }
    pub fn kind<'c>(&self, chart: &'c Chart) -> &'c str {
        self.noun(chart).map_or("", Sense::kind)
    }
    /// The first literal of a kind.
    pub fn literal<'c>(&self, chart: &'c Chart, kind: Kind) -> Option<&'c Item> {
        let items = self.names.iter().filter_map(|i| chart.items.get(*i));
        items.into_iter().find(|i| i.shape() == Some(kind))
    }
    /// The words of modifiers and head, as a field is called.
    pub fn words(&self, chart: &Chart, text: &str) -> String {
        let items = self.states.iter().chain(&self.modifiers).chain(&self.head);
        let mut at: Vec<usize> = items.copied().collect();
        at.sort_unstable();
        let word = |i: &usize| chart.items.get(*i).and_then(|i| text.get(i.from..i.to));
        at.iter().filter_map(word).collect::<Vec<_>>().join(" ")
    }
    /// Whether its head has a concept.
    pub fn phrase_says(&self, chart: &Chart, concept: &str) -> bool {
        self.noun(chart).is_some_and(|n| n.concept == concept)
    }
    fn empty(&self) -> bool {
        self.head.is_none()
            && self.modifiers.is_empty()
            && self.names.is_empty()
            && self.service.is_none()
            && self.numbers.is_empty()
            && self.pronoun.is_none()
            && self.states.is_empty()
    }
}

/// The phrases among these items.
pub(super) fn phrases(chart: &Chart, items: &[usize]) -> Vec<Phrase> {
    let mut reader = Reader {
        chart,
        done: Vec::new(),
        now: Phrase::default(),
        depth: 0,
        after_colon: false,
    };
    for at in items {
        reader.item(*at);
    }
    reader.close();
    let mut done: Vec<Phrase> = Vec::with_capacity(reader.done.len());
    for phrase in reader.done {
        match done.last_mut() {
            Some(before) if is_apposed(chart, before, &phrase) => appose(before, &phrase),
            _ => done.push(phrase),
        }
    }
    done
}

/// "'labels', an n8n data table", "Cash book (Google Sheets)": what a name is, said behind it, is one thing with the name.
fn is_apposed(chart: &Chart, name: &Phrase, kind: &Phrase) -> bool {
    let begun = |p: &Phrase| chart.item(p.from).is("det");
    let behind = (name.to..kind.from).all(|i| {
        let item = chart.item(i);
        item.stops() && matches!(item.text.as_str(), "," | "(")
    });
    let one = chart.item(kind.from).tells("one") && kind.listed || kind.aside;
    let place = matches!(kind.kind(chart), "container" | "place");
    let only = kind.names.is_empty()
        && kind.numbers.is_empty()
        && kind.prep.is_empty()
        && kind.states.is_empty()
        && kind.compared.is_none()
        && kind.pronoun.is_none()
        && (kind.service.is_some() && kind.head.is_none() && kind.modifiers.is_empty() || place);
    let address =
        name.literal(chart, Kind::Url).is_some() || name.literal(chart, Kind::Mail).is_some();
    let named = name.names.len() == 1 && name.service.is_none() && !address;
    // "into customers, a Postgres table": a plain word is a name where what it is says so.
    let plain = name.names.is_empty()
        && name.modifiers.is_empty()
        && name.states.is_empty()
        && name.numbers.is_empty()
        && name.service.is_none()
        && name.head.is_some()
        && !begun(name)
        && !name.prep.is_empty()
        && place
        && !kind.aside;
    behind && name.to < kind.from && one && only && (named || plain)
}

/// Makes one thing of a name and what it is; a plain word becomes the name.
fn appose(name: &mut Phrase, kind: &Phrase) {
    if name.names.is_empty() {
        name.names.extend(name.head.take());
    }
    name.service = kind.service;
    name.head = name.head.or(kind.head);
    name.to = kind.to;
}

/// Concepts whose name may follow them as a plain word: "table invoices".
const NAMED: &[&str] = &[
    "table",
    "tab",
    "folder",
    "board",
    "project",
    "list",
    "label",
    "place",
    "container",
    "index",
    "collection",
    "bucket",
];
/// Concepts that are parts of those instead: "table rows".
const UNNAMED: &[&str] = &[
    "row", "column", "name", "record", "data", "key", "id", "file",
];

/// Whether a form that is no order stands where its clause ends, or goes on with another one.
fn names_place(chart: &Chart, at: usize) -> bool {
    let item = chart.item(at);
    let next = chart.item(at + 1);
    let order = item.verb().is_some_and(|v| v.form == "base");
    let ends = next.stops() || ["and", "or", "if", "when"].iter().any(|c| next.is(c));
    !order && ends
}

struct Reader<'c> {
    chart: &'c Chart,
    done: Vec<Phrase>,
    now: Phrase,
    depth: usize,
    after_colon: bool,
}

impl Reader<'_> {
    fn close(&mut self) {
        let mut phrase = std::mem::take(&mut self.now);
        if phrase.preps.len() > 1
            && let Some(prep) = self.prep(&phrase)
        {
            phrase.prep = prep;
        }
        phrase.aside |= self.depth > 0 || self.after_colon;
        self.called_before(&mut phrase);
        if phrase.head.is_none() {
            phrase.head = phrase.modifiers.pop();
        }
        if !phrase.empty() {
            self.done.push(phrase);
        }
    }

    /// "the big-orders channel", "the invoices folder": in English the name of a thing stands before what it is. A word of no
    /// table, one in capitals, and a plural, which no compound has, are such names; of a channel any noun is.
    fn called_before(&self, phrase: &mut Phrase) {
        let Some(head) = phrase.head.filter(|_| self.chart.language == "en") else {
            return;
        };
        let kept = matches!(phrase.kind(self.chart), "container" | "place");
        let Some(at) = head.checked_sub(1).filter(|_| kept) else {
            return;
        };
        let item = self.chart.item(at);
        let plural = item.noun().is_some_and(|n| n.form == "many");
        let named = item.what == What::Unknown
            || item.noun().is_some()
                && (item.capital || plural || phrase.kind(self.chart) == "place");
        let indefinite = self.chart.item(phrase.from).tells("one");
        if phrase.names.is_empty()
            && phrase.modifiers.last() == Some(&at)
            && named
            && !indefinite
            && phrase.numbers.is_empty()
        {
            phrase.modifiers.pop();
            phrase.names.push(at);
        }
    }

    /// Of the classes that a preposition may have the first that what follows it fits, else the last.
    fn prep(&self, phrase: &Phrase) -> Option<String> {
        let kind = phrase.kind(self.chart);
        let named = phrase.names.iter().any(|n| {
            let shape = self.chart.items.get(*n).and_then(Item::shape);
            matches!(
                shape,
                Some(
                    Kind::Channel
                        | Kind::Mail
                        | Kind::Phone
                        | Kind::Handle
                        | Kind::Url
                        | Kind::Path
                )
            )
        });
        let place =
            phrase.service.is_some() || named || matches!(kind, "container" | "place" | "web");
        let fits = |class: &&String| match class.as_str() {
            "to" => place || kind == "person" || phrase.pronoun.is_some(),
            "from" => place,
            "by" => matches!(kind, "field" | "date" | "number" | "money"),
            _ => false,
        };
        let found = phrase.preps.iter().find(fits).or(phrase.preps.last());
        found.cloned()
    }

    fn begin(&mut self, at: usize) {
        if self.now.empty() && self.now.to == 0 {
            self.now.from = at;
        }
        self.now.to = at + 1;
    }

    fn item(&mut self, at: usize) {
        let Some(item) = self.chart.items.get(at) else {
            return;
        };
        match &item.what {
            What::Service(service) => self.service(at, service),
            What::Shape(Kind::Mark | Kind::End) => self.mark(item),
            What::Shape(Kind::Number | Kind::Clock) => {
                if self.now.names.is_empty() && self.now.head.is_none() || self.container() {
                    self.begin(at);
                } else {
                    self.close();
                    self.begin(at);
                }
                self.now.numbers.push(at);
            }
            What::Shape(Kind::Sign) => self.compare(at),
            What::Shape(_) => self.literal(at),
            What::Unknown => self.unknown(at, item),
            // "table assets": what nearly is a word of the tables is a name where one is due.
            What::Word(_) if item.spelled && self.awaits_name(at) => self.unknown(at, item),
            // "channel shipped", "bucket incoming": whatever else the last word of such a phrase means.
            What::Word(sense)
                if matches!(sense.class, Class::Adjective | Class::Verb)
                    && self.ends_with_name(at) =>
            {
                self.begin(at);
                self.now.names.push(at);
            }
            What::Word(sense) => match sense.class {
                Class::Noun => self.noun(at),
                Class::Adjective | Class::Verb
                    if self.names_of_service(at, item) || self.names_container(at, item) =>
                {
                    self.begin(at);
                    self.now.names.push(at);
                }
                Class::Adjective => {
                    if sense.kind() != "filler" {
                        self.begin(at);
                        self.now.states.push(at);
                    }
                }
                // "the subject containing 'x'" compares.
                Class::Verb
                    if holds(item)
                        && self.now.kind(self.chart) != "field"
                        && !(self.now.empty() && self.done.is_empty()) =>
                {
                    self.close();
                    self.now.prep = "with".to_owned();
                    self.now.preps = vec!["with".to_owned()];
                }
                Class::Verb => {
                    // A participle that says more about the noun beside it.
                    self.begin(at);
                    self.now.states.push(at);
                }
                Class::Function => self.function(at, &sense.concept, item),
            },
        }
    }

    /// The head so far is something that has a name.
    fn container(&self) -> bool {
        let noun = self
            .now
            .head
            .and_then(|h| self.chart.items.get(h))
            .and_then(Item::noun);
        noun.is_some_and(|n| {
            matches!(n.kind(), "container" | "place" | "field" | "person")
                || n.concept == "conversation"
        })
    }

    /// Whether the head so far is right before this and wants the name of a thing.
    fn awaits_name(&self, at: usize) -> bool {
        let concept = self.now.noun(self.chart).map_or("", |n| n.concept.as_str());
        let behind = |h: usize| {
            let served = h + 2 == at && self.now.service.is_some() && self.now.to == at;
            h + 1 == at || served && self.chart.item(h + 1).service().is_some()
        };
        self.now.names.is_empty() && self.now.head.is_some_and(behind) && NAMED.contains(&concept)
    }

    /// Whether the head so far is one thing that has a name, and the phrase ends with the word behind it.
    fn ends_with_name(&self, at: usize) -> bool {
        let noun = self.now.noun(self.chart);
        let kept =
            noun.is_some_and(|n| matches!(n.kind(), "container" | "place") && n.form == "one");
        let bare = self.now.names.is_empty() && self.now.numbers.is_empty();
        kept && bare && self.now.head.is_some_and(|h| h + 1 == at) && names_place(self.chart, at)
    }

    /// "in list Done": a word with a capital letter right after a thing that has a name.
    fn names_container(&self, at: usize, item: &Item) -> bool {
        let kept = self.now.head.is_some_and(|h| h + 1 == at) && self.now.names.is_empty();
        let noun = self.now.noun(self.chart);
        item.capital && kept && noun.is_some_and(|n| n.kind() == "container" && n.form == "one")
    }

    /// "the Google Sheet Orders": a word with a capital letter right after a service that keeps things is the name of one.
    fn names_of_service(&self, at: usize, item: &Item) -> bool {
        let keeps =
            |s: &ServiceEntry| s.is_any(&["sheet", "base", "db", "files", "kv", "calendar"]);
        let bare = self.now.head.is_none()
            && self.now.names.is_empty()
            && self.now.modifiers.is_empty()
            && self.now.states.is_empty();
        item.capital && self.now.to == at && bare && self.now.service.is_some_and(keeps)
    }

    fn service(&mut self, at: usize, service: &'static ServiceEntry) {
        // "the Orders sheet": a general word for a service behind the name of what is meant.
        let named = self
            .now
            .head
            .filter(|h| h + 1 == at && service.is(&service.key));
        let item = named.map(|h| self.chart.item(h));
        let plural = |i: &Item| i.noun().is_some_and(|n| n.form == "many");
        let indefinite = self.chart.item(self.now.from).tells("one");
        if self.chart.language == "en"
            && self.now.service.is_none()
            && self.now.names.is_empty()
            && self.now.modifiers.is_empty()
            && !indefinite
            && item.is_some_and(|i| i.capital || plural(i))
        {
            self.now.names.extend(self.now.head.take());
            self.now.service = Some(service);
            self.now.to = at + 1;
            return;
        }
        // "la table MySQL logs": what keeps it stands between a thing and its name.
        let romance = matches!(self.chart.language, "es" | "fr");
        let kept = romance && self.awaits_name(at) && self.now.service.is_none();
        if kept && service.is_any(&["sheet", "base", "db", "files", "kv"]) {
            self.now.service = Some(service);
            self.now.to = at + 1;
            return;
        }
        if self.now.service.is_some() || !self.now.names.is_empty() || self.now.head.is_some() {
            self.close();
        }
        self.begin(at);
        self.now.service = Some(service);
    }

    fn mark(&mut self, item: &Item) {
        match item.text.as_str() {
            "(" | "[" | "{" => {
                self.close();
                self.depth += 1;
            }
            ")" | "]" | "}" => {
                self.close();
                self.depth = self.depth.saturating_sub(1);
            }
            ":" => {
                self.close();
                self.after_colon = true;
            }
            "," | ";" | "/" | "+" => {
                self.close();
                self.now.listed = true;
            }
            _ => self.close(),
        }
    }

    fn compare(&mut self, at: usize) {
        // "on the server below /incoming": a path bounds nothing.
        if self.chart.item(at + 1).shape() == Some(Kind::Path)
            && self.chart.item(at).shape().is_none()
        {
            self.close();
            self.now.prep = "in".to_owned();
            return;
        }
        // "97 or higher": the bound stands before its word.
        let bound = |i: &Item| i.shape() == Some(Kind::Number) || i.literal() || i.is("det");
        let behind = self.chart.item(at).tells("or")
            && !self.now.numbers.is_empty()
            && self.now.compared.is_none()
            && !bound(self.chart.item(at + 1));
        if behind {
            self.now.compared = Some(at);
            self.now.to = at + 1;
            return;
        }
        self.close();
        self.begin(at);
        self.now.compared = Some(at);
    }

    fn literal(&mut self, at: usize) {
        let second = !self.now.names.is_empty() && !self.container();
        if second || self.now.pronoun.is_some() {
            self.close();
        }
        self.begin(at);
        self.now.names.push(at);
    }

    fn unknown(&mut self, at: usize, item: &Item) {
        let machine =
            item.text.contains(['-', '_']) || item.text.chars().any(|c| c.is_ascii_digit());
        let named = self.now.to == at
            && (self.container() && item.capital
                || machine
                    && (self.now.head.is_some()
                        || self.now.service.is_some()
                        || !self.now.modifiers.is_empty()));
        let named = named || self.awaits_name(at) || self.names_of_service(at, item);
        if named && self.now.names.is_empty() {
            self.begin(at);
            self.now.names.push(at);
        } else if self.now.head.is_some() {
            self.close();
            self.begin(at);
            self.now.modifiers.push(at);
        } else {
            self.begin(at);
            self.now.modifiers.push(at);
        }
    }

    fn noun(&mut self, at: usize) {
        if !self.now.names.is_empty() || self.now.pronoun.is_some() {
            let named_first = self.now.head.is_none()
                && self.now.pronoun.is_none()
                && self.now.service.is_none()
                && self.now.names.len() == 1;
            if !named_first {
                self.close();
            }
        }
        let concept = |i: usize| {
            self.chart
                .items
                .get(i)
                .and_then(Item::noun)
                .map_or("", |n| n.concept.as_str())
        };
        let item = self.chart.item(at);
        let holds = self.now.head.is_some_and(|h| {
            let kept = self
                .chart
                .item(h)
                .noun()
                .is_some_and(|n| matches!(n.kind(), "container" | "place") && item.capital);
            h + 1 == at && (NAMED.contains(&concept(h)) || kept)
        });
        let served = self.now.service.is_some() && self.awaits_name(at);
        let of_service = item
            .noun()
            .is_some_and(|n| !matches!(n.kind(), "container" | "place"))
            && self.names_of_service(at, item);
        let other = item.noun().is_some_and(|n| n.kind() == "container");
        let holds = served || holds && (item.capital || !other);
        if (holds || of_service) && !UNNAMED.contains(&concept(at)) {
            self.begin(at);
            self.now.names.push(at);
            return;
        }
        self.begin(at);
        // Romance nouns stand before what says more of them: "formulaire n8n", "dirección postal".
        let first = matches!(self.chart.language, "es" | "fr");
        match self.now.head {
            Some(_) if first => self.now.modifiers.push(at),
            Some(head) => {
                self.now.modifiers.push(head);
                self.now.head = Some(at);
            }
            None => self.now.head = Some(at),
        }
    }

    fn preposition(&mut self, item: &Item) {
        let classes = match &item.what {
            What::Word(sense) => sense.says.as_slice(),
            _ => &[],
        };
        self.now.preps = classes
            .iter()
            .filter(|c| !matches!(c.as_str(), "neg" | "relative"))
            .cloned()
            .collect();
        self.now.prep = self.now.preps.first().unwrap_or(&item.text).clone();
    }

    fn function(&mut self, at: usize, class: &str, item: &Item) {
        match class {
            "prep" => {
                self.close();
                self.preposition(item);
            }
            "det" | "quant" => {
                let begun = self.now.head.is_some()
                    || !self.now.names.is_empty()
                    || self.now.service.is_some();
                let owned = self.now.head.is_some() && self.now.to == at && item.tells("of");
                if begun {
                    self.close();
                }
                if owned {
                    self.preposition(item);
                }
                self.begin(at);
                self.now.negated |= item.tells("neg");
                if class == "quant" {
                    self.now.quantity = Some(at);
                }
            }
            "neg" => self.now.negated = true,
            "pronoun" => {
                if !self.now.empty() {
                    self.close();
                }
                self.begin(at);
                self.now.pronoun = Some(at);
            }
            "and" | "or" => {
                self.close();
                self.now.listed = true;
            }
            // "name plus number": what may join clauses joins things here.
            "also" if item.tells("and") && !self.now.empty() => {
                self.close();
                self.now.listed = true;
            }
            "more" | "less" | "equal" => self.compare(at),
            // "the channel id is 5512": the figure is its name.
            "aux"
                if self.container() && self.now.names.is_empty() && is_followed(self.chart, at) =>
            {
                self.now.to = at + 1;
            }
            // "add a row to Google Sheets for each new ticket": another thing is spoken of.
            "aux" | "each" => self.close(),
            _ => {}
        }
    }
}

/// Whether an item is a participle of a verb of holding or telling: "containing", "stating", "indiquant".
pub(super) fn holds(item: &Item) -> bool {
    const FRAMES: &[&str] = &["INCLUDE", "NAME", "SAY"];
    item.verb().is_some_and(|v| {
        let participle = v.form == "ing" || item.text.ends_with("ing") && item.text != "bring";
        participle && v.says.first().is_some_and(|f| FRAMES.contains(&f.as_str()))
    })
}

/// Whether a literal or a figure follows.
fn is_followed(chart: &Chart, at: usize) -> bool {
    let next = chart.items.get(at + 1);
    next.is_some_and(|n| n.literal() || n.shape() == Some(Kind::Number))
}
