//! The schemas of files that people write, held against the files of this repository and against what the program takes: each key that a
//! schema names is one that the program knows, and each that the program knows is in the schema.

use agentctl_base::yaml;
use agentctl_engine::flow;
use agentctl_engine::pack::{BuiltIn, LoadOptions, load};
use agentctl_engine::policy::Policy;
use agentctl_engine::vocabulary::Vocabulary;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn schema(name: &str) -> Value {
    let file = Path::new(ROOT).join(format!("docs/schemas/{name}.schema.json"));
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn words() -> Vocabulary {
    agentctl_n8n_tools::vocabulary::n8n().with_kinds(&agentctl_tools::kinds())
}

/// The files below these folders of which the name tells that they are of the schema.
fn files(is_one: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    fn walk(folder: &Path, is_one: &dyn Fn(&str) -> bool, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                walk(&path, is_one, found);
            } else if is_one(name) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    for below in ["agents", "packs", "src", "tests", "crates/engine/tests"] {
        walk(&Path::new(ROOT).join(below), is_one, &mut found);
    }
    found.sort();
    found
}

fn wrong(schema: &jsonschema::Validator, value: &Value) -> Vec<String> {
    let errors = schema.iter_errors(value);
    errors
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect()
}

#[test]
fn every_such_file_of_the_repository_fits_its_schema() {
    let kinds: [(&str, &dyn Fn(&str) -> bool, usize); 4] = [
        ("policy", &|name| name == "policy.yaml", 10),
        ("flow", &|name| name.ends_with("flow.yaml"), 14),
        ("pack", &|name| name == "pack.yaml", 5),
        (
            "tool",
            &|name| name == "tool.yaml" || name == "tool.json",
            10,
        ),
    ];
    for (name, is_one, at_least) in kinds {
        let compiled = jsonschema::validator_for(&schema(name)).unwrap();
        let files = files(is_one);
        assert!(files.len() >= at_least, "{name}: {}", files.len());
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            // A template's name is put in when a pack is made of it.
            let text = text.replace("name: NAME", "name: a-name");
            let value = yaml::read(&text, "f").unwrap().to_json();
            assert_eq!(wrong(&compiled, &value), [""; 0], "{}", file.display());
        }
    }
}

#[test]
fn every_piece_of_settings_in_the_docs_fits_the_schema_and_is_taken() {
    let compiled = jsonschema::validator_for(&schema("settings")).unwrap();
    let mut seen = 0;
    for entry in std::fs::read_dir(Path::new(ROOT).join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ext| ext != "md") {
            continue;
        }
        let page = std::fs::read_to_string(&path).unwrap();
        for part in page.split("```toml\n").skip(1) {
            let text = part.split("```").next().unwrap();
            let value: toml::Value = toml::from_str(text).unwrap();
            let value = serde_json::to_value(value).unwrap();
            assert_eq!(
                wrong(&compiled, &value),
                [""; 0],
                "{}: {text}",
                path.display()
            );
            let read = agentctl::config::read(text, "docs", agentctl::config::Origin::User);
            assert!(read.is_ok(), "{}: {:?}", path.display(), read.err());
            seen += 1;
        }
    }
    assert!(seen >= 10, "{seen}");
}

const UNKNOWN: &str = "zzqxzz";

/// The keys that a mistake lists, which says that there is no such key.
fn known(messages: &[String], what: &str) -> BTreeSet<String> {
    let of = |message: &String| {
        let about = message.contains(UNKNOWN);
        let marks = [
            "expected one of ",
            "expected ",
            "it may have ",
            "it has ",
            "there are ",
        ];
        let after = marks.iter().find_map(|mark| message.split_once(mark));
        after.filter(|_| about).map(|(_, list)| {
            let list = list.replace(" or ", ",");
            let words = list.split(',').map(|word| word.trim().trim_matches('`'));
            words.map(str::to_owned).collect::<BTreeSet<String>>()
        })
    };
    let mut lists = messages.iter().filter_map(of);
    lists
        .next()
        .unwrap_or_else(|| panic!("{what}: {messages:#?}"))
}

