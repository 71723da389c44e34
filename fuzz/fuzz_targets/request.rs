//! The words of a request: reading them ends, comes to the same twice, and what is told of a word is what stands at its place.
#![no_main]

use agentctl_n8n::catalog::Catalog;
use agentctl_planner::explain::explanation;
use agentctl_planner::read::{ReadContext, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(request) = std::str::from_utf8(data) else {
        return;
    };
    let none = ReadContext::default();
    assert_eq!(read(request, &none), read(request, &none), "read twice");
    let told = explanation(request, None, Catalog::embedded());
    assert!(told.built <= told.parts, "more is built than was asked for");
    for word in &told.words {
        assert!(
            request.get(word.from..word.to).is_some(),
            "{word:?} stands at no place of the request"
        );
    }
});
