//! Changes of what is there: a schedule, a value, a name, a model's provider, on and off.

use serde_json::{Map, Value, json};

use super::{mention, said};
use crate::compile::existing::Patch;
use crate::compile::words::{alike, fold, words};
use crate::compile::{place, schedule};
use crate::lexicon::{has, rx};
use crate::plan::ScheduleRule;
use crate::read::{times, when};
use agentctl_base::lazy_regex::Captures;
use agentctl_n8n::{EditOp, Workflow};

/// What a clause puts in the place of what.
struct Swap {
    old: Option<String>,
    new: String,
}

fn unquote(text: &str) -> String {
    text.trim()
        .trim_end_matches(['.', ',', ';', ':'])
        .trim_matches(['\'', '"', '`', '“', '”', '„', '«', '»', '‘', '’'])
        .trim()
        .to_owned()
}

/// A quoted text, a channel, an address, a number: what a value looks like.
const TOKEN: &str = r#"(?:'[^']+'|"[^"]+"|`[^`]+`|“[^”]+”|„[^“”]+[“”]|«[^»]+»|https?://\S+|#[\w-]+|@[\w.-]+|[\w.+-]+@[\w-]+\.[\w.-]+|-?\d[\w.:-]*|[A-Za-zÀ-ÿ][\w./-]*)"#;

fn swap(clause: &str) -> Option<Swap> {
    let new_for_old = [format!(
        r"(?i)({TOKEN})\s+(?:instead of|rather than|in place of|statt|anstatt|anstelle von|en lugar de|en vez de|au lieu de|à la place de)\s+(?:the |in the |to |in |into |dem |der |den |el |la |le )?(?:(?:tab|channel|sheet|table|kanal|tabelle|reiter|pestaña|onglet)\s+)?({TOKEN})"
    )];
    for pattern in &new_for_old {
        if let Some(c) = rx(pattern).captures(clause) {
            let (new, old) = (c.get(1)?.as_str(), c.get(2)?.as_str());
            return Some(Swap {
                old: Some(unquote(old)),
                new: unquote(new),
            });
        }
    }
    let old_to_new = [
        format!(
            r"(?i)\b(?:from|von|de|desde)\s+({TOKEN})\s+(?:to|into|auf|zu|nach|a|à|en)\s+({TOKEN})"
        ),
        format!(
            r"(?i)\b(?:replace|swap|exchange|change|switch|ersetz\w*|tausch\w*|ändere?|reemplaza|sustituye|cambia|remplace|change)\s+(?:the\s+|den\s+|die\s+|das\s+|el\s+|la\s+|le\s+)?(?:\w+\s+){{0,2}}?({TOKEN})\s+(?:by|with|for|to|durch|mit|gegen|zu|in|auf|por|con|a|par|avec|en)\s+({TOKEN})\W*$"
        ),
        format!(r"(?i)({TOKEN})\s*(?:→|->|=>)\s*({TOKEN})"),
        format!(
            r"(?i)\b(?:instead of|statt|anstatt|en lugar de|en vez de|au lieu de)\s+(?:the |dem |der |den )?({TOKEN}),?\s+(?:use|take|to|nimm|nutze|verwende|usa|utilise)?\s*({TOKEN})"
        ),
    ];
    // "fetch https://… instead"
    if let Some(c) = rx(&format!(
        r"(?i)({TOKEN})\s+(?:instead|stattdessen|en su lugar|à la place)\W*$"
    ))
    .captures(clause)
    {
        return Some(Swap {
            old: None,
            new: unquote(c.get(1)?.as_str()),
        });
    }
    for pattern in &old_to_new {
        if let Some(c) = rx(pattern).captures(clause) {
            let (old, new) = (c.get(1)?.as_str(), c.get(2)?.as_str());
            return Some(Swap {
                old: Some(unquote(old)),
                new: unquote(new),
            });
        }
    }
    let set = format!(
        r"(?i)\b(?:to|be|=|is|auf|zu|nach|an|in|into|a|en|à|sur|with|mit|use|only)\s+(?:the\s+)?(?:\w+\s+)?({TOKEN})\s*(\w+)?$"
    );
    let c = rx(&set).captures(clause)?;
    let (new, behind) = (c.get(1)?.as_str(), c.get(2).map(|m| m.as_str()));
    // "at path orders": what stands last is the value of the word before it.
    let names = SLOTS.iter().any(|(pattern, _)| has(pattern, new));
    let word = new.chars().all(char::is_alphabetic);
    if behind.is_some() && word && !names {
        return None; // more is said than one word
    }
    Some(Swap {
        old: None,
        new: unquote(behind.filter(|_| names).unwrap_or(new)),
    })
}

