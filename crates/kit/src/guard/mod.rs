//! What a reply may say, sentence by sentence: nothing is promised, because nobody works on after the reply; what is told as done was
//! done by a successful call of this turn that changes something; a call that failed, or whose outcome is unknown, is not told as a
//! success. Pure; the words stand in `words/guard/`.

mod acts;
mod does;
mod figures;
mod sentence;
mod told;
mod words;

pub use figures::Figures;
use sentence::Sentence;
use serde_json::Value;
pub use told::told;
use words::Words;

/// What became of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Became {
    Ok,
    Failed,
    Refused,
    #[default]
    Unknown,
}

impl Became {
    /// The status of a call by its name; what nobody knows is unknown.
    pub fn of(name: &str) -> Became {
        match name {
            "ok" => Became::Ok,
            "failed" | "cancelled" => Became::Failed,
            "refused" => Became::Refused,
            _ => Became::Unknown,
        }
    }
}

/// One call of this turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// The name of the tool, as its words tell what it does.
    pub tool: String,
    /// What its definition says that it does, in words; counts where the name tells nothing.
    pub about: String,
    /// The acts that its definition declares, as verbs ("book"); where there are any, they alone say what it does.
    pub acts: Vec<String>,
    pub changes: bool,
    pub became: Became,
    /// What it gave; of one that did not succeed what it said as `error`.
    pub result: Value,
}

impl Evidence {
    fn is_ok(&self) -> bool {
        self.became == Became::Ok
    }

    /// A look that succeeded.
    fn has_read(&self) -> bool {
        !self.changes && self.is_ok()
    }

    /// It succeeded, and what it gave is not told here: then nothing can be held against it.
    fn is_untold(&self) -> bool {
        let nothing = match &self.result {
            Value::Null => true,
            Value::Object(map) => map.is_empty(),
            _ => false,
        };
        self.is_ok() && nothing
    }

    fn error(&self) -> &str {
        let error = self.result.get("error").and_then(Value::as_str);
        error.unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    Promise,
    UnsupportedAct,
    ContradictsFailure,
    Fine,
}

impl Label {
    pub fn name(self) -> &'static str {
        match self {
            Label::Promise => "promise",
            Label::UnsupportedAct => "unsupported_act",
            Label::ContradictsFailure => "contradicts_failure",
            Label::Fine => "fine",
        }
    }
}

/// What each sentence of a reply says, held against the calls of this turn. Where another one tells that something did not succeed, a
/// sentence passes nothing over by not telling it again.
pub fn labels<'r>(reply: &'r str, evidence: &[Evidence]) -> Vec<(&'r str, Label)> {
    let all = sentences(reply);
    let admitted = all.len() > 1 && tells_failure(reply);
    let labels = all.into_iter().map(|one| {
        let label = match is_entry(one, evidence) {
            true => Label::Fine,
            false => Sentence::of(one).beside(admitted).label(evidence),
        };
        (one, label)
    });
    labels.collect()
}

/// What a sentence says, held against the calls of this turn. Of several at once the worst counts.
pub fn label(sentence: &str, evidence: &[Evidence]) -> Label {
    let labels = labels(sentence, evidence).into_iter();
    let labels = labels.map(|(_, label)| label);
    let worst = |label: &Label| match label {
        Label::Fine => 0,
        Label::UnsupportedAct => 1,
        Label::ContradictsFailure => 2,
        Label::Promise => 3,
    };
    labels.max_by_key(worst).unwrap_or(Label::Fine)
}

/// The same of a sentence of which nothing is known but the calls: what it tells has no figure and no id that no result holds.
pub fn label_alone(sentence: &str, evidence: &[Evidence]) -> Label {
    match label(sentence, evidence) {
        Label::Fine if makes_up(sentence, evidence) => Label::UnsupportedAct,
        label => label,
    }
}

/// A line of a list that is what a look gave, word by word: "- finished: 2026-03-18".
fn is_entry(line: &str, evidence: &[Evidence]) -> bool {
    let Some(entry) = line.trim_start().strip_prefix(['-', '*', '•']) else {
        return false;
    };
    let looks = evidence.iter().filter(|call| call.has_read());
    let given: String = looks
        .map(|call| call.result.to_string().to_lowercase())
        .collect();
    let entry = entry.to_lowercase();
    let mut words = entry
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    !given.is_empty() && words.all(|word| given.contains(word))
}

