//! Files that a project keeps or a colleague sends: settings, a baseline of findings, learnings, a catalog, YAML, a recording,
//! requests of a bench, a workflow that was pulled. The first byte says which. Refused with a place, or read; what is written again reads the same.
#![no_main]

use agentctl::config::{Origin, read};
use agentctl_models::tape::Tape;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n_tools::sync::Local;
use agentctl_qa::Baseline;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((kind, bytes)) = data.split_first() else {
        return;
    };
    if kind % 8 == 0 {
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
    // A carriage return alone ends a line of YAML.
    let lines = text.matches(['\n', '\r']).count() + 1;
    match kind % 8 {
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
        4 => {
            if let Err(problem) = agentctl_base::yaml::read(text, "a.yaml") {
                assert!(
                    problem.place.line <= lines as u64,
                    "{problem} is behind the end"
                );
            }
        }
        5 => {
            let file = std::env::temp_dir().join(format!("agentctl-fuzz-{}", std::process::id()));
            std::fs::write(&file, text).expect("a file of its own");
            let replayed = Tape::replay(&file, Box::new(str::to_owned));
            std::fs::remove_file(&file).expect("it was written");
            // A recording of which nothing was asked is not whole, and says so.
            if let Ok(tape) = replayed {
                let _ = tape.finish(true);
            }
        }
        6 => {
            if let Err(error) = agentctl_bench::read(text) {
                assert!(error.line <= lines, "{error:?} is behind the end");
            }
        }
        _ => {
            let Ok(value) = serde_json::from_str(text) else {
                return;
            };
            if let Ok(local) = Local::read(value) {
                let _ = (
                    local.is_changed(),
                    local.place(None),
                    local.place(Some("x")),
                );
            }
        }
    }
});
