//! Files that a project keeps or a colleague sends: settings, a baseline of findings, learnings, a catalog, YAML. The first byte says
//! which. Refused with a place, or read; what is written again reads the same.
#![no_main]

use agentctl::config::{Origin, read};
use agentctl_n8n::catalog::Catalog;
use agentctl_qa::Baseline;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((kind, bytes)) = data.split_first() else {
        return;
    };
    if kind % 5 == 0 {
        if let Ok(catalog) = Catalog::from_bytes(bytes) {
            for name in catalog.types().map(str::to_owned).collect::<Vec<_>>() {
                let _ = catalog.lookup(&name, None);
            }
        }
        return;
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let lines = text.lines().count() + 1;
    match kind % 5 {
        1 => {
            for origin in [Origin::User, Origin::Project] {
                if let Err(error) = read(text, "agentctl.toml", origin) {
                    assert!(error.line <= lines, "{error:?} is behind the end");
                }
            }
        }
        2 => {
            if let Ok(baseline) = Baseline::read(text) {
                let again = baseline.to_text();
                assert_eq!(
                    Baseline::read(&again).expect("what was written").to_text(),
                    again
                );
            }
        }
        3 => {
            let (entries, _) = agentctl_knowledge::parse(text);
            assert!(entries.len() <= lines, "more entries than lines");
        }
        _ => {
            if let Err(problem) = agentctl_base::yaml::read(text, "a.yaml") {
                assert!(
                    problem.place.line <= lines as u64,
                    "{problem} is behind the end"
                );
            }
        }
    }
});
