//! A small pack for the cases of `tools`: an agent with two HTTP tools of its user, and one agent that is a tool.

/// Path below the pack's folder, and text.
pub type Files = Vec<(String, String)>;

/// The pack with a text of some files in place of another.
pub fn with(changes: &[(&str, &str, &str)]) -> Files {
    let mut files = PACK.to_vec();
    for (path, from, to) in changes {
        let file = files.iter_mut().find(|(of, _)| of == path).unwrap();
        assert!(file.1.contains(from), "{path}: {from}");
        file.1 = file.1.replace(from, to);
    }
    files
}

pub static PACK: std::sync::LazyLock<Files> = std::sync::LazyLock::new(|| {
    let files = [
        (
            "pack.yaml",
            "name: tried\ntitle: A pack that is tried\nentry: turn\n",
        ),
        ("agents/turn.flow.yaml", TURN),
        ("agents/sub.flow.yaml", SUB),
        ("agents/policy.yaml", POLICY),
        (
            "agents/worker.md",
            "---\nname: worker\ndescription: Works for the user.\nmodel: haiku\ntools: [list_things, do_thing, ask_helper]\nmaxTurns: 8\n---\n\nDo what the user says.\n",
        ),
        (
            "agents/helper.md",
            "---\nname: helper\ndescription: Helps the worker.\nmodel: haiku\ntools: [list_things]\nmaxTurns: 8\n---\n\nHelp.\n",
        ),
        ("tools/list_things/tool.yaml", LIST),
        ("tools/do_thing/tool.yaml", DO),
        ("tools/ask_helper/tool.yaml", ASK),
    ];
    files
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .to_vec()
});

const TURN: &str = r#"name: tried
steps:
  - id: work
    agent: worker
    task: serve
    instructions: Do it.
    conversation: {history: "last(session.messages, 4)", message: input.message, focus: latest}
    on_failure: continue
    reply_guard: output
    contract: {type: object, required: [output], properties: {output: {type: string}}}
  - {id: said, when: steps.work.status == 'done', say: {text: steps.work.output.output}}
  - {id: not_said, when: steps.work.status != 'done', say: {text: "'That did not work.'"}}
"#;

const SUB: &str = r#"name: helped
input: {schema: {type: object, required: [userID, task], properties: {userID: {type: string}, userId: {type: string}, task: {type: string}}}}
steps:
  - id: help
    agent: helper
    task: help
    instructions: Do it.
    with: {task: input.task}
    on_failure: continue
    contract: {type: object, required: [output], properties: {output: {type: string}}}
output: {value: "steps.help.status == 'done' ? steps.help.output : {'output': 'no'}"}
"#;

const POLICY: &str = r#"roles:
  worker: {can: [delegate], tools: [list_things, do_thing, ask_helper]}
  helper: {can: [], tools: [list_things]}
rules: []
limits: {max_turns: 10, max_model_calls: 20, max_tool_calls: 20, max_identical_calls: 3, max_tokens: 100000, max_cost_usd: 1, max_seconds: 60, max_approval_seconds: 600}
"#;

const LIST: &str = r#"tool_id: list_things
name: List things
description: Lists the tools of the user. Use it first.
keywords: [list]
parameters: {kind: {type: string, description: Which ones}}
bind: {userID: "has(input.userId) ? input.userId : input.userID"}
kind: http
effect: reads
http: {method: GET, url: "${PLATFORM_URL}/list/{userID}", answer: {lists: tools, error: [error]}}
limits: {timeout_s: 2, retries: 0}
cache: {seconds: 300}
"#;

const DO: &str = r#"tool_id: do_thing
name: Do a thing
description: Executes one of the listed tools. Use it after list_things.
keywords: [do]
parameters: {tool_id: {type: string, required: true, description: Its id}, parameters: {type: object, required: true, description: What it is given}}
bind: {userID: input.userId}
requires: {tool: list_things, id: tool_id, parameters: parameters}
kind: http
effect: changes
http: {method: POST, url: "${PLATFORM_URL}/do/{userID}", body: {tool_id: "{tool_id}", parameters: "{parameters}"}, answer: {value: result, failed_when: {success: false}, error: [error]}}
limits: {timeout_s: 2, retries: 0}
"#;

const ASK: &str = r#"tool_id: ask_helper
name: Ask the helper
description: The helper looks things up. Use it when something must be looked up.
keywords: [help]
parameters: {task: {type: string, required: true, description: What to look up}}
bind: {userID: input.userId}
kind: flow
flow: sub
"#;
