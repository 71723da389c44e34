//! Attacks on the links to files that agents made, at `agentctl serve`.

use super::served::{Got, Served};
use serde_json::{Value, json};

const PACK: &str = "name: maker\ntitle: Makes pages\nchannels:\n  webhook:\n    input: {text: body.text, user: body.user, place: body.place}\n    \
    required: [text]\n    message: text\n    session: {user: user}\n";
const FLOW: &str = "name: maker\nsteps:\n  - {id: made, when: \"!has(input.place)\", tool: make_page, role: program, \
    args: {format: \"'html'\", name: \"'../../page'\", content: input.text}}\n  \
    - {id: told, say: {text: \"'Here it is.'\", attachment: \"has(input.place) ? input.place : steps.made.output.file\"}}\n";
const POLICY: &str = "roles: {program: [make_page]}\nrules: []\n";
const TOOL: &str = "tool_id: make_page\nname: Make a page\ndescription: Makes a page.\ncategory: domain-specific\nkeywords: [page]\nparameters:\n  \
    format: {type: string, required: true, description: Its format}\n  name: {type: string, required: true, description: Its name}\n  \
    content: {type: string, required: true, description: What stands in it}\nbind: {run: run.id}\nkind: builtin\neffect: changes\n\
    builtin: {function: make_file}\nmock: mock.json\n";
const SETTINGS: &str = "[serve]\npacks = [\"maker\"]\n[serve.clients.one]\nbearer_env = \"ONE\"\n\
    [serve.clients.two]\nbasic = {user = \"demo\", password_env = \"TWO\"}\n";
const HOOK: &str = "POST /hooks/maker";

fn serving() -> Served {
    Served::with(
        SETTINGS,
        &[
            ("packs/maker/pack.yaml", PACK),
            ("packs/maker/agents/flow.yaml", FLOW),
            ("packs/maker/agents/policy.yaml", POLICY),
            ("packs/maker/tools/make_page/tool.yaml", TOOL),
            ("packs/maker/tools/make_page/mock.json", "{\"result\": {}}"),
        ],
    )
}

fn attachment(said: &Got) -> Value {
    assert_eq!(said.status, 200, "{}", said.body);
    said.json()["attachment"].clone()
}

#[test]
fn case_126_a_link_opens_its_own_file_and_nothing_else() {
    let served = serving();
    let said = served.as_one(
        HOOK,
        &[],
        &json!({"text": "# Hi <script>alert(1)</script>"}),
    );
    let made = attachment(&said);
    assert_eq!(
        (&made["name"], &made["mime"]),
        (&json!("page.html"), &json!("text/html; charset=utf-8"))
    );
    let link = made["url"].as_str().unwrap();
    let link = link
        .strip_prefix(&format!("http://{}", served.address()))
        .unwrap();
    let get = |path: &str| served.ask(&format!("GET {path}"), &[], b"");
    let got = get(link);
    assert_eq!(
        (got.status, got.body.len()),
        (
            200,
            usize::try_from(made["size"].as_u64().unwrap()).unwrap()
        )
    );
    assert!(
        got.body.contains("<h1>") && !got.body.contains("<script>"),
        "{}",
        got.body
    );
    // A browser saves it, and whatever shows it lets it do nothing.
    assert_eq!(
        got.header("content-disposition"),
        Some("attachment; filename=\"page.html\"")
    );
    assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
    assert!(
        got.header("content-security-policy")
            .unwrap()
            .contains("sandbox")
    );
    let run = said.header("x-run-id").unwrap();
    let (path, query) = link.split_once('?').unwrap();
    for other in [
        path.to_owned(),
        link.replace("until=", "until=9"),
        link.replace("mark=", "mark=0"),
        format!("/files/{run}/journal.jsonl?{query}"),
        format!("/files/../runs/{run}/journal.jsonl?{query}"),
        format!("/files/{run}/..%2f..%2fruns%2f{run}%2fjournal.jsonl?{query}"),
        format!("/files/{run}/../../../../../../etc/passwd?{query}"),
        format!("/files//page.html?{query}"),
    ] {
        let got = get(&other);
        assert!(
            matches!(got.status, 401 | 404),
            "{other}: {} {}",
            got.status,
            got.body
        );
    }
    // What was put in its place since leads nowhere.
    #[cfg(unix)]
    {
        let file = served
            .project()
            .join("memory/files")
            .join(run)
            .join("page.html");
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
        let got = get(link);
        assert_eq!(got.status, 404, "{}", got.body);
    }
}

#[test]
fn case_126_no_words_of_a_model_or_a_body_make_a_link_to_anothers_file() {
    let served = serving();
    let said = served.as_one(HOOK, &[], &json!({"text": "secret", "user": "u"}));
    let run = said.header("x-run-id").unwrap();
    let place = format!("memory/files/{run}/page.html");
    let asks = json!({"text": "x", "user": "u", "place": place});
    assert!(attachment(&served.as_one(HOOK, &[], &asks))["url"].is_string());
    let other_user = json!({"text": "x", "user": "v", "place": place});
    for said in [
        served.as_two(HOOK, &[], &asks),
        served.as_one(HOOK, &[], &other_user),
    ] {
        let told = attachment(&said);
        assert_eq!((&told["url"], &told["size"]), (&Value::Null, &Value::Null));
    }
    for place in [
        "memory/files/../../agentctl.toml",
        "memory/runs/x/journal.jsonl",
        "/etc/passwd",
    ] {
        let said = served.as_one(
            HOOK,
            &[],
            &json!({"text": "x", "user": "u", "place": place}),
        );
        assert_eq!(attachment(&said), json!(place));
    }
}
