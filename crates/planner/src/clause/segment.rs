//! Where clauses begin and end: at sentence ends and strong marks always, at a comma, "and", "or" and introducing words only
//! where each side has a verb, or a target, of its own.

use super::{Clause, Intro, Use, phrase};
use crate::chart::{Chart, Item};
use crate::lex::{Lexicon, Sense};
use crate::spot::Kind;
use crate::time::TimeSpan;

/// A stretch of items that becomes a clause.
#[derive(Debug, Clone, Default)]
pub(super) struct Segment {
    items: Vec<usize>,
    intro: Option<Intro>,
    sentence: usize,
    line: usize,
    fresh: bool,
    colon: bool,
    arrow: bool,
    or: bool,
}

/// Words that introduce a clause, by the class of the function word.
fn intro(item: &Item) -> Option<Intro> {
    let classes = [
        ("if", Intro::If),
        ("when", Intro::When),
        ("unless", Intro::Unless),
        ("else", Intro::Else),
        ("until", Intro::Until),
        ("because", Intro::Because),
    ];
    classes
        .iter()
        .find(|(class, _)| item.is(class))
        .map(|(_, intro)| *intro)
}

/// Frames of verbs that only help another one.
const SUPPORT: &[&str] = &["WANT", "KNOW", "STATE", "GO", "TRY", "DO"];

fn supports(sense: &Sense) -> bool {
    sense
        .says
        .first()
        .is_some_and(|f| SUPPORT.contains(&f.as_str()))
}

pub(super) fn segments(chart: &Chart, times: &[TimeSpan]) -> Vec<Segment> {
    let mut done = Vec::new();
    for raw in strong(chart) {
        split(chart, times, raw, &mut done);
    }
    done.retain(|s| !s.items.is_empty());
    done
}

/// The stretches between ends of sentences, semicolons, arrows, dashes, colons and brackets.
fn strong(chart: &Chart) -> Vec<Segment> {
    let mut done: Vec<Segment> = Vec::new();
    let mut now = Segment {
        fresh: true,
        ..Segment::default()
    };
    let (mut sentence, mut line) = (0, 0);
    let mut close = |now: &mut Segment, next: Segment| {
        if !now.items.is_empty() {
            done.push(std::mem::take(now));
        }
        *now = next;
    };
    let mut depth = 0usize;
    for (i, item) in chart.items.iter().enumerate() {
        let shape = item.shape();
        match item.text.as_str() {
            "(" if item.stops() => depth += 1,
            ")" if item.stops() => depth = depth.saturating_sub(1),
            "\n" => depth = 0,
            _ => {}
        }
        // "(cents!)": no end of the sentence around it. "2." at the beginning of a line: its number.
        let within =
            depth > 0 && shape == Some(Kind::End) && matches!(item.text.as_str(), "!" | "?");
        if within || numbers_line(chart, i) {
            continue;
        }
        let place = |fresh| Segment {
            sentence,
            line,
            fresh,
            ..Segment::default()
        };
        if shape == Some(Kind::End) {
            sentence += 1;
            line += usize::from(item.text == "\n");
            close(
                &mut now,
                Segment {
                    sentence,
                    line,
                    fresh: true,
                    ..Segment::default()
                },
            );
            continue;
        }
        if shape == Some(Kind::Mark) {
            match item.text.as_str() {
                ";" | "\u{2014}" | "\u{2013}" => {
                    close(&mut now, place(true));
                    continue;
                }
                "-" | "*" | "\u{2022}" | "\u{b7}" if now.items.is_empty() => continue,
                "->" | "-->" | "=>" | "==>" | "\u{2192}" | "\u{21d2}" | "\u{27a1}" | ">>" => {
                    close(
                        &mut now,
                        Segment {
                            arrow: true,
                            ..place(true)
                        },
                    );
                    continue;
                }
                ":" if clause_follows(chart, i + 1)
                    || conditional(chart, &now.items)
                    || now.fresh && announces(chart, &now.items)
                    || now.fresh
                        && (labels(chart, &now.items) || brings(chart, &now.items))
                        && aims_soon(chart, i + 1) =>
                {
                    close(
                        &mut now,
                        Segment {
                            colon: true,
                            ..place(true)
                        },
                    );
                    continue;
                }
                _ => {}
            }
        }
        now.items.push(i);
    }
    close(&mut now, Segment::default());
    done
}

/// "Please set up:", "build this workflow:": words that say no more than that something is to be made.
fn announces(chart: &Chart, items: &[usize]) -> bool {
    let plain = |i: &usize| {
        let item = chart.item(*i);
        let made = item.noun().is_some_and(|n| {
            n.kind() == "context" || matches!(n.concept.as_str(), "workflow" | "step")
        });
        let asked = item
            .verb()
            .is_some_and(|v| v.calls("CREATE") || supports(v));
        item.sense(crate::lex::Class::Function).is_some() || made || asked
    };
    items.iter().any(|i| chart.item(*i).verb().is_some()) && items.iter().all(plain)
}

