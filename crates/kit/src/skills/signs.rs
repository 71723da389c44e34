//! Signs of a message, by which `route` and `compose` choose: `when: [wish, question, …]` in `offline.yaml`.

use super::act::agrees;
use crate::fields::{Field, free};
use crate::phrases::{PHRASES, covered};
use crate::reading::{Reading, What};
use crate::skills::elicit::says_itself;
use crate::task::{KitError, Scene};
use crate::wishes::question;
use serde_json::{Map, Value};
use std::ops::Range;

/// The names of the signs.
pub(super) const SIGNS: [&str; 18] = [
    "wish",
    "wants",
    "assent",
    "question",
    "side_question",
    "about",
    "details",
    "fills",
    "gives_up",
    "statement",
    "greeting",
    "thanks",
    "help",
    "trouble",
    "tells",
    "orders",
    "quoted",
    "agrees",
];

/// A message with its signs.
pub(super) struct Signs<'s> {
    scene: &'s Scene<'s>,
    reading: Reading<'s>,
    details: bool,
}

impl<'s> Signs<'s> {
    pub fn of(scene: &'s Scene<'s>) -> Signs<'s> {
        let reading = scene.reading();
        let details = named(scene, &reading);
        Signs {
            scene,
            reading,
            details,
        }
    }

    /// Whether the message has a sign; None: nobody knows it.
    fn has(&self, sign: &str) -> Option<bool> {
        let reading = &self.reading;
        Some(match sign {
            "wish" => reading.has(&What::Wish) && !reading.orders,
            "wants" => self.wants() && !reading.orders,
            "assent" => self.assents(),
            "question" => self.asks(),
            "side_question" => self.asks() && !self.details && !reading.says("about"),
            "about" => reading.says("about"),
            "details" => self.details,
            "fills" => self.fills() && !reading.orders,
            "gives_up" => reading.has(&What::GivesUp),
            "tells" => {
                const MUCH: usize = 5;
                let much = |run| reading.content(run, &[]) >= MUCH;
                reading.plain().into_iter().any(much)
            }
            "statement" => self.states() && !self.asks(),
            "greeting" => self.is_only("greet"),
            "thanks" => self.is_only("thanks") || self.is_only("bye"),
            "help" => reading.says("help"),
            "trouble" => reading.says("trouble") && self.states(),
            "orders" => reading.orders,
            "quoted" => {
                let message = self.scene.task.said.iter().rev().find(|s| s.by_user);
                message.is_some_and(|m| crate::talk::has_others(&m.text))
            }
            "agrees" => agrees(reading),
            _ => return None,
        })
    }

    /// Whether it tells something, beside what it may ask.
    fn states(&self) -> bool {
        let says = |run| self.reading.content(run, &[]) > 1;
        self.reading.plain().into_iter().any(says)
    }

    /// Whether a sentence says that something is to become other than it is: "The form should …", "Can we have …", "Remove …". Beside
    /// that it must say what; and what it wants is neither an answer nor a talk.
    fn wants(&self) -> bool {
        const SAYS: usize = 3;
        const SAYS_BRIEFLY: usize = 2;
        const LEADS: usize = 3;
        const LONG: usize = 12;
        let reading = &self.reading;
        let languages = reading.cx.languages;
        let words = reading.words();
        let find =
            |class: &str, within: Range<usize>| PHRASES.find(class, words, within, languages);
        let says = |within: &Range<usize>, but: Range<usize>| {
            reading.content(within.clone(), std::slice::from_ref(&but))
        };
        // What is wanted may stand in the sentence beside it.
        let all_says =
            |but: Range<usize>| reading.content(0..words.len(), std::slice::from_ref(&but));
        reading.sentences.iter().any(|sentence| {
            let within = &sentence.words;
            // "…, can't a bot do that?"
            let hoped = find("want.ask", within.clone()).filter(|_| sentence.asks);
            let other = ["about", "abandon.any"]
                .iter()
                .chain(hoped.is_none().then_some(&"query"))
                .any(|c| find(c, within.clone()).is_some());
            if other {
                return false;
            }
            if let Some((at, end)) = hoped {
                return all_says(at..end) >= SAYS;
            }
            let polite =
                find("ask.polite", within.clone()).filter(|(at, _)| at - within.start <= 2);
            // "I don't need anything today."
            let denied = |at: &usize| {
                let near = at.saturating_sub(2).max(within.start);
                find("deny", near..*at).is_some_and(|(_, end)| end == *at)
            };
            let want = find("want", within.clone()).filter(|(at, _)| !denied(at));
            // "The lamp is broken, could you see to it?"
            let asked = find("ask.you", within.clone()).filter(|_| sentence.asks);
            if let Some((at, _)) = asked {
                let told = reading.content(0..at, &[]) >= SAYS;
                let looks = PHRASES.at("ask", words, within.start, languages).is_some();
                if told && !looks {
                    return true;
                }
            }
            // "I'd like …, can you pass it on?", "I was wondering if …" ask for something, and begin with what.
            let leads = want.is_some_and(|(at, end)| {
                let ask = PHRASES.at("ask", words, at, languages);
                at - within.start < LEADS && ask.is_none_or(|ask| ask < end)
            });
            let asks =
                sentence.asks && polite.is_none() || question(&reading.text, sentence, languages);
            let opens = PHRASES.at("ask", words, within.start, languages).is_some();
            let wonders = want.is_some_and(|(at, _)| at == within.start);
            if asks && !(leads && (!opens || wonders)) {
                return false;
            }
            if let Some((at, end)) = want {
                let here = says(within, at..end);
                let long = |i: usize| words.get(i).is_some_and(|w| w.fold.len() >= LONG);
                // In German one word says what is two elsewhere.
                let says = here + usize::from(within.clone().any(long));
                return here > 0 && says.max(all_says(at..end)) >= SAYS;
            }
            let does = |at: usize| PHRASES.at("do", words, at, languages);
            let first = polite.map_or(within.start, |(_, end)| end);
            // Behind a greeting or a "please", and behind "can you".
            let mild = |at: usize| {
                let classes = ["greet", "please", "also"];
                covered(&reading.text, first..at, &classes, languages).0 == 0
            };
            let begins = (first..within.end.min(first + 3))
                .find_map(|at| Some((at, does(at)?)))
                .filter(|(at, _)| *at == first || mild(*at));
            let last = within.end.checked_sub(1).filter(|at| within.contains(at));
            let ends = last.and_then(|at| Some((at, does(at)?)));
            let order = begins.or(ends.filter(|_| !sentence.asks));
            order.is_some_and(|(at, end)| says(within, at..end) >= SAYS_BRIEFLY)
        })
    }

    /// Whether it fills fields in by their names: two, or the one that takes what is said freely.
    fn fills(&self) -> bool {
        const SEVERAL: usize = 2;
        let reading = &self.reading;
        let named = reading.pieces.iter().filter_map(|(_, what)| match what {
            What::Names(named) => Some(named.field),
            _ => None,
        });
        let named: std::collections::BTreeSet<usize> = named.collect();
        let found = says_itself(self.scene, reading);
        let filled = found.iter().filter(|f| named.contains(&f.field)).count();
        let free = free(reading.cx.fields);
        filled >= SEVERAL || filled > 0 && free.is_some_and(|free| named.contains(&free))
    }

    fn is_only(&self, class: &'static str) -> bool {
        let all = 0..self.reading.words().len();
        let classes = [class, "greet", "thanks", "bye", "filler"];
        let languages = self.reading.cx.languages;
        let (open, used) = covered(&self.reading.text, all, &classes, languages);
        open == 0 && used.contains(&class)
    }

    /// A question: it says so, or it asks politely while nothing is waited for that it could be.
    fn asks(&self) -> bool {
        let reading = &self.reading;
        if reading.has(&What::Question) {
            return true;
        }
        let polite = reading.sentences.iter().any(|s| {
            let at = |i| PHRASES.at("ask.polite", reading.words(), i, reading.cx.languages);
            s.asks && (at(s.words.start).is_some() || at(s.words.start + 1).is_some())
        });
        let fields = reading.cx.fields;
        let waits = reading.cx.asked.iter().any(|f| Some(*f) == free(fields));
        polite && !waits && !self.details && !reading.has(&What::Wish)
    }

    /// Agrees to an offer: it begins with a yes, and takes nothing back.
    fn assents(&self) -> bool {
        let reading = &self.reading;
        let agrees = PHRASES.at("assent", reading.words(), 0, reading.cx.languages);
        let whole = 0..reading.words().len();
        let takes_back = ["not", "no"].iter().any(|c| {
            let found = PHRASES.find(c, reading.words(), whole.clone(), reading.cx.languages);
            found.is_some()
        });
        agrees.is_some() && !takes_back && !self.asks() && !reading.orders
    }

    /// Whether a rule of `offline.yaml` holds: `in` one of these modes, with all of these signs, `after` this text was said,
    /// and while something is `given`.
    pub fn hold(&self, rule: &Map<String, Value>) -> Result<bool, KitError> {
        let words = |key: &str| {
            let list = rule.get(key).map(|v| match v {
                Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
                one => one.as_str().into_iter().collect::<Vec<_>>(),
            });
            list.unwrap_or_default()
        };
        let task = self.scene.task;
        let mode = task.reads("mode").and_then(Value::as_str).unwrap_or("");
        let modes = words("in");
        if !modes.is_empty() && !modes.contains(&mode) {
            return Ok(false);
        }
        for given in words("given") {
            let value = task.input.get(given);
            if value.is_none_or(agentctl_base::strict_json::is_empty) {
                return Ok(false);
            }
        }
        for sign in words("when") {
            let (sign, wanted) = match sign.strip_prefix("not ") {
                Some(sign) => (sign, false),
                None => (sign, true),
            };
            let has = self.has(sign).ok_or_else(|| {
                task.lacks(format!(
                    "there is no sign {sign:?}; there are {}",
                    SIGNS.join(", ")
                ))
            })?;
            if has != wanted {
                return Ok(false);
            }
        }
        let reply = self.scene.talk.last_reply();
        for name in words("after") {
            let text = task
                .text(name)
                .ok_or_else(|| task.lacks(format!("there is no text {name:?}")))?;
            if !agentctl_base::worded::in_languages(text).any(|t| reply.contains(t)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether the message says something of the fields: a value, or a field's name.
fn named(scene: &Scene<'_>, reading: &Reading<'_>) -> bool {
    let asked_text = scene
        .asked
        .iter()
        .any(|f| scene.fields.get(*f).is_some_and(Field::is_said));
    let found = says_itself(scene, reading);
    let says = found.iter().any(|f| {
        let asked = scene.asked.contains(&f.field);
        !asked_text || !asked || !reading.has(&What::Question)
    });
    let all = 0..reading.words().len();
    let cues = reading.cues(&all);
    says || !cues.is_empty()
}
