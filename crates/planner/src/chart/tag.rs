//! Which of its senses a word has: by what stands before and after it, counted, the most points first.

use super::{Item, Open, What};
use crate::lex::{Class, Sense};
use crate::spot::Kind;

/// Gives each open item its class.
pub(super) fn tagged(open: Vec<Open>, language: &str) -> Vec<Item> {
    let within = |pair: &[Open]| match pair {
        [first, second] => {
            second.capital
                && second.service.is_none()
                && !matches!(first.shape, Kind::End | Kind::Mark)
                && second.senses.iter().any(|s| s.class == Class::Noun)
        }
        _ => false,
    };
    let capitals = open.windows(2).any(within);
    let mut done: Vec<Item> = Vec::with_capacity(open.len());
    for (i, item) in open.iter().enumerate() {
        let what = match (item.service, item.shape) {
            (Some(service), _) => What::Service(service),
            (None, Kind::Word) if item.senses.is_empty() => What::Unknown,
            (None, Kind::Word) => {
                let around = Around {
                    before: &done,
                    after: crate::cut::from(&open, i + 1),
                    item,
                    language,
                    capitals,
                };
                let best = around.best();
                // A German verb with a capital letter within a sentence is a noun that no table has.
                let noun = around.capitals(&best) < 0 || around.is_named();
                if best.class == Class::Verb && noun {
                    What::Unknown
                } else {
                    What::Word(best)
                }
            }
            (None, shape) => What::Shape(shape),
        };
        done.push(Item {
            from: item.from,
            to: item.to,
            text: item.text.clone(),
            capital: item.capital,
            what,
            spelled: item.spelled,
        });
    }
    done
}

struct Around<'a> {
    before: &'a [Item],
    after: &'a [Open],
    item: &'a Open,
    language: &'a str,
    /// The request writes nouns with capital letters.
    capitals: bool,
}

