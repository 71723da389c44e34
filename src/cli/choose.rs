//! One of a list, several of it, or a line of text, at the terminal: with a cursor that moves (crate inquire) or, where a terminal
//! takes nothing but lines (`TERM=dumb`), by numbers and without an escape.

use super::attended::attended;
use super::{signals, streams};
use inquire::error::InquireError;
use std::io::BufRead as _;
use std::sync::mpsc;
use std::time::Duration;

/// How often is looked whether somebody stopped the program while a line is awaited.
const LOOK: Duration = Duration::from_millis(100);

/// Whether the terminal takes nothing but lines.
pub(super) fn only_lines() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The index of one of `labels`; the cursor stands on `start`.
pub(super) fn one<T: ToString>(
    text: &str,
    labels: &[T],
    start: usize,
) -> Result<usize, InquireError> {
    let labels: Vec<String> = labels.iter().map(T::to_string).collect();
    if only_lines() {
        return numbered(text, &labels, start);
    }
    let asked = inquire::Select::new(text, labels)
        .with_starting_cursor(start)
        .with_scorer(&score);
    attended(|| asked.raw_prompt()).map(|chosen| chosen.index)
}

/// A line of text.
pub(super) fn text(question: &str) -> Result<String, InquireError> {
    match only_lines() {
        true => line(&format!("{question} ")),
        false => attended(|| inquire::Text::new(question).prompt()),
    }
}

/// What is typed at a list is first the beginning of a label ("n" is "No, …"), then letters somewhere in one.
pub(super) fn score(filter: &str, label: &String, shown: &str, index: usize) -> Option<i64> {
    const BEGINS: i64 = 1 << 32;
    let score = inquire::Select::<String>::DEFAULT_SCORER(filter, label, shown, index)?;
    let begins = label.to_lowercase().starts_with(&filter.to_lowercase());
    Some(score + if begins { BEGINS } else { 0 })
}

/// The list with a number before each, and a line with one of them; an empty line takes `start`.
fn numbered(text: &str, labels: &[String], start: usize) -> Result<usize, InquireError> {
    list(text, labels);
    loop {
        let typed = line(&format!("a number (Enter: {}): ", start + 1))?;
        if typed.trim().is_empty() {
            return Ok(start);
        }
        match number(&typed, labels) {
            Some(index) => return Ok(index),
            None => streams::tell(&format!("type a number from 1 to {}\n", labels.len())),
        }
    }
}

/// A list with the numbers that are typed for its lines.
pub(super) fn list(text: &str, labels: &[String]) {
    streams::tell(&format!("? {text}\n"));
    for (index, label) in labels.iter().enumerate() {
        streams::tell(&format!("  {}) {label}\n", index + 1));
    }
}

/// The index that a number means, or a word with which one label alone begins.
pub(super) fn number(typed: &str, labels: &[String]) -> Option<usize> {
    let typed = typed.trim().to_lowercase();
    if let Ok(number) = typed.parse::<usize>() {
        return number.checked_sub(1).filter(|index| *index < labels.len());
    }
    let begins = |label: &String| !typed.is_empty() && label.to_lowercase().starts_with(&typed);
    let mut all = (0..labels.len()).filter(|index| labels.get(*index).is_some_and(begins));
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// A line as it was typed, without its end. Cancelled: the end of input, as Escape is elsewhere.
pub(super) fn line(ask: &str) -> Result<String, InquireError> {
    streams::tell(ask);
    let (sender, typed) = mpsc::channel();
    let reader = std::thread::Builder::new().name("line".to_owned());
    reader
        .spawn(move || {
            let mut line = String::new();
            let read = std::io::stdin().lock().read_line(&mut line);
            // Nobody waits for it any more where the program is at its end.
            drop(sender.send(read.map(|bytes| (bytes > 0).then_some(line))));
        })
        .map_err(InquireError::IO)?;
    attended(|| {
        loop {
            match typed.recv_timeout(LOOK) {
                Ok(Ok(Some(line))) => return Ok(line.trim_end_matches(['\r', '\n']).to_owned()),
                Ok(Ok(None)) => return Err(InquireError::OperationCanceled),
                Ok(Err(error)) => return Err(InquireError::IO(error)),
                Err(mpsc::RecvTimeoutError::Timeout) if signals::is_stopping() => {
                    return Err(InquireError::OperationInterrupted);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(InquireError::OperationCanceled);
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_first_the_beginning_of_a_label() {
        let labels = ["Yes, write it", "Change something", "No, leave it"];
        let labels = labels.map(str::to_owned);
        let best = |typed: &str| {
            let score = |(index, label)| score(typed, label, label, index);
            let all = labels.iter().enumerate();
            all.max_by_key(|one| score(*one)).map(|(index, _)| index)
        };
        assert_eq!(["y", "c", "n", "thing"].map(best), [0, 1, 2, 1].map(Some));
        let number = |typed: &str| number(typed, &labels);
        assert_eq!(
            ["2", "no", "0", "4", "", "maybe"].map(number),
            [Some(1), Some(2), None, None, None, None]
        );
    }
}