fn makes_up(reply: &str, evidence: &[Evidence]) -> bool {
    if !evidence.iter().any(Evidence::is_ok) || evidence.iter().any(Evidence::is_untold) {
        return false;
    }
    let mut known = Figures::default();
    for call in evidence {
        known.add_text(&call.tool);
        known.add_value(&call.result);
    }
    sentences(reply)
        .into_iter()
        .any(|sentence| !told_figures(sentence, &known).is_empty())
}

/// The figures and ids that a reply tells and nobody gave. Those of questions, offers and denials, and those that are quoted, count from
/// two digits on.
pub fn made_up(reply: &str, known: &Figures) -> Vec<String> {
    let mut found: Vec<String> = known.lacking(reply);
    found.retain(|figure| figure.chars().filter(char::is_ascii_digit).count() > 1);
    let told = sentences(reply).into_iter();
    for figure in told.flat_map(|sentence| told_figures(sentence, known)) {
        if !found.contains(&figure) {
            found.push(figure);
        }
    }
    found
}

fn told_figures(sentence: &str, known: &Figures) -> Vec<String> {
    let said = Sentence::of(sentence);
    match said.tells() {
        true => known.lacking(&said.written),
        false => Vec::new(),
    }
}

/// The sentences of a reply; a line is one too. None ends within quotation marks.
pub fn sentences(reply: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut until: Option<char> = None;
    let mut chars = reply.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        until = match until {
            _ if c == '\n' => None,
            Some(end) if c == end => None,
            Some(end) => Some(end),
            None => closing(c),
        };
        let stops = matches!(c, '.' | '!' | '?' | '…')
            && next.is_none_or(char::is_whitespace)
            && !(c == '.' && is_date(reply, at));
        if c == '\n' || stops && until.is_none() {
            let to = at + c.len_utf8();
            found.extend(reply.get(from..to));
            from = to;
        }
    }
    found.extend(reply.get(from..));
    found.retain(|text| text.chars().any(char::is_alphanumeric));
    found
}

/// Whether a full stop makes a number the day of a month: "am 24. Dezember".
fn is_date(text: &str, at: usize) -> bool {
    let (before, behind) = text.split_at_checked(at).unwrap_or((text, ""));
    let day = before.rsplit(|c: char| !c.is_ascii_digit()).next();
    let day = day.filter(|day| matches!(day.len(), 1 | 2));
    let month = behind.trim_start_matches('.').split_whitespace().next();
    day.zip(month).is_some_and(|(day, month)| {
        Words::in_any("dated", &format!("{day}. {}", month.to_lowercase()))
    })
}

/// The mark that ends what this one begins to quote.
fn closing(mark: char) -> Option<char> {
    match mark {
        '"' => Some('"'),
        '“' => Some('”'),
        '„' => Some('“'),
        '«' => Some('»'),
        _ => None,
    }
}

/// Whether the guard knows a verb that a tool's file says under `acts`: what it does not know, no sentence is held against.
pub fn knows_act(act: &str) -> bool {
    words::Words::is_known(&act.to_lowercase())
}

/// Whether a reply says that something did not succeed, or that nobody knows.
pub fn tells_failure(reply: &str) -> bool {
    sentences(reply).into_iter().any(|sentence| {
        let said = Sentence::of(sentence);
        said.has_any(&["denied", "failure", "unsure"], &said.text)
    })
}

/// What stands in quotation marks.
fn quoted(text: &str) -> Vec<String> {
    let (mut found, mut until): (Vec<String>, Option<char>) = (Vec::new(), None);
    for c in text.chars() {
        match until {
            Some(end) if c == end || end == '“' && c == '”' => until = None,
            Some(_) => found.last_mut().into_iter().for_each(|text| text.push(c)),
            None => until = closing(c).inspect(|_| found.push(String::new())),
        }
    }
    let trimmed = found.into_iter().map(|text| text.trim().to_owned());
    trimmed.filter(|text| !text.is_empty()).collect()
}

/// The text without what is quoted; an apostrophe is no quotation mark.
fn unquoted(text: &str) -> String {
    let mut out = String::new();
    let mut until: Option<char> = None;
    for c in text.chars() {
        match (until, c) {
            (Some(end), c) if c == end || end == '“' && c == '”' => {
                until = None;
                out.push('…');
            }
            (Some(_), _) => {}
            (None, c) => match closing(c) {
                Some(end) => until = Some(end),
                None => out.push(c),
            },
        }
    }
    match until {
        // A mark that stands alone quotes nothing.
        Some(_) => text.replace(['"', '“', '”', '„', '«', '»'], " "),
        None => out,
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod guard_tests;
