//! Before and after a date of the data: "two days before the webinar starts, send …", "for those ending in 30 days …",
//! "3 days before the due date of each task …". Waits or filters; the calendar itself is read in `when`.

use super::*;
use crate::plan::Role;

/// Words for a date that things have, in the languages.
pub const DATE: &str = r"(?:(?:[\w§-]+ ){0,2}?(?:due(?: date)?|deadline|date|start(?: date| time)?|end(?: date)?|expiry|expiration|renewal|birthday|appointment|meeting|event|webinar|call|booking|check-?in|check-?out|arrival|departure|delivery|flight|trip|class|lesson|session|course|interview|fällig\w*|frist|termin|beginn|start|ende|ablauf\w*|geburtstag|abreise|anreise|kurs|vencimiento|fecha(?: de \w+)?|cita|inicio|fin|entrega|échéance|date(?: de \w+| d'\w+)?|rendez-vous|début|fin)\b)";
const BEFORE: &str = r"(?:before|prior to|ahead of|in advance of|vor|antes (?:de|del)|avant)";
const AFTER: &str = r"(?:after|following|nach|después (?:de|del)|tras|après)";
const MINE: &str = r"(?:the |a |an |their |his |her |its |each |every |my |our |der |die |das |dem |den |ihrem |ihrer |seinem |jede[mnrs]? |la |el |su |cada |le |leur |sa |son |chaque |l')?";

/// Seconds and the date's words: "two days before the start date".
fn moved(text: &str) -> Option<(i64, String, std::ops::Range<usize>)> {
    let pattern = format!(
        r"\b({{num}}\s+(?:{{minute}}|{{hour}}|{{day}}|{{week}}|{{month}}))\s+(?:({BEFORE})|({AFTER}))\s+{MINE}({DATE})"
    );
    let c = rx(&pattern).captures(text)?;
    let seconds = i64::try_from(when::duration(c.get(1)?.as_str())?).ok()?;
    let sign = if c.get(2).is_some() { -1 } else { 1 };
    let span = c.get(0)?.range();
    Some((sign * seconds, c.get(4)?.as_str().to_owned(), span))
}

/// The field that holds the date.
fn date_field(words: &str) -> Val {
    let t = words.to_lowercase();
    let name = match () {
        () if has(r"\bdue|deadline|fällig|frist|vencimiento|échéance", &t) => {
            "due date".to_owned()
        }
        () if has(r"\bend|ende|\bfin\b|expir|ablauf|renewal", &t) && !t.contains("date") => {
            "end date".to_owned()
        }
        () if has(r"\bdate\b|\bfecha\b|\btime\b", &t) => t,
        () if has(r"birthday|geburtstag|cumpleaños|anniversaire", &t) => t,
        () => "start time".to_owned(),
    };
    field(&name)
}

impl Flow<'_, '_> {
    /// "…, two days before the appointment, …": what is said happens then.
    pub(super) fn dated(&mut self, text: &str) -> bool {
        let Some((seconds, words, span)) = moved(text) else {
            return false;
        };
        let mut rest = text.to_owned();
        rest.replace_range(span, " ");
        let rest =
            rx(r"\s+(?:starts?|begins?|beginnt|empieza|commence|takes place)\b|^\s*[,:]\s*|\s+,")
                .replace_all(&rest, " ")
                .into_owned();
        let rest = rx(r"\s+").replace_all(rest.trim(), " ").into_owned();
        let rest = rx(r"^(?:(?:wait|warte\w*|espera\w*|attend\w*)\s*(?:until|bis|hasta|jusqu'à)?|then|dann|exactly|and|und)\s*,?\s*")
            .replace(&rest, "")
            .into_owned();
        // "created two days after the order date" is a condition, no moment
        if has(r"^{if}\b|\b(?:whose|where|that (?:is|are|were))\b", &rest)
            || !rest.is_empty() && verb_in(&rest).is_none()
        {
            return false;
        }
        let step = self.mem.step(
            text,
            Does::WaitUntil {
                at: date_field(&words),
                offset_seconds: seconds,
            },
        );
        self.tree.push(step);
        if !rest.is_empty() {
            self.act(&rest);
        }
        true
    }