/// Whether a clause can only be about a name.
pub(super) fn is_rename(clause: &str) -> bool {
    has(
        r"^\W*(?:please |bitte )?(?:rename|umbenenn\w*|benenn\w*|renombr\w+|renomm\w+)\b",
        clause,
    )
}

/// "rename X to Y".
pub(super) fn rename(workflow: &Workflow, clause: &str, ops: &mut Vec<EditOp>) -> bool {
    let pattern = String::from(
        r"(?i)\b(?:rename|call|(?:be)?nennen?(?: sie)?|renombr\w+|renomm\w+)\s+(.+?)\s+(?:to|as|into|in|zu|um in|a|como|en)\s+(.+?)(?:\s+um)?$",
    );
    let Some(c) = rx(&pattern).captures(clause) else {
        return false;
    };
    let (mut what, mut name) = (
        c.get(1).map_or("", |m| m.as_str()),
        unquote(c.get(2).map_or("", |m| m.as_str())),
    );
    // "Rename Yell in dev to Alert": the "in" of a name is no "in".
    let behind = rx(r"(?i)^\W*(?:to|as|into|in|zu|um in|a|como|en)\s+(.+?)(?:\s+um)?$");
    let whole = super::wire::all_named(workflow, clause);
    let place =
        { whole.first() }.and_then(|one| super::wire::places(clause, one).into_iter().next());
    if let Some(place) = place
        && let Some(named) = clause
            .get(place.end..)
            .and_then(|rest| behind.captures(rest))
    {
        what = clause.get(place).unwrap_or_default();
        name = unquote(named.get(1).map_or("", |m| m.as_str()));
    }
    if name.is_empty() {
        return false;
    }
    if has(r"\b(?:workflow|flow|flujo)\b", what)
        && mention::one(workflow, &what.replace("workflow", ""), &[]).is_none()
    {
        ops.push(EditOp::SetName { name });
        return true;
    }
    match mention::one(workflow, what, &[]) {
        Some(node) => {
            ops.push(EditOp::RenameNode { node, name });
            true
        }
        None => false,
    }
}

/// "Call the slack step Ping": behind the verb a node, and behind that its new name.
pub(super) fn called(workflow: &Workflow, clause: &str, ops: &mut Vec<EditOp>) -> bool {
    let language = said::spoken(clause);
    let Some(verb) = super::words::places(clause, language, "call")
        .into_iter()
        .next()
    else {
        return false;
    };
    let rest = clause.get(verb.end..).unwrap_or_default();
    let words = super::words::words(rest);
    let cut = words.iter().rev().skip(1).find_map(|(place, _)| {
        let what = rest.get(..place.end)?;
        let meant = super::named::meant(workflow, what, language, 1);
        let more = super::named::says_more(workflow, &meant, what, language, Vec::new());
        let [node] = <[String; 1]>::try_from(meant).ok().filter(|_| !more)?;
        let name = rest.get(place.end..)?.trim();
        Some((node, unquote(name.strip_suffix(" um").unwrap_or(name))))
    });
    match cut {
        Some((node, name)) if verb.start == 0 && name.chars().any(char::is_uppercase) => {
            ops.push(EditOp::RenameNode { node, name });
            true
        }
        _ => false,
    }
}

/// On and off.
pub(super) fn switched(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let off = has(
        r"^\W*(?:please\s+)?(?:disable|deactivate|turn off|switch off|mute|deaktiviere|schalte? .* (?:ab|aus)|desactiva|désactive)\b",
        clause,
    );
    let on = has(
        r"^\W*(?:please\s+)?(?:enable|re-?enable|turn on|switch on|aktiviere|activa|réactive|active)\b",
        clause,
    );
    if !off && !on {
        return false;
    }
    let Some(name) = mention::one(patch.workflow(), clause, kept) else {
        return false;
    };
    if let Some(node) = patch.workflow_mut().node_by_name_mut(&name) {
        node.set("disabled", Value::Bool(off));
    }
    true
}

