//! The documents that are searched and compared, sentence by sentence.

use crate::document::Document;
use crate::likeness::{Context, contexts};
use crate::statement::Statement;
use std::collections::{BTreeSet, HashMap};

/// A sentence of a document.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    /// Of which document.
    pub doc: usize,
    /// The how manieth sentence there, from 1.
    pub number: usize,
    pub statement: Statement,
    /// Of each segment.
    pub contexts: Vec<Context>,
}

impl Placed {
    pub fn context(&self, token: usize) -> &Context {
        static NONE: Context = Context { near: Vec::new() };
        self.contexts
            .get(self.statement.segment(token))
            .unwrap_or(&NONE)
    }
}

/// A sentence that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// `DOC#NUMBER`; [`Corpus::check`] takes it.
    pub id: String,
    pub doc: String,
    pub title: String,
    pub source: String,
    pub date: String,
    /// Word for word.
    pub quote: String,
    pub score: f64,
}

pub struct Corpus {
    pub(crate) documents: Vec<Document>,
    /// Of each document: who published it.
    pub(crate) publishers: Vec<usize>,
    /// Of each document: what its title is about.
    pub(crate) titles: Vec<Vec<String>>,
    /// Of each document: every sense that stands in it.
    pub(crate) senses: Vec<BTreeSet<String>>,
    pub(crate) placed: Vec<Placed>,
    /// In how many documents a sense stands.
    frequency: HashMap<String, usize>,
    /// Values by dimension: the sentence, and the how manieth value there.
    pub(crate) by_dimension: HashMap<String, Vec<(usize, usize)>>,
    by_id: HashMap<String, usize>,
}

impl Corpus {
    pub fn new(documents: Vec<Document>) -> Corpus {
        let mut corpus = Corpus {
            publishers: Vec::new(),
            titles: Vec::new(),
            senses: Vec::new(),
            placed: Vec::new(),
            frequency: HashMap::new(),
            by_dimension: HashMap::new(),
            by_id: HashMap::new(),
            documents,
        };
        let mut known: HashMap<String, usize> = HashMap::new();
        let documents = std::mem::take(&mut corpus.documents);
        for (doc, document) in documents.iter().enumerate() {
            let next = known.len();
            corpus
                .publishers
                .push(*known.entry(document.publisher()).or_insert(next));
            corpus.add(doc, document);
        }
        corpus.documents = documents;
        corpus
    }

    fn add(&mut self, doc: usize, document: &Document) {
        let title = Statement::of(&document.title);
        let title: Vec<String> = title.terms.into_iter().map(|term| term.sense).collect();
        let mut senses: BTreeSet<String> = title.iter().cloned().collect();
        for (n, sentence) in crate::text::sentences(&document.text)
            .into_iter()
            .enumerate()
        {
            let statement = Statement::of(sentence);
            senses.extend(statement.terms.iter().map(|term| term.sense.clone()));
            let at = self.placed.len();
            for (nth, value) in statement.values.iter().enumerate() {
                let dimension = group(value.dimension()).to_owned();
                self.by_dimension
                    .entry(dimension)
                    .or_default()
                    .push((at, nth));
            }
            self.by_id.insert(format!("{}#{}", document.doc, n + 1), at);
            let before = self.placed.last().filter(|before| before.doc == doc);
            let contexts = contexts(&statement, &title, before.map(|before| &before.statement));
            self.placed.push(Placed {
                doc,
                number: n + 1,
                statement,
                contexts,
            });
        }
        self.titles.push(title);
        self.senses.push(senses.clone());
        for dimension in self
            .placed
            .iter()
            .rev()
            .take_while(|placed| placed.doc == doc)
            .flat_map(|placed| &placed.statement.values)
        {
            senses.insert(dimension.dimension().to_owned());
        }
        for sense in senses {
            *self.frequency.entry(sense).or_default() += 1;
        }
    }

    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    pub(crate) fn document(&self, placed: &Placed) -> Option<&Document> {
        self.documents.get(placed.doc)
    }

    pub(crate) fn publisher(&self, placed: &Placed) -> usize {
        self.publishers.get(placed.doc).copied().unwrap_or_default()
    }

    /// The sentence with this id.
    pub(crate) fn at(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// How much a sense tells: more, the fewer documents have it.
    pub(crate) fn weight(&self, sense: &str) -> f64 {
        let (all, with) = (
            count(self.documents.len()),
            count(self.frequency.get(sense).copied().unwrap_or_default()),
        );
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    /// In which part of the documents a sense stands, of 1.
    pub(crate) fn share(&self, sense: &str) -> f64 {
        count(self.frequency.get(sense).copied().unwrap_or_default())
            / count(self.documents.len()).max(1.0)
    }

    /// Every sentence, in the order of the documents.
    pub fn passages(&self) -> Vec<Passage> {
        let all = 0..self.placed.len();
        all.filter_map(|at| self.passage(at, 0.0)).collect()
    }

    pub(crate) fn passage(&self, at: usize, score: f64) -> Option<Passage> {
        let placed = self.placed.get(at)?;
        let document = self.document(placed)?;
        Some(Passage {
            id: format!("{}#{}", document.doc, placed.number),
            doc: document.doc.clone(),
            title: document.title.clone(),
            source: document.cited().to_owned(),
            date: document.date.clone(),
            quote: placed.statement.text.clone(),
            score,
        })
    }
}

/// What is looked up together: whatever is counted is one group.
pub(crate) fn group(dimension: &str) -> &str {
    if dimension.starts_with("count") {
        "count"
    } else {
        dimension
    }
}

pub(crate) fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

impl Corpus {
    /// Whether a text gives a value that another one does not.
    pub fn says_more(&self, text: &str, than: &str) -> bool {
        let (text, than) = (Statement::of(text), Statement::of(than));
        let has = |value: &crate::values::Value| {
            than.values
                .iter()
                .any(|v| v.dimension() == value.dimension() && v.agrees(value))
        };
        text.values.is_empty() || !text.values.iter().all(has)
    }

    /// The sentence with this id (`DOC#NUMBER`), word for word.
    pub fn quote(&self, id: &str) -> Option<String> {
        let placed = self.placed.get(self.at(id)?)?;
        Some(placed.statement.text.clone())
    }
}
