//! Lines on a terminal: one that is too long goes on below itself at the next word, under its own margin. All text for people comes
//! through here on its way to a terminal; a pipe gets each line whole.

use console::{Term, measure_text_width};
use std::borrow::Cow;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// A terminal narrower than this is written to as if it were so wide.
const NARROWEST: u16 = 20;

/// How far a line goes on to the right of where it began.
const HANGING: &str = "  ";

/// Stands before a margin that is cut.
const MORE: &str = "…";

/// As stdout shows it.
pub fn for_stdout(text: &str) -> Cow<'_, str> {
    on(&Term::stdout(), text)
}

/// As stderr shows it.
pub fn for_stderr(text: &str) -> Cow<'_, str> {
    on(&Term::stderr(), text)
}

/// How wide the terminal is that stdout goes to; None: it goes to none.
#[cfg(feature = "full")]
pub fn columns() -> Option<u16> {
    width(&Term::stdout()).map(|columns| columns.max(NARROWEST))
}

/// None: it is no terminal.
fn width(terminal: &Term) -> Option<u16> {
    let size = terminal.size_checked().filter(|_| terminal.is_term());
    size.map(|(_, columns)| columns)
}

/// A question as a prompt shows it, which puts two characters before it.
#[cfg(feature = "full")]
pub fn question(text: &str) -> String {
    match Term::stderr().size_checked() {
        Some((_, columns)) => fitted(text, columns.saturating_sub(2)).into_owned(),
        None => text.to_owned(),
    }
}

/// An answer as a prompt shows it again behind its question: where it does not fit there, it stands below.
#[cfg(feature = "full")]
pub fn answer(question: &str, answer: &str) -> String {
    match Term::stderr().size_checked() {
        Some((_, columns)) => behind(question, answer, columns),
        None => answer.to_owned(),
    }
}

#[cfg(feature = "full")]
fn behind(question: &str, answer: &str, columns: u16) -> String {
    let last = question.lines().last().unwrap_or_default();
    // The prompt's mark with a blank, and one before the answer.
    let room = usize::from(columns).saturating_sub(measure_text_width(last) + 3);
    match measure_text_width(answer) <= room {
        true => answer.to_owned(),
        false => format!("\n{}", fitted(&format!("{HANGING}{answer}"), columns)),
    }
}

fn on<'a>(terminal: &Term, text: &'a str) -> Cow<'a, str> {
    match width(terminal) {
        Some(columns) => fitted(text, columns),
        None => Cow::Borrowed(text),
    }
}

/// The text with no line longer than `width`, but for words that are longer themselves: a path or an address stays one word.
pub fn fitted(text: &str, width: u16) -> Cow<'_, str> {
    let width = usize::from(width.max(NARROWEST));
    if text.lines().all(|line| measure_text_width(line) <= width) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        if measure_text_width(line) <= width {
            out.push_str(line);
        } else {
            out.push_str(&folded(line, width));
        }
        out.push_str(end);
    }
    Cow::Owned(out)
}

fn folded(line: &str, width: usize) -> String {
    let (margin, rest) = margin(line);
    let margin = &*shortened(margin, width / 2 - HANGING.len());
    let mut below: String = margin.chars().map(continued).collect();
    below.push_str(HANGING);
    // A margin that leaves no room is none.
    if measure_text_width(&below) > width / 2 {
        below = HANGING.to_owned();
    }
    let options = Options::new(width)
        .initial_indent(margin)
        .subsequent_indent(&below)
        .break_words(false)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(rest, options)
}

/// Blanks and the strokes of a tree, which stand before the words of a line.
fn margin(line: &str) -> (&str, &str) {
    let end = line.find(|c: char| c != ' ' && !is_stroke(c));
    line.split_at_checked(end.unwrap_or(line.len()))
        .unwrap_or(("", line))
}

fn is_stroke(c: char) -> bool {
    matches!(c, '│' | '├' | '└' | '─')
}

