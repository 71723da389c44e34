//! A model's tool call: the first line names the tool, the rest is its arguments. Reading either refuses, or gives what a
//! plain JSON reader gives too; what the journal keeps of the arguments is stable and never says more.
#![no_main]

use agentctl_base::strict_json;
use agentctl_engine::redact::Redactor;
use agentctl_engine::toolset::Toolset as _;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n_tools::backend::EmbeddedBackend;
use agentctl_n8n_tools::tools::{N8n, N8nTools};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::sync::{Arc, LazyLock};

static TOOLS: LazyLock<N8nTools> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join("agentctl-fuzz-tool-call");
    std::fs::create_dir_all(&folder).expect("a folder for nothing");
    let backend = EmbeddedBackend::new(&folder).expect("an empty project");
    N8nTools::new(N8n::new(Arc::new(backend), Catalog::embedded()))
});

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
    if TOOLS.parse(name, map.clone()).is_ok() {
        return;
    }
    for head in TOOLS.tools() {
        let _ = TOOLS.parse(head.name, map.clone());
    }
});