/// A new time for the schedule.
pub(super) fn timed(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    // what stands in quotes is a text, whatever it speaks of
    let clause =
        rx(r#"'[^']*'|"[^"]*"|`[^`]*`|“[^”]*”|„[^“”]*[“”]|«[^»]*»"#).replace_all(clause, " ");
    let clause = clause.as_ref();
    if rx(LABELLED).is_match(clause) {
        return false;
    }
    let about_time = has(
        r"\b(?:schedule|run|runs|start|starts|trigger|fire|cron|time|zeitplan|läuft|laufen|starte\w*|ausführ\w*|uhrzeit|horario|ejecut\w*|programación|hora|exécut\w*|planifi\w*|lance\w*|every|each|daily|weekly|hourly|jed\w+|täglich|cada|chaque|tous les|at \d)\b",
        clause,
    ) || has(
        r"\b(?:{weekday})\b.*\b(?:instead|rather|statt|stattdessen|en lugar|en vez|au lieu)\b|\b(?:instead of|rather than|statt|anstatt|en lugar de|en vez de|au lieu de)\s+(?:on\s+)?(?:{weekday})\b",
        clause,
    );
    if !about_time {
        return false;
    }
    // "Friday 17:00 instead of Monday": a bare day is a day on which it runs.
    let clause = rx(r"^\s*({weekday})\b").replace(clause, "on $1");
    let plain = times::canonical(&clause);
    let clause = plain.text.as_str();
    let mut found: Vec<_> = when::schedules(clause);
    let says_no_day = found.is_empty()
        && has(r"\bat \d|\bum \d|\ba las \d|\bà \d", clause)
        && !has(OFTEN, clause);
    if found.is_empty() && (says_no_day || has(OFTEN, clause)) {
        // times without a day: every day
        found.push(when::Timed {
            rules: vec![ScheduleRule::Days {
                n: 1,
                hour: 0,
                minute: 0,
            }],
            span: 0..0,
            exact: true,
        });
    }
    let Some(last) = found.last() else {
        return false;
    };
    // "instead of every hour, every 15 minutes": the new one stands without the words of the old
    let chosen = found
        .iter()
        .find(|t| !has(r"(?:instead of|rather than|statt|anstatt|en lugar de|en vez de|au lieu de|from|von|de)\s*$", clause.get(..t.span.start).unwrap_or("")))
        .unwrap_or(last);
    let triggers: Vec<String> = mention::of_type(patch.workflow(), "scheduleTrigger")
        .into_iter()
        .filter(|n| !kept.contains(n))
        .collect();
    let name = match triggers.as_slice() {
        [] => return false,
        [one] => one.clone(),
        many => mention::one(patch.workflow(), clause, kept)
            .filter(|n| many.contains(n))
            .or_else(|| many.first().cloned())
            .unwrap_or_default(),
    };
    let mut rules = each_time(clause, chosen);
    if rules.is_empty() {
        return false;
    }
    if !chosen.exact
        && let Some((hour, minute)) = clock_of(patch.workflow(), &name)
    {
        rules
            .iter_mut()
            .for_each(|rule| set_clock(rule, hour, minute));
    }
    let mut rule = schedule::rule(&rules);
    // Only a time of day: the days stay as they are.
    if let ([new], true) = (rules.as_slice(), says_no_day)
        && let Some(kept) = at_another_time(patch.workflow(), &name, new)
    {
        rule = kept;
    }
    let zone = when::zone(clause);
    if let Some(node) = patch.workflow_mut().node_by_name_mut(&name) {
        node.edit_parameters(|p| p.insert("rule".into(), rule));
    }
    if let Some(zone) = zone
        && let Some(settings) = patch
            .workflow_mut()
            .head
            .get_mut("settings")
            .and_then(Value::as_object_mut)
    {
        settings.insert("timezone".into(), json!(zone));
    }
    true
}

/// How often a day, in words.
const OFTEN: &str = r"\b(?:\w+ times|twice|once|zweimal|dreimal|einmal|\w+ veces|una vez|\w+ fois)\s+(?:a|per|am|pro|al|por|par)\s+(?:day|tag|día|jour)\b";

/// The rule of a schedule that fires at one time of day, with another time; None: it has no such time.
fn at_another_time(workflow: &Workflow, name: &str, new: &ScheduleRule) -> Option<Value> {
    let ScheduleRule::Days { hour, minute, .. } = new else {
        return None;
    };
    clock_of(workflow, name)?;
    let node = workflow.node_by_name(name)?;
    let mut rule = node.parameters()?.get("rule")?.clone();
    for interval in rule.get_mut("interval")?.as_array_mut()? {
        let interval = interval.as_object_mut()?;
        interval.insert("triggerAtHour".into(), json!(hour));
        match minute {
            0 => interval.remove("triggerAtMinute"),
            minute => interval.insert("triggerAtMinute".into(), json!(minute)),
        };
    }
    Some(rule)
}

/// The time of day at which a schedule fires, when all its rules say the same one.
fn clock_of(workflow: &Workflow, name: &str) -> Option<(u32, u32)> {
    let node = workflow.nodes.iter().find(|n| n.name() == name)?;
    let rules = node
        .parameters()?
        .get("rule")?
        .get("interval")?
        .as_array()?;
    let number = |rule: &Value, key: &str| u32::try_from(rule.get(key)?.as_u64()?).ok();
    let mut clocks = rules.iter().map(|rule| {
        let hour = number(rule, "triggerAtHour")?;
        Some((hour, number(rule, "triggerAtMinute").unwrap_or_default()))
    });
    let first = clocks.next()??;
    clocks.all(|c| c == Some(first)).then_some(first)
}

fn set_clock(rule: &mut ScheduleRule, at_hour: u32, at_minute: u32) {
    if let ScheduleRule::Days { hour, minute, .. }
    | ScheduleRule::Weeks { hour, minute, .. }
    | ScheduleRule::Months { hour, minute, .. } = rule
    {
        (*hour, *minute) = (at_hour, at_minute);
    }
}

/// "Twice a day, at 8:00 and 17:30": one rule for each time of day that is named.
fn each_time(clause: &str, chosen: &when::Timed) -> Vec<ScheduleRule> {
    let [rule] = chosen.rules.as_slice() else {
        return chosen.rules.clone();
    };
    let new =
        rx(r"\b(?:instead of|rather than|not|statt|anstatt|nicht|en lugar de|en vez de|y no|au lieu de|et non|pas)\b.*$")
            .replace(clause, "")
            .into_owned();
    let mut times: Vec<(u32, u32)> = Vec::new();
    for caps in rx(r"\b(\d{1,2})[:.h](\d{2})\s*(am|pm)?\b|\b(\d{1,2})\s*(am|pm|uhr|h)\b")
        .captures_iter(&new)
    {
        let number = |i: usize| caps.get(i).and_then(|m| m.as_str().parse::<u32>().ok());
        let half = caps
            .get(3)
            .or(caps.get(5))
            .map_or("", |m| m.as_str())
            .to_lowercase();
        let (Some(mut hour), minute) = (number(1).or(number(4)), number(2).unwrap_or(0)) else {
            continue;
        };
        match half.as_str() {
            "pm" if hour < 12 => hour += 12,
            "am" if hour == 12 => hour = 0,
            _ => {}
        }
        if hour < 24 && minute < 60 && !times.contains(&(hour, minute)) {
            times.push((hour, minute));
        }
    }
    if times.len() < 2 && !(chosen.span.is_empty() && times.len() == 1) {
        return if chosen.span.is_empty() {
            Vec::new()
        } else {
            chosen.rules.clone()
        };
    }
    times
        .into_iter()
        .filter_map(|(h, m)| match rule.clone() {
            ScheduleRule::Days { n, .. } => Some(ScheduleRule::Days {
                n,
                hour: h,
                minute: m,
            }),
            ScheduleRule::Weeks { n, weekdays, .. } => Some(ScheduleRule::Weeks {
                n,
                weekdays,
                hour: h,
                minute: m,
            }),
            ScheduleRule::Months { n, day, .. } => Some(ScheduleRule::Months {
                n,
                day,
                hour: h,
                minute: m,
            }),
            _ => None,
        })
        .collect()
}

/// "Cut it to 3 items", "only the first 5": the node that limits.
pub(super) fn limited(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let about = r"\b(?:cut|trim|shorten|cap|reduce|limit\w*|keep|take|show|at most|no more than|only|just|top|first|kürz\w*|begrenz\w*|höchstens|maximal|nur|limita\w*|como máximo|solo|sólo|máximo|limite\w*|au plus|au maximum|seulement)\b";
    let things = r"(?:items?|entries|rows?|records?|posts?|articles?|results?|headlines?|ones|elements?|einträge|elemente|zeilen|artikel|ergebnisse|meldungen|elementos|filas|registros|artículos|resultados|entradas|noticias|éléments|lignes|résultats|entrées)";
    if !has(about, clause)
        || has(
            r"\b(?:messages?|memory|minutes?|hours?|seconds?|days?|times)\b",
            clause,
        )
    {
        return false;
    }
    let pattern = format!(
        r"\b(?:to|auf|a|à|first|top|ersten|primer[oa]s|premi\w+|most|than|höchstens|maximal|máximo|only|just|nur|solo|sólo|keep|take|limit|of)\s+(?:the\s+|die\s+|los\s+|las\s+|les\s+)?(?:first\s+|top\s+|latest\s+|newest\s+|ersten\s+)?(\d+)(?:\s+(?:\w+\s+)?{things})?(?:\s+(?:instead|statt|en lugar|au lieu)\b.*)?$"
    );
    let Some(n) = rx(&pattern)
        .captures(clause)
        .and_then(|c| c.get(1))
        .and_then(|m| m.as_str().parse::<u32>().ok())
    else {
        return false;
    };
    let named = mention::one(patch.workflow(), clause, kept);
    let limits: Vec<String> = mention::of_type(patch.workflow(), "limit")
        .into_iter()
        .filter(|n| !kept.contains(n))
        .collect();
    let other = named.filter(|n| !limits.contains(n));
    if let Some(name) = other {
        let slot = ["limit", "maxItems", "maxResults"].into_iter().find(|s| {
            patch
                .workflow()
                .node_by_name(&name)
                .and_then(|n| n.parameters())
                .is_some_and(|p| p.contains_key(*s))
        });
        if let Some(slot) = slot {
            return put(patch, &name, slot, &n.to_string());
        }
    }
    let Some(name) = limits.first() else {
        return false;
    };
    if let Some(node) = patch.workflow_mut().node_by_name_mut(name) {
        node.edit_parameters(|p| p.insert("maxItems".into(), json!(n)));
    }
    true
}

/// A new length of a wait.
pub(super) fn waited(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    if !has(
        r"\b(?:wait\w*|pause|delay|warte\w*|espera|attend\w*|attente)\b",
        clause,
    ) || has(
        r"\b(?:add|insert|after|before|füge|añade|ajoute|nach|vor)\b",
        clause,
    ) {
        return false;
    }
    let Some(seconds) = when::duration(clause) else {
        return false;
    };
    let waits: Vec<String> = mention::of_type(patch.workflow(), "wait")
        .into_iter()
        .filter(|n| !kept.contains(n))
        .collect();
    let Some(name) = waits.first().cloned() else {
        return false;
    };
    let (amount, unit) = as_said(seconds, clause);
    if let Some(node) = patch.workflow_mut().node_by_name_mut(&name) {
        node.edit_parameters(|p| {
            p.insert("amount".into(), json!(amount));
            p.insert("unit".into(), json!(unit));
        });
    }
    true
}

/// A duration in the unit that gives a number of the text ("90 minutes", "48 hours"), else in the largest that has no rest.
pub(super) fn as_said(seconds: u64, text: &str) -> (u64, &'static str) {
    const UNITS: [(u64, &str); 4] = [
        (86_400, "days"),
        (3_600, "hours"),
        (60, "minutes"),
        (1, "seconds"),
    ];
    let numbers: Vec<u64> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect();
    let whole = UNITS
        .iter()
        .filter(|(unit, _)| seconds.is_multiple_of(*unit));
    let whole: Vec<(u64, &str)> = whole.map(|(unit, name)| (seconds / unit, *name)).collect();
    let said = whole.iter().find(|(amount, _)| numbers.contains(amount));
    *said.or(whole.first()).unwrap_or(&(seconds, "seconds"))
}

/// Leaves of a value that hold a text: the pointer and whether it is the whole leaf.
fn leaves(value: &Value, at: &str, find: &str, out: &mut Vec<(String, bool)>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                leaves(
                    inner,
                    &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")),
                    find,
                    out,
                );
            }
        }
        Value::Array(list) => {
            for (i, inner) in list.iter().enumerate() {
                leaves(inner, &format!("{at}/{i}"), find, out);
            }
        }
        Value::String(s) => {
            let bare = s.trim_start_matches('#');
            // The name of a channel is none of a tab's.
            let channel = !find.starts_with('#') || s.starts_with('#') || at.contains("hannel");
            if channel
                && (fold(s) == fold(find) || fold(bare) == fold(find.trim_start_matches('#')))
            {
                out.push((at.to_owned(), true));
            } else if find.chars().count() > 2 && holds_word(s, find) && !is_id(at) {
                out.push((at.to_owned(), false));
            }
        }
        // Which version of its conditions a node has is no value of the user's.
        Value::Number(n) if n.to_string() == find && !at.ends_with("/options/version") => {
            out.push((at.to_owned(), true))
        }
        _ => {}
    }
}

