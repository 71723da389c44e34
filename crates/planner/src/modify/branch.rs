//! Conditions: before a step, and as a branch of its own.

use serde_json::{Value, json};

use super::insert::steps_of;
use super::mention;
use super::spot::source_of;
use super::words;
use crate::chart::{Item, What, chart};
use crate::compile::existing::Patch;
use crate::compile::words::snake;
use crate::lexicon::rx;
use crate::plan::{Cmp, Cond, Does, Step, Val};
use crate::read::cond::condition;
use crate::read::text::Masked;
use crate::spot::Kind;
use std::ops::Range;

/// "Only X when C, everything else Y"; "X only if C"; "skip X when C".
pub(super) fn only_when(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let when = r"(?:when|if|in case|for|where|wenn|falls|bei|cuando|si|para|quand|lorsque|pour)";
    let other = r"(?:,|;|\.|–|-)?\s*(?:and |und |y |et |but |aber )?(?:for )?(?:everything else|anything else|all (?:the )?(?:others?|rest)|the rest|the others?|otherwise|or else|else|alles andere|alle anderen|sonst|andernfalls|ansonsten|der rest|todo lo demás|lo demás|los demás|si no|de lo contrario|sinon|tout le reste|le reste|les autres)\b";
    let patterns = [
        (
            format!(
                r"\b(?:only|just|nur|solo|sólo|seulement|uniquement)\b\s*(.*?)\s*\b{when}\b\s+(.+?)(?:{other}(.*))?$"
            ),
            false,
        ),
        (
            format!(
                r"^(.*?)\s+(?:only|just|nur|solo|sólo|seulement|uniquement)\s+{when}\s+(.+?)(?:{other}(.*))?$"
            ),
            false,
        ),
        (
            format!(
                r"\b(?:skip|don'?t|do not|never|not|überspring\w*|no)\b\s*(.*?)\s*\b{when}\b\s+(.+?)(?:{other}(.*))?$"
            ),
            true,
        ),
    ];
    for (pattern, negate) in &patterns {
        let Some(c) = rx(pattern).captures(clause) else {
            continue;
        };
        let group = |i: usize| c.get(i).map_or("", |m| m.as_str()).trim().to_owned();
        let (what, when, rest) = (group(1), group(2), group(3));
        let Some(cond) = read_condition(&when) else {
            continue;
        };
        let cond = if *negate {
            Cond::Not { of: Box::new(cond) }
        } else {
            cond
        };
        let Some(target) = target_of(patch, &what, kept) else {
            continue;
        };
        let otherwise = if rest.trim().is_empty() {
            Vec::new()
        } else {
            steps_of(&rest)
        };
        patch.gate(&target, &cond, &otherwise);
        return true;
    }
    false
}

/// The node that a condition goes before. Protected nodes may be gated: only what leads to them changes.
fn target_of(patch: &Patch<'_>, what: &str, _kept: &[String]) -> Option<String> {
    let flow: Vec<String> = patch
        .workflow()
        .edges()
        .filter(|(_, kind, _, _)| *kind == "main")
        .map(|(_, _, _, link)| link.node.clone())
        .collect();
    let found = mention::one(patch.workflow(), what, &[]).filter(|n| flow.contains(n));
    found.or_else(|| {
        let ends = mention::ends(patch.workflow());
        match ends.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        }
    })
}

pub(super) fn read_condition(text: &str) -> Option<Cond> {
    let clean = text.trim().trim_end_matches([',', ';', '.']).trim();
    if let Some(condition) = contained(clean) {
        return Some(condition);
    }
    let turned = [turned(clean), first_bound(clean)];
    turned
        .iter()
        .flatten()
        .find_map(|text| as_said(text))
        .or_else(|| as_said(clean))
}

