//! What an MCP server writes: a line is a message that any JSON reader reads the same, noise, or a message that nobody should read.
#![no_main]

use agentctl_mcp::{Judged, judge};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    for line in data.split(|byte| *byte == b'\n') {
        let marker = br#""jsonrpc""#;
        let is_meant = line.windows(marker.len()).any(|part| part == marker);
        match judge(line) {
            Judged::Message(message) => {
                assert_eq!(message["jsonrpc"], "2.0");
                let plain: Value =
                    serde_json::from_slice(line).expect("stricter than a plain reader");
                assert_eq!(plain, message);
            }
            Judged::Broken(why) => assert!(is_meant && !why.is_empty()),
            // A line of a log may quote a message; one that begins as a message was meant as one.
            Judged::Noise => {
                let begins = matches!(
                    line.iter().find(|byte| !b" \t\r".contains(byte)),
                    Some(b'{' | b'[')
                );
                assert!(
                    !(is_meant && begins),
                    "a broken message was taken for noise"
                );
            }
            Judged::Empty => assert!(line.trim_ascii().is_empty() || !is_meant),
        }
    }
});
