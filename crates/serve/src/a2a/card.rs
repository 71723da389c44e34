//! The card of a pack, made of its pack.yaml and of how clients come in. It is read without a secret, as the protocol has it: it
//! says how to come in.

use super::said::MODES;
use super::{REST_PATH, RPC_PATH};
use crate::answer::{Answer, whole};
use crate::clients::Client;
use crate::problem::Problem;
use crate::server::{ServedPack, Server};
use agentctl_a2a::{
    AgentCard, AgentExtension, AgentInterface, AgentSkill, Capabilities, HttpAuth, SecurityList,
    SecurityRequirement, SecurityScheme, VERSION, v0_3,
};
use agentctl_base::canonical::sha256_hex;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// So long a card may be kept, in seconds.
const CACHE: &str = "public, max-age=300";
/// So many digits of the pack's hash stand in a card's version.
const HASH: usize = 12;

/// `GET …/.well-known/agent-card.json`. `below`: it is asked for by its name.
pub fn answer(
    server: &Server,
    pack: &ServedPack,
    below: bool,
    headers: &HeaderMap,
) -> Result<Answer, Problem> {
    let card = signed(server, &of(server, pack, below))?;
    let text = serde_json::to_string_pretty(&card).map_err(|e| broken(&e))?;
    let tag = format!("\"{}\"", sha256_hex(text.as_bytes()));
    let known = headers.get_all(IF_NONE_MATCH).iter();
    let mut known = known.filter_map(|value| value.to_str().ok());
    let mut answer = match known.any(|all| all.split(',').any(|one| one.trim() == tag)) {
        true => whole(StatusCode::NOT_MODIFIED, "application/json", ""),
        false => whole(StatusCode::OK, "application/json", text),
    };
    let headers = answer.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(CACHE));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    Ok(answer)
}

fn broken(why: &dyn std::fmt::Display) -> Problem {
    let told = format!("a card cannot be written: {why}");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, told)
}

/// The card as it is given away.
fn signed(server: &Server, card: &AgentCard) -> Result<Value, Problem> {
    let mut card = serde_json::to_value(card).map_err(|e| broken(&e))?;
    match &server.card_key {
        Some(key) => key.sign(card).map_err(|e| broken(&e)),
        None => {
            if server.limits.v0_3 {
                v0_3::card(&mut card);
            }
            Ok(card)
        }
    }
}

/// The card for a client that was let in: what it may do here, besides what the public one says.
///
/// # Errors
/// It cannot be written.
pub fn extended(server: &Server, client: &Client, pack: &ServedPack) -> Result<Value, Problem> {
    let mut card = of(server, pack, true);
    let may: Vec<&str> = client.may.iter().map(|may| may.name()).collect();
    let signature = match &client.keys {
        None => "none",
        Some(keys) if keys.is_required() => "required",
        Some(_) => "optional",
    };
    let params = json!({
        "client": client.name, "may": may, "turn_timeout_seconds": server.limits.turn_timeout.as_secs(), "message_signature": signature
    });
    card.capabilities.extensions.push(AgentExtension {
        uri: "urn:agentctl:a2a:client:v1".to_owned(),
        description: "what this client may do here".to_owned(),
        required: false,
        params: params.as_object().cloned().unwrap_or_default(),
    });
    signed(server, &card)
}

/// `below`: it is asked for by its name.
pub fn of(server: &Server, pack: &ServedPack, below: bool) -> AgentCard {
    let manifest = &pack.pack.manifest;
    let title = match manifest.title.as_str() {
        "" => manifest.name.clone(),
        title => title.to_owned(),
    };
    let description = match manifest.description.as_str() {
        "" => title.clone(),
        description => description.to_owned(),
    };
    let hash: String = pack.pack.hash.chars().take(HASH).collect();
    let url = server.limits.url.trim_end_matches('/');
    let at = match below {
        true => format!("{url}/agents/{}", manifest.name),
        false => url.to_owned(),
    };
    let interface = |path: &str, binding: &str| AgentInterface {
        url: format!("{at}{path}"),
        protocol_binding: binding.to_owned(),
        protocol_version: VERSION.to_owned(),
        tenant: String::new(),
    };
    let (security_schemes, security_requirements) = security(server);
    let modes = || MODES.map(str::to_owned).to_vec();
    AgentCard {
        supported_interfaces: vec![
            interface(RPC_PATH, AgentInterface::JSON_RPC),
            interface(REST_PATH, AgentInterface::HTTP_JSON),
        ],
        version: format!("{}+{hash}", env!("CARGO_PKG_VERSION")),
        capabilities: Capabilities {
            streaming: true,
            push_notifications: server.outbox.is_some(),
            extended_agent_card: true,
            extensions: vec![extension(below, &manifest.name)],
        },
        security_schemes,
        security_requirements,
        default_input_modes: modes(),
        default_output_modes: modes(),
        skills: skills(pack, &title, &description),
        name: title,
        description,
    }
}

/// The other form of messages that is taken.
fn extension(below: bool, name: &str) -> AgentExtension {
    let at = match below {
        true => format!("/agents/{name}"),
        false => String::new(),
    };
    let params = ["message", "capabilities", "status"].map(|door| {
        let path = format!("{at}{RPC_PATH}/{door}");
        (door.to_owned(), Value::from(path))
    });
    AgentExtension {
        uri: "urn:agentctl:a2a:envelope:v1".to_owned(),
        description: "messages as envelopes of type, sender, receiver and payload".to_owned(),
        required: false,
        params: params.into_iter().collect(),
    }
}

/// What the pack says that it can do; one that says nothing of it can do what it is called.
fn skills(pack: &ServedPack, title: &str, description: &str) -> Vec<AgentSkill> {
    let manifest = &pack.pack.manifest;
    let offered = manifest.channels.a2a.skills.iter();
    let offered: Vec<AgentSkill> = offered
        .map(|skill| AgentSkill {
            id: skill.id.clone(),
            name: skill.name.clone(),
            description: skill.description.clone(),
            tags: skill.tags.clone(),
            examples: skill.examples.clone(),
        })
        .collect();
    match offered.is_empty() {
        false => offered,
        true => vec![AgentSkill {
            id: manifest.name.clone(),
            name: title.to_owned(),
            description: description.to_owned(),
            tags: vec![manifest.name.clone()],
            examples: Vec::new(),
        }],
    }
}

/// How clients come in: any one of the ways.
fn security(server: &Server) -> (BTreeMap<String, SecurityScheme>, Vec<SecurityRequirement>) {
    let (mut schemes, mut required) = (BTreeMap::new(), Vec::new());
    for client in server.clients.all() {
        let name = client.how.name();
        let scheme = match name {
            "basic" => "Basic",
            _ => "Bearer",
        };
        let http = HttpAuth {
            scheme: scheme.to_owned(),
        };
        if schemes
            .insert(name.to_owned(), SecurityScheme::Http { http })
            .is_none()
        {
            let one = BTreeMap::from([(name.to_owned(), SecurityList::default())]);
            required.push(SecurityRequirement { schemes: one });
        }
    }
    (schemes, required)
}
