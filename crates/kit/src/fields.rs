//! The fields that a pack's data defines: their labels, kinds and values, and the words by which people name them.

use crate::same::{self, Form};
use crate::values::key;
use crate::words::folds;
use agentctl_base::worded::{in_language, in_languages};
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// One of its values.
    Choice,
    /// Some of its values.
    Choices,
    Number,
    Boolean,
}

/// One of a choice.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub value: String,
    /// What people call it, as words.
    pub forms: Vec<Form>,
    /// It says that somebody does not know.
    pub not_sure: bool,
    /// It says that there is none: "nothing".
    pub none: bool,
}

/// How surely a word names a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sure {
    /// Only before a colon.
    Colon,
    /// It means the same as a label.
    Same,
    /// The main word of a label.
    Main,
    Label,
}

/// Words by which a field is named.
#[derive(Debug, Clone)]
pub(crate) struct Cue {
    pub words: Form,
    pub sure: Sure,
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub name: String,
    pub kind: Kind,
    pub required: bool,
    /// False: nobody is asked; it is inferred.
    pub ask: bool,
    /// Characters, at most.
    pub max: usize,
    /// The data says how many, and they are more than a name has.
    is_long: bool,
    pub values: Vec<Listed>,
    pub cues: Vec<Cue>,
    label: Value,
    question: Value,
}

/// Texts that are longer than this are not names.
const NAME: usize = 300;
const LONGEST: usize = 4_000;

impl Field {
    pub fn label(&self, language: &str) -> &str {
        in_language(&self.label, language).unwrap_or(&self.name)
    }
    /// Its labels, one for each language.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        in_languages(&self.label)
    }
    /// What asks for it, in each language.
    pub fn questions(&self) -> impl Iterator<Item = &str> {
        in_languages(&self.question)
    }
    /// What asks for it; its label where the data has no question.
    pub fn question(&self, language: &str) -> String {
        match in_language(&self.question, language) {
            Some(question) => question.to_owned(),
            None => format!("{}?", self.label(language)),
        }
    }
    /// Whether an assistant's message asks for it.
    pub fn is_asked_in(&self, message: &str) -> bool {
        let mut questions = in_languages(&self.question).peekable();
        match questions.peek() {
            Some(_) => questions.any(|q| message.contains(q)),
            None => in_languages(&self.label).any(|l| message.contains(&format!("{l}?"))),
        }
    }
    /// Said in words of the user's own, not chosen from a list.
    pub fn is_said(&self) -> bool {
        !matches!(self.kind, Kind::Choice | Kind::Choices)
    }
    /// A text that is as short as a name.
    pub fn is_short(&self) -> bool {
        // What the data gives much room is none, whatever it is called.
        let named = || !self.is_long && self.mains().any(|main| same::is(&main, "short"));
        self.is_said() && (self.kind != Kind::Text || self.max <= NAME || named())
    }
    /// Its labels and their main words.
    fn mains(&self) -> impl Iterator<Item = Form> {
        in_languages(&self.label).flat_map(|label| {
            let words = folds(label);
            let last = words.last().cloned();
            let first = words.first().cloned().filter(|_| words.len() > 1);
            let mains = [last, first].into_iter().flatten().map(|w| vec![w]);
            std::iter::once(words).chain(mains).collect::<Vec<Form>>()
        })
    }
    /// Its value that says "not sure", if it has one.
    pub fn not_sure(&self) -> Option<&Listed> {
        self.values.iter().find(|v| v.not_sure)
    }
}

/// The fields of a pack's data, in its order, with the words by which a text names them.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    all: Vec<Field>,
    /// The cues of fields by the beginning of their first word: field, cue.
    cues: FxHashMap<String, Vec<(usize, usize)>>,
    /// The forms of values by the same: field, value, form.
    forms: FxHashMap<String, Vec<(usize, usize, usize)>>,
}

impl Fields {
    fn of(all: Vec<Field>) -> Fields {
        let mut fields = Fields {
            all,
            ..Fields::default()
        };
        for (f, field) in fields.all.iter().enumerate() {
            for (c, cue) in field.cues.iter().enumerate() {
                if let Some(first) = cue.words.first() {
                    fields.cues.entry(key(first)).or_default().push((f, c));
                }
            }
            for (v, value) in field.values.iter().enumerate() {
                for (n, form) in value.forms.iter().enumerate() {
                    if let Some(first) = form.first() {
                        let known = fields.forms.entry(key(first)).or_default();
                        known.push((f, v, n));
                    }
                }
            }
        }
        fields
    }

    /// The cues that may begin with a word, each with its field.
    pub fn cues(&self, word: &str) -> impl Iterator<Item = (usize, &Cue)> {
        let known = self.cues.get(&key(word)).into_iter().flatten();
        known.filter_map(|(f, c)| Some((*f, self.all.get(*f)?.cues.get(*c)?)))
    }

    /// The forms of values that may begin with a word, each with its field and its value.
    pub fn forms(&self, word: &str) -> impl Iterator<Item = (usize, usize, &Form)> {
        let known = self.forms.get(&key(word)).into_iter().flatten();
        known.filter_map(|(f, v, n)| {
            let form = self.all.get(*f)?.values.get(*v)?.forms.get(*n)?;
            Some((*f, *v, form))
        })
    }
}

impl std::ops::Deref for Fields {
    type Target = [Field];

    fn deref(&self) -> &[Field] {
        &self.all
    }
}

/// So many packs' fields are held.
const HELD: usize = 8;

/// What was read last: each message of a conversation is about the same fields.
static READ: Mutex<VecDeque<(Value, Arc<Fields>)>> = Mutex::new(VecDeque::new());

