//! flow.yaml: every mistake has a place in the file, and of what is accepted the first action is known and it can be drawn.
#![no_main]

use agentctl_engine::flow::{Known, RunLog, load, mermaid, next};
use agentctl_n8n_tools::vocabulary;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let known = Known {
        agents: None,
        vocabulary: Some(vocabulary::n8n()),
        data: None,
    };
    match load(text, "flow.yaml", known) {
        Ok(flow) => {
            let _ = mermaid(&flow);
            let log = RunLog::new(&flow);
            assert_eq!(next(&flow, &log), next(&flow, &log), "decided twice");
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            let lines = text.matches(['\n', '\r']).count() as u64 + 1;
            for problem in problems {
                assert!(problem.place.line <= lines, "{problem} is behind the end");
            }
        }
    }
});
