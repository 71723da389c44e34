//! What a message says of the fields of a request: which values it names, what is not known, whether it gives up. Only what is
//! said is read; what is unclear is left out, and asked.

use crate::fields::Fields;
use crate::naming::{self, Named};
use crate::phrases::{Languages, PHRASES, covered};
use crate::pieces::{Piece, Sentence, pieces, sentences};
use crate::values::{Hit, hits};
use crate::words::{Gap, Text, Word};
use serde_json::{Map, Value};
use std::ops::Range;

/// What is asked for, known and wanted when a message comes in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub fields: &'a Fields,
    /// What the last reply asked for.
    pub asked: &'a [usize],
    /// What is known already, by the names of fields.
    pub collected: &'a Map<String, Value>,
    pub languages: Languages<'a>,
}

/// What a piece of a message is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// Wants a request.
    Wish,
    GivesUp,
    /// What is *not* meant.
    NotThis,
    Unknown(Vec<usize>),
    Names(Named),
    /// Values of fields, by their place in the hits.
    Lists(Vec<usize>),
    Question,
    /// A greeting, a yes, "what I mean:".
    Nothing,
    Plain,
}

/// A message, piece by piece.
pub(crate) struct Reading<'a> {
    pub text: Text<'a>,
    pub cx: Context<'a>,
    pub sentences: Vec<Sentence>,
    pub hits: Vec<Hit>,
    pub pieces: Vec<(Piece, What)>,
    /// It gives orders to the program, or pretends that somebody else speaks.
    pub orders: bool,
}

/// What says nothing of a field.
const NOTHING: [&str; 11] = [
    "filler", "yes", "yes.more", "submit", "assent", "greet", "thanks", "bye", "lead", "no",
    "correct",
];