/// The fields of a pack's data, in its order. What is no field is passed over: the engine has checked the data before.
pub(crate) fn fields(data: &Value) -> Arc<Fields> {
    let mut held = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, fields)) = held.iter().find(|(of, _)| of == data) {
        return Arc::clone(fields);
    }
    let fields = Arc::new(Fields::of(read(data)));
    held.truncate(HELD - 1);
    held.push_front((data.clone(), Arc::clone(&fields)));
    fields
}

fn read(data: &Value) -> Vec<Field> {
    let list = data.as_array().map_or(&[][..], Vec::as_slice);
    let mut fields: Vec<Field> = list.iter().filter_map(field).collect();
    share(&mut fields);
    fields
}

fn field(data: &Value) -> Option<Field> {
    let text = |key: &str| data.get(key).and_then(Value::as_str);
    let flag = |key: &str| data.get(key).and_then(Value::as_bool);
    let max = data.get("max").and_then(Value::as_u64);
    let kind = match text("type") {
        Some("choice") => Kind::Choice,
        Some("choices") => Kind::Choices,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Boolean,
        _ => Kind::Text,
    };
    let max = max.and_then(|n| usize::try_from(n).ok());
    let values = data.get("values").and_then(Value::as_array);
    let label = data.get("label").cloned().unwrap_or_default();
    Some(Field {
        name: text("name")?.to_owned(),
        kind,
        required: flag("required").unwrap_or(false),
        ask: flag("ask").unwrap_or(true),
        max: max.unwrap_or(LONGEST),
        is_long: max.is_some_and(|max| max > NAME),
        values: values.into_iter().flatten().filter_map(listed).collect(),
        cues: cues(&label),
        label,
        question: data.get("question").cloned().unwrap_or_default(),
    })
}

fn listed(data: &Value) -> Option<Listed> {
    let value = data
        .as_str()
        .or_else(|| data.get("value").and_then(Value::as_str))?;
    let also = data.get("also").and_then(Value::as_array);
    let also = also.into_iter().flatten().filter_map(Value::as_str);
    let own: Vec<Form> = std::iter::once(value).chain(also).map(folds).collect();
    let mut forms: Vec<Form> = Vec::new();
    for form in &own {
        for form in std::iter::once(form.clone()).chain(same::values(form).cloned()) {
            if !form.is_empty() && !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    Some(Listed {
        value: value.to_owned(),
        not_sure: own.iter().any(|f| same::says(f, "not sure")),
        none: own.iter().any(|f| same::says(f, "none")),
        forms,
    })
}

/// The words that name a field: its labels, their main words, and what means the same.
fn cues(label: &Value) -> Vec<Cue> {
    let mut cues: Vec<Cue> = Vec::new();
    let mut add = |words: &[String], sure: Sure| {
        let small = words.len() == 1 && words.iter().all(|w| crate::language::is_small(w));
        let sure = if small { Sure::Colon } else { sure };
        if !words.is_empty() && !cues.iter().any(|c| c.words == words) {
            cues.push(Cue {
                words: words.to_vec(),
                sure,
            });
        }
    };
    let labels: Vec<Form> = in_languages(label).map(folds).collect();
    for label in &labels {
        add(label, Sure::Label);
    }
    // The main word stands last in English and German, first in French and Spanish.
    let mains = || {
        let ends = |l: &'_ Form| [l.last().cloned(), l.first().cloned()];
        let long = labels.iter().filter(|l| l.len() > 1);
        long.flat_map(ends).flatten().filter(|w| w.len() > 3)
    };
    let known = |w: &String| same::names(std::slice::from_ref(w)).next().is_some();
    for main in mains() {
        if known(&main) {
            add(std::slice::from_ref(&main), Sure::Main);
        }
    }
    if let Some(main) = labels.first().and_then(|l| l.last()) {
        add(std::slice::from_ref(main), Sure::Main);
    }
    for label in &labels {
        for (form, colon) in same::names(label) {
            add(form, if *colon { Sure::Colon } else { Sure::Same });
        }
    }
    for main in mains() {
        for (form, colon) in same::names(std::slice::from_ref(&main)) {
            add(form, if *colon { Sure::Colon } else { Sure::Same });
        }
    }
    cues
}

/// A word that names several fields names the one that it names most surely, of those a required one, of those the first.
fn share(fields: &mut [Field]) {
    let ranks: Vec<(usize, bool, Vec<Cue>)> = fields
        .iter()
        .enumerate()
        .map(|(at, f)| (at, f.required, f.cues.clone()))
        .collect();
    for (at, field) in fields.iter_mut().enumerate() {
        let required = field.required;
        field.cues.retain(|cue| {
            let better = |(other, is_required, cues): &(usize, bool, Vec<Cue>)| {
                *other != at
                    && cues.iter().any(|c| {
                        let rank = (c.sure, *is_required, std::cmp::Reverse(*other));
                        c.words == cue.words && rank > (cue.sure, required, std::cmp::Reverse(at))
                    })
            };
            !ranks.iter().any(better)
        });
    }
}

/// The field that takes what somebody says freely: a text that its name says so of; else the first that is longer than a name.
pub(crate) fn free(fields: &[Field]) -> Option<usize> {
    let asked = |f: &Field| f.kind == Kind::Text && f.ask;
    let long = |f: &&Field| asked(f) && !f.is_short();
    let named = |f: &Field| f.required && f.mains().any(|main| same::is(&main, "free"));
    let first = |is: &dyn Fn(&Field) -> bool| fields.iter().position(is);
    first(&|f| long(&f) && named(f))
        .or_else(|| first(&|f| long(&f)))
        .or_else(|| first(&asked))
}
