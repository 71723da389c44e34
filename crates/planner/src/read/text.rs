//! Text of a request with its values set aside: URLs, addresses, quoted names, paths, services become marks (`§u0§`), so
//! that splitting and matching cannot cut through them. Marks can always be put back. Knows nothing of meaning.

use crate::lexicon::{self, ServiceEntry, rx};
use agentctl_base::lazy_regex::{Captures, Pattern};
use std::sync::LazyLock;

/// What a mark stands for; the letter is its name inside the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Url,
    Mail,
    Phone,
    Channel,
    Person,
    Quoted,
    Code,
    Dotted,
    File,
    Path,
    Braces,
    Parens,
    Hole,
    Number,
    Service,
}

impl Kind {
    pub const fn letter(self) -> char {
        match self {
            Self::Url => 'u',
            Self::Mail => 'm',
            Self::Phone => 'p',
            Self::Channel => 'c',
            Self::Person => 'a',
            Self::Quoted => 'q',
            Self::Code => 'k',
            Self::Dotted => 'd',
            Self::File => 'f',
            Self::Path => 'h',
            Self::Braces => 'b',
            Self::Parens => 'r',
            Self::Hole => 'l',
            Self::Number => 'n',
            Self::Service => 's',
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    pub kind: Kind,
    /// Without its delimiters: the address, the content of the quotes.
    pub value: String,
    /// As it stood in the request.
    pub full: String,
    /// For parentheses: the content, masked too.
    pub inner: Option<String>,
    pub service: Option<&'static ServiceEntry>,
}

/// The text after a replacement was done as often as it changes something: marks stand in marks, three deep at most.
pub(super) fn settled(text: &str, replaced: impl Fn(&str) -> String) -> String {
    let mut out = text.to_owned();
    for _ in 0..3 {
        let next = replaced(&out);
        if next == out {
            break;
        }
        out = next;
    }
    out
}

/// A masked request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Masked {
    pub text: String,
    pub entities: Vec<Entity>,
}

static ENTITY: LazyLock<Pattern> = LazyLock::new(|| {
    let pattern = [
        r"(?P<k>`[^`]+`)",
        r"(?P<u>https?://(?:[^\s<>\x22“”„`'()\[\]{},;]|<[\w .-]+>|\{\{?[\w .$-]+\}?\}|[,;]\w)+)",
        r"(?P<m>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)",
        r"(?P<q>\x22[^\x22\n]+\x22|“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»|‘[^’\n]+’|'[^'\n]+')",
        r"(?P<b>\{[^{}]*\})",
        r"(?P<f>[\w<>{}*-]*[\w>}*-]\.(?:csv|xlsx|xls|json|pdf|zip|txt|xml|html|docx|png|jpg|mp3|wav|sh|sql|gz|ods|md|tar)\b)",
        r"(?P<l><[^<>\n]+>)",
        r"(?P<r>\([^()]*\))",
        r"(?P<p>\+\d[\d ()/-]{6,16}\d)",
        r"(?P<c>#[A-Za-z0-9äöüÄÖÜß][\w-]*)",
        r"(?P<a>@[A-Za-z][\w.-]*\w)",
        r"(?P<h>/[\w.{}<>*:-]+(?:/[\w.{}<>*:-]+)*/?(?:\?\w+=[^\s,;\x22'()]*)?)",
        r"(?P<d>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)",
        r"(?P<n>-?\d{7,}\b)",
    ]
    .join("|");
    Pattern::new(&pattern)
});

const KINDS: [(&str, Kind); 14] = [
    ("k", Kind::Code),
    ("u", Kind::Url),
    ("m", Kind::Mail),
    ("q", Kind::Quoted),
    ("b", Kind::Braces),
    ("f", Kind::File),
    ("l", Kind::Hole),
    ("r", Kind::Parens),
    ("p", Kind::Phone),
    ("c", Kind::Channel),
    ("a", Kind::Person),
    ("h", Kind::Path),
    ("d", Kind::Dotted),
    ("n", Kind::Number),
];

/// Between quotes a request says a text, a message or a name; what is longer was opened by an apostrophe or never closed. In characters.
fn fits(kind: Kind, full: &str) -> bool {
    let most = match kind {
        Kind::Quoted if full.starts_with(['\'', '‘']) => 202,
        Kind::Quoted => 402,
        Kind::Hole => 62,
        _ => return true,
    };
    full.chars().count() <= most
}

impl Masked {
    pub fn of(request: &str) -> Self {
        let mut masked = Self::default();
        let text = normalise(request);
        let text = masked.mask(&text);
        masked.text = masked.finish(&text);
        masked
    }