impl<'a> Reading<'a> {
    pub fn new(own: &'a str, cx: Context<'a>) -> Reading<'a> {
        let text = Text::new(own);
        let sentences = sentences(&text);
        let hits = hits(&text, cx.fields, cx.languages);
        let wishes: Vec<Range<usize>> = sentences
            .iter()
            .filter_map(|s| wish(&text, s, cx.languages))
            .collect();
        let cuts: Vec<usize> = wishes.iter().map(|w| w.end).collect();
        let split = pieces(&text, &sentences, &hits, &cuts, cx.languages);
        let orders = orders(&text, cx.languages);
        let mut reading = Reading {
            text,
            cx,
            sentences,
            hits,
            pieces: Vec::new(),
            orders,
        };
        for piece in split {
            let what = reading.what(&piece, &wishes);
            reading.pieces.push((piece, what));
        }
        reading.look_back();
        reading.weigh();
        reading
    }

    pub fn words(&self) -> &[Word] {
        &self.text.words
    }

    pub fn has(&self, what: &What) -> bool {
        self.pieces.iter().any(|(_, w)| w == what)
    }

    /// The names of fields in a range of words.
    pub fn cues(&self, within: &Range<usize>) -> Vec<(usize, Range<usize>)> {
        naming::cues(&self.text, within, self.cx.fields, &self.hits)
    }

    /// Whether a class of phrases stands anywhere in it.
    pub fn says(&self, class: &str) -> bool {
        let all = 0..self.words().len();
        PHRASES
            .find(class, self.words(), all, self.cx.languages)
            .is_some()
    }

    /// Words of a range that say something: neither small nor filling ones, nor those within `but`.
    pub fn content(&self, within: Range<usize>, but: &[Range<usize>]) -> usize {
        const IDLE: [&str; 7] = [
            "filler", "lead", "correct", "meant", "is", "also", "yes.more",
        ];
        let (mut count, mut at) = (0, within.start);
        while at < within.end {
            if let Some(range) = but.iter().find(|b| b.contains(&at)) {
                at = range.end;
                continue;
            }
            let idle = IDLE
                .iter()
                .filter_map(|class| PHRASES.at(class, self.words(), at, self.cx.languages))
                .filter(|end| *end <= within.end)
                .max();
            let word = self.words().get(at);
            let small = word.is_some_and(|w| crate::language::is_small(&w.fold));
            count += usize::from(idle.is_none() && !small);
            at = idle.unwrap_or(at + 1);
        }
        count
    }

    /// Whether the sentence of a piece asks something.
    fn asks(&self, piece: &Piece) -> bool {
        let Some(sentence) = self.sentences.get(piece.sentence) else {
            return false;
        };
        question(&self.text, sentence, self.cx.languages)
    }

    fn what(&self, piece: &Piece, wishes: &[Range<usize>]) -> What {
        let within = piece.words.clone();
        if wishes
            .iter()
            .any(|w| w.start < within.end && within.start < w.end)
        {
            return What::Wish;
        }
        if self.asks(piece) {
            return What::Question;
        }
        if self.gives_up(&within) {
            return What::GivesUp;
        }
        let cues = self.cues(&within);
        if let Some(unknown) = self.unknown(&within, &cues) {
            return unknown;
        }
        if self.is_not_this(piece) {
            return What::NotThis;
        }
        if let Some(named) = naming::named(self, piece, &cues) {
            return What::Names(named);
        }
        let listed = self.listed(piece, &cues);
        if !listed.is_empty() {
            return What::Lists(listed);
        }
        let names: Vec<Range<usize>> = cues.iter().map(|(_, words)| words.clone()).collect();
        if !names.is_empty() && self.content(within.clone(), &names) == 0 {
            return What::Nothing;
        }
        if covered(&self.text, within.clone(), &NOTHING, self.cx.languages).0 == 0 {
            return What::Nothing;
        }
        const LEADS: usize = 6;
        if piece.closes == Gap::Colon && within.len() <= LEADS {
            return What::Nothing;
        }
        What::Plain
    }

    /// A phrase that gives up, and little beside it.
    fn gives_up(&self, within: &Range<usize>) -> bool {
        const BESIDE: usize = 2;
        let words = self.words();
        let languages = self.cx.languages;
        if let Some((from, to)) = PHRASES.find("abandon.any", words, within.clone(), languages) {
            return self.content(within.clone(), std::slice::from_ref(&(from..to))) <= BESIDE;
        }
        let classes = [
            "abandon", "filler", "no", "yes", "yes.more", "lead", "greet", "thanks", "correct",
        ];
        let (open, used) = covered(&self.text, within.clone(), &classes, languages);
        open == 0 && used.contains(&"abandon")
    }

    /// "I don't know", of the fields that are named beside it. A list's own value for it is a value.
    fn unknown(&self, within: &Range<usize>, cues: &[(usize, Range<usize>)]) -> Option<What> {
        let languages = self.cx.languages;
        let (from, to) = PHRASES.find("unknown", self.words(), within.clone(), languages)?;
        let mut but: Vec<Range<usize>> = cues.iter().map(|(_, words)| words.clone()).collect();
        but.push(from..to);
        const ALONE: usize = 1;
        const WITH_A_NAME: usize = 4;
        let most = if cues.is_empty() { ALONE } else { WITH_A_NAME };
        if self.content(within.clone(), &but) > most {
            return None;
        }
        let mut fields: Vec<usize> = cues.iter().map(|(field, _)| *field).collect();
        fields.dedup();
        Some(What::Unknown(fields))
    }

    /// "…, not Paul": what was meant before stands beside it.
    fn is_not_this(&self, piece: &Piece) -> bool {
        const LONGEST: usize = 6;
        let at = piece.words.start;
        let begins = PHRASES
            .at("notthis", self.words(), at, self.cx.languages)
            .is_some();
        let inside =
            |h: &&Hit| piece.words.start <= h.words.start && h.words.end <= piece.words.end;
        let named = self.hits.iter().filter(inside).any(|h| !h.negated);
        let follows = matches!(piece.opens, Gap::Pause | Gap::None);
        begins && follows && !named && piece.words.len() <= LONGEST
    }

    /// Values that a piece names without the field's name: of what was asked for; else where it says nothing else.
    fn listed(&self, piece: &Piece, cues: &[(usize, Range<usize>)]) -> Vec<usize> {
        const BESIDE_A_NAME: usize = 4;
        let within = &piece.words;
        let inside: Vec<usize> = (0..self.hits.len())
            .filter(|at| {
                let hit = self.hits.get(*at);
                hit.is_some_and(|h| within.start <= h.words.start && h.words.end <= within.end)
            })
            .collect();
        let ranges: Vec<Range<usize>> = inside
            .iter()
            .filter_map(|at| self.hits.get(*at))
            .map(|h| h.words.clone())
            .collect();
        let others = self.content(within.clone(), &ranges);
        let text_asked = self.cx.asked.iter().any(|f| !self.is_choice(*f));
        let corrects = self.finds("correct", within);
        let stated = self.begins(&["lead", "is"], within.start);
        let accepted = |at: &usize| {
            let Some(hit) = self.hits.get(*at) else {
                return false;
            };
            let asked = self.cx.asked.contains(&hit.field);
            let named = cues.iter().any(|(field, _)| *field == hit.field);
            if asked || named {
                return (named || cues.is_empty()) && others <= BESIDE_A_NAME;
            }
            // Neither asked for nor named: the value must be all that is said.
            let long = hit.words.len() > 1;
            let most = match (long, text_asked) {
                (true, false) => 2,
                (true, true) => 1,
                (false, _) => 0,
            };
            let plainly = long || stated || !text_asked;
            let fresh = corrects || stated || !self.is_known(hit.field);
            let unsure = self.value_is_unsure(hit);
            cues.is_empty() && others <= most && plainly && fresh && !unsure
        };
        inside.into_iter().filter(accepted).collect()
    }

    fn finds(&self, class: &str, within: &Range<usize>) -> bool {
        let found = PHRASES.find(class, self.words(), within.clone(), self.cx.languages);
        found.is_some()
    }

    fn begins(&self, classes: &[&str], at: usize) -> bool {
        let at = |class: &&str| PHRASES.at(class, self.words(), at, self.cx.languages);
        classes.iter().any(|class| at(class).is_some())
    }

    /// Whether a field has a value already.
    pub fn is_known(&self, field: usize) -> bool {
        let field = self.cx.fields.get(field);
        field.is_some_and(|f| self.cx.collected.contains_key(&f.name))
    }

    fn value_is_unsure(&self, hit: &Hit) -> bool {
        let field = self.cx.fields.get(hit.field);
        let value = field.and_then(|f| f.values.get(hit.value));
        value.is_some_and(|v| v.not_sure)
    }

    /// What is said of a field that the piece before names: "the sponsor, I don't know him".
    fn look_back(&mut self) {
        let mut of: Vec<(usize, Vec<usize>)> = Vec::new();
        for (at, (piece, what)) in self.pieces.iter().enumerate() {
            if !matches!(what, What::Unknown(fields) if fields.is_empty()) {
                continue;
            }
            let before = at.checked_sub(1).and_then(|i| self.pieces.get(i));
            let Some((other, _)) = before.filter(|(p, w)| {
                p.sentence == piece.sentence && !matches!(w, What::Lists(_) | What::Unknown(_))
            }) else {
                continue;
            };
            let cues = self.cues(&other.words);
            if let Some((field, _)) = cues.first() {
                of.push((at, vec![*field]));
            }
        }
        for (at, fields) in of {
            if let Some((_, what)) = self.pieces.get_mut(at) {
                *what = What::Unknown(fields);
            }
            if let Some((_, what)) = at.checked_sub(1).and_then(|i| self.pieces.get_mut(i)) {
                *what = What::Nothing;
            }
        }
    }

    /// A single word that happens to be a value is none where its sentence tells something else: "too high, and they fall".
    fn weigh(&mut self) {
        let tells: Vec<usize> = self
            .pieces
            .iter()
            .filter(|(_, what)| *what == What::Plain)
            .map(|(piece, _)| piece.sentence)
            .collect();
        let chance = |piece: &Piece, hits: &[usize]| {
            let one = |at: &usize| {
                let hit = self.hits.get(*at);
                hit.is_some_and(|h| h.words.len() == 1 && !self.cx.asked.contains(&h.field))
            };
            let stated = self.begins(&["lead", "is"], piece.words.start);
            tells.contains(&piece.sentence)
                && !stated
                && hits.iter().all(one)
                && self.cues(&piece.words).is_empty()
        };
        let plain: Vec<bool> = self
            .pieces
            .iter()
            .map(|(piece, what)| matches!(what, What::Lists(hits) if chance(piece, hits)))
            .collect();
        for ((_, what), plain) in self.pieces.iter_mut().zip(plain) {
            if plain {
                *what = What::Plain;
            }
        }
    }

    /// The runs of pieces that say something freely, as ranges of words.
    pub fn plain(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut open = false;
        for (piece, what) in &self.pieces {
            match what {
                What::Plain => {
                    match runs.last_mut().filter(|_| open) {
                        Some(run) => run.end = piece.words.end,
                        None => runs.push(piece.words.clone()),
                    }
                    open = true;
                }
                What::Nothing => {}
                _ => open = false,
            }
        }
        runs
    }

    /// Whether a field is a choice.
    pub fn is_choice(&self, field: usize) -> bool {
        let field = self.cx.fields.get(field);
        field.is_some_and(|f| !f.is_said())
    }
}