/// "The subject says Offer", "im Betreff Angebot steht": a text that has a word.
fn contained(text: &str) -> Option<Cond> {
    let language = super::said::spoken(text);
    let parts = words::words(text);
    let articles = words::places(text, language, "article");
    let within = words::places(text, language, "within");
    let first = |from: usize| {
        let mut rest = parts
            .iter()
            .map(|(place, _)| place)
            .filter(|place| place.start >= from);
        rest.find(|place| {
            let small = |all: &[Range<usize>]| {
                all.iter()
                    .any(|a| a.start <= place.start && place.end <= a.end)
            };
            !small(&articles) && !small(&within)
        })
        .cloned()
    };
    let field = first(0)?;
    let verb = { words::places(text, language, "contains") }
        .into_iter()
        .filter(|verb| verb.start >= field.end)
        .min_by_key(|verb| verb.start)?;
    // The verb stands right behind the field, or at the end.
    let between = text.get(field.end..verb.start)?.trim();
    let said = match (between.is_empty(), verb.end == text.len()) {
        (true, false) => text.get(verb.end..)?,
        (false, true) if within.iter().any(|w| w.start == 0) => between,
        _ => return None,
    };
    let said = said
        .trim()
        .trim_matches(['\'', '"', '“', '”', '„', '«', '»', ' ']);
    let plain = !said.is_empty() && words::words(said).len() <= 3;
    let number = said.chars().any(|c| c.is_ascii_digit());
    (plain && !number).then(|| Cond::Compare {
        left: Val::Field {
            name: text.get(field).unwrap_or_default().to_owned(),
            of: None,
        },
        op: Cmp::Contains,
        right: Val::Lit { value: json!(said) },
    })
}

/// A condition whose verb stands at its end ("das Budget über 5000 ist"), with the verb behind what it is about.
fn turned(text: &str) -> Option<String> {
    const VERB_LAST: &str = "de";
    let ends = |class: &str| {
        let places = words::places(text, VERB_LAST, class);
        places.into_iter().find(|place| place.end == text.len())
    };
    if let Some(verb) = ends("exceeds") {
        let rest = text.get(..verb.start)?.trim_end();
        let (what, bound) = rest.rsplit_once(' ')?;
        return Some(format!("{what} > {bound}"));
    }
    let verb = ends("final")?;
    let rest = text.get(..verb.start)?.trim_end();
    let parts = words::words(rest);
    let article = words::places(rest, VERB_LAST, "article");
    let first = article.iter().any(|place| place.start == 0);
    let (about, _) = parts.get(usize::from(first))?;
    let (head, tail) = (rest.get(..about.end)?, rest.get(about.end..)?.trim_start());
    let equal = words::places(tail, VERB_LAST, "equal");
    let equal = equal.into_iter().find(|place| place.start == 0);
    let tail = equal.map_or(tail, |place| {
        tail.get(place.end..).unwrap_or_default().trim_start()
    });
    (!tail.is_empty()).then(|| format!("{head} ist {tail}"))
}

/// "> 90 used", "over 75 EUR": what is compared stands behind the bound, or nowhere.
fn first_bound(text: &str) -> Option<String> {
    let language = super::said::spoken(text);
    let chart = chart(text, language);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let sign = |item: &Item| item.is("more") || item.is("less") || item.shape() == Some(Kind::Sign);
    let bound = |item: &Item| item.shape() == Some(Kind::Number);
    match chart.items.as_slice() {
        [first, number, what] if sign(first) && bound(number) => {
            let named = what.service().is_none() && !what.stops();
            named.then(|| {
                format!(
                    "{} {}",
                    part(what.from, what.to),
                    part(first.from, number.to)
                )
            })
        }
        // "signups are below 5": a word of no table is a field's name.
        [what, .., how, number] if what.what == What::Unknown && bound(number) => {
            let short = chart.items.len() <= 4 && !how.tells("or");
            let sign = match (how.is("more"), how.is("less")) {
                (true, _) => ">",
                (_, true) => "<",
                _ => return None,
            };
            short.then(|| {
                let (what, number) = (part(what.from, what.to), part(number.from, number.to));
                format!("{what} {sign} {number}")
            })
        }
        _ => None,
    }
}