    fn mark(&mut self, entity: Entity) -> String {
        let mark = format!("§{}{}§", entity.kind.letter(), self.entities.len());
        self.entities.push(entity);
        mark
    }

    fn mask(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut at = 0;
        while let Some(caps) = ENTITY.captures_at(text, at) {
            let (Some(whole), Some((name, kind))) = (
                caps.get(0),
                KINDS.iter().find(|(n, _)| caps.name(n).is_some()),
            ) else {
                break;
            };
            let before = text.get(..whole.start()).and_then(|s| s.chars().last());
            let after = text.get(whole.end()..).and_then(|s| s.chars().next());
            let mut full = whole.as_str();
            if !fits(*kind, full) || !stands_alone(*kind, full, before, after) {
                let step = full.chars().next().map_or(1, char::len_utf8);
                // An identifier is skipped whole, so that its tail is not read as something else.
                let step = if *name == "d" { full.len() } else { step };
                let next = whole.start() + step;
                out.push_str(text.get(at..next).unwrap_or_default());
                at = next;
                continue;
            }
            if matches!(*kind, Kind::Url | Kind::Mail | Kind::Path) {
                full = full.trim_end_matches(['.', ',', ';', ':', '!', '?']);
            }
            out.push_str(text.get(at..whole.start()).unwrap_or_default());
            at = whole.start() + full.len();
            let value = strip(*kind, full);
            let inner = (*kind == Kind::Parens).then(|| self.inner(&value));
            let mark = self.mark(Entity {
                kind: *kind,
                value,
                full: full.to_owned(),
                inner,
                service: None,
            });
            out.push_str(&mark);
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }

    fn inner(&mut self, text: &str) -> String {
        let masked = self.mask(text);
        self.finish(&masked)
    }

    fn finish(&mut self, text: &str) -> String {
        let spelled = respell(text);
        self.mask_services(&spelled)
    }

    /// Longest alias first; an ordinary word counts only when it is written as a name.
    fn mask_services(&mut self, text: &str) -> String {
        let Some(aliases) = aliases_in(text) else {
            return self.mask_names(text);
        };
        let mut out = String::new();
        let mut rest = 0;
        while let Some(found) = aliases.find_at(text, rest) {
            let before = text.get(..found.start()).and_then(|s| s.chars().last());
            let after = text.get(found.end()..).and_then(|s| s.chars().next());
            let next_word = text.get(found.end()..).unwrap_or_default();
            let entry = (!joined(before) && !tail_joins(after, next_word))
                .then(|| {
                    alias_entry(
                        found.as_str(),
                        found.start() == 0 || sentence_start(text, found.start()),
                    )
                })
                .flatten();
            match entry {
                Some(entry) => {
                    out.push_str(text.get(rest..found.start()).unwrap_or_default());
                    let mark = self.mark(Entity {
                        kind: Kind::Service,
                        value: found.as_str().to_owned(),
                        full: found.as_str().to_owned(),
                        inner: None,
                        service: Some(entry),
                    });
                    out.push_str(&mark);
                    rest = found.end();
                }
                None => {
                    let step = text
                        .get(found.start()..)
                        .and_then(|s| s.chars().next())
                        .map_or(1, char::len_utf8);
                    out.push_str(text.get(rest..found.start() + step).unwrap_or_default());
                    rest = found.start() + step;
                }
            }
        }
        out.push_str(text.get(rest..).unwrap_or_default());
        self.mask_names(&out)
    }

    /// A capitalised name right behind its container ("the Google Sheet Orders", "board Roadmap") is set aside like a quoted one.
    fn mask_names(&mut self, text: &str) -> String {
        let named = rx(
            r"(?P<head>(?P<mark>§s\d+§)|\b(?:sheet|spreadsheet|workbook|base|database|datenbank|board|list|liste|lista|audience|collection|folder|ordner|carpeta|dossier|tab|table|tabelle|tabla|worksheet|calendar|kalender|calendario|hoja|feuille|segment))\s+(?P<name>(?-i:[A-ZÄÖÜÉ][\wäöüßéèáíóúñ-]*(?:\s[A-ZÄÖÜ0-9][\wäöüßéèáíóúñ-]*)*))(?:$|[\s,.;:!?)])",
        );
        let mut out = String::new();
        let mut from = 0;
        while let Some(caps) = named.captures_at(text, from) {
            let (Some(head), Some(name)) = (caps.name("head"), caps.name("name")) else {
                break;
            };
            let holds = caps.name("mark").is_none_or(|mark| {
                self.entity(mark.as_str())
                    .and_then(|e| e.service)
                    .is_some_and(|s| s.is("sheet") || s.is("base"))
            });
            let fine = holds
                && !rx(r"^(?:CSV|ID|IDs|API|URL|JSON|PDF|XLSX|SQL|HTML|I|Every|Each|When|If|Then|And|A|The|It|Bot|Trigger|(?:mon|tues|wednes|thurs|fri|satur|sun)day|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|zeilen?|spalten?|tabelle|einträge?|eintrag)\b")
                    .is_match(name.as_str());
            if !fine {
                out.push_str(text.get(from..head.end()).unwrap_or_default());
                from = head.end();
                continue;
            }
            out.push_str(text.get(from..name.start()).unwrap_or_default());
            let mark = self.mark(Entity {
                kind: Kind::Quoted,
                value: name.as_str().to_owned(),
                full: name.as_str().to_owned(),
                inner: None,
                service: None,
            });
            out.push_str(&mark);
            from = name.end();
        }
        out.push_str(text.get(from..).unwrap_or_default());
        out
    }

    /// The text with every mark put back as the user wrote it.
    pub fn plain(&self, text: &str) -> String {
        let out = settled(text, |text| {
            rx(r"§[a-z](\d+)§")
                .replace_all(text, |c: &Captures<'_>| {
                    self.by_index(c.get(1).map_or("", |m| m.as_str()))
                        .map(|e| e.full.clone())
                        .unwrap_or_default()
                })
                .into_owned()
        });
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn by_index(&self, digits: &str) -> Option<&Entity> {
        digits
            .parse::<usize>()
            .ok()
            .and_then(|i| self.entities.get(i))
    }

    /// The entity of a mark such as `§q3§`.
    pub fn entity(&self, mark: &str) -> Option<&Entity> {
        self.by_index(mark.trim_matches('§').get(1..)?)
    }

    /// Entities of these kinds (letters) in the text, in order; parentheses are looked into.
    pub fn all(&self, text: &str, kinds: &str) -> Vec<&Entity> {
        let mut found = Vec::new();
        for m in rx(r"§[a-z]\d+§").find_iter(text) {
            let Some(e) = self.entity(m.as_str()) else {
                continue;
            };
            if kinds.contains(e.kind.letter()) {
                found.push(e);
            }
            if let Some(inner) = &e.inner {
                found.extend(self.all(inner, kinds));
            }
        }
        found
    }

    pub fn one(&self, text: &str, kinds: &str) -> Option<&Entity> {
        self.all(text, kinds).into_iter().next()
    }

    /// The value behind the first mark in the first group of `pattern`.
    pub fn after(&self, pattern: &str, text: &str) -> Option<&Entity> {
        let caps = rx(pattern).captures(text)?;
        self.entity(caps.get(1)?.as_str())
    }

    /// The text with asides in parentheses opened: ` (…) ` becomes ` … `.
    pub fn open(&self, text: &str) -> String {
        rx(r"§r(\d+)§")
            .replace_all(text, |c: &Captures<'_>| {
                self.by_index(c.get(1).map_or("", |m| m.as_str()))
                    .and_then(|e| e.inner.clone())
                    .map(|i| format!(" ( {i} ) "))
                    .unwrap_or_default()
            })
            .into_owned()
    }
}

fn strip(kind: Kind, full: &str) -> String {
    let inner = match kind {
        Kind::Quoted | Kind::Code | Kind::Parens | Kind::Braces | Kind::Hole => {
            let mut chars = full.chars();
            chars.next();
            chars.next_back();
            chars.as_str()
        }
        Kind::Channel | Kind::Person => full.get(1..).unwrap_or(full),
        _ => full,
    };
    inner.trim().to_owned()
}

/// A quote, path or mark counts only where a word could start.
fn stands_alone(kind: Kind, full: &str, before: Option<char>, after: Option<char>) -> bool {
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    match kind {
        Kind::Quoted if full.starts_with('\'') => !word(before) && !word(after),
        Kind::Path => {
            !word(before) && !matches!(before, Some('§' | '>' | '.' | '/')) && !word(after)
        }
        Kind::Channel | Kind::Person => !word(before),
        Kind::Number | Kind::Phone => !word(before) && !matches!(before, Some('.' | '-')),
        Kind::Dotted => {
            let parts = full.to_lowercase();
            !lexicon::services()
                .iter()
                .any(|s| s.aliases.iter().any(|a| a.text == parts))
                && !matches!(
                    parts.as_str(),
                    "e.g" | "i.e" | "z.b" | "a.m" | "p.m" | "p.ej" | "d.h"
                )
        }
        _ => true,
    }
}

/// The names of services, the longest first.
static ALIASES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut all: Vec<&str> = lexicon::services()
        .iter()
        .flat_map(|s| s.aliases.iter().map(|a| a.text.as_str()))
        .collect();
    all.sort_by_key(|a| std::cmp::Reverse(a.len()));
    all
});

