use super::learnings_tests::project;
use super::*;

/// Every word of the source is somewhere in the file that it became, and the report names lines that there are.
fn import(source: &str) -> (Vec<Learning>, Imported) {
    let (dir, learnings) = project();
    let imported = learnings.import(source, "notes.md", "2026-01-02").unwrap();
    let text = learnings.text().unwrap();
    let kept = text.to_lowercase();
    let words = source.split(|c: char| !c.is_alphanumeric());
    for word in words.filter(|w| w.chars().count() > 1) {
        let word = word.to_lowercase();
        assert!(
            kept.contains(&word) || NAMES.contains(&word.as_str()),
            "{word:?} is lost:\n{text}"
        );
    }
    let lines = source.lines().count();
    assert!(
        imported
            .unread
            .iter()
            .all(|(line, _)| (1..=lines).contains(line))
    );
    let (entries, faults) = learnings.all().unwrap();
    assert_eq!(
        faults
            .iter()
            .filter(|f| !f.message.contains("is empty") && !f.message.contains("`date` is missing"))
            .collect::<Vec<_>>(),
        [] as [&Fault; 0],
        "{text}"
    );
    let again = learnings.import(source, "notes.md", "2026-01-02").unwrap();
    assert!(again.entries.iter().all(|e| e.known), "{again:?}");
    assert_eq!(learnings.text().unwrap(), text, "twice adds nothing");
    drop(dir);
    (entries, imported)
}

/// Names of fields, which become our own, and the title of a file.
const NAMES: [&str; 23] = [
    "root", "why", "what", "do", "symptom", "issue", "fix", "ursache", "lösung", "fehler", "id",
    "to", "title", "lesson", "jan", "04", "2025", "mar", "l", "001", "log", "no", "learning",
];

fn active(entries: &[Learning]) -> Vec<(&str, &str)> {
    let active = entries.iter().filter(|e| e.is_active());
    active.map(|e| (e.id.as_str(), e.title.as_str())).collect()
}

#[test]
fn front_matter_fences_and_ids_that_stand_twice() {
    let (entries, imported) = import(
        "---\ntags: [a, b]\n---\n\n# Learnings\n\n## L-042: Tabs\n\n**Problem:** none found\n**Root cause**: plain string\n**Solution:** a locator\n\n\
         ```yaml\n# not a heading\n## L-999: nor this\nkey: value\n```\n\n## L-042: Again\nProblem: other\nFix: do that\n",
    );
    assert_eq!(active(&entries), [("L-042", "Tabs"), ("L-043", "Again")]);
    assert_eq!(imported.entries[1].was.as_deref(), Some("L-042"));
    assert!(entries[0].solution.contains("## L-999: nor this"));
    assert_eq!(
        imported.unread[..3]
            .iter()
            .map(|(l, _)| *l)
            .collect::<Vec<_>>(),
        [1, 2, 3],
        "the front matter is told by its lines"
    );
}

#[test]
fn dates_in_brackets_and_other_languages() {
    let (entries, _) = import(
        "### [2025-03-04] Webhook body\nWe lost an hour.\n\n- Cause: below body\n- Solution: read it there\n\n\
         ### [2025-03-05] Zeitüberschreitung – größer\nÜberraschung.\n- **Ursache:** zu klein\n- **Lösung:** erhöhen\n",
    );
    assert_eq!(
        active(&entries),
        [
            ("L-001", "Webhook body"),
            ("L-002", "Zeitüberschreitung – größer")
        ]
    );
    assert_eq!(
        (
            entries[1].cause.as_str(),
            entries[1].solution.as_str(),
            entries[1].date.as_deref()
        ),
        ("zu klein", "erhöhen", Some("2025-03-05"))
    );
}

#[test]
fn rows_of_a_table() {
    let (entries, imported) = import(
        "# Log\r\n\r\n| ID | Problem | Cause | Solution | Owner |\r\n|---|---|:-:|---|---|\r\n| L-007 | Slack 404 | renamed \\| moved | use ids | ann |\r\n\
         | L-008 | Sheet empty | wrong tab | pick it | |\r\n\r\nThat is all.\r\n",
    );
    assert_eq!(
        active(&entries),
        [("L-007", "Slack 404"), ("L-008", "Sheet empty")]
    );
    assert_eq!(
        (entries[0].cause.as_str(), entries[0].notes.as_deref()),
        ("renamed | moved", Some("Owner: ann"))
    );
    assert_eq!(imported.entries[1].line, 6);
    assert_eq!(imported.unread.last().unwrap().0, 8);
}

#[test]
fn underlined_headings_items_with_ids_and_pictures() {
    let (entries, _) = import(
        "Notes\n=====\n\nL-001: Setext heading\n---------------------\n\nProblem: setext\nCause: c1\nSolution: s1\n\nsee also\n\n- L-002 for more\n",
    );
    assert_eq!(active(&entries), [("L-001", "Setext heading")]);
    assert!(
        entries[0]
            .notes
            .as_deref()
            .unwrap_or("")
            .contains("L-002 for more")
            || entries[0].solution.contains("L-002 for more")
    );
    let (entries, _) = import(
        "1. **L-010** (2025-01-02): Numbered entry\n   Problem: x1\n   1. nested\n2. **L-011**: Second\n\n## 🚀 [L-012] — Rocket 🎉\n> Problem: quoted\n> Cause: also\n",
    );
    assert_eq!(
        active(&entries),
        [
            ("L-010", "Numbered entry"),
            ("L-011", "Second"),
            ("L-012", "Rocket 🎉")
        ]
    );
    assert_eq!(
        (entries[0].date.as_deref(), entries[2].problem.as_str()),
        (Some("2025-01-02"), "quoted")
    );
}

#[test]
fn byte_order_mark_details_comments_and_broken_fences() {
    let (entries, _) =
        import("\u{feff}## L-7 - Mark first\r\n\r\nproblem: x1\r\ncause: y1\r\nsolution: z1\r\n");
    assert_eq!(active(&entries), [("L-007", "Mark first")]);
    let (entries, imported) = import(
        "<details>\n<summary>hidden</summary>\n</details>\n<!-- ## L-004: comment -->\n\n## L-99999999999: too big\n- problem: d1\n\n##L-3: no space\n\n\
         ~~~\nunclosed\n## L-5: inside\n- problem: g1\n",
    );
    assert_eq!(
        active(&entries),
        [("L-006", "L-99999999999: too big"), ("L-005", "inside")]
    );
    assert_eq!(
        imported
            .unread
            .iter()
            .filter(|(_, what)| what.contains("belongs to no entry"))
            .map(|(l, _)| *l)
            .collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
}