fn as_said(clean: &str) -> Option<Cond> {
    let m = Masked::of(clean);
    if let Some(cond) = condition(&m, &m.text) {
        return Some(cond);
    }
    // "urgent tickets", "priority urgent"
    let is = rx(
        r"^(?:the\s+|its\s+|die\s+|der\s+|das\s+|la\s+|el\s+|le\s+)?(.+?)\s+(?:is|are|equals|=|ist|sind|es|vale|est|vaut)\s+(.+)$",
    );
    let c = is.captures(clean)?;
    let (left, right) = (c.get(1)?.as_str(), c.get(2)?.as_str());
    Some(Cond::Compare {
        left: Val::Field {
            name: left.to_owned(),
            of: None,
        },
        op: Cmp::Eq,
        right: Val::Lit {
            value: json!(right.trim_matches(['\'', '"'])),
        },
    })
}

/// "When C, also do Y": a branch of its own.
pub(super) fn conditional(patch: &mut Patch<'_>, clause: &str, _kept: &[String]) -> bool {
    let Some(c) = rx(r"^\W*(?:if|when|whenever|wenn|falls|si|cuando|quand)\s+(.+?),\s*(?:then\s+|dann\s+|also\s+)?(.+)$").captures(clause) else {
        return false;
    };
    let (when, what) = (
        c.get(1).map_or("", |m| m.as_str()),
        c.get(2).map_or("", |m| m.as_str()),
    );
    let Some(cond) = read_condition(when) else {
        return false;
    };
    let steps = steps_of(
        &rx(r"\b(?:also|additionally|zusätzlich|auch|también|aussi)\b\s*").replace_all(what, ""),
    );
    if steps.is_empty() {
        return false;
    }
    own_branch(patch, when, cond, &steps)
}

/// "Orders under 100 go to #small", "those that are not should be mailed": behind the branch that is there for them, else
/// behind a branch of their own.
pub(super) fn sorted_out(patch: &mut Patch<'_>, clause: &str, _kept: &[String]) -> bool {
    let Some(c) = rx(r"^\W*(?:but\s+|and\s+|aber\s+|und\s+)?(?P<who>.+?)\s+(?:should|must|shall|can|go(?:es)?|get|gets|are to|is to|are|is|soll(?:en)?|gehen|geht|werden|wird|kommen|kommt|deben?|van|va|se envían|doivent|doit|vont)\s+(?:instead\s+|also\s+|only\s+|just\s+|auch\s+|también\s+|aussi\s+)?(?P<what>(?:be |to be |get )?(?:to|mailed|e-mailed|sent|posted|written|saved|stored|added|go|goes|land|appended|logged|forwarded|an|in|nach|a|al|à|au|dans|per|by|into)\b.*)$")
        .captures(clause)
    else {
        return false;
    };
    let part = |name: &str| c.name(name).map_or("", |m| m.as_str().trim());
    let (who, what) = (part("who"), part("what"));
    let rest = rx(
        r"^(?:(?:everything|anything|all) else|the rest|(?:all )?(?:the )?others?|alles andere|alle anderen|der rest|todo lo demás|lo demás|los demás|tout le reste|le reste|les autres)$",
    );
    let language = super::said::spoken(clause);
    let (check, output) = if let Some(found) = by_size(patch, who, language) {
        found
    } else if rest.is_match(who) {
        match free_branch(patch) {
            Some(check) => (check, 1),
            None => return false,
        }
    } else {
        let Some(cond) = who_condition(who) else {
            return false;
        };
        match same_question(patch, &cond) {
            Some(found) => found,
            None => return own_branch(patch, who, cond, &work(what)),
        }
    };
    let steps = work(what);
    if steps.is_empty() {
        return false;
    }
    patch.after(&check, output, &steps, false);
    true
}