/// Finds the services of this text: of the hundreds of names only those whose first word is in it. None: it names no service.
fn aliases_in(text: &str) -> Option<Pattern> {
    let text = text.to_lowercase();
    let first = |alias: &&&str| text.contains(alias.split(' ').next().unwrap_or_default());
    let named: Vec<String> = ALIASES
        .iter()
        .filter(first)
        .map(|a| regex::escape(a).replace(' ', r"[\s-]+"))
        .collect();
    (!named.is_empty()).then(|| Pattern::new(&named.join("|")))
}

fn alias_entry(said: &str, at_start: bool) -> Option<&'static ServiceEntry> {
    let key = said
        .to_lowercase()
        .split(|c: char| c.is_whitespace() || c == '-')
        .collect::<Vec<_>>()
        .join(" ");
    let lower = said.to_lowercase();
    for entry in lexicon::services() {
        for alias in &entry.aliases {
            if alias.text == lower || alias.text.replace('-', " ") == key {
                let named = said.chars().next().is_some_and(char::is_uppercase) && !at_start;
                return (!alias.capitalised || named).then_some(entry);
            }
        }
    }
    None
}

fn sentence_start(text: &str, at: usize) -> bool {
    text.get(..at)
        .map(str::trim_end)
        .and_then(|s| s.chars().last())
        .is_none_or(|c| matches!(c, '.' | '!' | '?' | ':' | '\n'))
}

