//! What a condition says, and which If asks it already.

use super::{mention, words};
use crate::chart::{Item, What, chart};
use crate::compile::existing::Patch;
use crate::compile::words::snake;
use crate::lexicon::rx;
use crate::plan::{Cmp, Cond, Val};
use crate::read::cond::condition;
use crate::read::text::Masked;
use crate::spot::Kind;
use serde_json::{Value, json};
use std::ops::Range;

pub(super) fn read_condition(text: &str) -> Option<Cond> {
    let clean = text.trim().trim_end_matches([',', ';', '.']).trim();
    if let Some(condition) = contained(clean, super::said::spoken(clean)) {
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
pub(super) fn contained(text: &str, language: &str) -> Option<Cond> {
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
        .min_by_key(|verb| (verb.start, std::cmp::Reverse(verb.end)))?;
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

/// "orders that are not over 100", "tickets with priority high".
pub(super) fn who_condition(who: &str) -> Option<Cond> {
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

/// An If that asks the same, or just the opposite, with the output that these items leave by.
pub(super) fn same_question(patch: &Patch<'_>, cond: &Cond) -> Option<(String, u32)> {
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

/// Whether the one condition of an If is about the field that another condition names, by its name or by a noun for it ("el asunto").
pub(super) fn asks_of(patch: &Patch<'_>, name: &str, condition: &Cond) -> bool {
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
    let means = |asked: &str| {
        let mut languages = agentctl_kit::language::languages();
        languages.any(|language| {
            let items = chart(field, language).items;
            let [one] = items.as_slice() else {
                return false;
            };
            one.noun().is_some_and(|noun| noun.concept == asked)
        })
    };
    asked_field(patch, name).is_some_and(|asked| snake(field) == asked || means(&asked))
}

/// The name of the field that the first condition of an If is about.
pub(super) fn asked_field(patch: &Patch<'_>, name: &str) -> Option<String> {
    let list = patch.workflow().node_by_name(name)?.parameters()?;
    let list = list.get("conditions")?.get("conditions")?;
    let path = list.get(0)?.get("leftValue")?.as_str()?;
    let path = path.trim_end_matches([' ', '}']);
    path.rsplit(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
        .map(snake)
}