/// Whether a text holds another one as a word: no part of one.
fn holds_word(text: &str, word: &str) -> bool {
    let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(word).any(|(at, found)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|t| t.chars().next());
        !inside(before) && !inside(after)
    })
}

/// A place that holds a name or an id of something outside, of which no part means anything.
fn is_id(at: &str) -> bool {
    let mut keys = at.rsplit('/');
    let last = keys.next().unwrap_or_default();
    last == "cachedResultName"
        || last == "value"
            && keys
                .next()
                .is_some_and(|k| !k.chars().all(char::is_numeric))
        || last.ends_with("Id")
}

/// The old value is named: it is replaced where it stands.
pub(super) fn exchanged(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let Some(Swap {
        old: Some(old),
        new,
    }) = swap(clause)
    else {
        return false;
    };
    let names: Vec<String> = patch
        .workflow()
        .nodes
        .iter()
        .map(|n| n.name().to_owned())
        .filter(|n| !kept.contains(n))
        .collect();
    let meant = mention::one(patch.workflow(), clause, kept);
    let mut hits: Vec<(String, String, bool)> = Vec::new();
    for name in &names {
        let Some(params) = patch
            .workflow()
            .node_by_name(name)
            .and_then(|n| n.parameters())
            .cloned()
        else {
            continue;
        };
        let mut found = Vec::new();
        leaves(&Value::Object(params), "", &old, &mut found);
        hits.extend(found.into_iter().map(|(p, whole)| (name.clone(), p, whole)));
    }
    // where the request names the node, only there; whole values go before parts of texts
    if let Some(meant) = meant
        && hits.iter().any(|(n, _, _)| *n == meant)
    {
        hits.retain(|(n, _, _)| *n == meant);
    }
    if hits.iter().any(|(_, _, whole)| *whole) {
        hits.retain(|(_, _, whole)| *whole);
    }
    hits.retain(|(_, pointer, _)| !pointer.ends_with("/mode"));
    if hits.is_empty() {
        return false;
    }
    for (name, pointer, whole) in hits {
        let Some(node) = patch.workflow_mut().node_by_name_mut(&name) else {
            continue;
        };
        node.edit_parameters(|params| {
            let mut value = Value::Object(std::mem::take(params));
            if let Some(slot) = value.pointer_mut(&pointer) {
                let next = match slot {
                    Value::String(s) if whole => {
                        let hash = s.starts_with('#') && !new.starts_with('#');
                        Value::String(if hash { format!("#{new}") } else { new.clone() })
                    }
                    Value::String(s) => Value::String(exchange(s, &old, &new)),
                    _ => new.parse::<f64>().map_or_else(
                        |_| Value::String(new.clone()),
                        agentctl_n8n::workflow::number,
                    ),
                };
                *slot = next;
            }
            // a locator in a list names its value twice
            if let (Some(parent), true) = (pointer.strip_suffix("/value"), whole)
                && let Some(locator) = value.pointer_mut(parent).and_then(Value::as_object_mut)
                && locator.contains_key("cachedResultName")
            {
                locator.insert("cachedResultName".into(), json!(new));
                locator.remove("cachedResultUrl");
            }
            if let Value::Object(map) = value {
                *params = map;
            }
        });
    }
    true
}