/// The names below `properties` at a place of a schema.
fn named(schema: &Value, place: &str) -> BTreeSet<String> {
    let place = format!("{place}/properties");
    let properties = schema.pointer(&place);
    let properties = properties.unwrap_or_else(|| panic!("the schema has no {place}"));
    properties.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn the_keys_of_settings_are_those_that_the_program_takes() {
    let schema = schema("settings");
    let client = "/properties/serve/properties/clients/additionalProperties";
    let of_client = |key: &str| format!("{client}/properties/{key}");
    let (jwt, signature) = (of_client("jwt"), of_client("signature"));
    for (place, text) in [
        ("", "zzqxzz = 1"),
        ("/properties/qa", "[qa]\nzzqxzz = 1"),
        (
            "/properties/qa/properties/waiver/items",
            "[[qa.waiver]]\nzzqxzz = 1",
        ),
        ("/properties/models", "[models]\nzzqxzz = 1"),
        (
            "/properties/models/properties/time",
            "[models.time]\nzzqxzz = 1",
        ),
        (
            "/properties/models/properties/context",
            "[models.context]\nzzqxzz = 1",
        ),
        (
            "/properties/providers/additionalProperties",
            "[providers.x]\nzzqxzz = 1",
        ),
        ("/properties/limits", "[limits]\nzzqxzz = 1"),
        (
            "/properties/limits/properties/agents/additionalProperties",
            "[limits.agents.x]\nzzqxzz = 1",
        ),
        (
            "/properties/prices/additionalProperties",
            "[prices.\"a::b\"]\nzzqxzz = 1",
        ),
        ("/properties/n8n", "[n8n]\nzzqxzz = 1"),
        (
            "/properties/targets/additionalProperties",
            "[targets.x]\nzzqxzz = 1",
        ),
        ("/properties/packs", "[packs]\nzzqxzz = 1"),
        ("/properties/sessions", "[sessions]\nzzqxzz = 1"),
        ("/properties/serve", "[serve]\nzzqxzz = 1"),
        (
            "/properties/serve/properties/tls",
            "[serve.tls]\nzzqxzz = 1",
        ),
        (
            "/properties/serve/properties/mcp",
            "[serve.mcp]\nzzqxzz = 1",
        ),
        (client, "[serve.clients.a]\nzzqxzz = 1"),
        (jwt.as_str(), "[serve.clients.a.jwt]\nzzqxzz = 1"),
        (
            signature.as_str(),
            "[serve.clients.a.signature]\nzzqxzz = 1",
        ),
        ("/$defs/basic", "[serve.clients.a.basic]\nzzqxzz = 1"),
        ("/properties/user", "[user]\nzzqxzz = 1"),
        ("/properties/a2a", "[a2a]\nzzqxzz = 1"),
        (
            "/properties/a2a/properties/agents/additionalProperties",
            "[a2a.agents.x]\nzzqxzz = 1",
        ),
        ("/properties/trust", "[trust]\nzzqxzz = 1"),
        ("/properties/test", "[test]\nzzqxzz = 1"),
        ("/properties/tools", "[tools]\nzzqxzz = 1"),
    ] {
        let read = agentctl::config::read(text, "f", agentctl::config::Origin::User);
        let mut taken = known(&[read.unwrap_err().message], text);
        // A key itself is known only to be refused by name.
        for refused in ["api_key", "key", "token", "secret", "password"] {
            if place.ends_with("providers/additionalProperties") {
                taken.remove(refused);
            }
        }
        assert_eq!(named(&schema, place), taken, "{text}");
    }
}

/// The values of an enum at a place of a schema.
fn values(schema: &Value, place: &str) -> BTreeSet<String> {
    let listed = schema.pointer(place).and_then(Value::as_array);
    let listed = listed.unwrap_or_else(|| panic!("the schema has no {place}"));
    listed
        .iter()
        .map(|one| one.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_values_of_settings_are_those_that_the_program_takes() {
    let schema = schema("settings");
    let (place, text) = (
        "/properties/n8n/properties/backend/enum",
        "[n8n]\nbackend = \"zzqxzz\"",
    );
    let read = agentctl::config::read(text, "f", agentctl::config::Origin::User);
    let taken = known(&[read.unwrap_err().message], text);
    assert_eq!(values(&schema, place), taken, "{text}");
    let may = "/properties/serve/properties/clients/additionalProperties/properties/may/items/enum";
    for right in values(&schema, may) {
        let text = format!("[serve.clients.a]\nbearer_file = \"f\"\nmay = [{right:?}]");
        let read = agentctl::config::read(&text, "f", agentctl::config::Origin::User);
        assert!(read.is_ok(), "{text}: {:?}", read.err());
    }
}

#[test]
fn the_keys_of_a_policy_are_those_that_the_program_takes() {
    let schema = schema("policy");
    for (place, text) in [
        ("", "zzqxzz: 1"),
        (
            "/properties/roles/additionalProperties/anyOf/1",
            "roles: {a: {zzqxzz: []}}",
        ),
        ("/properties/rules/items", "rules: [{id: a, zzqxzz: 1}]"),
        ("/properties/limits", "limits: {zzqxzz: 1}"),
    ] {
        let read = Policy::load(text, "policy.yaml", &words());
        let messages: Vec<String> = read.unwrap_err().into_iter().map(|p| p.message).collect();
        assert_eq!(named(&schema, place), known(&messages, text), "{text}");
    }
}

fn of_flow(text: &str) -> BTreeSet<String> {
    let read = flow::load(text, "flow.yaml", flow::Known::default());
    let messages: Vec<String> = read.unwrap_err().into_iter().map(|p| p.message).collect();
    known(&messages, text)
}

fn of_step(step: &str) -> BTreeSet<String> {
    of_flow(&format!("name: f\nsteps: [{{id: a, {step}}}]\n"))
}

#[test]
fn the_keys_of_a_flow_are_those_that_the_program_takes() {
    let schema = schema("flow");
    let step = |key: &str| format!("/$defs/step/properties/{key}");
    let field = "/properties/fields/additionalProperties";
    for (place, text) in [
        ("", "zzqxzz: 1\nsteps: []"),
        ("/properties/limits", "limits: {zzqxzz: 1}"),
        (field, "fields: {a: {kind: value, writers: [x], zzqxzz: 1}}"),
        (
            "/$defs/inner/additionalProperties",
            "fields: {a: {kind: object, writers: [x], fields: {b: {kind: value, zzqxzz: 1}}}}",
        ),
        ("/properties/plan_tools/anyOf/1", "plan_tools: {zzqxzz: 1}"),
        ("/properties/input", "input: {zzqxzz: 1}"),
        ("/properties/output", "output: {zzqxzz: 1}"),
    ] {
        assert_eq!(named(&schema, place), of_flow(text), "{text}");
    }
    let (verify, enough) = (step("verify") + "/items", step("enough"));
    let (ask, question) = (step("ask"), step("ask") + "/properties/questions/items");
    let (call, parallel) = (step("call") + "/anyOf/1", step("parallel"));
    let (branch, each) = (step("branches") + "/items", step("for_each"));
    let (exhausted, otherwise) = (step("exhausted"), step("otherwise"));
    let (say, clear, route) = (step("say"), step("clear"), step("route") + "/anyOf/1");
    for (place, text) in [
        ("/$defs/retry", "agent: x, retry: {zzqxzz: 1}"),
        ("/$defs/conversation", "agent: x, conversation: {zzqxzz: 1}"),
        (&verify, "agent: x, verify: [{zzqxzz: 1}]"),
        ("/$defs/must_call", "agent: x, must_call: {zzqxzz: 1}"),
        ("/$defs/must_call", "agent: x, must_call: [{zzqxzz: 1}]"),
        (&enough, "agent: x, enough: {zzqxzz: 1}"),
        ("/$defs/end/anyOf/1", "end: {zzqxzz: 1}"),
        (
            "/$defs/join/anyOf/1",
            "for_each: {of: '[]', as: i, join: {at_least: 1, zzqxzz: 1}}, steps: []",
        ),
        ("/$defs/cases/items", "route: [{zzqxzz: 1}]"),
        (&route, "route: {zzqxzz: 1}"),
        ("/$defs/chooser", "route: {by: {zzqxzz: 1}}, cases: []"),
        (&ask, "ask: {zzqxzz: 1}"),
        (&question, "ask: {questions: [{zzqxzz: 1}]}"),
        (&call, "call: {a2a: x, zzqxzz: 1}"),
        (&parallel, "parallel: {zzqxzz: 1}, branches: []"),
        (&branch, "parallel: {}, branches: [{zzqxzz: 1}]"),
        (&each, "for_each: {zzqxzz: 1}, steps: []"),
        (&exhausted, "loop: [], max: 1, exhausted: {zzqxzz: 1}"),
        (&otherwise, "gate: 'true', otherwise: {zzqxzz: 1}"),
        (&say, "say: {zzqxzz: 1}"),
        (&clear, "clear: {zzqxzz: 1}"),
    ] {
        assert_eq!(named(&schema, place), of_step(text), "{text}");
    }
    // A step has the keys of its kind: those of all kinds together are the schema's.
    let mut all = BTreeSet::new();
    for kind in [
        "agent: x",
        "ask: {}",
        "tool: x",
        "call: x",
        "parallel: {}",
        "for_each: {}",
        "route: []",
        "loop: []",
        "gate: 'true'",
        "set: {}",
        "say: {}",
        "clear: {}",
        "end: true",
        "steps: []",
    ] {
        all.extend(of_step(&format!("{kind}, zzqxzz: 1")));
    }
    assert_eq!(named(&schema, "/$defs/step"), all);
}

/// The mistakes of a pack of these files.
fn of_pack(files: &[(&str, &str)]) -> Vec<String> {
    let files = files.iter();
    let files =
        files.map(|(path, text)| ((*path).to_owned(), Cow::Owned(text.as_bytes().to_vec())));
    let folder = tempfile::tempdir().unwrap();
    let built_in = BuiltIn::named("p", words(), files.collect::<Vec<_>>());
    let read = load(&built_in, None, folder.path(), &LoadOptions::default());
    let problems = read.unwrap_err().problems.into_iter();
    problems.map(|problem| problem.message).collect()
}

#[test]
fn the_keys_of_a_pack_are_those_that_the_program_takes() {
    let schema = schema("pack");
    let of = |key: &str| format!("/properties/channels/properties/{key}");
    let (webhook, a2a) = (of("webhook"), of("a2a"));
    let (session, skill) = (
        format!("{webhook}/properties/session"),
        format!("{a2a}/properties/skills/items"),
    );
    let team = "/properties/orchestrators";
    let member = format!("{team}/properties/agents/additionalProperties");
    for (place, text) in [
        ("", "zzqxzz: 1"),
        ("/properties/channels", "channels: {zzqxzz: 1}"),
        (&webhook, "channels: {webhook: {zzqxzz: 1}}"),
        (&session, "channels: {webhook: {session: {zzqxzz: 1}}}"),
        (&a2a, "channels: {a2a: {zzqxzz: 1}}"),
        (&skill, "channels: {a2a: {skills: [{zzqxzz: 1}]}}"),
        (team, "orchestrators: {zzqxzz: 1}"),
        (&member, "orchestrators: {agents: {a: {zzqxzz: 1}}}"),
    ] {
        let messages = of_pack(&[("pack.yaml", &format!("name: p\n{text}\n"))]);
        assert_eq!(named(&schema, place), known(&messages, text), "{text}");
    }
}

#[test]
fn the_keys_of_a_tool_are_those_that_the_program_takes() {
    let schema = schema("tool");
    let messages = |kind: &str, more: &str| {
        let tool = format!("tool_id: t\nname: T\ndescription: D\nkind: {kind}\n{more}\n");
        of_pack(&[("pack.yaml", "name: p\n"), ("tools/t/tool.yaml", &tool)])
    };
    let tool = |kind: &str, more: &str| known(&messages(kind, more), more);
    // A tool has the section of its kind alone; which keys it has besides is told of none but the nearest.
    let kinds = [
        "flow", "http", "builtin", "mcp", "n8n", "exec", "a2a", "pack", "search", "fetch",
    ];
    assert_eq!(json!(kinds), schema["properties"]["kind"]["enum"]);
    for key in named(&schema, "") {
        let told = messages("http", &format!("{key}: 1\nzzqxzz: 1"));
        let unknown = format!("a tool has no {key:?}");
        let is_kind = kinds.contains(&key.as_str()) && key != "http";
        assert_eq!(
            told.iter().any(|m| m.starts_with(&unknown)),
            is_kind,
            "{told:#?}"
        );
    }
    assert_eq!(
        named(&schema, "/properties/limits"),
        tool("http", "limits: {zzqxzz: 1}")
    );
    for kind in [
        "http", "mcp", "n8n", "exec", "a2a", "pack", "search", "fetch",
    ] {
        let taken = tool(kind, &format!("{kind}: {{zzqxzz: 1}}"));
        assert_eq!(
            named(&schema, &format!("/properties/{kind}")),
            taken,
            "{kind}"
        );
    }
    assert_eq!(
        named(&schema, "/properties/http/properties/answer"),
        tool(
            "http",
            "http: {url: 'https://a.example/', answer: {zzqxzz: 1}}"
        )
    );
    let found = "/properties/search/properties/found";
    assert_eq!(
        named(&schema, found),
        tool("search", "search: {found: {zzqxzz: 1}}")
    );
    assert_eq!(
        named(&schema, &format!("{found}/properties/first")),
        tool("search", "search: {found: {first: {zzqxzz: 1}}}")
    );
}
