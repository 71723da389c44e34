//! Conditions: before a step, and as a branch of its own.

use super::condition::{
    asked_field, asks_of, contained, read_condition, same_question, who_condition,
};
use super::insert::steps_of;
use super::mention;
use super::spot::source_of;
use super::words;
use crate::compile::existing::Patch;
use crate::lexicon::rx;
use crate::plan::{Cond, Does, Step, Val};
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

/// The only If with nothing behind its "no".
fn free_branch(patch: &Patch<'_>) -> Option<String> {
    let checks = mention::of_type(patch.workflow(), "if");
    let mut free = checks
        .into_iter()
        .filter(|name| !patch.targets(name).iter().any(|(output, ..)| *output == 1));
    let one = free.next()?;
    free.next().is_none().then_some(one)
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

/// "The subject must also contain receipt": one more part of the condition that asks about the same field.
pub(super) fn also_contains(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let language = super::said::spoken(clause);
    let items = crate::chart::chart(clause, language).items;
    let mut said: Vec<Range<usize>> = { items.iter() }
        .filter(|item| item.is("also"))
        .map(|item| item.from..item.to)
        .collect();
    if said.is_empty() {
        return false;
    }
    said.extend(
        words::places(clause, language, "clause")
            .into_iter()
            .filter(|place| place.start == 0),
    );
    said.sort_by_key(|place| std::cmp::Reverse(place.start));
    let mut plain = clause.to_owned();
    for place in said {
        plain.replace_range(place, "");
    }
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(mut cond) = contained(&plain, language) else {
        return false;
    };
    let checks = ["if", "filter"]
        .iter()
        .flat_map(|kind| mention::of_type(patch.workflow(), kind));
    let checks = checks.filter(|name| !kept.contains(name) && asks_of(patch, name, &cond));
    let checks: Vec<String> = checks.collect();
    let [one] = checks.as_slice() else {
        return false;
    };
    // "El asunto": the field is called as the If calls it.
    if let (
        Cond::Compare {
            left: Val::Field { name, .. },
            ..
        },
        Some(field),
    ) = (&mut cond, asked_field(patch, one))
    {
        *name = field;
    }
    patch.require(one, &cond)
}