/// "Mail the small orders to X": behind the way that the one If with a number has for them.
pub(super) fn sized(patch: &mut Patch<'_>, clause: &str, language: &str) -> bool {
    let nameless = super::wire::without_names(patch.workflow(), clause);
    let Some((check, output)) = by_size(patch, &nameless, language) else {
        return false;
    };
    let mut said = words::places(&nameless, language, "small");
    said.extend(words::places(&nameless, language, "large"));
    said.sort_by_key(|place| std::cmp::Reverse(place.start));
    // "When it's a big one": the size is the whole condition.
    const NEAR: usize = 4;
    let ifs = words::places(clause, language, "if");
    let whole = ifs.into_iter().find(|begin| {
        let near = |from: usize, to: usize| {
            let between = clause.get(from..to).unwrap_or_default();
            words::words(between).len() <= NEAR && !between.contains(',')
        };
        said.iter().any(|size| {
            begin.end <= size.start && near(begin.end, size.start) && near(size.end, clause.len())
        })
    });
    let mut work = clause.to_owned();
    match whole {
        Some(begin) => work.truncate(begin.start),
        None => said
            .into_iter()
            .for_each(|place| work.replace_range(place, "")),
    }
    let steps = steps_of(work.trim());
    if steps.is_empty() {
        return false;
    }
    patch.after(&check, output, &steps, false);
    true
}

/// "False branch: log it", "otherwise mail X", "post it to #ops on the yes branch": behind that output of the one If, or of the one that
/// is named.
pub(super) fn on_branch(patch: &mut Patch<'_>, clause: &str, language: &str) -> bool {
    let edge = |class: &str| {
        let places = words::places(clause, language, class);
        let first = words::words(clause).first().map(|(place, _)| place.start);
        let last = words::words(clause).last().map(|(place, _)| place.end);
        let first = places.iter().filter(|place| Some(place.start) == first);
        let last = { places.iter() }.filter(|place| Some(place.end) == last && place.start > 0);
        let first = first.max_by_key(|place| place.end);
        first
            .or_else(|| last.min_by_key(|place| place.start))
            .cloned()
    };
    let (place, output) = match (edge("branch-no"), edge("branch-yes")) {
        (Some(no), None) => (no, 1),
        (None, Some(yes)) => (yes, 0),
        _ => return false,
    };
    let checks = mention::of_type(patch.workflow(), "if");
    let filters = mention::of_type(patch.workflow(), "filter");
    let named: Vec<String> = super::wire::all_named(patch.workflow(), clause);
    let behind = clause.get(place.end..).unwrap_or_default();
    let behind = behind.trim_start_matches(|c: char| c.is_whitespace() || ",:;-–>→=".contains(c));
    let work = match behind.is_empty() {
        true => clause.get(..place.start).unwrap_or_default(),
        false => behind,
    };
    if !named.is_empty() {
        return false;
    }
    match (checks.as_slice(), filters.as_slice()) {
        ([check], _) => super::place::follows(patch, check, output, work, language),
        // A filter lets nothing else out: what it holds back passes one that asks the opposite.
        ([], [filter]) if output == 1 => {
            let steps = steps_of(work);
            !steps.is_empty() && patch.opposite(filter, &steps)
        }
        ([], [filter]) => super::place::follows(patch, filter, 0, work, language),
        _ => false,
    }
}

/// Whether a clause tells items by their size, which only an If can.
pub(super) fn tells_size(clause: &str, language: &str) -> bool {
    ["small", "large"]
        .iter()
        .any(|size| words::has(clause, language, size))
}

/// The one If that compares with a number, and the output that what is small (or large) leaves it by.
fn by_size(patch: &Patch<'_>, who: &str, language: &str) -> Option<(String, u32)> {
    let who = words::without_literals(who, language);
    let large = match (
        words::has(&who, language, "small"),
        words::has(&who, language, "large"),
    ) {
        (true, false) => false,
        (false, true) => true,
        _ => return None,
    };
    let checks = mention::of_type(patch.workflow(), "if");
    let asks = |name: String| {
        let node = patch.workflow().node_by_name(&name)?;
        let list = node.parameters()?.get("conditions")?.get("conditions")?;
        let [only] = list.as_array()?.as_slice() else {
            return None;
        };
        let asked = only.get("operator")?.get("operation")?.as_str()?;
        let upward = match asked {
            "gt" | "gte" => true,
            "lt" | "lte" => false,
            _ => return None,
        };
        Some((name, u32::from(upward != large)))
    };
    let mut found = checks.into_iter().filter_map(asks);
    let one = found.next()?;
    found.next().is_none().then_some(one)
}