impl Around<'_> {
    fn best(&self) -> Sense {
        let mut scored: Vec<(i32, usize, &Sense)> = Vec::new();
        for (order, sense) in self.item.senses.iter().enumerate() {
            scored.push((self.points(sense), order, sense));
        }
        let best = scored
            .into_iter()
            .max_by_key(|(points, order, _)| (*points, std::cmp::Reverse(*order)));
        best.map_or_else(
            || Sense {
                class: Class::Function,
                concept: String::new(),
                says: Vec::new(),
                form: String::new(),
                row: String::new(),
            },
            |(_, _, sense)| sense.clone(),
        )
    }

    fn points(&self, sense: &Sense) -> i32 {
        let points = match sense.class {
            Class::Function => self.function(sense),
            Class::Verb => self.verb(sense),
            Class::Noun => self.noun(sense),
            Class::Adjective => self.adjective(),
        };
        points + self.capitals(sense)
    }

    /// "the insert does not succeed", "that saving fails": an English verb right behind an article and before another verb is
    /// the name of what is done.
    fn is_named(&self) -> bool {
        let article = self.before.last().is_some_and(|l| l.is("det"));
        let helped = self.next_is("aux") || self.next_is("neg");
        let third = |s: &Sense| s.class == Class::Verb && s.form == "third";
        let verb = self
            .after
            .first()
            .is_some_and(|n| n.senses.iter().any(third));
        self.language == "en" && article && (helped || verb)
    }

    /// The word before, without words that tell nothing.
    fn last(&self) -> Option<&Item> {
        self.before
            .iter()
            .rev()
            .find(|i| !i.is("filler") && !i.is("also"))
    }
    fn begins(&self) -> bool {
        self.last().is_none_or(|l| {
            l.stops()
                || ["and", "then", "or", "if", "when", "else", "unless"]
                    .iter()
                    .any(|c| l.is(c))
        })
    }
    /// "Orders above 500 go to …": a sentence, or what is introduced, begins here; an order there has the base form.
    fn opens(&self) -> bool {
        let begins = self.last().is_none_or(|l| {
            let marks = matches!(l.text.as_str(), ":" | "-" | ";" | "\u{2022}" | "*");
            l.shape() == Some(Kind::End)
                || l.stops() && marks
                || ["if", "when", "else", "unless"].iter().any(|c| l.is(c))
        });
        // "Posts the sum to …" has an object; "Orders above …", "Messages whose …" have none.
        begins
            && self.after.first().is_some_and(|n| {
                let told_of = matches!(n.text.as_str(), "that" | "which" | "who" | "whose");
                let is = |class: &str| n.senses.iter().any(|s| s.is(class));
                let placed = is("prep") || is("more") || is("less");
                told_of || is("aux") || placed && n.text != "to"
            })
    }
    /// "A workflow that monitors …, extracts …, stores …": verbs of the third person in a row.
    fn follows_third(&self) -> bool {
        let mut sentence = self
            .before
            .iter()
            .rev()
            .take_while(|i| i.shape() != Some(Kind::End));
        let third = sentence.any(|i| i.verb().is_some_and(|v| v.form == "third"));
        let object = ["det", "quant", "pronoun", "object"]
            .iter()
            .any(|c| self.next_is(c));
        third && object
    }
    /// The next open item, and whether a sense of it has a class.
    fn next_has(&self, class: Class) -> bool {
        self.after
            .first()
            .is_some_and(|n| n.senses.iter().any(|s| s.class == class))
    }
    fn next_is(&self, class: &str) -> bool {
        self.after
            .first()
            .is_some_and(|n| n.senses.iter().any(|s| s.is(class)))
    }
    fn next_ends(&self) -> bool {
        self.after
            .first()
            .is_none_or(|n| matches!(n.shape, Kind::End | Kind::Mark))
    }
    /// "…, label cve", "…: title 'x'": after a mark and before a name, a word that may be a noun is one.
    fn in_list(&self) -> bool {
        let noun = self.item.senses.iter().any(|s| s.class == Class::Noun);
        let mark = self.last().is_some_and(|l| {
            l.shape() == Some(Kind::Mark) && matches!(l.text.as_str(), "," | ":" | "(")
        });
        let name = self.after.first().is_some_and(|n| {
            matches!(n.shape, Kind::Id | Kind::Number | Kind::Quote | Kind::Sign)
                || n.shape == Kind::Word && n.senses.is_empty() && n.service.is_none()
        });
        noun && mark && name
    }
    /// "contact email", "order number": before a noun that is a field, in the singular and without an article, a word that may
    /// be a noun is one.
    fn names_field(&self) -> bool {
        let field = |s: &Sense| {
            let called = matches!(s.kind(), "field" | "date") || s.concept == "email";
            s.class == Class::Noun && s.form == "one" && called
        };
        let in_list = self
            .last()
            .is_some_and(|l| l.stops() && matches!(l.text.as_str(), "," | ":"));
        self.language == "en"
            && self.item.senses.iter().any(|s| s.class == Class::Noun)
            && self.after.first().is_some_and(|n| {
                n.senses.iter().any(field)
                    && (in_list || n.senses.iter().all(|s| s.class == Class::Noun))
            })
    }
    /// "For each repo call our …", "after the last batch post one …": an English clause that begins with a preposition and has
    /// no verb yet, before what a verb would act on.
    fn fronted(&self) -> bool {
        let ends = |i: &&Item| {
            i.shape() == Some(Kind::End)
                || i.stops()
                || ["and", "then", "if", "when"].iter().any(|c| i.is(c))
        };
        let mut clause: Vec<&Item> = self.before.iter().rev().take_while(|i| !ends(i)).collect();
        clause.reverse();
        let led = clause.iter().find(|i| !i.is("filler")).is_some_and(|i| {
            let timed = i.noun().is_some_and(|n| n.kind() == "date");
            i.is("prep") || i.is("each") || i.is("quant") || timed
        });
        let object = self.next_is("det")
            || self.next_is("quant")
            || self.next_is("pronoun")
            || self.next_names()
            || self.next_greets();
        self.language == "en"
            && led
            && object
            && clause.iter().all(|i| i.verb().is_none())
            && clause.last().is_some_and(|i| {
                let clock = matches!(i.shape(), Some(Kind::Clock | Kind::Number));
                i.noun().is_some() || i.service().is_some() || clock
            })
    }
    /// "Invoices that fail the check go to …": the verb of a subject that a clause has said more about.
    fn after_relative(&self) -> bool {
        let sentence: Vec<&Item> = self
            .before
            .iter()
            .rev()
            .take_while(|i| i.shape() != Some(Kind::End))
            .collect();
        let mut from_start = sentence
            .iter()
            .rev()
            .skip_while(|i| i.is("det") || i.is("filler") || i.is("quant"));
        let subject = from_start
            .next()
            .is_some_and(|i| i.noun().is_some_and(|n| n.form == "many"));
        let told = from_start
            .next()
            .is_some_and(|i| matches!(i.text.as_str(), "that" | "which" | "who"));
        let verbs = sentence.iter().filter(|i| i.verb().is_some()).count();
        let free = sentence
            .first()
            .is_some_and(|i| i.noun().is_some() || i.literal());
        let object = self.next_is("prep") || self.next_is("det") || self.next_is("quant");
        self.language == "en" && subject && told && verbs == 1 && free && object
    }
    /// "Trigger: release in …": what a label of what starts the workflow stands before is a thing.
    fn starts_label(&self) -> bool {
        let mut back = self.before.iter().rev();
        let marked = back.next().is_some_and(|i| i.text == ":");
        let label = back.next().and_then(Item::noun);
        marked && label.is_some_and(|n| n.concept == "trigger") && self.next_is("prep")
    }
    /// The next item ends the clause, or goes on with a list: a verb in its base form would want an object.
    fn next_closes(&self) -> bool {
        self.next_ends() || self.next_is("and") || self.next_is("or")
    }
    fn next_names(&self) -> bool {
        self.after.first().is_some_and(|n| {
            n.service.is_some()
                || !matches!(n.shape, Kind::Word | Kind::End | Kind::Mark | Kind::Sign)
        })
    }
    /// "Every day post good morning to …".
    fn next_greets(&self) -> bool {
        let greeting = |s: &Sense| s.is("filler") && s.tells("greeting");
        self.after
            .first()
            .is_some_and(|n| n.senses.iter().any(greeting))
    }
    fn next_number(&self) -> bool {
        self.after.first().is_some_and(|n| n.shape == Kind::Number)
    }
    /// A German word with a capital letter within a sentence is no verb; one without is no noun, where nouns have them.
    fn capitals(&self, sense: &Sense) -> i32 {
        let nouns = self.language == "de" && self.capitals;
        if !nouns && !matches!(self.language, "es" | "fr") {
            return 0;
        }
        let first = self.before.last().is_none_or(|l| {
            l.shape() == Some(Kind::End)
                || l.stops() && matches!(l.text.as_str(), ":" | "-" | "\u{2013}")
        });
        match (sense.class, self.item.capital, first) {
            (Class::Noun, true, false) if self.language != "de" => 3,
            _ if self.language != "de" => 0,
            (Class::Noun, true, true) => 4,
            (Class::Noun, true, false) => 4,
            (Class::Noun, false, _) => -4,
            (Class::Verb | Class::Adjective, true, false) => -5,
            _ => 0,
        }
    }
    /// A verb in the form that its dictionary gives: what follows a preposition in the Romance languages, and "zu".
    fn infinitive(&self, sense: &Sense) -> bool {
        sense.form == "base"
            && match self.language {
                "es" | "fr" => self.item.text.starts_with(&sense.concept),
                "de" => self.item.text == sense.concept && !self.item.capital,
                _ => false,
            }
    }
    /// "…, date and amount": after "and" in a list of nouns stands a noun.
    fn ends_list(&self) -> bool {
        let mut back = self.before.iter().rev();
        let joined = back.next().is_some_and(|i| i.is("and") || i.is("or"));
        let noun = back.next().is_some_and(|i| i.noun().is_some());
        let comma = back.take(4).any(|i| i.stops());
        let object = self.next_is("det") || self.next_is("quant") || self.next_is("pronoun");
        self.language != "en" && joined && noun && comma && !object
    }
    /// "title and link": behind a noun and "and", an English word that may be a noun and has no object is one.
    fn joins_noun(&self) -> bool {
        let mut back = self.before.iter().rev();
        let joined = back.next().is_some_and(|i| i.is("and") || i.is("or"));
        let noun = back.next().is_some_and(|i| i.noun().is_some());
        let object =
            ["det", "quant", "pronoun"].iter().any(|c| self.next_is(c)) || self.next_names();
        let thing = self.item.senses.iter().any(|s| s.class == Class::Noun);
        let clause = self.next_has(Class::Noun) || self.next_has(Class::Adjective);
        self.language == "en" && thing && joined && noun && !object && !clause
    }
    fn after_determiner(&self) -> bool {
        self.last().is_some_and(|l| {
            l.is("det")
                || l.is("quant")
                || l.is("each") && (l.text.ends_with("each") || l.text.ends_with("every"))
                || l.sense(Class::Adjective).is_some()
                || l.shape() == Some(Kind::Number)
        })
    }

    fn function(&self, sense: &Sense) -> i32 {
        // A short preposition or article is never what a verb's form looks like by chance.
        const SHORT: usize = 5;
        match sense.concept.as_str() {
            // It is one only before a participle, which the grammar sees.
            "passive" => -9,
            "more" | "less" if self.next_number() && self.is_bounded() => 13,
            "more" | "less" if self.next_number() => 7,
            "more" | "less" | "equal" => 4,
            "quant" if self.language != "en" => 5,
            "prep" | "det" if self.language != "en" && self.item.text.chars().count() <= SHORT => {
                12
            }
            "filler" if sense.tells("always") => 12,
            // "to", "in", "so": what else the form may be counts first.
            "prep" | "det" | "aux" | "and" | "or" | "neg" | "if" | "when" => 5,
            _ => 2,
        }
    }

    /// "Wenn eine Bestellung über 100 EUR eingeht", "alle Rechnungen über 100 EUR": where something is looked for, a German word
    /// that may bound a sum does; what is to be made has that sum.
    fn is_bounded(&self) -> bool {
        let clause = self.before.iter().rev().take_while(|i| !i.stops());
        let asks = ["if", "when", "only", "unless", "quant"];
        let mut looked = clause.filter(|i| asks.iter().any(|c| i.is(c)));
        let sum = self.after.get(1).is_some_and(|unit| {
            let money = |s: &Sense| s.concept == "currency";
            unit.shape == Kind::Sign || unit.senses.iter().any(money)
        });
        self.language == "de" && sum && looked.next().is_some()
    }

    /// Whether "that", "which" or "who" stands just before it, behind what it says more about.
    fn after_pronoun(&self) -> bool {
        let mut before = self.before.iter().rev();
        let pronoun = before
            .next()
            .is_some_and(|i| matches!(i.text.as_str(), "that" | "which" | "who"));
        let named = before
            .next()
            .is_some_and(|i| i.noun().is_some() || i.literal() || i.service().is_some());
        pronoun && named
    }

    fn verb(&self, sense: &Sense) -> i32 {
        let base = sense.form == "base";
        let mut points = 1;
        // "Text = title", "Text: …": what is given a value is a thing.
        let named = |n: &Open| n.shape == Kind::Sign || n.shape == Kind::Mark && n.text == ":";
        let thing = self.item.senses.iter().any(|s| s.class == Class::Noun);
        if thing && self.after.first().is_some_and(named) {
            points -= 6;
        }
        let Some(last) = self.last() else {
            let object = self.next_is("det")
                || self.next_is("quant")
                || self.next_names()
                || self.next_is("pronoun");
            let told_of = self
                .after
                .first()
                .is_some_and(|n| matches!(n.text.as_str(), "that" | "which" | "who"));
            return points
                - if thing && sense.form == "third" && (told_of || self.opens()) {
                    6
                } else {
                    0
                }
                + if base { 3 } else { 0 }
                + i32::from(object || self.next_has(Class::Adjective)) * 2;
        };
        // After a helper stands no second finite verb: "está vacío" is a state.
        let doubled =
            last.is("aux") && sense.form == "third" && matches!(self.language, "es" | "fr");
        if doubled {
            points -= 2;
        } else if last.is("aux") || last.is("neg") || last.is("pronoun") {
            points += 4;
        }
        if last.is("prep") {
            points += if last.text == "to" && base || self.infinitive(sense) {
                4
            } else if sense.form == "ing" {
                2
            } else {
                -3
            };
        }
        let counted = last.shape() == Some(Kind::Number)
            && matches!(self.language, "es" | "fr")
            && sense.form == "third"
            && (self.next_is("prep") || self.next_is("det"));
        if self.after_determiner() && !counted {
            points -= 4;
        }
        if self.begins() {
            points += if base { 3 } else { 1 };
        }
        // "A webhook that answers with …": a noun or a name, the pronoun, and what that does.
        if self.language == "en" && thing && sense.form == "third" && self.after_pronoun() {
            points += 10;
        }
        // "Mails that come in …": a word that may be a thing, before what says more about it.
        let told_of = self
            .after
            .first()
            .is_some_and(|n| matches!(n.text.as_str(), "that" | "which" | "who"));
        if self.language == "en" && thing && sense.form == "third" && self.begins() && told_of {
            points -= 6;
        }
        // "Every day at 9:00 list the …": behind a time of day begins what is done then.
        let timed = matches!(last.shape(), Some(Kind::Clock | Kind::Number));
        if self.language == "en" && base && timed && (self.next_is("det") || self.next_is("prep")) {
            points += 5;
        }
        // "If the amount is over 100 answer "x"": so many of a thing have no text behind them.
        let given = self.after.first().is_some_and(|n| n.shape == Kind::Quote);
        if self.language == "en" && base && timed && given {
            points += 10;
        }
        // "If any workflow breaks, …": the thing that something happens to stands before the verb.
        let introduced = self
            .before
            .iter()
            .rev()
            .take_while(|i| !i.stops() && i.verb().is_none())
            .any(|i| i.is("if") || i.is("when"));
        if self.language == "en"
            && sense.form == "third"
            && introduced
            && last.noun().is_some()
            && self.next_closes()
        {
            points += 5;
        }
        if self.language == "en" && thing && sense.form == "third" && self.opens() {
            points -= 8;
        }
        // "have been open for": after a form of to be stands no verb in its base form.
        if self.language == "en" && base && last.tells("be") {
            points -= 8;
        }
        // "…, records created today": the third person begins no clause.
        if self.language == "en" && thing && sense.form == "third" && last.text == "," {
            points += if self.follows_third() { 4 } else { -4 };
        }
        if self.in_list() || self.names_field() {
            points -= 4;
        }
        if base && self.after_relative() {
            points += 6;
        }
        if base && self.fronted() {
            points += 5;
        }
        if thing && self.starts_label() {
            points -= 8;
        }
        // German infinitives stand at the end.
        if base && self.next_closes() && !self.infinitive(sense) {
            points -= 4;
        }
        let subject = last.noun().is_some()
            || last.service().is_some()
            || matches!(last.what, What::Unknown)
            || last.literal();
        let finite =
            !base || self.language == "de" || self.language != "en" && !self.infinitive(sense);
        if subject && finite {
            points += 2;
        } else if subject {
            points -= 1;
        }
        let enclosed = last.stops() && matches!(last.text.as_str(), "," | "(") && self.next_ends();
        if enclosed && self.language != "en" && !self.infinitive(sense) {
            points -= 4;
        }
        if self.next_is("det")
            || self.next_is("quant")
            || self.next_is("pronoun")
            || self.next_names()
        {
            points += 2;
        }
        if self.next_is("object") && base {
            points += 4;
        }
        if self.next_is("prep") && sense.form == "past" {
            points += 2;
        }
        points
    }

    /// "Estado: …" at the beginning of a line: what stands alone before a colon is a label.
    fn labels(&self) -> bool {
        let begins = self
            .before
            .last()
            .is_none_or(|l| l.shape() == Some(Kind::End));
        begins && self.after.first().is_some_and(|n| n.text == ":")
    }
    /// "pago de un cliente", "archivo de Google": before "of" a Romance word that may be a noun is one.
    fn owns(&self) -> bool {
        let of = |n: &Open| n.senses.iter().any(|s| s.is("prep") && s.tells("of"));
        let clause = self.last().is_none_or(|l| l.stops());
        matches!(self.language, "es" | "fr") && clause && self.after.first().is_some_and(of)
    }

    fn noun(&self, sense: &Sense) -> i32 {
        let mut points = 2;
        if self.labels() || self.owns() {
            points += 6;
        }
        if self.after_determiner() {
            points += 4;
        }
        if let Some(last) = self.last() {
            let to = last.text == "to";
            if last.is("prep") {
                points += if to { 1 } else { 3 };
            }
            if last.noun().is_some() || last.service().is_some() {
                points += 2;
            }
            if last.is("pronoun") || last.is("aux") {
                points -= 3;
            }
            if last.verb().is_some() {
                points += 2;
            }
        }
        if self.begins() && !self.next_ends() {
            points -= 1;
        }
        if self.next_ends() {
            points += 1;
        }
        if sense.form == "many" {
            points += 1;
        }
        if self.ends_list() || self.joins_noun() {
            points += 5;
        }
        let named = self.after.first().is_some_and(|n| n.shape == Kind::Id);
        if self.in_list() && named || self.names_field() {
            points += 4;
        }
        points
    }

    fn adjective(&self) -> i32 {
        let mut points = 2;
        if self.next_has(Class::Noun) || self.after.first().is_some_and(|n| n.service.is_some()) {
            points += 3;
        }
        if self.after_determiner() {
            points += 2;
        }
        if self
            .last()
            .is_some_and(|l| l.is("aux") || l.verb().is_some_and(|v| v.calls("STATE")))
        {
            points += 3;
        }
        if self.begins() && !self.next_has(Class::Noun) {
            points -= 2;
        }
        // "les commandes payées": what stands behind its noun, without a helper between them, says more about it.
        let behind = matches!(self.language, "es" | "fr")
            && self.last().is_some_and(|l| l.noun().is_some())
            && self.item.senses.iter().any(|s| s.form == "past");
        if behind {
            points += 6;
        }
        points
    }
}
