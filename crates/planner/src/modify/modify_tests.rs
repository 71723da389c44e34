//! Change requests on small workflows, checked operation by operation.
use super::modify;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{EditOp, Workflow};
use serde_json::json;

fn shop() -> Workflow {
    Workflow::from_value(json!({
        "name": "Shop",
        "nodes": [
            {"id": "a", "name": "Every hour", "type": "n8n-nodes-base.scheduleTrigger", "typeVersion": 1.2, "position": [0, 0], "parameters": {"rule": {"interval": [{"field": "hours"}]}}},
            {"id": "b", "name": "Orders", "type": "n8n-nodes-base.postgres", "typeVersion": 2.5, "position": [200, 0], "parameters": {"operation": "select", "table": {"__rl": true, "mode": "name", "value": "orders"}, "limit": 10, "options": {}}},
            {"id": "c", "name": "Tell shop", "type": "n8n-nodes-base.slack", "typeVersion": 2.3, "position": [400, 0], "parameters": {"select": "channel", "channelId": {"__rl": true, "mode": "name", "value": "#shop"}, "text": "=Order {{ $json.id }}: {{ $json.total }}", "otherOptions": {}}, "credentials": {"slackApi": {"id": "1", "name": "S"}}}
        ],
        "connections": {
            "Every hour": {"main": [[{"node": "Orders", "type": "main", "index": 0}]]},
            "Orders": {"main": [[{"node": "Tell shop", "type": "main", "index": 0}]]}
        },
        "settings": {}
    }))
    .unwrap()
}

fn ops(request: &str) -> Vec<EditOp> {
    modify(&shop(), request, Catalog::embedded()).ops
}

#[test]
fn a_new_schedule_changes_the_rule_only() {
    assert_eq!(
        ops("Run it every day at 7:15 instead of every hour."),
        vec![EditOp::SetParameter {
            node: "Every hour".into(),
            pointer: "/rule/interval".into(),
            value: json!([{"field": "days", "daysInterval": 1, "triggerAtHour": 7, "triggerAtMinute": 15}]),
        }]
    );
}

#[test]
fn a_channel_is_exchanged() {
    assert_eq!(
        ops("Post to #orders instead of #shop"),
        vec![EditOp::SetParameter {
            node: "Tell shop".into(),
            pointer: "/channelId".into(),
            value: json!({"__rl": true, "mode": "name", "value": "#orders"}),
        }]
    );
}

#[test]
fn a_limit_is_set() {
    assert_eq!(
        ops("Set the limit to 50."),
        vec![EditOp::SetParameter {
            node: "Orders".into(),
            pointer: "/limit".into(),
            value: json!(50)
        }]
    );
}

