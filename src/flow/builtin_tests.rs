//! The built-in pack's flow: it loads, and its runs take the ways that its comments promise.

use super::{Known, load};

#[test]
fn the_built_in_flow_loads() {
    let agents: Vec<String> = [
        "orchestrator",
        "architect",
        "researcher",
        "builder",
        "qa",
        "analyst",
    ]
    .map(str::to_owned)
    .to_vec();
    let known = Known {
        agents: Some(&agents),
        tools: Some(crate::policy::NATIVE_TOOLS),
    };
    if let Err(problems) = load(
        include_str!("../../agents/flow.yaml"),
        "agents/flow.yaml",
        known,
    ) {
        let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
        panic!("{}", text.join("\n"));
    }
}
