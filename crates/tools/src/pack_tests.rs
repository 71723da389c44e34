use super::{Approval, Begun, CallOf, KIND, Message, Packs, Told, Waits, With};
use crate::direct::{Came, Given};
use crate::mock::Mode;
use crate::toolset::{Surroundings, Tools};
use agentctl_base::BoxFuture;
use agentctl_base::yaml::{self, Place};
use agentctl_engine::pack::{DeclaredTool, ToolKind, ToolLimits};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

/// Says back what it was told to, and notes who said what to it.
struct Scripted {
    told: Result<Told, String>,
    heard: Mutex<Vec<(With, Message)>>,
}

impl Packs for Scripted {
    fn lacks(&self, pack: &str) -> Option<String> {
        (!["desk", "shelf"].contains(&pack)).then(|| format!("there is no pack {pack}"))
    }
    fn say(&self, with: With, message: Message) -> BoxFuture<'_, Result<Told, String>> {
        self.heard.lock().unwrap().push((with, message));
        Box::pin(std::future::ready(self.told.clone()))
    }
    fn begun(&self, _: With, _: CallOf) -> BoxFuture<'_, Result<Option<Told>, String>> {
        Box::pin(std::future::ready(Ok(None)))
    }
    fn allow(&self, _: With, _: Waits, _: bool) -> BoxFuture<'_, Result<Told, String>> {
        Box::pin(std::future::ready(self.told.clone()))
    }
}

fn declared(name: &str) -> DeclaredTool {
    let section = json!({"name": name, "message": "{what}", "tenant": "{tenant}", "user": "{user}", "conversation": "{conversation}"});
    DeclaredTool {
        id: "ask_desk",
        name: "Ask the desk".into(),
        description: "Asks the desk.".into(),
        category: String::new(),
        keywords: Vec::new(),
        acts: Vec::new(),
        parameters: Arc::new(
            json!({"type": "object", "properties": {"what": {"type": "string"}, "user": {"type": "string"}}}),
        ),
        output_schema: None,
        examples: Vec::new(),
        kind: ToolKind::Other {
            name: "pack",
            section,
        },
        bind: Default::default(),
        changes: true,
        reads_when: None,
        requires: None,
        limits: ToolLimits::default(),
        cache_s: None,
        mock: None,
        readme: None,
        tests: Vec::new(),
        file: "tool.yaml".into(),
        place: Place::default(),
    }
}

fn tools(name: &str, packs: Option<Arc<Scripted>>) -> Tools {
    Tools::new([&declared(name)], Arc::default(), surroundings(packs))
}

fn surroundings(packs: Option<Arc<Scripted>>) -> Surroundings {
    Surroundings {
        mode: Mode::Auto,
        variable: |_| None,
        allow: Default::default(),
        servers: None,
        workflows: None,
        agents: Default::default(),
        packs: packs.map(|packs| packs as Arc<dyn Packs>),
        root: None,
        engine: None,
        reader: None,
        folder: None,
    }
}

async fn came(told: Result<Told, String>, args: Value) -> (Came, Arc<Scripted>) {
    let packs = Arc::new(Scripted {
        told,
        heard: Mutex::default(),
    });
    let given = Given {
        args: args.as_object().cloned().unwrap(),
        bound: Map::from_iter(
            ["tenant", "user", "conversation"]
                .map(|name| (name.to_owned(), json!(format!("{name}-1")))),
        ),
        after: None,
    };
    let tools = tools("desk", Some(Arc::clone(&packs)));
    (tools.directly("ask_desk", &given).await.unwrap(), packs)
}

#[tokio::test]
async fn a_call_is_one_message_in_the_callers_own_conversation() {
    let told = Told {
        run: "r1".into(),
        outcome: "complete".into(),
        place: Some("workflows/w.json".into()),
        open: vec!["connect a credential".into()],
        output: "Made.".into(),
        changed: true,
        ..Told::default()
    };
    let (came, packs) = came(Ok(told.clone()), json!({"what": "make one"})).await;
    assert_eq!(
        (came.status, came.content),
        (
            "ok",
            json!({"output": "Made.", "data": null, "attachment": null, "run": "r1", "changed": true, "outcome": "complete", "place": "workflows/w.json", "open": ["connect a credential"], "effect": "changes"})
        )
    );
    let with = With {
        pack: "desk".into(),
        tenant: "tenant-1".into(),
        user: "user-1".into(),
        conversation: "conversation-1".into(),
    };
    assert_eq!(
        *packs.heard.lock().unwrap(),
        [(
            with,
            Message {
                text: "make one".to_owned(),
                ..Message::default()
            }
        )]
    );
    // What changed nothing is no evidence of a change.
    let answered = Told {
        changed: false,
        ..told
    };
    let (came, _) = self::came(Ok(answered), json!({"what": "what is there?"})).await;
    assert_eq!(came.content["effect"], "reads");
}

