//! What texts say: their sentences, the values and names in them, and which sentences of different publishers say the same of a thing
//! or say otherwise. Mechanisms over numbers, units, dates, names and polarity; words are data (`words/`). Pure: no IO, no clock.

mod apart;
mod check;
mod corpus;
mod details;
mod document;
mod facts;
mod figures;
mod kin;
mod likeness;
mod names;
mod naming;
mod negation;
mod numbers;
mod order;
mod polarity;
mod rates;
mod search;
mod statement;
mod text;
mod twice;
mod values;
mod words;

pub use check::{Checked, Source, Verdict};
pub use corpus::{Corpus, Passage};
pub use document::{BadDocument, Document, Format, row};
