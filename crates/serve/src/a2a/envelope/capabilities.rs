//! `GET …/a2a/capabilities`: what an agent takes, as JSON-LD of the form that seed systems have. Read without a secret, like its card.

use super::is_taken;
use super::read::{SCHEMA, Type};
use crate::answer::{Answer, json, whole};
use crate::problem::Problem;
use crate::server::{ServedPack, Server};
use hyper::StatusCode;
use serde_json::{Value, json as value};

/// Where the schema is served, below an agent's address.
const SCHEMA_PATH: &str = "/a2a/envelope.schema.json";

/// The schema of every message.
pub fn schema() -> Answer {
    whole(StatusCode::OK, "application/schema+json", SCHEMA)
}

/// `below`: it is asked for by its name.
pub fn capabilities(server: &Server, pack: &ServedPack, below: bool) -> Result<Answer, Problem> {
    let card = crate::a2a::card::of(server, pack, below);
    let name = &pack.pack.manifest.name;
    let at = match below {
        true => format!("/agents/{name}"),
        false => String::new(),
    };
    let one = |of: &str, direction: &str| value!({"type": of, "direction": direction, "schema": format!("{at}{SCHEMA_PATH}#/$defs/{of}")});
    let mut types: Vec<Value> = Vec::new();
    let taken = Type::ALL.into_iter().filter(|(of, ..)| is_taken(pack, *of));
    for (_, request, response) in taken {
        types.push(one(request, "incoming"));
        types.push(one(response, "outgoing"));
    }
    types.extend(["response:input-required", "response:error"].map(|of| one(of, "outgoing")));
    Ok(json(
        StatusCode::OK,
        &value!({
            "@context": "https://a2a-protocol.org/context.jsonld",
            "id": name, "name": card.name, "version": card.version, "description": card.description,
            "supportedMessageTypes": types,
            "endpoints": {
                "message": format!("{at}/a2a/message"), "capabilities": format!("{at}/a2a/capabilities"), "status": format!("{at}/a2a/status")
            }
        }),
    ))
}