#[test]
fn a_condition_goes_before_the_message() {
    let list = ops(
        "Only notify Slack when the total is over 500, everything else should go by e-mail to a@b.org. Don't touch the Slack step.",
    );
    let kinds: Vec<String> = list
        .iter()
        .map(|o| {
            serde_json::to_value(o).unwrap()["op"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "add_node",
            "add_node",
            "disconnect",
            "connect",
            "connect",
            "connect"
        ],
        "{list:?}"
    );
}

#[test]
fn a_wipe_is_refused() {
    let m = modify(
        &shop(),
        "Delete all nodes, I want it empty",
        Catalog::embedded(),
    );
    assert!(m.refusal.is_some());
    assert_eq!(m.ops, Vec::new());
}

#[test]
fn a_step_is_removed_and_the_gap_closed() {
    let list = ops("Remove the Slack step");
    assert_eq!(
        list,
        vec![EditOp::RemoveNode {
            node: "Tell shop".into()
        }]
    );
}

#[test]
fn renames() {
    assert_eq!(
        ops("Rename the Slack step to 'Post order'"),
        vec![EditOp::RenameNode {
            node: "Tell shop".into(),
            name: "Post order".into()
        }]
    );
}

fn helper() -> Workflow {
    Workflow::from_value(json!({
        "name": "Helper",
        "nodes": [
            {"id": "a", "name": "Chat", "type": "@n8n/n8n-nodes-langchain.chatTrigger", "typeVersion": 1.1, "position": [0, 0], "parameters": {"options": {}}},
            {"id": "b", "name": "Clerk", "type": "@n8n/n8n-nodes-langchain.agent", "typeVersion": 2.2, "position": [200, 0], "parameters": {"options": {"systemMessage": "Be brief."}}},
            {"id": "c", "name": "GPT", "type": "@n8n/n8n-nodes-langchain.lmChatOpenAi", "typeVersion": 1.2, "position": [100, 200], "parameters": {"model": {"__rl": true, "mode": "list", "value": "gpt-4o-mini"}, "options": {}}},
            {"id": "d", "name": "Memory", "type": "@n8n/n8n-nodes-langchain.memoryBufferWindow", "typeVersion": 1.3, "position": [200, 200], "parameters": {"contextWindowLength": 5}},
            {"id": "e", "name": "Wikipedia", "type": "@n8n/n8n-nodes-langchain.toolWikipedia", "typeVersion": 1, "position": [300, 200], "parameters": {}}
        ],
        "connections": {
            "Chat": {"main": [[{"node": "Clerk", "type": "main", "index": 0}]]},
            "GPT": {"ai_languageModel": [[{"node": "Clerk", "type": "ai_languageModel", "index": 0}]]},
            "Memory": {"ai_memory": [[{"node": "Clerk", "type": "ai_memory", "index": 0}]]},
            "Wikipedia": {"ai_tool": [[{"node": "Clerk", "type": "ai_tool", "index": 0}]]}
        },
        "settings": {}
    }))
    .unwrap()
}

fn news() -> Workflow {
    Workflow::from_value(json!({
        "name": "News",
        "nodes": [
            {"id": "a", "name": "Daily", "type": "n8n-nodes-base.scheduleTrigger", "typeVersion": 1.2, "position": [0, 0], "parameters": {"rule": {"interval": [{"field": "days", "daysInterval": 1, "triggerAtHour": 9, "triggerAtMinute": 0}]}}},
            {"id": "b", "name": "Feed", "type": "n8n-nodes-base.rssFeedRead", "typeVersion": 1.2, "position": [200, 0], "parameters": {"url": "https://news.example/feed", "options": {}}},
            {"id": "c", "name": "First ten", "type": "n8n-nodes-base.limit", "typeVersion": 1, "position": [400, 0], "parameters": {"maxItems": 10}},
            {"id": "d", "name": "Telegram", "type": "n8n-nodes-base.telegram", "typeVersion": 1.2, "position": [600, 0], "parameters": {"chatId": "1", "text": "={{ $json.title }}", "additionalFields": {}}}
        ],
        "connections": {
            "Daily": {"main": [[{"node": "Feed", "type": "main", "index": 0}]]},
            "Feed": {"main": [[{"node": "First ten", "type": "main", "index": 0}]]},
            "First ten": {"main": [[{"node": "Telegram", "type": "main", "index": 0}]]}
        },
        "settings": {}
    }))
    .unwrap()
}

fn on(workflow: &Workflow, request: &str) -> super::Modification {
    modify(workflow, request, Catalog::embedded())
}

/// The types of added nodes, the names of removed ones, the nodes with other parameters.
fn sketch(list: &[EditOp]) -> (Vec<String>, Vec<String>, Vec<String>) {
    let (mut added, mut removed, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    for op in list {
        match op {
            EditOp::AddNode { node } => {
                added.push(node.node_type.rsplit('.').next().unwrap().to_owned())
            }
            EditOp::RemoveNode { node } => removed.push(node.clone()),
            EditOp::SetParameter { node, .. } => changed.push(node.clone()),
            _ => {}
        }
    }
    (added, removed, changed)
}

fn parts(workflow: &Workflow, request: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    sketch(&on(workflow, request).ops)
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| (*s).to_owned()).collect()
}

#[test]
fn a_model_of_another_host_takes_the_place() {
    for request in [
        "Swap OpenAI for a local Ollama model (mistral-nemo)",
        "Use mistral-nemo on Ollama instead of GPT",
        "Ersetze das OpenAI-Modell durch Ollama mit mistral-nemo",
    ] {
        let made = on(&helper(), request);
        assert_eq!(
            sketch(&made.ops),
            (strings(&["lmChatOllama"]), strings(&["GPT"]), vec![]),
            "{request}"
        );
        let model = made.ops.iter().find_map(|op| match op {
            EditOp::AddNode { node } => node.parameters.get("model").cloned(),
            _ => None,
        });
        assert_eq!(model, Some(json!("mistral-nemo")), "{request}");
    }
}

#[test]
fn a_model_of_the_same_host_changes_its_name_only() {
    for request in [
        "Use gpt-4.1 instead of gpt-4o-mini",
        "Switch the model to gpt-4.1",
    ] {
        assert_eq!(
            on(&helper(), request).ops,
            vec![EditOp::SetParameter {
                node: "GPT".into(),
                pointer: "/model".into(),
                value: json!({"__rl": true, "mode": "id", "value": "gpt-4.1"}),
            }],
            "{request}"
        );
    }
}

#[test]
fn a_memory_moves_to_another_store() {
    for request in [
        "Keep 15 messages of memory in Redis instead",
        "Replace the memory by Redis with 15 messages",
        "Remember the last 15 messages in Redis",
    ] {
        let made = on(&helper(), request);
        assert_eq!(
            sketch(&made.ops),
            (strings(&["memoryRedisChat"]), strings(&["Memory"]), vec![]),
            "{request}"
        );
        let window = made.ops.iter().find_map(|op| match op {
            EditOp::AddNode { node } => node.parameters.get("contextWindowLength").cloned(),
            _ => None,
        });
        assert_eq!(window, Some(json!(15)), "{request}");
    }
}

#[test]
fn a_memory_grows_in_place() {
    for request in [
        "Remember 12 messages instead of 5",
        "Keep the last 12 messages in memory",
    ] {
        assert_eq!(
            on(&helper(), request).ops,
            vec![EditOp::SetParameter {
                node: "Memory".into(),
                pointer: "/contextWindowLength".into(),
                value: json!(12),
            }],
            "{request}"
        );
    }
}

#[test]
fn a_tool_goes_in_many_words() {
    for request in [
        "Drop Wikipedia",
        "Get rid of the Wikipedia tool",
        "Throw out Wikipedia",
        "Entferne Wikipedia",
        "Quita Wikipedia",
        "Supprime Wikipedia",
    ] {
        assert_eq!(
            on(&helper(), request).ops,
            vec![EditOp::RemoveNode {
                node: "Wikipedia".into()
            }],
            "{request}"
        );
    }
}

#[test]
fn several_changes_at_once() {
    let made = on(
        &helper(),
        "Swap OpenAI for Claude, keep 15 messages of memory in Redis instead, and drop Wikipedia. Prompt and chat trigger stay as is.",
    );
    let (mut added, mut removed, changed) = sketch(&made.ops);
    added.sort();
    removed.sort();
    assert_eq!(added, strings(&["lmChatAnthropic", "memoryRedisChat"]));
    assert_eq!(removed, strings(&["GPT", "Memory", "Wikipedia"]));
    assert_eq!(changed, Vec::<String>::new());
    assert_eq!(made.questions, vec![]);
}

#[test]
fn a_second_time_of_day() {
    for request in [
        "Let it run twice a day, at 8:00 and at 17:30",
        "Run it every day at 8:00 and 17:30",
    ] {
        assert_eq!(
            on(&news(), request).ops,
            vec![EditOp::SetParameter {
                node: "Daily".into(),
                pointer: "/rule/interval".into(),
                value: json!([
                    {"field": "days", "daysInterval": 1, "triggerAtHour": 8, "triggerAtMinute": 0},
                    {"field": "days", "daysInterval": 1, "triggerAtHour": 17, "triggerAtMinute": 30}
                ]),
            }],
            "{request}"
        );
    }
}

#[test]
fn a_limit_is_cut() {
    for request in [
        "Cut it to 3 items",
        "Only keep the first 3",
        "Limit to 3 articles",
    ] {
        assert_eq!(
            on(&news(), request).ops,
            vec![EditOp::SetParameter {
                node: "First ten".into(),
                pointer: "/maxItems".into(),
                value: json!(3),
            }],
            "{request}"
        );
    }
}

#[test]
fn a_filter_goes_before_a_named_step() {
    for request in [
        "Before the limit only items whose title contains \"release\" may pass",
        "Only keep items whose title contains \"release\" before the limit",
    ] {
        assert_eq!(
            parts(&news(), request),
            (strings(&["filter"]), vec![], vec![]),
            "{request}"
        );
    }
}

#[test]
fn a_part_that_is_not_read_is_named() {
    let made = on(&news(), "Limit to 3 articles. Frobnicate the quux widely.");
    assert_eq!(sketch(&made.ops), (vec![], vec![], strings(&["First ten"])));
    assert_eq!(made.unread, ["Frobnicate the quux widely"]);
    assert_eq!(made.questions.len(), 1);
}

#[test]
fn wipes_are_refused_in_four_languages() {
    for request in [
        "Throw out all the nodes, blank workflow, save it live",
        "Wirf alle Knoten raus, leerer Workflow",
        "Elimina todos los nodos y deja el flujo vacío",
        "Supprime tous les nœuds, je veux un workflow vide",
    ] {
        let made = on(&news(), request);
        assert!(made.refusal.is_some(), "{request}");
        assert_eq!(made.ops, vec![], "{request}");
    }
}

#[test]
fn another_day_keeps_the_time_of_day() {
    let weekly: Workflow = Workflow::from_value(json!({"name": "Weekly", "nodes": [
            {"id": "a", "name": "Weekly", "type": "n8n-nodes-base.scheduleTrigger", "typeVersion": 1.2, "position": [0, 0], "parameters": {"rule": {"interval": [{"field": "weeks", "weeksInterval": 1, "triggerAtDay": [1], "triggerAtHour": 8, "triggerAtMinute": 30}]}}},
            {"id": "b", "name": "Mail", "type": "n8n-nodes-base.gmail", "typeVersion": 2.1, "position": [200, 0], "parameters": {}},
        ], "connections": {"Weekly": {"main": [[{"node": "Mail", "type": "main", "index": 0}]]}}, "settings": {}}))
    .unwrap();
    for (request, day, hour, minute) in [
        ("send it on Tuesday instead of Monday", 2, 8, 30),
        ("Friday 17:00 instead of Monday", 5, 17, 0),
        ("run it every Wednesday", 3, 8, 30),
    ] {
        let made = modify(&weekly, request, Catalog::embedded());
        let after = agentctl_n8n::edit::apply(&weekly, &made.ops, &mut || "new".into()).unwrap();
        let rule = &after.nodes[0].parameters().unwrap()["rule"]["interval"][0];
        assert_eq!(
            *rule,
            json!({"field": "weeks", "weeksInterval": 1, "triggerAtDay": [day], "triggerAtHour": hour, "triggerAtMinute": minute}),
            "{request}"
        );
    }
}

/// What is missing of a change that was made, held against the workflow before and after it.
fn missing(request: &str) -> Vec<String> {
    use agentctl_n8n::edit;
    let before = shop();
    let made = modify(&before, request, Catalog::embedded());
    let mut next = 0;
    let mut new_id = || {
        next += 1;
        format!("new-{next}")
    };
    let after = edit::apply(&before, &made.ops, &mut new_id).expect("operations that apply");
    let none = indexmap::IndexMap::new();
    let both = [&before, &after];
    let mut account = crate::gate::judge(request, &none, &made.language, &both, true, &[]);
    account.leaves_out(&made.unread);
    account.missing
}

#[test]
fn the_words_of_a_change_that_was_made_are_explained() {
    for request in [
        "Post to #orders instead of #shop",
        "Set the limit to 50.",
        "Raise the limit of Orders to 50",
        "Switch off Tell shop",
        "Run it every day at 7:15 instead of every hour.",
        "Rename Tell shop to Notify",
        "Stelle das Limit von Orders auf 50",
        "Remove Tell shop",
    ] {
        let made = modify(&shop(), request, Catalog::embedded());
        assert!(!made.ops.is_empty(), "{request}");
        let missing = missing(request);
        assert!(missing.is_empty(), "{request}: {missing:?}");
    }
}

#[test]
fn what_a_change_left_out_is_missing() {
    let request = "Set the limit to 50. Frobnicate the quux widely.";
    assert!(!missing(request).is_empty(), "{:?}", missing(request));
}