/// Whether these items are no more than a short label: words alone.
fn labels(chart: &Chart, items: &[usize]) -> bool {
    const LONGEST: usize = 4;
    let word = |i: &usize| {
        let item = chart.item(*i);
        let figure = item
            .shape()
            .is_none_or(|s| matches!(s, Kind::Number | Kind::Sign));
        item.service().is_none() && figure && item.verb().is_none()
    };
    !items.is_empty() && items.len() <= LONGEST && items.iter().all(word)
}

/// "New Stripe dispute:", "Calendly, neue Buchung:": something new of a service, and no verb.
fn brings(chart: &Chart, items: &[usize]) -> bool {
    const LONGEST: usize = 8;
    let fresh = |i: &usize| {
        let sense = chart.item(*i).sense(crate::lex::Class::Adjective);
        sense.is_some_and(|a| a.kind() == "new")
    };
    let served = items.iter().any(|i| chart.item(*i).service().is_some());
    let told = items.iter().any(|i| chart.item(*i).verb().is_some());
    served && !told && items.len() <= LONGEST && items.iter().any(fresh)
}

/// Whether a service, a channel or an address comes before the end of the sentence.
fn aims_soon(chart: &Chart, at: usize) -> bool {
    const SOON: usize = 4;
    let rest = chart.items.get(at..).unwrap_or(&[]);
    let line = rest.iter().take_while(|i| i.shape() != Some(Kind::End));
    let told = line.filter(|i| !i.is("only") && !i.stops());
    told.take(SOON).any(|i| {
        i.service().is_some() || matches!(i.shape(), Some(Kind::Channel | Kind::Mail | Kind::Phone))
    })
}

/// Whether an item is the number of a line of a list, or the mark behind that number.
pub(crate) fn numbers_line(chart: &Chart, at: usize) -> bool {
    let begins = |i: usize| {
        let before = i.checked_sub(1).and_then(|b| chart.items.get(b));
        before.is_none_or(|b| b.text == "\n")
    };
    let number = |i: usize| {
        let item = chart.item(i);
        item.shape() == Some(Kind::Number)
            && item.text.chars().all(|c| c.is_ascii_digit())
            && begins(i)
    };
    let marks =
        |i: usize| chart.item(i).stops() && matches!(chart.item(i).text.as_str(), "." | ")");
    number(at) && marks(at + 1) || marks(at) && at.checked_sub(1).is_some_and(number)
}

/// Whether a verb comes before the next end of a sentence, and not first a list.
fn clause_follows(chart: &Chart, at: usize) -> bool {
    let rest = chart.items.get(at..).unwrap_or(&[]);
    rest.iter()
        .take_while(|i| i.shape() != Some(Kind::End))
        .take(6)
        .any(|i| i.verb().is_some() || intro(i).is_some())
}