const LABELLED: &str = r"^\W*(?:(?:the|a|new|neuer?s?|der|die|das|nuev[oa]|el|la|le|nouve(?:l|lle|au))\s+)*([\p{L} -]{2,40}?)\s*:\s+(.+)$";

/// The parameters of a message that words like "the text of the mail" mean; none when the words mean more than a part.
pub(super) fn message_part(piece: &str) -> Option<&'static [&'static str]> {
    const PARTS: &[(&str, &[&str])] = &[
        (r"\b(?:subject|betreff|asunto|objet)\b", &["subject"]),
        (
            r"\b(?:text|wording|body|content|wortlaut|inhalt|texto|contenido|texte|contenu)\b",
            &["text", "message", "html", "content", "bodyContent"],
        ),
        (
            r"\b(?:recipients?|empfänger|destinatarios?|destinataires?)\b",
            &["sendTo", "toEmail", "toRecipients"],
        ),
        (
            r"\b(?:channel|kanal|canal)\b",
            &["channelId", "channel", "chatId"],
        ),
    ];
    PARTS
        .iter()
        .find(|(pattern, _)| has(pattern, piece))
        .map(|(_, slots)| *slots)
}

/// "New subject: Weekly revenue": a label, a colon, and the value to the end of the clause.
pub(super) fn labelled(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let Some(c) = rx(LABELLED).captures(clause) else {
        return false;
    };
    let (label, new) = (
        c.get(1).map_or("", |m| m.as_str()),
        unquote(c.get(2).map_or("", |m| m.as_str())),
    );
    // a label says what it is, and nothing else
    label.split_whitespace().count() < 5 && !new.is_empty() && set_to(patch, label, &new, kept)
}

