//! A model's tool call: the first line names the tool, the rest is its arguments. Reading either refuses, or gives what a
//! plain JSON reader gives too; what the journal keeps of the arguments is stable and never says more.
#![no_main]

use agentctl_engine::redact::Redactor;
use agentctl_n8n_tools::tools;
use agentctl_base::strict_json;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const SECRET: &str = "canary-0123456789";

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (name, arguments) = text.split_once('\n').unwrap_or(("", &text));
    let redactor = Redactor::new([SECRET.to_owned()]);
    let kept = redactor.arguments(arguments);
    assert!(!kept.contains(SECRET), "a secret in the journal: {kept}");
    assert_eq!(redactor.arguments(&kept), kept, "hiding twice differs");
    let Ok(map) = strict_json::object(arguments) else {
        return;
    };
    if !arguments.trim().is_empty() {
        let plain: Value = serde_json::from_str(arguments).expect("stricter than a plain reader");
        assert_eq!(plain, Value::Object(map.clone()));
    }
    let written = Value::Object(map.clone()).to_string();
    assert_eq!(strict_json::object(&written), Ok(map.clone()));
    if let Some(tool) = tools::find(name) {
        let _ = tool.parse(map);
        return;
    }
    for tool in tools::all() {
        let _ = tool.parse(map.clone());
    }
});
