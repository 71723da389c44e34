//! The tables of the guard, compiled once.

use fancy_regex::Regex;
use std::sync::LazyLock;

const PATTERNS: &str = include_str!("../../words/guard/patterns.tsv");
const STATES: &str = include_str!("../../words/guard/states.tsv");
const ACTS: &str = include_str!("../../words/guard/acts.tsv");

/// What is told as done, and the tools that do such a thing.
pub(super) struct Class {
    name: &'static str,
    told: Option<Regex>,
    tool: Option<Regex>,
    any: bool,
    shown: Option<Regex>,
}

/// A state of a thing, and the group of states of which a thing has one.
pub(super) struct State {
    group: &'static str,
    told: Option<Regex>,
    held: Option<Regex>,
}

impl State {
    fn is_told(&self, text: &str) -> bool {
        self.told.as_ref().is_some_and(|told| fits(told, text))
    }
    fn is_held(&self, result: &str) -> bool {
        self.held.as_ref().is_some_and(|held| fits(held, result))
    }
}

impl Class {
    /// The word by which a text tells it.
    pub fn word<'t>(&self, text: &'t str) -> Option<&'t str> {
        let found = self.told.as_ref()?.find(text).ok()??;
        Some(found.as_str())
    }
    /// It says that something is done, and not what.
    pub fn is_any(&self) -> bool {
        self.any
    }
    /// Whether a look's result, in lower case, has what shows that it is so.
    pub fn is_shown(&self, result: &str) -> bool {
        self.shown.as_ref().is_some_and(|shown| fits(shown, result))
    }
    pub fn can_be_shown(&self) -> bool {
        self.shown.is_some()
    }
    pub fn is_tool(&self, words: &str) -> bool {
        self.any || self.tool.as_ref().is_some_and(|tool| fits(tool, words))
    }
}

/// The words of one language.
pub(super) struct Words {
    language: &'static str,
    patterns: Vec<(&'static str, Regex)>,
    classes: Vec<Class>,
}

struct All {
    languages: Vec<Words>,
    nouns: Vec<(&'static str, Regex)>,
    tools: Vec<Regex>,
    states: Vec<State>,
}

fn rows(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut cells = line.splitn(3, '\t');
        Some((cells.next()?, cells.next()?, cells.next()?))
    })
}

/// A pattern that takes too long on a text is taken to fit: what the guard cannot read it does not let pass.
fn fits(pattern: &Regex, text: &str) -> bool {
    pattern.is_match(text).unwrap_or(true)
}

/// A row that is no pattern is left out; the tests look that none is.
fn whole(pattern: &str) -> Option<Regex> {
    Regex::new(&format!(r"\b(?:{pattern})\b")).ok()
}

static ALL: LazyLock<All> = LazyLock::new(|| {
    let tools: Vec<(&str, &str)> = rows(ACTS)
        .filter(|r| r.1 == "tool")
        .map(|r| (r.0, r.2))
        .collect();
    let shown: Vec<(&str, &str)> = rows(ACTS)
        .filter(|r| r.1 == "shown")
        .map(|r| (r.0, r.2))
        .collect();
    let states = rows(STATES).filter_map(|(group, _, forms)| {
        let (told, held) = forms.split_once('\t')?;
        Some(State {
            group,
            told: whole(told),
            held: Regex::new(held).ok(),
        })
    });
    let languages = ["en", "de", "fr", "es"].map(|language| {
        let patterns = rows(PATTERNS).filter(|row| row.1 == language && row.0 != "noun");
        let patterns = patterns.filter_map(|row| Some((row.0, Regex::new(row.2).ok()?)));
        let classes = rows(ACTS).filter(|row| row.1 == language).map(|row| {
            let tool = tools.iter().find(|(class, _)| *class == row.0);
            Class {
                name: row.0,
                told: whole(row.2),
                tool: tool.and_then(|(_, words)| whole(words)),
                any: tool.is_some_and(|(_, words)| *words == ".*"),
                shown: (shown.iter().find(|(class, _)| *class == row.0))
                    .and_then(|(_, words)| Regex::new(words).ok()),
            }
        });
        Words {
            language,
            patterns: patterns.collect(),
            classes: classes.collect(),
        }
    });
    let nouns = rows(PATTERNS).filter(|row| row.0 == "noun");
    All {
        languages: languages.into(),
        nouns: nouns
            .filter_map(|row| Some((row.1, Regex::new(row.2).ok()?)))
            .collect(),
        tools: tools
            .iter()
            .filter(|(_, words)| *words != ".*")
            .filter_map(|(_, words)| whole(words))
            .collect(),
        states: states.collect(),
    }
});