/// "be mailed to X", "to #small": what is to be done, as it would be asked.
fn work(what: &str) -> Vec<Step> {
    let text = rx(r"^(?:be |to be |get |werden )+")
        .replace(what, "")
        .into_owned();
    let verb = |pattern: &str, verb: &str| rx(pattern).replace(&text, verb).into_owned();
    let text = match text.split_whitespace().next().unwrap_or_default() {
        "mailed" | "e-mailed" => verb(r"^e?-?mailed", "send an email"),
        "sent" | "forwarded" => verb(r"^(?:sent|forwarded)", "send a message"),
        "posted" => verb(r"^posted", "post a message"),
        "written" | "saved" | "stored" | "added" | "appended" | "logged" => verb(r"^\w+", "write"),
        _ => verb(
            r"^(?:go(?:es)?\s+|land\s+)?(?:to\s+|into\s+)?",
            "send a message to ",
        ),
    };
    steps_of(&text)
}

/// "orders that are not over 100", "tickets with priority high".
fn who_condition(who: &str) -> Option<Cond> {
    let noun = rx(
        r"^(?:all |only |the |those |any |alle |die |nur |todos los |todas las |los |las |tous les |toutes les |les )*(?P<noun>[\w-]+)\s+(?:(?:that|which|who|die|der|das|que|qui)\s+)?(?:(?:are|is|have|has|cost|costs|sind|ist|haben|hat|kosten|son|es|tienen|tiene|sont|est|ont|a)\s+)?(?P<not>not\s+|nicht\s+|no\s+|pas\s+)?(?P<rest>.+)$",
    );
    let c = noun.captures(who)?;
    let part = |name: &str| c.name(name).map_or("", |m| m.as_str().trim());
    let text = format!("{} {}", part("noun"), part("rest"));
    let cond = read_condition(part("rest")).or_else(|| read_condition(&text))?;
    if part("not").is_empty() {
        Some(cond)
    } else {
        Some(Cond::Not { of: Box::new(cond) })
    }
}

/// The only If with nothing behind its "no".
fn free_branch(patch: &Patch<'_>) -> Option<String> {
    let checks = mention::of_type(patch.workflow(), "if");
    let mut free = checks
        .into_iter()
        .filter(|name| !patch.targets(name).iter().any(|(output, ..)| *output == 1));
    let one = free.next()?;
    free.next().is_none().then_some(one)
}

/// An If that asks the same, or just the opposite, with the output that these items leave by.
fn same_question(patch: &Patch<'_>, cond: &Cond) -> Option<(String, u32)> {
    let (negated, inner) = match cond {
        Cond::Not { of } => (true, of.as_ref()),
        other => (false, other),
    };
    let Cond::Compare {
        op,
        right: Val::Lit { value },
        ..
    } = inner
    else {
        return None;
    };
    let number = |v: &Value| {
        v.as_f64()
            .or_else(|| v.as_str()?.trim().parse::<f64>().ok())
    };
    for name in mention::of_type(patch.workflow(), "if") {
        let node = patch.workflow().node_by_name(&name)?;
        let Some([only]) = node
            .parameters()
            .and_then(|p| p.get("conditions")?.get("conditions")?.as_array())
            .map(Vec::as_slice)
        else {
            continue;
        };
        let right = only.get("rightValue").unwrap_or(&Value::Null);
        let same_value = match (number(right), number(value)) {
            (Some(a), Some(b)) => (a - b).abs() < f64::EPSILON,
            _ => right
                .as_str()
                .zip(value.as_str())
                .is_some_and(|(a, b)| a.eq_ignore_ascii_case(b)),
        };
        let asked = only
            .get("operator")
            .and_then(|o| o.get("operation"))
            .and_then(Value::as_str)
            .unwrap_or_default();
        let upward = match op {
            Cmp::Gt | Cmp::Ge => Some(true),
            Cmp::Lt | Cmp::Le => Some(false),
            _ => None,
        };
        let agrees = match (asked, upward) {
            ("gt" | "gte", Some(up)) => Some(up),
            ("lt" | "lte", Some(up)) => Some(!up),
            ("equals", None) if *op == Cmp::Eq => Some(true),
            ("notEquals", None) if *op == Cmp::Eq => Some(false),
            _ => None,
        };
        if let (true, Some(agrees)) = (same_value, agrees) {
            return Some((name, u32::from(agrees == negated)));
        }
    }
    None
}

