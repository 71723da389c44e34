//! Options that people guess (`guessed.tsv`): an unknown one of the list is told by the option that does what was meant, where the
//! command has it.

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

const LIST: &str = include_str!("guessed.tsv");

struct Guess {
    typed: &'static str,
    /// The long name of the option that does it.
    option: &'static str,
    written: &'static str,
}

fn guesses() -> impl Iterator<Item = Guess> {
    let lines = LIST.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut cells = line.split('\t');
        Some(Guess {
            typed: cells.next()?,
            option: cells.next()?,
            written: cells.next()?,
        })
    })
}

/// The error with the option that was meant in place of the parser's own guess.
pub fn explained(mut error: clap::Error, args: &[OsString], whole: Command) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let typed = typed.split('=').next().unwrap_or(typed).to_owned();
    let Some(written) = meant(&typed, args, whole) else {
        return error;
    };
    error.remove(ContextKind::SuggestedArg);
    let tip = StyledStr::from(format!("here it is {written}"));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    error
}

fn meant(typed: &str, args: &[OsString], mut whole: Command) -> Option<&'static str> {
    // Options that count everywhere are known to each command then.
    whole.build();
    let mut command = &whole;
    for word in args.iter().skip(1).filter_map(|word| word.to_str()) {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    let has = |option: &str| {
        let mut all = command.get_arguments();
        all.any(|arg| arg.get_long() == Some(option))
    };
    let mut fitting = guesses().filter(|guess| guess.typed == typed && has(guess.option));
    Some(fitting.next()?.written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory as _;
    use std::collections::BTreeSet;

    fn options(command: &Command, into: &mut BTreeSet<String>) {
        into.extend(
            command
                .get_arguments()
                .filter_map(|arg| arg.get_long())
                .map(str::to_owned),
        );
        command
            .get_subcommands()
            .for_each(|below| options(below, into));
    }

    #[test]
    fn every_row_names_an_option_that_some_command_has() {
        let mut known = BTreeSet::new();
        options(&Cli::command(), &mut known);
        let rows = LIST.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(rows.count(), guesses().count(), "a row has not three cells");
        for guess in guesses() {
            assert!(
                known.contains(guess.option),
                "--{} is nowhere",
                guess.option
            );
            let first = guess.written.split(' ').next().unwrap();
            let long = first.strip_prefix("--");
            assert!(long.is_none_or(|long| long == guess.option), "{first}");
            assert!(guess.typed.starts_with('-'), "{}", guess.typed);
        }
    }

    #[test]
    fn a_guess_is_told_where_the_command_has_what_is_meant() {
        let tip = |line: &str| {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let typed = line.split(' ').find(|word| word.starts_with('-')).unwrap();
            meant(typed, &args, Cli::command())
        };
        for (line, wanted) in [
            ("agentctl build x --json", Some("--output-format json")),
            (
                "agentctl runs list --format json",
                Some("--output-format json"),
            ),
            ("agentctl build x --dry-run", Some("--plan")),
            ("agentctl undo --preview", Some("--plan")),
            ("agentctl qa --preview w", Some("--dry-run")),
            ("agentctl build --request-file r.txt", Some("-f FILE")),
            (
                "agentctl runs list --outcome waiting",
                Some("--status STATUS"),
            ),
            ("agentctl doctor --request-file r.txt", None),
            ("agentctl build x --frobnicate", None),
        ] {
            assert_eq!(tip(line), wanted, "{line}");
        }
    }
}
