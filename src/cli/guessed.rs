//! What people guess. An unknown option of the list (`guessed.tsv`) is told by the option that does what was meant, where the command has
//! it; an unknown command by those of the same name that stand below another.

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
    let (of, instead) = match error.kind() {
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        ErrorKind::InvalidSubcommand => (
            ContextKind::InvalidSubcommand,
            ContextKind::SuggestedSubcommand,
        ),
        _ => return error,
    };
    let Some(ContextValue::String(typed)) = error.get(of) else {
        return error;
    };
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => {
            let typed = typed.split('=').next().unwrap_or(typed);
            meant(typed, args, whole).map(str::to_owned)
        }
        _ => below(typed, &whole),
    };
    let Some(tip) = tip else {
        return error;
    };
    error.remove(instead);
    let tip = StyledStr::from(format!("here it is {tip}"));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    error
}

/// More commands of one name than these are no help: `list` is everywhere.
const MOST_BELOW: usize = 2;

/// The commands of this name that stand below another.
fn below(typed: &str, whole: &Command) -> Option<String> {
    let groups = whole.get_subcommands().filter(|group| {
        let mut below = group.get_subcommands();
        below.any(|command| command.get_name() == typed)
    });
    let found: Vec<String> = groups
        .map(|group| format!("`{} {typed}`", group.get_name()))
        .collect();
    let some = !found.is_empty() && found.len() <= MOST_BELOW;
    some.then(|| found.join(" or "))
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
    fn a_command_that_stands_below_another_is_told_there() {
        let found = |typed: &str| below(typed, &Cli::command());
        assert_eq!(found("activate").as_deref(), Some("`workflows activate`"));
        assert_eq!(
            found("verify").as_deref(),
            Some("`runs verify` or `a2a verify`")
        );
        assert_eq!((found("list"), found("frobnicate")), (None, None));
        let args = ["agentctl", "activate", "orders"].map(OsString::from);
        let error = Cli::command().try_get_matches_from(&args).unwrap_err();
        let told = explained(error, &args, Cli::command()).to_string();
        assert!(
            told.contains("tip: here it is `workflows activate`"),
            "{told}"
        );
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