/// Whether a sentence asks something.
pub(crate) fn question(text: &Text<'_>, sentence: &Sentence, languages: Languages<'_>) -> bool {
    let at = |class: &str, at: usize| PHRASES.at(class, &text.words, at, languages).is_some();
    let start = sentence.words.start;
    let polite = at("ask.polite", start) || at("ask.polite", start + 1);
    let begins = sentence.words.clone().any(|i| {
        let opens = i == start || matches!(text.gap(i), Gap::Pause | Gap::Colon);
        opens && at("ask", i)
    });
    sentence.asks && !polite && sentence.words.len() > 1
        || begins && (sentence.asks || at("ask", start))
}

/// Where a sentence wants a request: "open a request", "I need a change request", "hand in an idea", "new request".
fn wish(text: &Text<'_>, sentence: &Sentence, languages: Languages<'_>) -> Option<Range<usize>> {
    const REACH: usize = 5;
    const NEAR: usize = 6;
    const EARLY: usize = 14;
    if question(text, sentence, languages) {
        return None;
    }
    let words = sentence.words.clone();
    let early = words.start..words.end.min(words.start + EARLY);
    let find =
        |class: &str, within: Range<usize>| PHRASES.find(class, &text.words, within, languages);
    let in_one_breath = |within: Range<usize>| {
        let mut between = within;
        between.all(|i| text.gap(i) == Gap::None)
    };
    let follows = |first: &str, second: &str, reach: usize| {
        early.clone().find_map(|at| {
            let first_end = PHRASES.at(first, &text.words, at, languages)?;
            let near = first_end..words.end.min(first_end + reach);
            let (second_at, end) = find(second, near)?;
            Some((at, first_end..second_at, end))
        })
    };
    let unbroken = |found: Option<(usize, Range<usize>, usize)>| {
        let whole = |(at, between, end): (usize, Range<usize>, usize)| {
            let breath = between.start..end;
            in_one_breath(breath).then_some((at, end))
        };
        found.and_then(whole)
    };
    let any = |found: Option<(usize, Range<usize>, usize)>| found.map(|(at, _, end)| (at, end));
    let found = [
        // "Anfrage:", "request for you:" at the beginning.
        find("request", words.start..words.end.min(words.start + NEAR)).and_then(|(_, end)| {
            let headed = |at: &usize| text.gap(*at) == Gap::Colon;
            let at = (end..words.end.min(end + NEAR)).find(headed)?;
            Some((words.start, at))
        }),
        // "Ich möchte beantragen, dass …"
        unbroken(follows("need", "apply", 3)),
        // What follows a colon is the request itself.
        unbroken(follows("request", "open", REACH)),
        unbroken(follows("thing", "hand", REACH)),
        any(follows("open", "request", REACH)),
        unbroken(follows("need", "request", NEAR)),
        unbroken(follows("hand", "thing", NEAR)),
        unbroken(follows("new", "thing", 1)).filter(|(at, _)| *at == words.start),
        unbroken(follows("new", "request", 1)),
        find("wish", early.clone()),
        asked_for(text, &words, languages),
    ];
    let (from, end) = found.into_iter().flatten().max_by_key(|(_, end)| *end)?;
    let near = from.saturating_sub(REACH).max(words.start);
    let negated = find("not", near..from)
        .is_some_and(|(_, at)| find("but", at..from).is_none() && in_one_breath(at..from));
    // "A question about my request", "je voudrais demander si …" are none.
    let behind = words.end.min(end + 1);
    let asked = find("query", words.start..behind)
        .is_some_and(|(at, to)| in_one_breath(to.min(end)..end) || at >= from);
    (!negated && !asked).then_some(from..end)
}