fn joined(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '@' | '§'))
}

/// A plural or genitive s and a compound (`Slack-Kanal`) still name the service.
fn tail_joins(after: Option<char>, rest: &str) -> bool {
    match after {
        Some('s') => rest.chars().nth(1).is_some_and(char::is_alphanumeric),
        Some(c) => c.is_alphanumeric() || c == '_',
        None => false,
    }
}

fn normalise(request: &str) -> String {
    let mut text = request
        .replace('§', "S")
        .replace("\r\n", "\n")
        .replace('\u{a0}', " ")
        .replace("-->", " → ")
        .replace("->", " → ")
        .replace("=>", " → ")
        .replace('→', " → ")
        .replace('’', "'");
    // Other words for the same rhythm.
    for (said, meant) in [
        // The sheet of a workbook is its tab, no spreadsheet of its own.
        (
            r"\b((?:workbook|excel(?: file)?|google sheets?|gsheet|spreadsheet|arbeitsmappe|tabelle)\s+(?:named |called )?(?:'[^'\n]+'|\x22[^\x22\n]+\x22|„[^“\n]+“|(?-i:[A-Z])\w+)),?\s+(?:(?:in|on|and|im|auf)\s+)?(?:the\s+)?(?:sheet|worksheet|blatt|hoja|feuille)\s+(?:named |called )?(['\x22„«]|(?-i:[A-Z]))",
            "$1, tab $2",
        ),
        (
            r"\b(chat|bot|formular|form|formulario|formulaire), (in dem|bei dem|in which|where|wo|en el que|donde|où|dans lequel)\b",
            "$1 $2",
        ),
        (
            r"\bindex (it|them|each|every|all|these|those)\b",
            "insert $1",
        ),
        (r"\bevery quarter of an hour\b", "every 15 minutes"),
        (r"\bevery half(?: an)? hour\b", "every 30 minutes"),
        (r"\b(?:alle|jede) (?:viertelstunde)\b", "alle 15 Minuten"),
        (r"\b(?:alle|jede) (?:halbe) stunden?\b", "alle 30 Minuten"),
        (r"\bcada (?:un )?cuarto de hora\b", "cada 15 minutos"),
        (r"\bcada media hora\b", "cada 30 minutos"),
        (
            r"\b(?:twice|three times|two times) a day,? at\b",
            "every day at",
        ),
        (
            r"\b(?:zweimal|dreimal) (?:am tag|täglich),? um\b",
            "jeden Tag um",
        ),
        (r"\b(?:dos|tres) veces al día,? a las\b", "cada día a las"),
        (r"\b(?:deux|trois) fois par jour,? à\b", "chaque jour à"),
    ] {
        text = rx(said).replace_all(&text, meant).into_owned();
    }
    // `X/Twitter` is one name.
    text = rx(r"\bX\s*/\s*Twitter\b")
        .replace_all(&text, "Twitter")
        .into_owned();
    if rx(r"\b(?:linkedin|facebook|instagram|tweets?|social|mastodon|bluesky|post)\b")
        .is_match(&text)
    {
        text = rx(r"\b(to|on|and|or|auf|und|en|y|sur|et|via|,|/|from)\s+(?-i:X)(\s|,|\.|$|:)")
            .replace_all(&text, "$1 Twitter$2")
            .into_owned();
    }
    text = rx(r"\bX \((?:formerly )?twitter\)")
        .replace_all(&text, "Twitter")
        .into_owned();
    text
}

