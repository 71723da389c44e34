//! A line of a journal by itself: what it says, whether its hash is that of what it says, and whose mark it carries. Lines may be
//! read in any order and at the same time; whether one follows the line before it is judged by who reads the journal (`read`).

use super::{Event, Marks, Whose, chain::chain, event::v1};
use serde::Deserialize;
use serde_json::Value;

/// A line of the file.
#[derive(Deserialize)]
pub(super) struct Line<E = Value> {
    pub seq: u64,
    pub at: String,
    pub prev: String,
    pub hash: String,
    /// Whose record it is; None: not said. It is not part of the chain.
    #[serde(default)]
    mark: Option<String>,
    pub event: E,
}

impl<E> Line<E> {
    /// Whether the hash is that of an event of this text.
    fn fits(&self, event: &str) -> bool {
        chain(&self.prev, self.seq, &self.at, event) == self.hash
    }

    pub fn says<F>(self, said: impl FnOnce(E) -> Result<F, String>) -> Result<Line<F>, String> {
        Ok(Line {
            seq: self.seq,
            at: self.at,
            prev: self.prev,
            hash: self.hash,
            mark: self.mark,
            event: said(self.event)?,
        })
    }
}

/// What a record's event says; Err: it cannot be read. None: it is of a type that only a newer agentctl knows.
type Said = Result<Option<Event>, String>;

/// What is to be known of a line.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'a> {
    /// Also whether its hash fits, and whose it is.
    All(&'a Marks),
    /// Only what it says: the rest was checked before, and it is the same to the byte.
    Said,
}

/// A line that is a record, read by itself.
pub(super) struct Alone {
    pub line: Line<Said>,
    /// Its hash is that of what it says.
    fits: bool,
    pub whose: Result<(), Whose>,
}

impl Wanted<'_> {
    /// Reads a line. `current`: the journal is in the words of today; an older agentctl had others for some. Err: it is not a record.
    pub fn of(self, line: &[u8], current: bool) -> Result<Alone, String> {
        let (text, _) = ends(line);
        let of_today = current.then(|| serde_json::from_slice::<Line<Event>>(text).ok());
        match (self, of_today.flatten()) {
            (Wanted::Said, Some(line)) => Alone::known(line.says(|event| Ok(Ok(Some(event))))?),
            (Wanted::Said, None) => {
                let line: Line = serde_json::from_slice(text).map_err(|e| e.to_string())?;
                Alone::known(line.says(|event| Ok(said(event)))?)
            }
            (Wanted::All(marks), of_today) => Alone::checked(text, of_today, marks),
        }
    }
}

impl Alone {
    fn known(line: Line<Said>) -> Result<Self, String> {
        Ok(Alone {
            line,
            fits: true,
            whose: Ok(()),
        })
    }

    fn checked(text: &[u8], of_today: Option<Line<Event>>, marks: &Marks) -> Result<Self, String> {
        // Where it is in today's words to the letter, it need be read but once.
        let as_written = |line: &Line<Event>| {
            serde_json::to_string(&line.event).is_ok_and(|event| line.fits(&event))
        };
        let (fits, line) = match of_today.filter(as_written) {
            Some(line) => (true, line.says(|event| Ok(Ok(Some(event))))?),
            None => {
                let line = serde_json::from_slice::<Line>(text);
                let line = line.map_err(|e| format!("not a record: {e}"))?;
                // The hash is taken over the event as it stands in the file, with keys that this version does not know.
                let fits = line.fits(&line.event.to_string());
                (fits, line.says(|event| Ok(said(event)))?)
            }
        };
        let whose = marks.judge(line.seq, &line.hash, line.mark.as_deref());
        Ok(Alone { line, fits, whose })
    }

    /// Whether it is the record behind record `seq` with this hash; Err: why not.
    pub fn follows(&self, seq: u64, hash: &str) -> Result<(), String> {
        let line = &self.line;
        if line.seq != seq + 1 {
            return Err(format!(
                "record {} follows record {seq}: records are missing or were moved",
                line.seq
            ));
        }
        if line.prev != hash {
            return Err(
                "the record does not follow the one before it (its `prev` is another hash)".into(),
            );
        }
        match self.fits {
            true => Ok(()),
            false => {
                Err("the record was changed after it was written (its hash does not fit)".into())
            }
        }
    }
}

/// The line without its newline, and whether it has one.
pub(super) fn ends(line: &[u8]) -> (&[u8], bool) {
    match line.strip_suffix(b"\n") {
        Some(text) => (text, true),
        None => (line, false),
    }
}

fn said(event: Value) -> Said {
    let event = v1::in_words_of_today(event);
    match Event::deserialize(&event) {
        Ok(event) => Ok(Some(event)),
        Err(e) if is_known(&event) => Err(format!("the event cannot be read: {e}")),
        Err(_) => Ok(None),
    }
}

/// Whether this version knows the event's type: then what it cannot read is a fault, not news.
fn is_known(event: &Value) -> bool {
    let Some(kind) = event.get("type").and_then(Value::as_str) else {
        return true;
    };
    let probe = serde_json::json!({ "type": kind });
    match serde_json::from_value::<Event>(probe) {
        Ok(_) => true,
        Err(e) => !e.to_string().starts_with("unknown variant"),
    }
}