/// Puts the new text in the place of the old one; where the new one is an address, the whole address that holds the old one goes.
fn exchange(text: &str, old: &str, new: &str) -> String {
    let whole = format!(
        r"[\w.+-]*{}[\w.+-]*@[\w-]+(?:\.[\w-]+)+|[\w.+-]+@[\w.-]*{}[\w.-]*",
        regex::escape(old),
        regex::escape(old)
    );
    if new.contains('@') && !old.contains('@') && rx(&whole).is_match(text) {
        return rx(&whole)
            .replace_all(text, |_: &Captures<'_>| new)
            .into_owned();
    }
    text.replace(old, new)
}

/// Words for what is set, and the parameters that hold it.
const SLOTS: &[(&str, &[&str])] = &[
    (
        r"\b(?:channel|kanal|canal)\b|#[\w-]+",
        &["channelId", "channel", "chatId"],
    ),
    (
        r"\b(?:recipient|to address|e-?mail address|empfänger|mail goes to|destinatario|destinataire|send (?:it|the mail|them|the report) to)\b",
        &["sendTo", "toEmail", "toRecipients", "to", "recipient"],
    ),
    (r"\b(?:subject|betreff|asunto|objet)\b", &["subject"]),
    (r"\b(?:cc)\b", &["ccList", "ccEmail"]),
    (
        r"\b(?:tab|sheet|worksheet|reiter|tabellenblatt|pestaña|hoja|onglet|feuille)\b",
        &["sheetName"],
    ),
    (r"\b(?:spreadsheet|document|dokument)\b", &["documentId"]),
    (r"\b(?:table|tabelle|tabla)\b", &["table", "tableName"]),
    (
        r"\b(?:collection|sammlung|colección)\b",
        &["collection", "qdrantCollection"],
    ),
    (r"\b(?:bucket)\b", &["bucketName"]),
    (
        r"\b(?:folder|ordner|carpeta|dossier)\b",
        &["folderId", "path"],
    ),
    (
        r"\b(?:path|pfad|ruta|chemin)\b",
        &["path", "fileSelector", "fileName"],
    ),
    (
        r"\b(?:url|address|endpoint|adresse)\b|https?://",
        &["url", "feedUrl"],
    ),
    (r"\b(?:method|methode|método)\b", &["method", "httpMethod"]),
    (
        r"\b(?:messages?|nachrichten|mensajes|window|remember\w*|merk\w*)\b.*\d|\d.*\b(?:messages?|nachrichten|mensajes)\b",
        &["contextWindowLength"],
    ),
    (
        r"\b(?:batch(?:es)?|batch size|stapel\w*|lotes?|lots?)\b",
        &["batchSize"],
    ),
    (
        r"\b(?:limit|at most|maximum|höchstens|maximal|límite|limite)\b",
        &["limit", "maxItems", "maxResults"],
    ),
    (
        r"\b(?:temperature|temperatur|temperatura)\b",
        &["options.temperature"],
    ),
    (r"\b(?:timeout)\b", &["options.timeout"]),
    (
        r"\b(?:prompt|system message|instructions?|anweisung\w*)\b",
        &["options.systemMessage", "text"],
    ),
    (
        r"\b(?:model|modell|modelo|modèle)\b|\b(?:gpt|claude|gemini|llama|mistral)-",
        &["model", "modelName", "modelId"],
    ),
    (
        r"\b(?:query|search|suche|búsqueda|jql|sql|filter)\b",
        &["query", "searchText", "options.jql", "filters.q"],
    ),
    (
        r"\b(?:text|message|nachricht|mensaje|body)\b",
        &["text", "message", "html", "content"],
    ),
    (
        r"\b(?:project|projekt|proyecto|projet)\b",
        &["project", "projectId"],
    ),
    (
        r"\b(?:label|etikett|etiqueta)\b",
        &["labelIds", "filters.labelIds", "labels"],
    ),
    (r"\b(?:status|state)\b", &["status"]),
    (
        r"\b(?:priority|priorität|prioridad|priorité)\b",
        &["priority", "additionalFields.priority"],
    ),
    (
        r"\b(?:threshold|above|below|over|under|more than|less than|at least|greater|schwelle|grenze|über|unter|umbral|más de|menos de|seuil|plus de|moins de)\b",
        &["conditions"],
    ),
];

/// A new value for something that is named by what it is.
pub(super) fn set(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let Some(swap) = swap(clause).or_else(|| number_at_end(clause)) else {
        return false;
    };
    set_to(patch, clause, &swap.new, kept)
}

/// Puts a value where what the words name is kept.
fn set_to(patch: &mut Patch<'_>, clause: &str, new: &str, kept: &[String]) -> bool {
    let meant = mention::one(patch.workflow(), clause, kept);
    for (pattern, slots) in SLOTS {
        if !has(pattern, clause) {
            continue;
        }
        let mut candidates: Vec<(String, &str)> = Vec::new();
        for node in &patch.workflow().nodes {
            if kept.iter().any(|k| k == node.name()) || node.is_sticky() {
                continue;
            }
            let Some(params) = node.parameters() else {
                continue;
            };
            for slot in *slots {
                // a model takes a temperature whether or not one is written
                let model = node.node_type().contains(".lmChat") && *slot == "options.temperature";
                let there = lookup(params, slot).is_some() || model;
                if there {
                    candidates.push((node.name().to_owned(), slot));
                    break;
                }
            }
        }
        let chosen = match (&meant, candidates.as_slice()) {
            (_, []) => continue,
            (_, [one]) => one.clone(),
            (Some(name), many) => many
                .iter()
                .find(|(n, _)| n == name)
                .or(many.first())
                .cloned()
                .unwrap_or_default(),
            (None, many) => best_named(clause, many),
        };
        if chosen.0.is_empty() {
            continue;
        }
        if *slots == ["conditions"] {
            return set_condition(patch, &chosen.0, new);
        }
        // One word is hardly what a text with fields in it becomes.
        let params = patch
            .workflow()
            .node_by_name(&chosen.0)
            .and_then(|n| n.parameters());
        let before = params.and_then(|params| params.get(chosen.1));
        if before.is_some_and(place::is_expression) && chosen.1 == "text" && !new.contains(' ') {
            return false;
        }
        return put(patch, &chosen.0, chosen.1, new);
    }
    false
}

fn best_named<'s>(clause: &str, many: &[(String, &'s str)]) -> (String, &'s str) {
    let said = words(clause);
    many.iter()
        .max_by(|a, b| alike(&said, &words(&a.0)).total_cmp(&alike(&said, &words(&b.0))))
        .cloned()
        .unwrap_or_default()
}

