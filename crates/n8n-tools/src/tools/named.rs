//! Whether a request names a workflow that is there as the one to change: by the word workflow and its name beside it. Of another
//! thing of that name (a sheet, a channel), or of a workflow that is only to be run, nothing follows.

/// Names that nobody gave.
const DEFAULTS: [&str; 2] = ["new workflow", "my workflow"];
/// Words before a workflow that is to be run.
const RUNS: [&str; 5] = ["run", "call", "execute", "start", "trigger"];
const RUNS_OTHERWISE: [&str; 6] = ["runs", "calls", "executes", "starts", "triggers", "running"];
const RUNS_DE: [&str; 7] = [
    "starte", "startet", "starten", "ruft", "rufe", "führe", "aufrufen",
];
const QUOTES: [char; 9] = ['"', '\'', '“', '”', '„', '«', '»', '`', '’'];
/// So many words before its name are looked at.
const BEFORE: usize = 4;

/// Whether a request says to change the workflow of this name.
#[must_use]
pub fn names(request: &str, name: &str) -> bool {
    let (request, name) = (request.to_lowercase(), name.trim().to_lowercase());
    if name.is_empty() || DEFAULTS.iter().any(|default| is_default(&name, default)) {
        return false;
    }
    request
        .match_indices(&name)
        .any(|(at, _)| is_meant(&request, at, at + name.len()))
}

/// Also with the number of a copy behind it.
fn is_default(name: &str, default: &str) -> bool {
    let rest = name.strip_prefix(default).map(str::trim);
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}

fn is_meant(request: &str, from: usize, to: usize) -> bool {
    let (before, after) = (
        request.get(..from).unwrap_or_default(),
        request.get(to..).unwrap_or_default(),
    );
    if before.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric) {
        return false;
    }
    let apart = |c: char| c.is_whitespace() || QUOTES.contains(&c) || matches!(c, ':' | '(' | '-');
    let words: Vec<&str> = before
        .split(apart)
        .filter(|word| !word.is_empty())
        .collect();
    let mut last = words.iter().rev();
    let led = match last.next() {
        Some(&"named" | &"called" | &"namens") => last.next(),
        other => other,
    };
    let follows = after.trim_start_matches(apart);
    let one = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    let beside = led.is_some_and(|word| *word == "workflow")
        || follows.strip_prefix("workflow").is_some_and(one);
    let runs =
        words.iter().rev().take(BEFORE).any(|word| {
            RUNS.contains(word) || RUNS_OTHERWISE.contains(word) || RUNS_DE.contains(word)
        });
    beside && !runs
}

#[cfg(test)]
mod named_tests {
    use super::*;

    #[test]
    fn a_workflow_is_named_beside_that_word() {
        for request in [
            "Add a Slack message to #dev to the workflow Repair two",
            "Change the workflow \"Repair two\": post to #qa instead",
            "In my \"Repair two\" workflow post to #qa",
            "Ändere den Workflow „Repair two“: schreibe nach #qa",
            "change the workflow named Repair Two",
        ] {
            assert!(names(request, "Repair two"), "{request}");
        }
        for request in [
            "Write to the sheet \"Repair two\"",
            "Every hour run the workflow \"Repair two\"",
            "Change the workflow Repair twofold",
            "Repair two things",
            "Repair two workflows",
        ] {
            assert!(!names(request, "Repair two"), "{request}");
        }
        assert!(!names(
            "Make a new workflow. Every hour GET https://x.example",
            "New workflow"
        ));
        assert!(!names(
            "Change the workflow New workflow 2",
            "New workflow 2"
        ));
    }
}
