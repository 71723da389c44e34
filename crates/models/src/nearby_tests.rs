//! Servers that say what the real ones say, and others that stand on their ports.

use super::*;
use crate::ModelName;
use agentctl_testkit::fake_http::{response, serve};
use serde_json::{Value, json};

/// No test waits for it.
const LONG: Duration = Duration::from_secs(60);

fn answer(status: u16, body: &Value) -> Vec<u8> {
    let (status, kind) = (
        format!("{status} Said"),
        "content-type: application/json\r\n",
    );
    response(&status, kind, body.to_string().as_bytes())
}

fn nothing(_: &str) -> Option<String> {
    None
}

/// The known places, each at another address.
fn at(addresses: &[(&str, &str)]) -> Places {
    let mut places = Places::known();
    places
        .server
        .retain(|s| addresses.iter().any(|(name, _)| *name == s.provider));
    for server in &mut places.server {
        let (_, address) = addresses
            .iter()
            .find(|(name, _)| *name == server.provider)
            .unwrap();
        server.address = format!("{address}/");
    }
    places
}

#[test]
fn the_list_can_be_read_and_each_place_has_a_wire() {
    let places: Places = toml::from_str(include_str!("places.toml")).unwrap();
    let servers: Vec<&str> = places.server.iter().map(|s| s.provider.as_str()).collect();
    assert_eq!(servers, ["ollama", "lmstudio", "llamacpp"]);
    for server in &places.server {
        assert!(Kind::from_name(&server.kind).is_some(), "{}", server.name);
        let here = server.base_url(nothing).unwrap();
        assert!(here.as_str().ends_with('/'), "{here}");
    }
    for cloud in &places.cloud {
        let kind = Kind::from_name(&cloud.provider).unwrap();
        assert!(kind.key_variable().is_some(), "{}", cloud.provider);
        assert!(
            format!("{}::{}", cloud.provider, cloud.model)
                .parse::<ModelName>()
                .is_ok()
        );
    }
}

#[tokio::test]
async fn each_server_is_asked_in_its_own_words_and_gives_its_first_model() {
    let (ollama, asked_ollama) = serve(|_| {
        answer(200, &json!({"models": [
            {"name": "nomic-embed-text:latest", "model": "nomic-embed-text:latest", "size": 274_302_450},
            {"name": "qwen3:8b", "model": "qwen3:8b", "modified_at": "2026-11-20T08:00:00Z", "size": 5_200_000_000_u64,
             "details": {"format": "gguf", "family": "qwen3", "parameter_size": "8.2B"}}]}))
    })
    .await;
    let (studio, asked_studio) = serve(|_| {
        answer(200, &json!({"object": "list", "data": [
            {"id": "text-embedding-nomic-embed-text-v1.5", "object": "model", "owned_by": "organization_owner"},
            {"id": "qwen/qwen3-8b", "object": "model", "owned_by": "organization_owner"}]}))
    })
    .await;
    let (llama, asked_llama) = serve(|_| {
        answer(200, &json!({"object": "list", "data": [
            {"id": "models/SmolLM2-135M.gguf", "object": "model", "created": 1_763_800_000, "owned_by": "llamacpp",
             "meta": {"n_vocab": 49152}}]}))
    })
    .await;
    let places = at(&[
        ("ollama", &ollama),
        ("lmstudio", &studio),
        ("llamacpp", &llama),
    ]);
    let found = places.running(LONG, nothing).await;
    let here = |model: &str, name: &str| Offer {
        model: model.to_owned(),
        from: From::Server(name.to_owned()),
    };
    assert_eq!(
        found,
        [
            here("ollama::qwen3:8b", "Ollama"),
            here("lmstudio::qwen/qwen3-8b", "LM Studio"),
            here("llamacpp::models/SmolLM2-135M.gguf", "llama.cpp"),
        ]
    );
    // The look whether anybody is there asks nothing.
    assert_eq!(asked_ollama.lines(), ["GET /api/tags"]);
    assert_eq!(asked_studio.lines(), ["GET /v1/models"]);
    assert_eq!(asked_llama.lines(), ["GET /v1/models"]);
    for offer in found {
        assert!(offer.model.parse::<ModelName>().is_ok(), "{}", offer.model);
    }
}

#[tokio::test]
async fn something_else_on_the_port_is_no_model() {
    let (page, _) = serve(|_| answer(200, &json!("It works!"))).await;
    let (none, _) = serve(|_| answer(200, &json!({"models": []}))).await;
    let (away, _) = serve(|_| answer(404, &json!({"data": [{"id": "m"}]}))).await;
    let places = at(&[("ollama", &none), ("lmstudio", &page), ("llamacpp", &away)]);
    assert_eq!(places.running(LONG, nothing).await, []);
    let (broken, _) = serve(|_| Vec::new()).await;
    assert_eq!(
        at(&[("llamacpp", &broken)]).running(LONG, nothing).await,
        []
    );
}

#[tokio::test]
async fn a_server_is_looked_for_where_its_user_says_and_only_on_this_machine() {
    let (ollama, _) = serve(|_| answer(200, &json!({"models": [{"name": "m"}]}))).await;
    let bare = ollama.trim_start_matches("http://").to_owned();
    let port = bare.rsplit(':').next().unwrap().to_owned();
    let mut places = Places::known();
    places.server.truncate(1);
    for said in [bare, ollama, format!("0.0.0.0:{port}")] {
        let variable = |name: &str| (name == "OLLAMA_HOST").then(|| said.clone());
        assert_eq!(places.running(LONG, variable).await.len(), 1, "{said}");
    }
    let server = places.server("ollama").unwrap();
    let base = |said: &str| server.base_url(|_| Some(said.to_owned())).map(String::from);
    assert_eq!(
        base("localhost"),
        Some("http://localhost:11434/".to_owned())
    );
    assert_eq!(base("gpu.example.com"), None);
    assert_eq!(base(""), Some("http://127.0.0.1:11434/".to_owned()));
}

#[test]
fn a_key_is_told_by_its_variable() {
    let variable = |name: &str| match name {
        "ANTHROPIC_API_KEY" => Some("sk-secret".to_owned()),
        "OPENAI_API_KEY" => Some(" ".to_owned()),
        _ => None,
    };
    assert_eq!(
        Places::known().keys(variable),
        [Offer {
            model: "anthropic::claude-sonnet-4-6".to_owned(),
            from: From::Key("ANTHROPIC_API_KEY"),
        }]
    );
}