    /// "for those ending in 30 days send a reminder": only what has its date then.
    pub(super) fn due_ones(&mut self, text: &str) -> bool {
        let pattern = r"^(?:(?:for|bei|für|para|pour)\s+)?(?:(?:those|these|all|any|the ones?|each one|each|every(?: one)?|diejenigen|alle|jene\w*|die|los|las|aquell\w+|cada un[oa]|ceux|celles|chaque)\s+)(?:[\w-]+\s+)?(?:(?:that|which|who)\s+(?:are\s+|is\s+)?|die\s+|que\s+|qui\s+)?(?:(end|expire|due|start|renew|run out|auslauf|ablauf|fällig|enden|venc|termin|caduc|empiez|expir|arriv)\w*)\s+(?:(in|exactly in|within|en|dentro de|dans|innerhalb von)\s+)(?:the next\s+|exactly\s+|genau\s+)?({num}\s+(?:{day}|{week}|{month}))[,:]?\s*(.*)$";
        let Some(c) = rx(pattern).captures(text) else {
            return false;
        };
        let (Some(what), Some(how), Some(span)) = (c.get(1), c.get(2), c.get(3)) else {
            return false;
        };
        let Some(seconds) = when::duration(span.as_str()).and_then(|s| i64::try_from(s).ok())
        else {
            return false;
        };
        let name = if has(r"due|fällig|venc", what.as_str()) {
            "due date"
        } else if has(r"start|empiez", what.as_str()) {
            "start date"
        } else {
            "end date"
        };
        let within = has(r"within|innerhalb|dentro", how.as_str()) || text.contains("the next");
        let rest = c.get(4).map_or("", |r| r.as_str()).to_owned();
        let condition = on_day(field(name), seconds, within);
        let step = self.mem.step(text, Does::Filter { condition });
        self.tree.push(step);
        if !rest.trim().is_empty() {
            self.act(&rest);
        }
        true
    }
}

/// The date is on the day so many seconds from now, or until then.
pub fn on_day(date: Val, seconds: i64, within: bool) -> Cond {
    let day = |offset: i64| Val::Now {
        offset_seconds: offset,
        format: Some("yyyy-MM-dd".into()),
    };
    if within {
        return Cond::All {
            of: vec![
                Cond::Compare {
                    left: date.clone(),
                    op: Cmp::Ge,
                    right: day(0),
                },
                Cond::Compare {
                    left: date,
                    op: Cmp::Le,
                    right: day(seconds),
                },
            ],
        };
    }
    Cond::Compare {
        left: date,
        op: Cmp::StartsWith,
        right: day(seconds),
    }
}

/// A request that starts from a date: "3 days before the due date of each Asana task send …". Daily, over the things that
/// have the date, or (where the service only tells of new ones) a wait behind its trigger.
pub fn from_date(m: &Masked, text: &str) -> Option<Dated> {
    let (seconds, words, span) = moved(text)?;
    let tail = text.get(span.end..).unwrap_or_default();
    let c = rx(r"^(?:s|es)?\s*(?:of|in|from|for|von|in|aus|de|del|des|dans|du)?\s*(?:(?:each|every|the|all|our|my|an?|any|jede\w*|der|die|den|alle|cada|los|las|la|el|chaque|les|la|le|une?|unser\w*)\s+)*((?:[\w-]+\s+(?:in|from|of|aus|von|de|en|dans)\s+(?:(?:the|our|my|der|la|el)\s+)?)?§s\d+§(?:\s+§q\d+§)?(?:\s+[\w-]+)?)")
        .captures(tail);
    let (whole, things) = match c.as_ref().and_then(|c| Some((c.get(0)?, c.get(1)?))) {
        Some((w, t)) => (w.as_str().len(), t.as_str().to_owned()),
        None => {
            // "one day before their Calendly appointment": the service stands before the date
            let inside = text.get(span.clone())?;
            let mark = rx(r"§s\d+§").find(inside)?;
            (0, mark.as_str().to_owned())
        }
    };
    let mark = rx(r"§s\d+§").find(&things)?.as_str().to_owned();
    let entry = m.entity(&mark)?.service?;
    let mut rest = text.to_owned();
    rest.replace_range(span.start..span.end + whole, " ");
    let rest = rx(r"\s+").replace_all(rest.trim(), " ").into_owned();
    Some(Dated {
        seconds,
        date: words,
        things,
        mark,
        entry,
        rest: rest.trim_matches([',', ' ', ':']).to_owned(),
    })
}

/// What a request that starts from a date says.
#[derive(Debug, Clone)]
pub struct Dated {
    pub seconds: i64,
    pub date: String,
    pub things: String,
    pub mark: String,
    pub entry: &'static crate::lexicon::ServiceEntry,
    pub rest: String,
}

impl Dated {
    /// The field that holds the date.
    pub fn field(&self) -> Val {
        let plain = rx(r"§s\d+§\s*").replace_all(&self.date, "").into_owned();
        date_field(&plain)
    }
}

/// Roles that a date fills are no part of the reading of its things.
pub fn without_dates(args: &mut Vec<crate::plan::Arg>) {
    args.retain(|a| !matches!(a.role, Role::Due | Role::TimeRange));
}