#[tokio::test]
async fn no_argument_says_whose_conversation_it_is() {
    let (came, packs) = came(
        Ok(Told::default()),
        json!({"what": "x", "user": "somebody else"}),
    )
    .await;
    assert_eq!(came.status, "failed");
    assert!(packs.heard.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_approval_is_the_users_and_what_was_done_before_an_end_is_not_known() {
    let asks = Told {
        run: "r1".into(),
        approval: Some(Approval {
            question: "approve".into(),
            text: "Allow to take it away?".into(),
        }),
        ..Told::default()
    };
    let (came, _) = came(Ok(asks), json!({"what": "x"})).await;
    assert_eq!(
        (came.status, &came.content["rule"]),
        ("failed", &json!("pack.approval"))
    );
    let waits = Waits::of(&came.content).unwrap();
    assert_eq!((&*waits.run, &*waits.question), ("r1", "approve"));
    let asked = Told {
        run: "r1".into(),
        approval: Some(Approval {
            question: "approve".into(),
            text: waits.text.clone(),
        }),
        ..Told::default()
    };
    assert_eq!(Begun::of(asked), Begun::Waits(waits));
    for (changed, status) in [(true, "unknown"), (false, "failed")] {
        let ended = Told {
            run: "r1".into(),
            failed: Some("it was blocked".into()),
            changed,
            ..Told::default()
        };
        let (came, _) = self::came(Ok(ended), json!({"what": "x"})).await;
        assert_eq!(came.status, status);
        assert_eq!(came.content["run"], "r1");
    }
    let (came, _) = self::came(Err("no key".into()), json!({"what": "x"})).await;
    assert_eq!(
        (came.status, &came.content["error"]),
        ("failed", &json!("no key"))
    );
}

#[test]
fn a_pack_that_is_not_there_is_told_and_a_file_names_all_of_it() {
    let scripted = Arc::new(Scripted {
        told: Err(String::new()),
        heard: Mutex::default(),
    });
    assert_eq!(
        tools("none", Some(scripted)).lacks("ask_desk").as_deref(),
        Some("there is no pack none")
    );
    assert!(tools("desk", None).lacks("ask_desk").is_some());
    let faults = |text: &str| {
        let node = yaml::read(text, "tool.yaml").unwrap();
        let values = ["m", "t", "u", "c"].map(str::to_owned);
        (KIND.check)(&node, &values).len()
    };
    assert_eq!(
        faults(
            "{name: desk, message: \"{m}\", tenant: \"{t}\", user: \"{u}\", conversation: \"{c}\"}"
        ),
        0
    );
    assert_eq!(
        faults(
            "{name: \"{m}\", message: \"{m}\", tenant: \"{t}\", user: \"{u}\", conversation: \"{c}\"}"
        ),
        1
    );
    assert_eq!(
        faults(
            "{name: desk, message: \"{other}\", tenant: \"{t}\", user: \"{u}\", conversation: \"{c}\"}"
        ),
        1
    );
    assert_eq!(
        faults("{name: desk, message: \"{m}\", tenant: \"{t}\", user: \"{u}\"}"),
        1
    );
    assert_eq!(
        faults(
            "{name: desk, message: \"{m}\", tenant: \"{t}\", user: \"{u}\", conversation: \"{c}\", url: x}"
        ),
        1
    );
    let of = |name: &str, more: &str| {
        faults(&format!(
            "{{name: \"{name}\", message: \"{{m}}\", tenant: \"{{t}}\", user: \"{{u}}\", conversation: \"{{c}}\"{more}}}"
        ))
    };
    // A value names one of those that the file names; a name that no value says needs none of them.
    assert_eq!(
        of(
            "{m}",
            ", names: [desk, shelf], input: {a: \"{m}\"}, recommended: true"
        ),
        0
    );
    assert_eq!(of("desk", ", names: [desk, shelf]"), 1);
    assert_eq!(of("{m}", ", names: []"), 1);
    assert_eq!(of("desk", ", input: {a: \"{other}\"}"), 1);
    assert_eq!(of("desk", ", recommended: often"), 1);
}

#[tokio::test]
async fn a_value_names_only_a_pack_that_the_file_names() {
    let section = json!({"name": "{pack}", "names": ["desk", "shelf"], "message": "{what}", "input": {"wish": "{wish}", "none": "{none}"},
        "tenant": "{tenant}", "user": "{user}", "conversation": "{conversation}", "recommended": true});
    let tool = DeclaredTool {
        kind: ToolKind::Other {
            name: "pack",
            section,
        },
        parameters: Arc::new(json!({"type": "object"})),
        ..declared("desk")
    };
    let packs = Arc::new(Scripted {
        told: Ok(Told::default()),
        heard: Mutex::default(),
    });
    let tools = Tools::new(
        [&tool],
        Arc::default(),
        surroundings(Some(Arc::clone(&packs))),
    );
    let bound = ["tenant", "user", "conversation"].map(|name| (name.to_owned(), json!("x")));
    let call = async |pack: &str| {
        let given = Given {
            args: json!({"pack": pack, "what": "make one", "wish": {"big": true}})
                .as_object()
                .cloned()
                .unwrap(),
            bound: Map::from_iter(bound.clone()),
            after: None,
        };
        tools.directly("ask_desk", &given).await.unwrap().status
    };
    assert_eq!(call("shelf").await, "ok");
    assert_eq!(call("attic").await, "failed");
    let heard = packs.heard.lock().unwrap();
    let [(with, message)] = &heard[..] else {
        panic!("{heard:?}");
    };
    assert_eq!(with.pack, "shelf");
    assert_eq!(
        Value::Object(message.input.clone()),
        json!({"wish": {"big": true}})
    );
    assert!(message.recommended);
}
