use super::KIND;
use crate::direct::Given;
use crate::mock::Mode;
use crate::toolset::{Surroundings, Tools};
use agentctl_base::yaml::{self, Place};
use agentctl_engine::gateway::ForeignTools;
use agentctl_engine::pack::{DeclaredTool, ToolKind, ToolLimits};
use agentctl_mcp::fake::{Act, Heard, answer, polite, server, text, tool};
use agentctl_mcp::{McpTool, Pins, Servers};
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn declared(section: Value, changes: bool) -> DeclaredTool {
    DeclaredTool {
        id: "look_up",
        name: "Look up".into(),
        description: "Looks things up.".into(),
        category: String::new(),
        keywords: Vec::new(),
        acts: Vec::new(),
        parameters: Arc::new(
            json!({"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"], "additionalProperties": false}),
        ),
        output_schema: None,
        examples: Vec::new(),
        kind: ToolKind::Other {
            name: "mcp",
            section,
        },
        bind: Default::default(),
        changes,
        reads_when: None,
        requires: None,
        limits: ToolLimits {
            timeout_s: 1,
            ..ToolLimits::default()
        },
        cache_s: None,
        mock: Some(json!({"text": "from the mock"})),
        readme: None,
        tests: Vec::new(),
        file: "tool.yaml".into(),
        place: Place::default(),
    }
}

/// The pack's tool over a server whose tool `find` was approved as `approved` says.
fn tools(
    section: Value,
    changes: bool,
    approved: &str,
    mut script: impl FnMut(&Value) -> Vec<Act> + Send + 'static,
) -> (Tools, Heard) {
    let listed: [McpTool; 1] = [tool("find", "Finds.")];
    let mut pins = Pins::default();
    pins.approve("docs", &tool("find", approved), "2026-01-02T03:04:05Z");
    let (client, heard) = server("docs", move |_, request| match request["method"].as_str() {
        Some("tools/call") => script(request),
        _ => polite(request, &listed),
    });
    let servers: Arc<dyn ForeignTools> = Arc::new(Servers::with([client], pins));
    let surroundings = Surroundings {
        mode: Mode::Auto,
        variable: |_| None,
        allow: agentctl_host::reach::Addresses::default(),
        servers: Some(servers),
        agents: Default::default(),
        workflows: None,
        packs: None,
        root: None,
        folder: None,
        engine: None,
        reader: None,
    };
    (
        Tools::new([&declared(section, changes)], Arc::default(), surroundings),
        heard,
    )
}

async fn called(tools: &Tools, args: Value) -> (&'static str, Value) {
    let bound = json!({"site": "own"});
    let object = |value: Value| value.as_object().cloned().unwrap_or_else(Map::new);
    let given = Given {
        args: object(args),
        bound: object(bound),
        after: None,
    };
    let came = tools.directly("look_up", &given).await.unwrap();
    (came.status, came.content)
}

fn find() -> Value {
    json!({"server": "docs", "tool": "find", "arguments": {"q": "{words}"}})
}

#[tokio::test]
async fn the_servers_tool_gets_what_the_file_says() {
    let (tools, heard) = tools(find(), false, "Finds.", |request| {
        answer(&request["id"], text("here"))
    });
    let came = called(&tools, json!({"words": "bridges"})).await;
    assert_eq!(
        came,
        (
            "ok",
            json!({"server": "docs", "text": "here", "effect": "reads"})
        )
    );
    assert_eq!(heard.calls(), [json!({"q": "bridges"})]);
    // What the file does not name is no argument.
    assert_eq!(
        called(&tools, json!({"words": "x", "q": "y"})).await.0,
        "refused"
    );
    assert_eq!(heard.calls().len(), 1);
}

#[tokio::test]
async fn what_does_not_fit_the_approved_schema_is_not_sent() {
    let whole = json!({"server": "docs", "tool": "find"});
    let (tools, heard) = tools(whole, false, "Finds.", |request| {
        answer(&request["id"], text("here"))
    });
    let (status, content) = called(&tools, json!({"words": "bridges"})).await;
    assert_eq!(
        (status, content["rule"].as_str()),
        ("refused", Some("arguments")),
        "{content}"
    );
    assert!(heard.calls().is_empty());
}

#[tokio::test]
async fn a_tool_that_is_not_what_was_approved_is_not_called() {
    let (tools, heard) = tools(find(), false, "Finds. Nothing else.", |request| {
        answer(&request["id"], text("here"))
    });
    let (status, content) = called(&tools, json!({"words": "bridges"})).await;
    assert_eq!(
        (status, content["rule"].as_str()),
        ("refused", Some("foreign.changed")),
        "{content}"
    );
    assert!(heard.calls().is_empty());
}

#[tokio::test]
async fn a_tool_that_nobody_approved_is_mocked_and_says_why() {
    let other = json!({"server": "docs", "tool": "other"});
    let (tools, heard) = tools(other, false, "Finds.", |_| vec![]);
    let why = "other of the MCP server docs is not approved (agentctl mcp approve docs other)";
    assert_eq!(tools.mocked()[0].lacks.as_deref(), Some(why));
    let (status, content) = called(&tools, json!({"words": "bridges"})).await;
    assert_eq!((status, &content["mock"]), ("ok", &json!(true)));
    assert!(heard.all().is_empty());
}

#[tokio::test]
async fn of_a_change_without_an_answer_nobody_knows() {
    for (changes, status) in [(true, "unknown"), (false, "failed")] {
        let (tools, heard) = tools(find(), changes, "Finds.", |_| vec![Act::Nothing]);
        assert_eq!(called(&tools, json!({"words": "x"})).await.0, status);
        assert_eq!(heard.calls().len(), 1);
    }
}

#[test]
fn a_file_names_a_server_and_a_tool() {
    let faults = |text: &str| {
        let node = yaml::read(text, "tool.yaml").unwrap();
        (KIND.check)(&node, &["words".to_owned()]).len()
    };
    assert_eq!(
        faults("{server: docs, tool: find, arguments: {q: \"{words}\", n: 3}}"),
        0
    );
    for wrong in [
        "{server: docs}",
        "{server: \"do cs\", tool: find}",
        "{server: docs, tool: find, arguments: [x]}",
        "{server: docs, tool: find, arguments: {q: \"{other}\"}}",
        "{server: docs, tool: find, url: x}",
    ] {
        assert_eq!(faults(wrong), 1, "{wrong}");
    }
}
