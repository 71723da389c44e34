//! `.mcp.json`: any text is read or refused with a place in it, and no variable's value is printed with it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;

const VALUE: &str = "Zq7-value-of-the-variable-93x";

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    // Who writes the value into the file sees it again: that is no variable's.
    if text.contains(VALUE) {
        return;
    }
    let variable = |name: &str| (name != "UNSET").then(|| VALUE.to_owned());
    let Ok(config) = agentctl_mcp::parse(text, Path::new(agentctl_mcp::FILE), &variable) else {
        return;
    };
    let lines = text.lines().count().max(1);
    for note in config.problems.iter().chain(&config.warnings) {
        assert!(note.line <= lines, "{note:?} is behind the end");
        assert!(
            !note.message.contains(VALUE),
            "a value in a message: {note:?}"
        );
    }
    let mut names: Vec<&str> = config.servers.iter().map(|s| s.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), config.servers.len(), "two servers of one name");
    assert!(
        !format!("{config:?}").contains(VALUE),
        "a value in the debug form"
    );
});
