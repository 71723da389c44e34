//! Hints name commands that exist: each `agentctl …` of a text of the program, of its data files and of the pages is a command, with the
//! options that stand behind it.

use super::names::{sources, texts};
use agentctl::cli::Cli;
use clap::{Command, CommandFactory as _};
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const CALLED: &str = "agentctl ";

/// What is wrong with a command as a text names it, without its first word. `certain`: it is a command and no sentence about the
/// program, as "agentctl reads only" is one.
fn wrong(named: &str, certain: bool) -> Option<String> {
    let whole = Cli::command();
    let mut command: &Command = &whole;
    let mut words = named.split_whitespace();
    while let Some(word) = words.next() {
        if let Some(option) = word
            .strip_prefix("--")
            .filter(|_| command.has_subcommands())
        {
            let mut all = whole.get_arguments();
            match all.find(|arg| arg.get_long() == Some(option)) {
                Some(option) if option.get_action().takes_values() => drop(words.next()),
                _ => {}
            }
            continue;
        }
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_name = !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        match command.find_subcommand(word) {
            Some(found) => command = found,
            None if certain && is_name && command.has_subcommands() => {
                return Some(format!("{} has no command {word:?}", command.get_name()));
            }
            None => break,
        }
    }
    // A sentence.
    if command.get_name() == whole.get_name() {
        return None;
    }
    let known = |name: &str| {
        let mut all = command.get_arguments().chain(whole.get_arguments());
        name == "help" || all.any(|arg| arg.get_long() == Some(name))
    };
    let options =
        named.split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
    let mut options = options
        .filter_map(|word| word.strip_prefix("--"))
        .filter(|name| !name.is_empty());
    let unknown = options.find(|name| !known(name))?;
    Some(format!("{} has no option --{unknown}", command.get_name()))
}

/// The commands that a text names, each up to where it ends, and whether it is certainly one.
fn named(text: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(CALLED).map(|at| from + at) {
        from = at + CALLED.len();
        let quoted = text[..at].ends_with('`');
        let ends = |c: char| {
            if quoted {
                c == '`'
            } else {
                matches!(c, '`' | ';' | '\n' | '"' | '\\')
            }
        };
        let rest = &text[from..];
        let rest = rest.split(ends).next().unwrap_or(rest);
        found.push((rest.split(CALLED).next().unwrap_or(rest), quoted));
    }
    found
}

fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let ending = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        if path.is_dir() {
            files(&path, endings, found);
        } else if endings.contains(&ending) {
            found.push(path);
        }
    }
}

#[test]
fn every_command_that_a_text_or_a_page_names_is_one() {
    let root = Path::new(ROOT);
    let (mut rust, mut others) = (Vec::new(), Vec::new());
    for folder in ["src", "crates"] {
        sources(&root.join(folder), &mut rust);
        files(
            &root.join(folder),
            &["toml", "tsv", "yaml", "md"],
            &mut others,
        );
    }
    for folder in ["packs", "agents", "skills", "docs", "site", "packaging"] {
        files(
            &root.join(folder),
            &["toml", "tsv", "yaml", "md"],
            &mut others,
        );
    }
    others.push(root.join("README.md"));
    others.push(root.join("CONTRIBUTING.md"));
    let mut count = 0;
    let mut found = Vec::new();
    let mut look = |path: &Path, text: &str, only_quoted: bool| {
        for (command, quoted) in named(text)
            .into_iter()
            .filter(|(_, quoted)| *quoted || !only_quoted)
        {
            count += 1;
            let what = wrong(command, quoted);
            found.extend(what.map(|what| format!("{}: {what}: {command}", path.display())));
        }
    };
    for path in rust
        .iter()
        .filter(|path| !path.components().any(|part| part.as_os_str() == "tests"))
    {
        for text in texts(&std::fs::read_to_string(path).unwrap()) {
            look(path, &text, false);
        }
    }
    for path in &others {
        look(path, &std::fs::read_to_string(path).unwrap(), true);
    }
    assert!(count > 700, "only {count} were found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_command_that_does_not_exist_is_seen() {
    assert_eq!(wrong("runs list --limit 5", true), None);
    assert_eq!(wrong("--output-format json runs show RUN", true), None);
    assert_eq!(wrong("reads what it is given", false), None);
    for (named, what) in [
        ("rnus list", "agentctl has no command \"rnus\""),
        ("runs forget RUN", "runs has no command \"forget\""),
        ("runs prune --all", "prune has no option --all"),
    ] {
        assert_eq!(wrong(named, true).as_deref(), Some(what));
    }
    let text = "hint: `agentctl log RUN` shows it; agentctl undo RUN --to N, agentctl status";
    let expected = [
        ("log RUN", true),
        ("undo RUN --to N, ", false),
        ("status", false),
    ];
    assert_eq!(named(text), expected);
}
