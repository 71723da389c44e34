//! Whether two sentences affirm and deny the same things. Only then can the one be a source for the other.

use crate::corpus::Corpus;
use crate::likeness::is_one;
use crate::statement::{Statement, Term};
use crate::words::sides;

/// Whether one says of a thing what the other denies, or the opposite of it.
pub(crate) fn are_contrary(a: &Statement, b: &Statement) -> bool {
    let opposite =
        |x: &Term, y: &Term| is_opposed(x, y, a, b) && x.denied == y.denied && x.stem != y.stem;
    a.terms
        .iter()
        .any(|x| b.terms.iter().any(|y| opposite(x, y)))
        || is_denied_by(a, b)
        || is_denied_by(b, a)
}

/// Whether a sentence speaks of that too of which another one denies a deed: who does not stop at the museum may stop at the station.
pub(crate) fn is_of_the_same(denied: &Term, denying: &Statement, other: &Statement) -> bool {
    denying.object_of(denied).is_none_or(|object| {
        let mut terms = other.terms.iter();
        terms.any(|term| is_one(&term.sense, &object.sense))
    })
}

/// Whether all that one denies and the other says is of the same.
pub(crate) fn deny_the_same(a: &Statement, b: &Statement) -> bool {
    let same = |x: &Statement, y: &Statement| denials(x).all(|term| is_of_the_same(term, x, y));
    same(a, b) && same(b, a)
}

/// The same polarity: they are not contrary, and what the claim denies is denied there too.
pub(crate) fn are_alike(claim: &Statement, other: &Statement) -> bool {
    !are_contrary(claim, other) && denials(claim).all(|x| has_denial(x, claim, other))
}

/// Whether a sentence denies what a claim does: the same word denied, or its opposite affirmed.
pub(crate) fn has_denial(of: &Term, claim: &Statement, other: &Statement) -> bool {
    let same = |y: &Term| y.denied && is_one(&y.sense, &of.sense);
    other.terms.iter().any(same) || is_turned(of, claim, other)
}

/// What it says was not so.
pub(crate) fn denials(of: &Statement) -> impl Iterator<Item = &Term> {
    of.terms.iter().filter(|term| term.denied && term.carries)
}

/// Whether `a` says without a denial what `b` denies.
fn is_denied_by(a: &Statement, b: &Statement) -> bool {
    denials(b).any(|y| {
        let mut told = a
            .terms
            .iter()
            .filter(|x| is_one(&x.sense, &y.sense))
            .peekable();
        told.peek().is_some() && told.all(|x| !x.denied) && !affirms(b, y) && !is_turned(y, b, a)
    })
}

/// Whether a sentence says a thing besides denying it.
fn affirms(of: &Statement, denied: &Term) -> bool {
    let mut terms = of.terms.iter();
    terms.any(|term| !term.denied && is_one(&term.sense, &denied.sense))
}

/// Whether two opposites make up for a denial: what did not vote against voted for.
fn is_turned(denied: &Term, of: &Statement, other: &Statement) -> bool {
    let mut reached = of
        .terms
        .iter()
        .filter(|term| term.denied && term.segment == denied.segment);
    reached.any(|x| {
        let mut others = other.terms.iter();
        others.any(|y| is_opposed(x, y, of, other) && x.denied != y.denied)
    })
}

/// Whether two words are opposites, of which neither sentence has both sides. Of a sentence that has both, that part counts in which it
/// has a value of the other: of `which fell for thirty years, rose from 21,300 in 2021` that it rose.
fn is_opposed(x: &Term, y: &Term, a: &Statement, b: &Statement) -> bool {
    let has = |statement: &Statement, side: (usize, bool), other: &Statement, told: &Term| {
        let mut terms = statement.terms.iter();
        let both =
            terms.any(|term| sides(&term.stem).contains(&side) && term.segment != told.segment);
        let mut here = statement.terms.iter();
        let here =
            here.any(|term| sides(&term.stem).contains(&side) && term.segment == told.segment);
        here || both && !has_value_of(statement, told.segment, other)
    };
    sides(&x.stem).iter().any(|(pair, side)| {
        sides(&y.stem).contains(&(*pair, !*side))
            && !has(a, (*pair, !*side), b, x)
            && !has(b, (*pair, *side), a, y)
    })
}

/// Whether a part of a sentence has one of another's values.
fn has_value_of(of: &Statement, segment: usize, other: &Statement) -> bool {
    let mut here = of
        .values
        .iter()
        .filter(|value| of.segment(value.from) == segment);
    here.any(|value| {
        let mut others = other.values.iter();
        others.any(|v| v.dimension() == value.dimension() && v.agrees(value))
    })
}

/// Of a claim's words, the part that its source has to have.
const TOLD: f64 = 0.6;

impl Corpus {
    /// Whether the sentences that a claim cites (`DOC#NUMBER`) say it: it is one of them word for word, or every value, name and denial
    /// of it and most of its words stand there.
    pub fn says(&self, text: &str, cited: &[String]) -> bool {
        let origin: Vec<usize> = cited.iter().filter_map(|id| self.at(id)).collect();
        let quotes: Vec<&Statement> = origin
            .iter()
            .filter_map(|at| Some(&self.placed.get(*at)?.statement))
            .collect();
        if quotes.iter().any(|quote| quote.text.trim() == text.trim()) {
            return true;
        }
        let claim = Statement::of(text);
        let mut around: Vec<Statement> = Vec::new();
        for at in &origin {
            let Some(placed) = self.placed.get(*at) else {
                continue;
            };
            let before = at.checked_sub(1).and_then(|at| self.placed.get(at));
            let before = before.filter(|before| before.doc == placed.doc);
            around.extend(before.map(|before| before.statement.clone()));
            if let Some(document) = self.document(placed) {
                let head = [&document.title, &document.source, &document.date];
                around.extend(head.map(|text| Statement::of(text)));
            }
        }
        let like: Vec<&Statement> = quotes
            .iter()
            .filter(|quote| !are_contrary(&claim, quote))
            .copied()
            .collect();
        !like.is_empty()
            && has_values(&claim, &like, &around)
            && denials(&claim).all(|x| like.iter().any(|quote| has_denial(x, &claim, quote)))
            && has_words(&claim, &like, &around)
    }
}

/// A date may stand around what is cited, any other value only in it.
fn has_values(claim: &Statement, quotes: &[&Statement], around: &[Statement]) -> bool {
    claim.values.iter().all(|value| {
        let given = |of: &Statement| {
            of.values.iter().any(|v| {
                let kind =
                    crate::corpus::group(v.dimension()) == crate::corpus::group(value.dimension());
                kind && v.agrees(value) && of.denies(v) == claim.denies(value)
            })
        };
        quotes.iter().any(|quote| given(quote))
            || value.dimension() == "date" && around.iter().any(given)
    })
}

fn has_words(claim: &Statement, quotes: &[&Statement], around: &[Statement]) -> bool {
    let all = || quotes.iter().copied().chain(around);
    let named = claim.names.iter().flat_map(|name| &name.words).all(|word| {
        let bare = word.trim_end_matches("'s");
        let mut tokens = all().flat_map(|of| &of.tokens);
        tokens.any(|token| token.fold == *word || token.fold.trim_end_matches("'s") == bare)
    });
    let told = claim.terms.iter().filter(|term| {
        let mut others = all().flat_map(|of| &of.terms);
        others.any(|other| is_one(&other.sense, &term.sense))
    });
    let (told, whole) = (told.count(), claim.terms.len());
    named && crate::corpus::count(told) >= TOLD * crate::corpus::count(whole)
}