impl Words {
    pub fn of(language: &str) -> Option<&'static Words> {
        ALL.languages
            .iter()
            .find(|words| words.language == language)
    }

    /// What joins two clauses.
    pub fn join(&self) -> &'static str {
        match self.language {
            "de" => " und ",
            "fr" => " et ",
            "es" => " y ",
            _ => " and ",
        }
    }

    pub fn has(&self, kind: &str, text: &str) -> bool {
        self.patterns
            .iter()
            .any(|(of, pattern)| *of == kind && fits(pattern, text))
    }

    /// The text without what a kind's patterns fit.
    pub fn without(&self, kind: &str, text: &str) -> String {
        let patterns = self.patterns.iter().filter(|(of, _)| *of == kind);
        patterns.fold(text.to_owned(), |text, (_, pattern)| {
            pattern.replace_all(&text, " ").into_owned()
        })
    }

    /// The same of any language, for texts of programs.
    pub fn in_any(kind: &str, text: &str) -> bool {
        ALL.languages.iter().any(|words| words.has(kind, text))
    }

    /// The class of this name.
    pub fn class(&'static self, name: &str) -> Option<&'static Class> {
        self.classes.iter().find(|class| class.name == name)
    }

    /// The classes of the acts that a text tells.
    pub fn told(&'static self, text: &str) -> impl Iterator<Item = &'static Class> {
        let told = |class: &&Class| class.told.as_ref().is_some_and(|told| fits(told, text));
        self.classes.iter().filter(told)
    }

    /// Whether a text tells a state that a result, in lower case, holds.
    pub fn is_so(text: &str, result: &str) -> bool {
        let mut told = ALL.states.iter().filter(|state| state.is_told(text));
        told.any(|state| state.is_held(result))
    }

    /// Whether a text tells a state while a result, in lower case, holds a rival of it and not it.
    pub fn is_otherwise(text: &str, result: &str) -> bool {
        let told = ALL.states.iter().filter(|state| state.is_told(text));
        let mut rivals = told.filter(|told| {
            let group = ALL.states.iter().filter(|state| state.group == told.group);
            let held: Vec<&State> = group.filter(|state| state.is_held(result)).collect();
            !held.is_empty() && !held.iter().any(|held| std::ptr::eq(*held, *told))
        });
        rivals.next().is_some()
    }

    /// What a text speaks of.
    pub fn nouns(text: &str) -> Vec<&'static str> {
        let nouns = ALL.nouns.iter().filter(|(_, pattern)| fits(pattern, text));
        nouns.map(|(noun, _)| *noun).collect()
    }

    /// Whether the words of a tool's name tell what it does.
    pub fn is_known(tool: &str) -> bool {
        ALL.tools.iter().any(|pattern| fits(pattern, tool))
    }
}

/// Rows that are no pattern.
#[cfg(test)]
pub(super) fn broken() -> Vec<&'static str> {
    let patterns = rows(PATTERNS).filter(|row| Regex::new(row.2).is_err());
    let acts = rows(ACTS).filter(|row| whole(row.2).is_none());
    let states = rows(STATES).filter(|row| {
        let forms = row.2.split_once('\t');
        forms.is_none_or(|(told, held)| whole(told).is_none() || Regex::new(held).is_err())
    });
    patterns
        .chain(acts)
        .chain(states)
        .map(|row| row.2)
        .collect()
}
