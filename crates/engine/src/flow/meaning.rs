//! What a field means to the program, beyond being state: its claims are checked, it holds the scope, it stands in the report. The
//! flow file says it, so that no code knows a field by its name.

use super::model::{FieldKind, FieldSpec, Flow, Meaning, RESOURCE, Reading};
use super::reader::Reader;
use crate::nearest::nearest;
use crate::vocabulary::Vocabulary;
use agentctl_base::yaml::{Entry, Node};
use serde_json::{Map, Value};

/// The keys of a field that say what it means.
pub(super) const KEYS: [&str; 5] = ["fact", "guards", "summary", "report", "analysis"];

impl Reader<'_> {
    pub(super) fn meaning(&mut self, field: &Entry, kind: FieldKind) -> Meaning {
        let what = format!("the field {:?}", field.key);
        let mut meaning = Meaning::default();
        if let Some(node) = field.value.get("fact") {
            let known = self.known.vocabulary.map(Vocabulary::facts);
            meaning.fact = self.word(node, "fact", known.as_deref());
            self.fits(node, &what, "fact", kind, &[FieldKind::Object]);
        }
        if let Some(node) = field.value.get("guards") {
            meaning.is_scope = self.word(node, "guards", Some(&["scope"])).is_some();
            self.fits(node, &what, "guards", kind, &[FieldKind::Replace]);
        }
        if let Some(node) = field.value.get("summary") {
            meaning.summary = self.summary(node, &what);
            self.fits(node, &what, "summary", kind, &[FieldKind::Object]);
        }
        if let Some(node) = field.value.get("report") {
            let known = self.known.vocabulary.map(Vocabulary::reports);
            meaning.report = self.word(node, "report", known);
            self.fits(node, &what, "report", kind, &[FieldKind::Object]);
        }
        if let Some(node) = field.value.get("analysis") {
            let (reading, kinds): (_, &[FieldKind]) =
                match self.word(node, "analysis", Some(&["cause", "learnings"])) {
                    Some(word) if word == "cause" => (Reading::Cause, &[FieldKind::Object]),
                    Some(_) => (Reading::Learnings, &[FieldKind::Append, FieldKind::Replace]),
                    None => return meaning,
                };
            meaning.analysis = Some(reading);
            self.fits(node, &what, "analysis", kind, kinds);
        }
        self.once(field, &meaning);
        meaning
    }

    /// One of the known words; None: any word will do.
    fn word(&mut self, node: &Node, key: &str, known: Option<&[&str]>) -> Option<String> {
        let word = self.text(node, &format!("`{key}`"))?;
        if let Some(known) = known
            && !known.contains(&word.as_str())
        {
            let hint = nearest(&word, known.iter().copied());
            let may = match known {
                [] => "; the tools of this pack bring none".to_owned(),
                known => format!("; there is {}", known.join(", ")),
            };
            self.problems.add(
                node.place,
                format!("there is no `{key}: {word}`{may}{hint}"),
            );
            return None;
        }
        Some(word)
    }

    fn summary(&mut self, node: &Node, what: &str) -> Option<Vec<String>> {
        let mut keys: Vec<String> = Vec::new();
        for (place, key) in self.names(node, "summary") {
            if keys.contains(&key) {
                self.problems.add(
                    place,
                    format!("{what}: `summary` names the key {key:?} twice"),
                );
            }
            keys.push(key);
        }
        (!keys.is_empty()).then_some(keys)
    }

    fn fits(&mut self, node: &Node, what: &str, key: &str, kind: FieldKind, kinds: &[FieldKind]) {
        if !kinds.contains(&kind) {
            let kinds: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
            let message = format!(
                "{what} is of kind {}; `{key}` needs kind {}",
                kind.name(),
                kinds.join(" or ")
            );
            self.problems.add(node.place, message);
        }
    }

    /// Two fields of one meaning would leave open which of them counts.
    fn once(&mut self, field: &Entry, meaning: &Meaning) {
        for word in meaning.words() {
            let key = word.split(':').next().unwrap_or_default();
            let place = field.value.get(key).map_or(field.key_place, |n| n.place);
            match self.said.get(&word) {
                Some((first, at)) => {
                    let message = format!(
                        "`{word}` stands at two fields; {first:?} says it in line {}",
                        at.line
                    );
                    self.problems.add(place, message);
                }
                None => {
                    self.said.insert(word, (field.key.clone(), place));
                }
            }
        }
    }
}