fn number_at_end(clause: &str) -> Option<Swap> {
    let c = rx(r"(\d[\d.,]*)\D*$").captures(clause)?;
    Some(Swap {
        old: None,
        new: c.get(1)?.as_str().trim_end_matches(['.', ',']).to_owned(),
    })
}

fn lookup<'v>(params: &'v Map<String, Value>, path: &str) -> Option<&'v Value> {
    let mut parts = path.split('.');
    let mut value = params.get(parts.next()?)?;
    for part in parts {
        value = value.get(part)?;
    }
    Some(value)
}

/// Writes a value where one of its kind stands.
pub(super) fn put(patch: &mut Patch<'_>, name: &str, slot: &str, new: &str) -> bool {
    let Some(node) = patch.workflow_mut().node_by_name_mut(name) else {
        return false;
    };
    node.edit_parameters(|params| {
        let mut parts: Vec<&str> = slot.split('.').collect();
        let Some(last) = parts.pop() else {
            return false;
        };
        let mut level = params;
        for part in parts {
            let inner = level
                .entry(part.to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
            let Some(map) = inner.as_object_mut() else {
                return false;
            };
            level = map;
        }
        let before = level.get(last).cloned().unwrap_or(Value::Null);
        let after = match &before {
            Value::Object(map) if map.contains_key("__rl") || map.contains_key("mode") => {
                let mut map = map.clone();
                let hash = map
                    .get("value")
                    .and_then(Value::as_str)
                    .is_some_and(|v| v.starts_with('#'));
                let value = if hash && !new.starts_with('#') {
                    format!("#{new}")
                } else {
                    new.to_owned()
                };
                if value.starts_with("http") {
                    map.insert("mode".into(), json!("url"));
                } else if value.starts_with('#') && map.get("mode") == Some(&json!("id")) {
                    map.insert("mode".into(), json!("name"));
                } else if map.get("mode") == Some(&json!("url")) {
                    map.insert("mode".into(), json!("list"));
                    map.insert("cachedResultName".into(), json!(value));
                }
                if map.contains_key("cachedResultName") {
                    map.insert("cachedResultName".into(), json!(value));
                }
                map.remove("cachedResultUrl");
                map.insert("value".into(), json!(value));
                Value::Object(map)
            }
            Value::Number(_) => match new.replace(',', "").parse::<f64>() {
                Ok(n) => agentctl_n8n::workflow::number(n),
                Err(_) => return false,
            },
            Value::Array(_) => json!([new]),
            Value::Null if matches!(last, "temperature" | "timeout") => {
                match new.replace(',', ".").parse::<f64>() {
                    Ok(n) => agentctl_n8n::workflow::number(n),
                    Err(_) => return false,
                }
            }
            _ => json!(new),
        };
        // A text of several words is no place of a number.
        let prose = before
            .as_str()
            .is_some_and(|text| text.contains(' ') && !super::slot::is_open(text));
        if prose && new.parse::<f64>().is_ok() {
            return false;
        }
        level.insert(last.to_owned(), after);
        true
    })
}

/// A new number on the right side of a condition.
pub(super) fn set_condition(patch: &mut Patch<'_>, name: &str, new: &str) -> bool {
    let Ok(number) = new.replace(',', "").parse::<f64>() else {
        return false;
    };
    let Some(node) = patch.workflow_mut().node_by_name_mut(name) else {
        return false;
    };
    node.edit_parameters(|params| {
        let list = params
            .get_mut("conditions")
            .and_then(|c| c.get_mut("conditions"))
            .and_then(Value::as_array_mut);
        let Some(list) = list else {
            return false;
        };
        let numeric = list.iter_mut().find(|c| {
            c.get("rightValue").is_some_and(|r| {
                r.is_number() || r.as_str().is_some_and(|s| s.parse::<f64>().is_ok())
            })
        });
        let Some(slot) = numeric.and_then(|c| c.get_mut("rightValue")) else {
            return false;
        };
        *slot = if slot.is_number() {
            agentctl_n8n::workflow::number(number)
        } else {
            json!(new)
        };
        true
    })
}