fn own_branch(patch: &mut Patch<'_>, said: &str, condition: Cond, then: &[Step]) -> bool {
    let Some((anchor, output)) = source_of(patch).filter(|_| !then.is_empty()) else {
        return false;
    };
    let gate = Step {
        id: "gate".to_owned(),
        said: said.to_owned(),
        does: Does::If {
            condition,
            then: then.to_vec(),
            otherwise: Vec::new(),
        },
        name: None,
    };
    let steps = [gate];
    if !is_asked(patch, &steps) {
        patch.after(&anchor, output, &steps, false);
    }
    true
}

/// Puts what one condition is for behind the If that asks the same of the same field, where there is one.
pub(super) fn is_asked(patch: &mut Patch<'_>, steps: &[Step]) -> bool {
    let [step] = steps else {
        return false;
    };
    let Does::If {
        condition,
        then,
        otherwise,
    } = &step.does
    else {
        return false;
    };
    let found = same_question(patch, condition).filter(|(name, _)| asks_of(patch, name, condition));
    let Some((check, output)) = found.filter(|_| otherwise.is_empty()) else {
        return false;
    };
    patch.after(&check, output, then, false);
    true
}

/// Whether the one condition of an If is about the field that another condition names.
fn asks_of(patch: &Patch<'_>, name: &str, condition: &Cond) -> bool {
    let mut condition = condition;
    while let Cond::Not { of } = condition {
        condition = of;
    }
    let Cond::Compare {
        left: Val::Field { name: field, .. },
        ..
    } = condition
    else {
        return false;
    };
    let asked = patch.workflow().node_by_name(name).and_then(|node| {
        let list = node.parameters()?.get("conditions")?.get("conditions")?;
        list.get(0)?.get("leftValue")?.as_str().map(str::to_owned)
    });
    let field = snake(field);
    let last = |path: &str| {
        let path = path.trim_end_matches([' ', '}']);
        path.rsplit(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .map(snake)
    };
    asked.is_some_and(|asked| last(&asked) == Some(field))
}

/// "Also require that the country is DE": one more part of the condition that is there.
pub(super) fn also_required(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let Some(c) = rx(r"^\W*(?:also |additionally |and |auch |zusätzlich |también |además |aussi )*(?:require|demand|check|make sure|ensure|verlang\w*|prüf\w*|stell\w* sicher|exig\w*|comprueba|exige\w*|vérifie\w*)\s+(?:also\s+|auch\s+|zusätzlich\s+|también\s+|aussi\s+)?(?:that|dass|que|,\s*dass)\s+(.+?)(?:\s+(?:as well|too))?$")
        .captures(clause)
    else {
        return false;
    };
    let Some(cond) = c.get(1).and_then(|m| read_condition(m.as_str())) else {
        return false;
    };
    let checks: Vec<String> = ["if", "filter"]
        .iter()
        .flat_map(|kind| mention::of_type(patch.workflow(), kind))
        .filter(|n| !kept.contains(n))
        .collect();
    match checks.as_slice() {
        [one] => patch.require(&one.clone(), &cond),
        _ => false,
    }
}