/// A sentence that has the word for a request somewhere, and somewhere else what wants, makes or politely asks for one.
fn asked_for(
    text: &Text<'_>,
    sentence: &Range<usize>,
    languages: Languages<'_>,
) -> Option<(usize, usize)> {
    const EARLY: usize = 25;
    let early = sentence.start..sentence.end.min(sentence.start + EARLY);
    let find =
        |class: &str, within: Range<usize>| PHRASES.find(class, &text.words, within, languages);
    let (at, end) = find("request", early.clone())?;
    // "Please cancel the request", "please change the sponsor of my request".
    let other = ["abandon", "abandon.any", "change", "correct", "set"];
    if other
        .iter()
        .any(|class| find(class, early.clone()).is_some())
    {
        return None;
    }
    let apart = |found: &(usize, usize)| found.1 <= at || end <= found.0;
    ["need", "open", "hand", "apply", "please", "ask.polite"]
        .into_iter()
        .filter_map(|class| find(class, early.clone()).filter(apart))
        .min()
        .map(|(from, _)| (from.min(at), end))
}

/// Whether a text gives orders to the program, or begins a line as if somebody else spoke.
fn orders(text: &Text<'_>, languages: Languages<'_>) -> bool {
    let mut languages = languages.to_vec();
    if !languages.contains(&"en") {
        languages.push("en");
    }
    let all = 0..text.words.len();
    if PHRASES
        .find("order", &text.words, all.clone(), &languages)
        .is_some()
    {
        return true;
    }
    all.filter(|at| *at == 0 || text.gap(*at) >= Gap::End)
        .any(|at| {
            let Some(end) = PHRASES.at("speaker", &text.words, at, &languages) else {
                return false;
            };
            let behind = text.before(end).trim_start();
            let before = text.before(at).trim_end();
            behind.starts_with([':', ']', '>', '}', '*']) || before.ends_with(['[', '<', '#', '{'])
        })
}
