//! What a message says of the fields of a request: which values it names, what is not known, whether it gives up. Only what is
//! said is read; what is unclear is left out, and asked.

use crate::fields::{Fields, Kind, free};
use crate::naming::{self, Named};
use crate::phrases::{Languages, PHRASES, covered};
use crate::pieces::{Piece, Sentence, pieces, sentences};
use crate::values::{Hit, hits};
use crate::wishes::{hopes, orders, question, wish};
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
        // "Idea: …" names the field where there is one of that name.
        let is_field = |wish: &Range<usize>| {
            let cues = naming::cues(&text, wish, cx.fields, &hits);
            matches!(cues.as_slice(), [(_, words)] if words == wish)
        };
        let wishes: Vec<Range<usize>> = sentences
            .iter()
            .filter_map(|s| wish(&text, s, cx.languages))
            .filter(|wish| !is_field(wish))
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
        reading.point_back();
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
        const IDLE: [&str; 8] = [
            "filler", "hedge", "lead", "correct", "meant", "is", "also", "yes.more",
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
        let known = free(self.cx.fields).is_none_or(|free| self.is_known(free));
        let hopes = !known && hopes(&self.text, sentence, self.cx.languages);
        question(&self.text, sentence, self.cx.languages) && !hopes
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
        const SAYS: usize = 2;
        let leads = within.len() <= LEADS && self.content(within.clone(), &[]) < SAYS;
        if piece.closes == Gap::Colon && leads {
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
        // "Aucune idée" names no field of that name.
        let cues: Vec<&(usize, Range<usize>)> = cues
            .iter()
            .filter(|(_, words)| words.end <= from || to <= words.start)
            .collect();
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
        const BESIDE_AN_ANSWER: usize = 8;
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
        let described = free(self.cx.fields).is_none_or(|free| self.is_known(free));
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
                // Who is asked one thing answers it, at whatever length and whatever else is named.
                let alone = asked && self.cx.asked.len() == 1;
                let most = if alone {
                    BESIDE_AN_ANSWER
                } else {
                    BESIDE_A_NAME
                };
                return (named || alone || cues.is_empty()) && others <= most;
            }
            // What was asked for comes first where a word is a value of both.
            let better = |other: &Hit| {
                self.cx.asked.contains(&other.field)
                    && other.words.start < hit.words.end
                    && hit.words.start < other.words.end
            };
            if inside
                .iter()
                .filter_map(|at| self.hits.get(*at))
                .any(better)
            {
                return false;
            }
            // Neither asked for nor named: the value must be all that is said.
            let long = hit.words.len() > 1;
            let most = match (long, text_asked) {
                (true, false) if described => 2,
                (true, _) => 1,
                (false, _) => 0,
            };
            let plainly = long || stated || !text_asked;
            let fresh = corrects || stated || !self.is_known(hit.field);
            let unsure = self.value_tells_little(hit);
            // "Families as well": on top of what is known.
            let several = self
                .cx
                .fields
                .get(hit.field)
                .is_some_and(|f| f.kind == Kind::Choices);
            if several && self.is_known(hit.field) && self.finds("also", within) && cues.is_empty()
            {
                const BESIDE_ALSO: usize = 2;
                return others <= BESIDE_ALSO && !unsure;
            }
            cues.is_empty() && others <= most && plainly && fresh && !unsure
        };
        let taken = inside.iter().filter(|at| accepted(at));
        taken.copied().collect()
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

    /// "Not sure", "nothing" are said of much else.
    fn value_tells_little(&self, hit: &Hit) -> bool {
        let field = self.cx.fields.get(hit.field);
        let value = field.and_then(|f| f.values.get(hit.value));
        value.is_some_and(|v| v.not_sure || v.none)
    }

    /// What is not known of a field that the piece beside it names: "the sponsor, I don't know him", "the sponsor? No idea", "no idea who
    /// the sponsor is".
    fn look_back(&mut self) {
        let mut of: Vec<(usize, usize, usize)> = Vec::new();
        for (at, (piece, what)) in self.pieces.iter().enumerate() {
            if !matches!(what, What::Unknown(fields) if fields.is_empty()) {
                continue;
            }
            let before = at
                .checked_sub(1)
                .and_then(|i| Some((i, self.named_before(i, piece)?)));
            let named = before.or_else(|| Some((at + 1, self.named_behind(at + 1, piece)?)));
            of.extend(named.map(|(other, field)| (at, other, field)));
        }
        for (at, other, field) in of {
            if let Some((_, what)) = self.pieces.get_mut(at) {
                *what = What::Unknown(vec![field]);
            }
            if let Some((_, what)) = self.pieces.get_mut(other) {
                *what = What::Nothing;
            }
        }
    }

    /// The field that the piece before names: in its sentence, or in one that says nothing else.
    fn named_before(&self, at: usize, piece: &Piece) -> Option<usize> {
        let (other, what) = self.pieces.get(at)?;
        // "How important it is, I'm not sure": the value stands for its field.
        if let What::Lists(hits) = what
            && other.sentence == piece.sentence
            && self.begins(&["how"], other.words.start)
        {
            return self.hits.get(*hits.first()?).map(|hit| hit.field);
        }
        let named = match other.sentence == piece.sentence {
            true => !matches!(what, What::Lists(_) | What::Unknown(_)),
            false => self.is_bare_name(other, what, 0),
        };
        let cues = self.cues(&other.words);
        cues.first().filter(|_| named).map(|(field, _)| *field)
    }

    /// The field that is all that the piece behind says.
    fn named_behind(&self, at: usize, piece: &Piece) -> Option<usize> {
        let (other, what) = self.pieces.get(at)?;
        // "… who the sponsor is".
        const ASKS: usize = 1;
        let named = other.sentence == piece.sentence && self.is_bare_name(other, what, ASKS);
        let cues = self.cues(&other.words);
        cues.first().filter(|_| named).map(|(field, _)| *field)
    }

    /// Whether a piece names a field and says nothing of it, but for so many words.
    fn is_bare_name(&self, piece: &Piece, what: &What, most: usize) -> bool {
        let names: Vec<Range<usize>> = self
            .cues(&piece.words)
            .into_iter()
            .map(|(_, words)| words)
            .collect();
        let open = match what {
            What::Question | What::Nothing | What::Plain => true,
            What::Names(named) => named.value.is_empty(),
            _ => false,
        };
        open && names.len() == 1 && self.content(piece.words.clone(), &names) <= most
    }

    /// What is said first and then called by a field's name: "callers wait less, that's the benefit", "Rosa Klein pays, she's the sponsor".
    fn point_back(&mut self) {
        let mut of: Vec<(usize, Named)> = Vec::new();
        for (at, (piece, what)) in self.pieces.iter().enumerate() {
            let points = *what == What::Nothing && self.begins(&["points"], piece.words.start);
            let cues = self.cues(&piece.words);
            let [(field, _)] = cues.as_slice() else {
                continue;
            };
            let Some(before) = at.checked_sub(1).filter(|_| points) else {
                continue;
            };
            let Some((other, What::Plain)) = self.pieces.get(before) else {
                continue;
            };
            let Some(named) = self.cx.fields.get(*field).filter(|f| f.is_said()) else {
                continue;
            };
            let capital = |at: &usize| self.words().get(*at).is_some_and(|w| w.capital);
            let value = match named.is_short() {
                true => {
                    let names = other.words.clone().take_while(capital).count();
                    other.words.start..other.words.start + names
                }
                false => other.words.clone(),
            };
            if other.sentence == piece.sentence && !value.is_empty() {
                let field = *field;
                let how = naming::How::Pointed;
                of.push((before, Named { field, how, value }));
            }
        }
        for (at, named) in of {
            if let Some((_, what)) = self.pieces.get_mut(at) {
                *what = What::Names(named);
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
        // One detail beside another is no chance: "for the harvest, in the cellar".
        let is_detail = |at: Option<usize>, sentence: usize| {
            let other = at.and_then(|at| self.pieces.get(at));
            other.is_some_and(|(piece, what)| {
                piece.sentence == sentence && matches!(what, What::Lists(_) | What::Names(_))
            })
        };
        let beside = |at: usize, piece: &Piece| {
            is_detail(at.checked_sub(1), piece.sentence) || is_detail(Some(at + 1), piece.sentence)
        };
        let plain: Vec<bool> = self
            .pieces
            .iter()
            .enumerate()
            .map(|(at, (piece, what))| {
                matches!(what, What::Lists(hits) if chance(piece, hits)) && !beside(at, piece)
            })
            .collect();
        for ((_, what), plain) in self.pieces.iter_mut().zip(plain) {
            if plain {
                *what = What::Plain;
            }
        }
    }

    /// The runs of pieces that say something freely, as ranges of words.
    pub fn plain(&self) -> Vec<Range<usize>> {
        self.plain_but(&[])
    }

    /// The same without the pieces of which something was taken.
    pub fn plain_but(&self, taken: &[bool]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut open = false;
        for (at, (piece, what)) in self.pieces.iter().enumerate() {
            match what {
                _ if taken.get(at) == Some(&true) => open = false,
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