/// A tree's margin of more than `most` columns leaves no room for words: its end, behind a mark that more belongs before it.
fn shortened(margin: &str, most: usize) -> Cow<'_, str> {
    let long = margin.chars().count();
    if long <= most || !margin.contains(is_stroke) {
        return Cow::Borrowed(margin);
    }
    let end = margin.chars().skip(long - most + MORE.chars().count());
    Cow::Owned(MORE.chars().chain(end).collect())
}

/// What stands below a character of the margin: a branch goes on to the next one.
fn continued(c: char) -> char {
    match c {
        '│' | '├' => '│',
        _ => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_line_goes_on_under_its_own_margin() {
        let text = "file: workflows/a.json (imports into n8n as it is)\n  - [GitHub: Get many] connect a credential: GitHub API\n├─ Success → Collect into one item · aggregate (all of them)\n│  └─ Slack: Send message · slack (message, post, #dev)\nshort\n";
        insta::assert_snapshot!(fitted(text, 30), @"
        file: workflows/a.json
          (imports into n8n as it is)
          - [GitHub: Get many] connect
            a credential: GitHub API
        ├─ Success → Collect into one
        │    item · aggregate (all of
        │    them)
        │  └─ Slack: Send message ·
        │       slack (message, post,
        │       #dev)
        short
        ");
        assert_eq!(fitted(text, 200), text);
        let address = "see https://example.com/a/very/long/path/that/stays/one/word there";
        insta::assert_snapshot!(fitted(address, 30), @"
        see
          https://example.com/a/very/long/path/that/stays/one/word
          there
        ");
    }

    #[test]
    fn a_margin_that_leaves_no_room_shows_its_end() {
        let line = format!("{}├─ Slack: Send message\n", "│  ".repeat(20));
        insta::assert_snapshot!(fitted(&line, 30), @"
        …│  │  │  ├─ Slack: Send
         │  │  │  │    message
        ");
        assert_eq!(fitted(&line, 200), line);
    }

    #[test]
    #[cfg(feature = "full")]
    fn an_answer_that_does_not_fit_behind_its_question_stands_below_it() {
        let said = "modify orders-to-slack – the same trigger and service  [recommended]";
        insta::assert_snapshot!(behind("Build or change?", said, 40), @"

          modify orders-to-slack – the same
            trigger and service  [recommended]
        ");
        assert_eq!(behind("Build or change?", "build", 40), "build");
        assert_eq!(
            behind("a line\nBuild?", "x".repeat(31).as_str(), 40).len(),
            31
        );
        assert!(behind("a line\nBuild?", "x".repeat(32).as_str(), 40).starts_with('\n'));
    }

    #[test]
    fn colours_take_no_room() {
        let text = "\u{1b}[1mbold words\u{1b}[0m and some more";
        assert_eq!(fitted(text, 24), text);
        assert_eq!(
            fitted(text, 20),
            "\u{1b}[1mbold words\u{1b}[0m and some\n  more"
        );
    }

    proptest! {
        #[test]
        fn only_blanks_become_line_ends(text in "[ a-z│├└─\n]{0,200}", width in 1u16..80) {
            let words = |text: &str| -> Vec<String> {
                let ends = |c: char| c.is_whitespace() || is_stroke(c) || MORE.contains(c);
                text.split(ends).filter(|w| !w.is_empty()).map(str::to_owned).collect()
            };
            let fitted = fitted(&text, width);
            prop_assert_eq!(words(&fitted), words(&text));
            for line in fitted.lines() {
                let (margin, rest) = margin(line.trim_start_matches(MORE));
                let room = usize::from(width.max(NARROWEST));
                let is_one = !rest.trim().contains(' ');
                prop_assert!(measure_text_width(line.trim_end()) <= room || is_one, "{margin:?} {line:?}");
            }
        }
    }
}