/// Splits a stretch at its weak joints.
fn split(chart: &Chart, times: &[TimeSpan], raw: Segment, done: &mut Vec<Segment>) {
    let timed = |i: usize| {
        let item = chart.item(i);
        times.iter().any(|t| item.from >= t.from && item.to <= t.to)
    };
    let mut now = Segment {
        items: Vec::new(),
        ..raw.clone()
    };
    let next = || Segment {
        items: Vec::new(),
        fresh: false,
        colon: false,
        arrow: false,
        ..raw.clone()
    };
    let mut depth = 0usize;
    for (n, &at) in raw.items.iter().enumerate() {
        let item = chart.item(at);
        let rest = crate::cut::from(&raw.items, n + 1);
        match item.text.as_str() {
            "(" if item.stops() => depth += 1,
            ")" if item.stops() => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 0 || timed(at) {
            now.items.push(at);
            continue;
        }
        // "Create a page for each new dispute": says when within a clause that has its verb.
        let within = item.tells("nominal") && now.items.iter().any(|i| main_verb(chart, *i));
        // "an automation where …", "a workflow that posts …": what it does, no condition.
        let of_workflow = now.items.last().is_some_and(|i| {
            chart
                .item(*i)
                .noun()
                .is_some_and(|n| n.concept == "workflow")
        });
        let described = of_workflow
            && (item.text == "where"
                || announces(chart, &now.items) && tells_what_it_does(chart, at, rest));
        if described {
            done.push(std::mem::replace(&mut now, next()));
            continue;
        }
        // "So, when …", "…, so send it on", "ich möchte, dass …": what follows is asked for itself.
        if asks_itself(chart, &now, done.last(), at, rest) {
            if now.items.iter().any(|i| !chart.item(*i).stops()) {
                done.push(std::mem::replace(&mut now, next()));
            }
            continue;
        }
        if let Some(intro) = intro(item).filter(|_| !within) {
            let only = now.items.iter().all(|i| {
                chart.item(*i).is("and")
                    || chart.item(*i).stops()
                    || chart.item(*i).is("only")
                    || chart.item(*i).is("then")
            });
            if !only {
                done.push(std::mem::replace(&mut now, next()));
            }
            if now.intro.is_none() || matches!(intro, Intro::Else) {
                now.intro = Some(intro);
            }
            now.items.push(at);
            continue;
        }
        if now.items.is_empty()
            && now.intro.is_none()
            && n == 0
            && raw.fresh
            && inverted(chart, at, rest)
        {
            now.intro = Some(Intro::If);
        }
        // "if it is over 100 also Slack #big": what is done besides.
        let aimed = rest
            .first()
            .is_some_and(|i| aims(chart, std::slice::from_ref(i)));
        if now
            .intro
            .is_some_and(|i| matches!(i, Intro::If | Intro::When))
            && item.is("also")
            && aimed
        {
            done.push(std::mem::replace(&mut now, next()));
            now.items.push(at);
            continue;
        }
        let relative = item.is("pronoun") || item.is("det");
        if relative && is_relative(chart, at, &now.items, rest) {
            let led = now.items.last().is_some_and(|i| chart.item(*i).is("prep"));
            if led {
                now.items.pop();
            }
            done.push(std::mem::replace(&mut now, next()));
            now.intro = Some(Intro::Relative);
            continue;
        }
        if let Some(whole) = told_of_subject(chart, &now, done.last(), at) {
            done.pop();
            done.push(whole);
            now = next();
        }
        let asks = item.is("please") && now.items.iter().any(|i| main_verb(chart, *i));
        if asks
            && rest
                .first()
                .and_then(|i| chart.items.get(*i))
                .is_some_and(|n| n.verb().is_some_and(|v| v.form == "base"))
        {
            done.push(std::mem::replace(&mut now, next()));
            continue;
        }
        let told = now.items.iter().any(|i| main_verb(chart, *i));
        let strange = item.is("then") && told && strange_order(chart, rest);
        if strange
            || joint(item)
                && !apposes(chart, &now, rest)
                && !alternates(chart, &now, item, rest)
                && goes_on(chart, &now, rest, item.is("and"))
        {
            let or = item.is("or");
            done.push(std::mem::replace(&mut now, next()));
            now.or = or;
            continue;
        }
        // "mail it after waiting an hour": what is done before, or after, is a clause of its own.
        let doing = rest.first().is_some_and(|i| {
            let next = chart.item(*i);
            next.verb().is_some_and(|v| v.form == "ing") && !phrase::holds(next)
        });
        if doing && told && item.is("prep") && matches!(item.text.as_str(), "before" | "after") {
            done.push(std::mem::replace(&mut now, next()));
        }
        if main_follows(chart, &now, at) {
            done.push(std::mem::replace(&mut now, next()));
        }
        let leads = item.text == "to" || item.is("prep") && chart.language != "en";
        if leads && purpose(chart, &now, rest) {
            done.push(std::mem::replace(&mut now, next()));
            now.intro = Some(Intro::Purpose);
            continue;
        }
        now.items.push(at);
    }
    done.push(now);
}

/// Whether a word that may give a reason leads to what is to be done: at the beginning of a sentence, before a consequence
/// ("so send it on", not "so I can see it"), behind what is wanted.
fn asks_itself(
    chart: &Chart,
    now: &Segment,
    before: Option<&Segment>,
    at: usize,
    rest: &[usize],
) -> bool {
    let item = chart.item(at);
    let wants = |i: &usize| chart.item(*i).verb().is_some_and(|v| v.calls("WANT"));
    if item.is("because") && item.tells("that") {
        let same = before.filter(|b| b.sentence == now.sentence && now.items.is_empty());
        return now
            .items
            .iter()
            .chain(same.iter().flat_map(|b| &b.items))
            .any(wants);
    }
    if !(item.is("because") && item.tells("so")) {
        return false;
    }
    let begins = now.fresh && now.items.iter().all(|i| chart.item(*i).is("filler"));
    let person = rest.first().is_some_and(|i| {
        let next = chart.item(*i);
        next.tells("us") || next.noun().is_some_and(|n| n.kind() == "person")
    });
    let told = now.items.iter().any(|i| main_verb(chart, *i));
    begins || told && !person
}

/// "a message containing …", "a post carrying …": an English or Romance participle of telling behind what tells it.
fn tells_of_noun(chart: &Chart, at: usize) -> bool {
    let item = chart.item(at);
    let before = at.checked_sub(1).map(|b| chart.item(b));
    let held = before.is_some_and(|b| {
        b.noun().is_some() || b.service().is_some() || b.literal() || b.stops() && b.text == ","
    });
    held && phrase::holds(item)
}

fn joint(item: &Item) -> bool {
    item.is("and")
        || item.is("or")
        || item.is("then")
        || item.is("also") && item.text == "plus"
        || item.shape() == Some(Kind::Mark) && matches!(item.text.as_str(), "," | "&" | "+" | "-")
}

/// Whether the stretch so far can stand alone and what follows begins a clause of its own.
fn goes_on(chart: &Chart, now: &Segment, rest: &[usize], by_and: bool) -> bool {
    let so_far = now.items.iter().any(|i| main_verb(chart, *i));
    let introduced = now.intro.is_some_and(|i| !matches!(i, Intro::Else));
    if !so_far && !introduced && !aims(chart, &now.items) {
        return false;
    }
    // "whenever a form with name and company is submitted": the verb of the introduced clause comes yet.
    let joined = now
        .items
        .last()
        .is_some_and(|i| chart.item(*i).noun().is_some());
    let ordered = rest.first().is_some_and(|i| {
        let first = chart.item(*i);
        first.verb().is_some() || first.is("then") || first.is("pronoun") || intro(first).is_some()
    });
    if chart.language == "en" && introduced && !so_far && joined && by_and && !ordered {
        return false;
    }
    // "Slack #deploy-gate, ask for approval": who is asked stands first.
    let asks = |i: &&usize| {
        let verb = chart.item(**i).verb();
        verb.is_some_and(|v| v.calls("ASK") || v.calls("APPROVE"))
    };
    let bare = now.items.iter().all(|i| {
        let item = chart.item(*i);
        item.service().is_some() || item.literal() || item.is("prep") || item.is("det")
    });
    if bare && !introduced && rest.iter().take(2).any(|i| asks(&i)) && !aims(chart, rest) {
        return false;
    }
    // "a message with title and link should be sent to …": the last of a list before the verb of them all.
    let lists = !so_far && !introduced && by_and && joined;
    let [last, verb, ..] = rest else {
        return begins(chart, &now.items, rest, introduced);
    };
    if lists && chart.item(*last).noun().is_some() && chart.item(*verb).is("aux") {
        return false;
    }
    begins(chart, &now.items, rest, introduced)
}

/// "… contains 'overdue' or 'reminder' should be forwarded": one more value of what is tested.
fn alternates(chart: &Chart, now: &Segment, item: &Item, rest: &[usize]) -> bool {
    let quote =
        |at: Option<&usize>| at.is_some_and(|at| chart.item(*at).shape() == Some(Kind::Quote));
    let tests = [Intro::Relative, Intro::If, Intro::Unless, Intro::When];
    let told = now.intro.is_some_and(|i| tests.contains(&i));
    told && item.is("or") && quote(now.items.last()) && quote(rest.first())
}

/// "'Orders', a Google Sheet, …": what a name is, behind a comma.
fn apposes(chart: &Chart, now: &Segment, rest: &[usize]) -> bool {
    let [article, kind, ..] = rest else {
        return false;
    };
    let last = now.items.last().map(|i| chart.item(*i));
    let named = last.is_some_and(|l| l.literal() || l.what == crate::chart::What::Unknown);
    named && chart.item(*article).tells("one") && chart.item(*kind).service().is_some()
}

/// "then frobnicate the order": a word of no table where an order begins.
fn strange_order(chart: &Chart, rest: &[usize]) -> bool {
    let [first, second, ..] = rest else {
        return false;
    };
    let object = ["det", "quant", "pronoun"]
        .iter()
        .any(|c| chart.item(*second).is(c));
    chart.item(*first).what == crate::chart::What::Unknown && object
}

/// A verb that is the main one of a clause: no participle that belongs to a noun.
fn main_verb(chart: &Chart, at: usize) -> bool {
    let verb = chart.items.get(at).is_some_and(|i| i.verb().is_some());
    verb && !tells_of_noun(chart, at)
}

/// Whether these items name where something goes: a channel, an address, a service.
fn aims(chart: &Chart, items: &[usize]) -> bool {
    items.iter().filter_map(|i| chart.items.get(*i)).any(|i| {
        i.service().is_some()
            || matches!(
                i.shape(),
                Some(Kind::Channel | Kind::Mail | Kind::Url | Kind::Phone)
            )
    })
}

/// Whether a clause begins here: a verb comes before the next joint, with no more than a short subject before it; after an
/// introduced clause a target is enough.
fn begins(chart: &Chart, now: &[usize], rest: &[usize], introduced: bool) -> bool {
    const LONGEST_SUBJECT: usize = 7;
    // A German verb may stand at the end.
    const LONGEST_FIELD: usize = 16;
    let longest = if chart.language == "de" {
        LONGEST_FIELD
    } else {
        LONGEST_SUBJECT
    };
    let mut seen = 0;
    for (n, at) in rest.iter().enumerate() {
        let item = chart.item(*at);
        if item.is("filler") || item.is("then") || item.is("also") || item.is("only") {
            continue;
        }
        if item.verb().is_some() {
            return true;
        }
        // "… and the number that arrives": what says more about a noun is no clause of its own.
        let relative = matches!(item.text.as_str(), "who" | "that" | "which" | "whose");
        if chart.language == "en" && seen > 0 && relative {
            return false;
        }
        // "name and total when …": what stands before the word that introduces the next clause ends a list, unless it goes to
        // a place of its own.
        if intro(item).is_some() {
            let so_far = crate::cut::before(rest, n);
            return seen == 0 || aims(chart, now) && aims(chart, so_far);
        }
        if introduced
            && (item.service().is_some()
                || matches!(item.shape(), Some(Kind::Channel | Kind::Mail)))
        {
            return true;
        }
        if joint(item) || item.shape() == Some(Kind::End) {
            return false;
        }
        seen += 1;
        if seen > longest {
            return false;
        }
    }
    false
}

/// What verbs of these frames tell of happens to a workflow, and is not done by it.
const HAPPENS: &[&str] = &["HAPPEN", "RECEIVE", "SUBMIT", "SIGNUP", "ORDER", "PAY"];

/// Whether "who", "that" or "which" begins a relative clause: a noun before it and a verb soon after it.
fn is_relative(chart: &Chart, at: usize, now: &[usize], rest: &[usize]) -> bool {
    let item = chart.item(at);
    let word =
        matches!(item.text.as_str(), "who" | "that" | "which" | "whose") || item.tells("relative");
    if chart.language == "de" {
        return word && verb_final(chart, now, rest);
    }
    let before = now.last().and_then(|i| chart.items.get(*i));
    let quotes = rest
        .iter()
        .take(4)
        .any(|i| chart.item(*i).shape() == Some(Kind::Quote));
    let noun = before.is_some_and(|b| {
        let figure = b.shape() == Some(Kind::Number) && item.text != "that";
        b.noun().is_some()
            || b.literal()
            || b.service().is_some()
            || figure
            || b.shape() == Some(Kind::Mark)
            // "when an email arrives whose subject contains 'offer'".
            || item.text == "whose" && b.verb().is_some_and(|v| v.calls("HAPPEN")) && quotes
    });
    let soon = rest
        .iter()
        .take(4)
        .any(|i| chart.item(*i).verb().is_some() || chart.item(*i).is("aux"));
    word && noun && soon
}

/// "A workflow | that posts …", "an automation | which every hour fetches …": what is wanted is told by its verbs. What happens or comes in
/// starts it, and is left to whoever reads events.
fn tells_what_it_does(chart: &Chart, at: usize, rest: &[usize]) -> bool {
    let word = matches!(chart.item(at).text.as_str(), "that" | "which");
    let mut verbs = rest.iter().filter_map(|i| chart.item(*i).verb());
    let first = verbs.next();
    chart.language == "en"
        && word
        && first.is_some_and(|v| v.form == "third" && !HAPPENS.iter().any(|f| v.calls(f)))
}

/// "Mails that come in | should be saved": the verb of the main clause after one that says more about its subject. What was said
/// of the subject is what must be the case, or happen, first.
fn told_of_subject(
    chart: &Chart,
    now: &Segment,
    before: Option<&Segment>,
    at: usize,
) -> Option<Segment> {
    let subject = before.filter(|s| {
        let only = s.intro.is_none() && s.fresh && !s.items.is_empty();
        only && s.sentence == now.sentence && !s.items.iter().any(|i| main_verb(chart, *i))
    })?;
    let own = now.items.iter().find(|i| main_verb(chart, **i));
    let is = || {
        now.items.iter().any(|i| {
            let item = chart.item(*i);
            ["aux", "equal", "more", "less"].iter().any(|c| item.is(c))
                || item.shape() == Some(Kind::Sign)
        })
    };
    let own = match own {
        Some(own) => *own,
        None if is() => *now.items.first()?,
        None => return None,
    };
    let item = chart.item(at);
    let last = now.items.last().map(|i| chart.item(*i))?;
    let free = last.noun().is_some()
        || last.service().is_some()
        || last.literal()
        || matches!(last.shape(), Some(Kind::Number))
        || last.what == crate::chart::What::Unknown
        || last.verb().is_some() && item.is("aux");
    let finite = item.verb().is_some_and(|v| match chart.language {
        "en" => matches!(v.form.as_str(), "base" | "third"),
        _ => v.form == "third",
    });
    let main = free && (item.is("aux") || finite) && chart.language != "de";
    if now.intro != Some(Intro::Relative) || !main {
        return None;
    }
    let verb = chart.item(own).verb();
    let happens = verb.is_some_and(|v| HAPPENS.iter().any(|f| v.calls(f)));
    let intro = match subject.sentence == 0 && happens {
        true => Intro::When,
        false => Intro::If,
    };
    Some(Segment {
        items: subject.items.iter().chain(&now.items).copied().collect(),
        intro: Some(intro),
        ..subject.clone()
    })
}

/// Whether a German relative clause begins here: after a comma (and a preposition), with its finite verb at the end.
fn verb_final(chart: &Chart, now: &[usize], rest: &[usize]) -> bool {
    let mut back = now.iter().rev().map(|i| chart.item(*i)).peekable();
    back.next_if(|i| i.is("prep"));
    let comma = back.next().is_some_and(|i| i.stops() && i.text == ",");
    let mut last = None;
    for at in rest {
        let item = chart.item(*at);
        if item.stops() || item.is("and") && last.is_some_and(finite) {
            break;
        }
        last = Some(item);
    }
    comma && last.is_some_and(finite)
}

/// A form of a verb that agrees with its subject, as far as the tables tell.
fn finite(item: &Item) -> bool {
    item.is("aux")
        || item.verb().is_some_and(|v| {
            v.form == "third" || v.form == "past" || v.form == "base" && v.concept == item.text
        })
}

/// Whether a German clause begins with its finite verb and so means "if": "Ist nichts da, …".
fn inverted(chart: &Chart, at: usize, rest: &[usize]) -> bool {
    let item = chart.item(at);
    let helper = item.is("aux")
        && Lexicon::of("de")
            .senses(&item.text)
            .iter()
            .any(|s| s.calls("STATE"));
    let third = item.verb().is_some_and(|v| v.form == "third");
    let subject = rest.first().is_some_and(|n| {
        let next = chart.item(*n);
        !next.stops() && !next.is("aux")
    });
    let goes_on = rest.iter().any(|i| chart.item(*i).text == ",")
        || rest
            .last()
            .is_some_and(|l| chart.items.get(l + 1).is_some_and(|n| n.text == ":"));
    // "Should the amount exceed 1000, …".
    let should = chart.language == "en"
        && matches!(item.text.as_str(), "should" | "were" | "had")
        && item.is("aux");
    (chart.language == "de" && (helper || third) || should) && subject && goes_on
}

/// "À chaque nouvelle ligne il faut …", "en cuanto alguien reserve … quiero …": the main clause begins without a comma.
fn main_follows(chart: &Chart, now: &Segment, at: usize) -> bool {
    if now.intro == Some(Intro::Relative) && chart.language == "en" {
        return wishes(chart, now, at);
    }
    if !matches!(now.intro, Some(Intro::When | Intro::If)) {
        return false;
    }
    let items = || now.items.iter().map(|i| chart.item(*i));
    let item = chart.item(at);
    if chart.language == "en" {
        return commands(chart, now, at) || wishes(chart, now, at);
    }
    let bound = items().any(|i| ["more", "less", "equal"].iter().any(|c| i.is(c)));
    let verb = items().any(|i| i.verb().is_some_and(|v| !supports(v)));
    if item.is("please")
        && (verb || items().any(|i| i.noun().is_some()))
        && now.intro == Some(Intro::When)
    {
        return true;
    }
    let romance = matches!(chart.language, "es" | "fr");
    if romance && (verb || bound) && orders(chart, now, at) {
        return true;
    }
    let nominal = items().any(|i| i.tells("nominal"));
    let noun = items().any(|i| i.noun().is_some());
    let wants = item
        .verb()
        .is_some_and(|v| v.calls("WANT") && v.form == "third");
    verb && wants || nominal && !verb && noun && (item.is("aux") || item.verb().is_some())
}

/// "si el total supera los 200 € avisa al canal …": a finite verb that follows a noun or a figure, with no subject of its own.
fn orders(chart: &Chart, now: &Segment, at: usize) -> bool {
    let item = chart.item(at);
    let finite = item
        .verb()
        .is_some_and(|v| matches!(v.form.as_str(), "third" | "base") && !supports(v));
    let last = now.items.last().map(|i| chart.item(*i));
    let free = last.is_some_and(|l| {
        l.shape() == Some(Kind::Number) || l.noun().is_some_and(|n| n.concept == "currency")
    });
    let next = chart.item(at + 1);
    finite && free && (next.is("det") || next.is("prep") || next.service().is_some())
}

/// "Whenever someone books a demo I want …": the one who asks, and what is wanted, behind the verb of an introduced clause.
fn wishes(chart: &Chart, now: &Segment, at: usize) -> bool {
    let told = now.items.iter().any(|i| {
        // "whose subject has the word 'x'": a form of having is all that some clauses have.
        main_verb(chart, *i) || now.intro == Some(Intro::Relative) && chart.item(*i).is("aux")
    });
    let calls = |n: usize| chart.item(n).verb().is_some_and(|v| v.calls("WANT"));
    let first = chart.item(at).text.as_str();
    // "I'd like" is one form of the tables.
    let joined = ["i'd ", "i would ", "we'd "]
        .iter()
        .any(|s| first.starts_with(s));
    let wants = matches!(first, "i" | "we") && (at + 1..at + 3).any(calls);
    told && (wants || joined && calls(at))
}

/// "When a file comes in send it on": after the verb of an introduced clause a verb in its base form is a command, where
/// nothing before it asks for that form.
fn commands(chart: &Chart, now: &Segment, at: usize) -> bool {
    let base = |i: &Item| i.verb().is_some_and(|v| v.form == "base" && !supports(v));
    // "if the total is above 50 tell …": a bound needs no verb.
    let bounds = |i: &usize| {
        let item = chart.item(*i);
        let compares = ["more", "less", "equal"].iter().any(|c| item.is(c));
        compares || item.shape() == Some(Kind::Sign)
    };
    let last = now.items.last().map(|i| chart.item(*i));
    // "if the status is "open" answer …": so does what something is, given word for word.
    let is = now.intro == Some(Intro::If)
        && now.items.iter().any(|i| chart.item(*i).is("aux"))
        && last.is_some_and(Item::literal);
    let told = is || now.items.iter().any(|i| main_verb(chart, *i) || bounds(i));
    let free = last.is_some_and(|l| {
        let asks = ["aux", "neg", "pronoun", "and", "or", "det", "prep", "then"];
        // "when a seat is booked create …": what happened is told in full.
        let told = l.verb().is_none_or(|v| {
            let finite = matches!(v.form.as_str(), "past" | "third");
            finite && !supports(v) && now.intro == Some(Intro::When)
        });
        told && !asks.iter().any(|c| l.is(c))
    });
    let next = chart.item(at + 1);
    let then = chart.item(at + 2);
    let placed = next.is("prep") && (then.service().is_some() || then.literal());
    let object = next.service().is_some()
        || next.literal()
        || placed
        || ["det", "quant", "pronoun", "object"]
            .iter()
            .any(|c| next.is(c));
    told && free && object && base(chart.item(at))
}

/// Whether "to" begins a purpose: a verb in its base form follows, and the stretch has a verb that is more than support.
fn purpose(chart: &Chart, now: &Segment, rest: &[usize]) -> bool {
    let first = rest
        .iter()
        .filter_map(|i| chart.items.get(*i))
        .find(|i| chart.language == "en" || !i.is("pronoun") && !i.is("det"));
    let base = first.is_some_and(|i| {
        i.verb().is_some_and(|v| {
            let given = match chart.language {
                "en" => true,
                "de" => i.text == v.concept,
                _ => i.text.starts_with(&v.concept),
            };
            v.form == "base" && given
        })
    });
    let full = now
        .items
        .iter()
        .filter_map(|i| chart.items.get(*i)?.verb())
        .any(|v| !supports(v));
    base && full
}

impl Segment {
    pub(super) fn clause(self, chart: &Chart, times: &[TimeSpan]) -> Clause {
        let spans: Vec<&TimeSpan> = times
            .iter()
            .filter(|t| {
                self.items
                    .iter()
                    .any(|i| chart.item(*i).from >= t.from && chart.item(*i).to <= t.to)
            })
            .collect();
        let plain: Vec<usize> = self
            .items
            .iter()
            .copied()
            .filter(|i| {
                let item = chart.item(*i);
                !spans.iter().any(|t| item.from >= t.from && item.to <= t.to)
                    && intro(item).is_none()
            })
            .collect();
        let verb = main(chart, &plain);
        let at = verb.as_ref().map_or(usize::MAX, |v| v.at);
        let support: Vec<usize> = plain
            .iter()
            .copied()
            .filter(|i| {
                *i != at
                    && *i < at
                    && at != usize::MAX
                    && chart.item(*i).verb().is_some_and(supports)
            })
            .collect();
        let words = |keep: &dyn Fn(usize) -> bool| {
            let items: Vec<usize> = plain
                .iter()
                .copied()
                .filter(|i| keep(*i) && !support.contains(i))
                .collect();
            phrase::phrases(chart, &items)
        };
        let (mut before, mut after) = if at == usize::MAX {
            (Vec::new(), words(&|_| true))
        } else {
            (words(&|i| i < at), words(&|i| i > at))
        };
        let told = matches!(
            self.intro,
            None | Some(Intro::None | Intro::Else | Intro::Purpose)
        );
        if chart.language == "de"
            && told
            && verb
                .as_ref()
                .is_some_and(|v| v.sense.form != "third" || after.is_empty())
        {
            let (subjects, objects) = before
                .into_iter()
                .enumerate()
                .partition(|(n, p): &(usize, phrase::Phrase)| subject(chart, *n, p));
            let plain = |of: Vec<(usize, phrase::Phrase)>| {
                of.into_iter().map(|(_, p)| p).collect::<Vec<_>>()
            };
            before = plain(subjects);
            let mut objects = plain(objects);
            objects.append(&mut after);
            after = objects;
        }
        Clause {
            intro: self.intro.unwrap_or(Intro::None),
            before,
            after,
            times: spans.into_iter().cloned().collect(),
            from: self.items.first().copied().unwrap_or(0),
            to: self.items.last().map_or(0, |i| i + 1),
            sentence: self.sentence,
            line: self.line,
            fresh: self.fresh,
            colon: self.colon,
            arrow: self.arrow,
            or: self.or,
            verb,
        }
    }
}

/// Whether the first phrase before a verb at the end is who acts.
fn subject(chart: &Chart, n: usize, phrase: &phrase::Phrase) -> bool {
    n == 0
        && phrase.prep.is_empty()
        && (phrase.pronoun.is_some() || matches!(phrase.kind(chart), "person" | "ai"))
}

/// The verb that counts: the first that is more than support and no participle within a noun phrase; else the first.
fn main(chart: &Chart, items: &[usize]) -> Option<Use> {
    let verbs: Vec<usize> = items
        .iter()
        .copied()
        .filter(|i| chart.item(*i).verb().is_some())
        .collect();
    let sense = |i: usize| chart.item(i).verb();
    // "comments containing the word create a row": a form in -ing after a noun says more about it, where a verb follows.
    let later = |at: usize| {
        verbs
            .iter()
            .any(|v| *v > at && sense(*v).is_some_and(|s| s.form != "ing" && !supports(s)))
    };
    let says_more = |i: usize| {
        let before = i.checked_sub(1).and_then(|b| chart.items.get(b));
        chart.language == "en"
            && sense(i).is_some_and(|v| v.form == "ing")
            && before.is_some_and(|b| b.noun().is_some())
            && later(i)
    };
    let full = |i: &&usize| {
        let more = attributive(chart, **i) || says_more(**i) || tells_of_noun(chart, **i);
        sense(**i).is_some_and(|v| !supports(v)) && !more
    };
    let told = |i: &&usize| !tells_of_noun(chart, **i);
    let found = verbs.iter().find(full).or_else(|| verbs.iter().find(told));
    let at = *found.or_else(|| verbs.first().filter(|_| items.len() < 2))?;
    let sense = sense(at)?.clone();
    let before: Vec<&Item> = items
        .iter()
        .take_while(|i| **i < at)
        .map(|i| chart.item(*i))
        .collect();
    // "without telling anybody": a preposition may say no as well.
    let lexicon = Lexicon::of(chart.language);
    let denies = |i: &&Item| i.is("neg") || i.is("prep") && lexicon.can_be(&i.text, "neg");
    let mut negated = before.iter().rev().take(5).any(denies);
    if chart.language == "de" {
        // "nicht" and "keine …" stand behind a finite verb.
        let after = items.iter().skip_while(|i| **i <= at);
        negated |= after.map(|i| chart.item(*i)).any(|i| i.is("neg"));
    }
    let passive = sense.form == "past" && before.iter().rev().take(3).any(|i| i.is("aux"));
    Some(Use {
        at,
        sense,
        negated,
        passive,
    })
}

/// A participle directly before a noun, or after one with no helper: it says more about the noun.
fn attributive(chart: &Chart, at: usize) -> bool {
    let item = chart.item(at);
    let past = item.verb().is_some_and(|v| v.form == "past");
    let next = chart.items.get(at + 1).is_some_and(|n| n.noun().is_some());
    let before = at.checked_sub(1).and_then(|b| chart.items.get(b));
    // "l'article souhaité": in Romance languages it follows its noun, before a mark or the end.
    let owned =
        before.is_some_and(|b| b.is("det")) && item.verb().is_some_and(|v| v.form == "base");
    if chart.language == "en" && owned && next {
        // "our launch campaign"
        return true;
    }
    let romance = matches!(chart.language, "es" | "fr");
    let last = chart
        .items
        .get(at + 1)
        .is_none_or(|n| n.stops() || n.is("and") || n.is("or"));
    let noun = before.is_some_and(|b| b.noun().is_some());
    let helped = crate::cut::before(&chart.items, at)
        .iter()
        .rev()
        .take_while(|i| !i.stops())
        .any(|i| i.is("aux") || i.is("if") || i.is("when"));
    if romance && past && last && noun && !helped {
        return true;
    }
    past && next && before.is_some_and(|b| b.is("det") || b.is("quant") || b.is("prep"))
}

/// Whether these items compare something, or are introduced as a condition.
fn conditional(chart: &Chart, items: &[usize]) -> bool {
    items.iter().filter_map(|i| chart.items.get(*i)).any(|i| {
        i.shape() == Some(Kind::Sign) || i.is("more") || i.is("less") || intro(i).is_some()
    })
}