const SCOPE: &str = "guards: scope";

fn fact_word(fact: &str) -> String {
    format!("fact: {fact}")
}

fn report_word(section: &str) -> String {
    format!("report: {section}")
}

fn analysis_word(reading: Reading) -> String {
    match reading {
        Reading::Cause => "analysis: cause".to_owned(),
        Reading::Learnings => "analysis: learnings".to_owned(),
    }
}

impl Meaning {
    /// What at most one field of a flow may say, as it stands in the file.
    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.fact.as_deref().map(fact_word));
        words.extend(self.is_scope.then(|| SCOPE.to_owned()));
        words.extend(self.report.as_deref().map(report_word));
        words.extend(self.analysis.map(analysis_word));
        words
    }
}

impl Flow {
    /// The fields whose claims are checked, with the name of the check.
    pub fn facts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields
            .iter()
            .filter_map(|(field, spec)| Some((field.as_str(), spec.meaning.fact.as_deref()?)))
    }

    pub fn fact_field(&self, fact: &str) -> Option<&str> {
        self.facts().find(|(_, of)| *of == fact).map(|(f, _)| f)
    }

    /// The field that lists what the current fix cycle may change.
    pub fn scope_field(&self) -> Option<&str> {
        self.field_that(|meaning| meaning.is_scope)
    }

    /// The field that makes this section of the report.
    pub fn report_field(&self, section: &str) -> Option<&str> {
        self.field_that(|meaning| meaning.report.as_deref() == Some(section))
    }

    /// The field in which the post-mortem reads this.
    pub fn read_field(&self, reading: Reading) -> Option<&str> {
        self.field_that(|meaning| meaning.analysis == Some(reading))
    }

    /// The id of the resource that the run is about, as the state has it.
    pub fn resource_id<'s>(&self, state: &'s Map<String, Value>) -> Option<&'s str> {
        state.get(self.fact_field(RESOURCE)?)?.get("id")?.as_str()
    }

    fn field_that(&self, is: impl Fn(&Meaning) -> bool) -> Option<&str> {
        let found = self.fields.iter().find(|(_, spec)| is(&spec.meaning));
        found.map(|(field, _)| field.as_str())
    }

    /// Takes over what fields of the same name mean in `base`, key by key, unless this flow says it of them or of another field. So a
    /// flow that was written before its fields could say what they mean keeps its guards.
    pub fn inherit(&mut self, base: &Flow) {
        let said: Vec<String> = (self.fields.values())
            .flat_map(|spec| spec.meaning.words())
            .collect();
        for (field, spec) in &mut self.fields {
            if let Some(of) = base.fields.get(field) {
                spec.take_over(&of.meaning, &said);
            }
        }
    }
}

impl FieldSpec {
    fn take_over(&mut self, base: &Meaning, said: &[String]) {
        let free = |word: String| !said.contains(&word);
        let own = &mut self.meaning;
        if own.fact.is_none() {
            own.fact = base.fact.clone().filter(|fact| free(fact_word(fact)));
        }
        own.is_scope |= base.is_scope && free(SCOPE.to_owned());
        if own.report.is_none() {
            own.report = base.report.clone().filter(|name| free(report_word(name)));
        }
        if own.analysis.is_none() {
            own.analysis = base.analysis.filter(|of| free(analysis_word(*of)));
        }
        if own.summary.is_none() {
            own.summary.clone_from(&base.summary);
        }
    }
}