/// Known misspellings, then near misses of long words that are no words we know.
fn respell(text: &str) -> String {
    static WORD: LazyLock<Pattern> =
        LazyLock::new(|| Pattern::new(r"§[a-z]\d+§|\bw/|[A-Za-zÀ-ÿ]+"));
    WORD.replace_all(text, |c: &Captures<'_>| {
        let word = c.get(0).map_or("", |m| m.as_str());
        if word.starts_with('§') {
            return word.to_owned();
        }
        let lower = word.to_lowercase();
        if let Some(right) = lexicon::typo(&lower) {
            return right.to_owned();
        }
        misspelt_service(&lower).map_or_else(|| word.to_owned(), str::to_owned)
    })
    .into_owned()
}

/// The one service name that a word which is none misses by a letter.
fn misspelt_service(word: &str) -> Option<&'static str> {
    static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        lexicon::services()
            .iter()
            .flat_map(|s| s.aliases.iter())
            .filter(|a| {
                !a.capitalised
                    && a.text.len() >= 6
                    && a.text.chars().all(|c| c.is_ascii_lowercase())
            })
            .map(|a| a.text.as_str())
            .collect()
    });
    if word.len() < 6
        || !word.is_ascii()
        || lexicon::verb(word).is_some()
        || lexicon::noun(word).is_some()
    {
        return None;
    }
    let mut near = NAMES.iter().filter(|n| {
        n.len().abs_diff(word.len()) <= 1
            && !word.starts_with(**n)
            && n.get(..1) == word.get(..1)
            && strsim::damerau_levenshtein(n, word) == 1
    });
    let found = near.next().copied()?;
    // a name itself, or two candidates: leave it
    (!NAMES.contains(&word) && near.next().is_none()).then_some(found)
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod text_tests;
