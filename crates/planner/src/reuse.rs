//! Change what is there, or build something new: what the project's workflows are compared with, and the choices that follow.

use super::plan::{Plan, Trigger};
use super::roles::{Move, named, object};
use agentctl_n8n::fit::Wanted;
use serde_json::{Map, Value, json};

/// What the request asks for, as the fit of a workflow is computed from it.
pub(super) fn wanted(plan: &Plan, request: &str) -> Wanted {
    Wanted {
        node_types: services(plan),
        trigger_types: plan.triggers.iter().filter_map(trigger_type).collect(),
        words: words(request),
        values: values(plan),
    }
}

/// The node types that a plan names, first choices only, each once.
pub(super) fn services(plan: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    let value = serde_json::to_value(plan).unwrap_or_default();
    collect_types(&value, &mut found);
    found
}

fn collect_types(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            if let Some(first) = map
                .get("node_types")
                .and_then(|t| t.get(0))
                .and_then(Value::as_str)
                && !found.iter().any(|f| f == first)
            {
                found.push(first.to_owned());
            }
            map.values().for_each(|v| collect_types(v, found));
        }
        Value::Array(list) => list.iter().for_each(|v| collect_types(v, found)),
        _ => {}
    }
}

/// The places and people that the request names: paths, addresses, channels, sheets, tables. They tell two workflows of the same
/// kinds of nodes apart.
fn values(plan: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    // A plan is data of our own: it always has a JSON form.
    collect_values(&serde_json::to_value(plan).unwrap_or_default(), &mut found);
    found.sort();
    found.dedup();
    found
}

fn collect_values(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let place = map.get("role").is_some_and(names_a_place);
            let literal = map.get("value").filter(|_| place);
            let given = [
                literal.and_then(|v| v.get("value")),
                map.get("path"),
                map.get("url"),
            ];
            found.extend(given.into_iter().flatten().filter_map(plain));
            // What something is compared with or limited to.
            found.extend(map.get("value").and_then(number));
            map.values().for_each(|v| collect_values(v, found));
        }
        Value::Array(list) => list.iter().for_each(|v| collect_values(v, found)),
        _ => {}
    }
}

fn names_a_place(role: &Value) -> bool {
    const PLACES: [&str; 12] = [
        "to",
        "from",
        "cc",
        "channel",
        "recipient",
        "container",
        "part",
        "url",
        "path",
        "query",
        "branch",
        "workflow",
    ];
    match role {
        Value::String(role) => PLACES.contains(&role.as_str()),
        Value::Object(role) => role.contains_key("named"),
        _ => false,
    }
}

/// A number as a parameter holds it.
fn number(value: &Value) -> Option<String> {
    let number = value.as_f64()?;
    Some(match number.fract() == 0.0 {
        true => format!("{number:.0}"),
        false => number.to_string(),
    })
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The type of a trigger that every workflow of its kind has.
fn trigger_type(trigger: &Trigger) -> Option<String> {
    use Trigger as T;
    let name = match trigger {
        T::Manual => "n8n-nodes-base.manualTrigger",
        T::SubWorkflow { .. } => "n8n-nodes-base.executeWorkflowTrigger",
        T::Schedule { .. } | T::Poll { .. } => "n8n-nodes-base.scheduleTrigger",
        T::Webhook { .. } => "n8n-nodes-base.webhook",
        T::Form { .. } => "n8n-nodes-base.formTrigger",
        T::Chat { .. } => "@n8n/n8n-nodes-langchain.chatTrigger",
        T::McpServer { .. } => "@n8n/n8n-nodes-langchain.mcpTrigger",
        T::Error => "n8n-nodes-base.errorTrigger",
        T::Service { service, .. } => return service.node_types.first().cloned(),
    };
    Some(name.to_owned())
}

/// Words of three letters and more, lower case: what a workflow's name is compared with.
fn words(request: &str) -> Vec<String> {
    let mut found: Vec<String> = request
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| w.chars().count() >= 3)
        .map(str::to_lowercase)
        .collect();
    found.sort();
    found.dedup();
    found
}

/// From this fit on, changing an existing workflow is offered; from [`RECOMMENDED_FIT`] on it is recommended.
const OFFERED_FIT: u64 = 60;
const RECOMMENDED_FIT: u64 = 80;

/// Change what is there, or build: the choices with the scores that the program computed.
pub(super) fn decide(input: &Map<String, Value>) -> Result<Move, String> {
    if let Some(id) = named(input) {
        let decision = json!({"choice": "modify", "workflow_id": id, "what": format!("change {id} as asked, nothing else"), "reason": "you named this workflow"});
        return Ok(Move::Done(
            json!({"decision": decision, "decision_options": [decision]}),
        ));
    }
    let found = object(input, "research_findings")
        .and_then(|f| f.get("existing"))
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let score = |w: &Value| w.get("fit_score").and_then(Value::as_u64).unwrap_or(0);
    let mut options: Vec<Value> = found
        .iter()
        .filter(|w| score(w) >= OFFERED_FIT)
        .take(3)
        .map(|w| {
            json!({
                "choice": "modify", "workflow_id": w["id"], "fit_score": w["fit_score"],
                "what": format!("add to {} what it lacks of the request, and keep the rest of it", w["name"].as_str().unwrap_or("it")),
                "reason": "it has the same trigger and the same services",
            })
        })
        .collect();
    let best = found
        .first()
        .filter(|w| score(w) >= RECOMMENDED_FIT && of_the_same_matter(w))
        .and(options.first())
        .cloned();
    let reason = match found.iter().map(score).max() {
        None => "there is no workflow yet that could be changed".to_owned(),
        Some(top) => format!(
            "the nearest existing workflow fits to {top} of 100; it is only taken, from {RECOMMENDED_FIT} on, if it holds all values that the request names"
        ),
    };
    let build = json!({"choice": "build", "workflow_id": null, "what": "build a new workflow", "reason": reason});
    options.push(build.clone());
    Ok(Move::Done(
        json!({"decision": best.unwrap_or(build), "decision_options": options}),
    ))
}

/// Whether every value that the request names is in the workflow too, and two thirds of both with its words: then it does this already. The
/// same kinds of nodes alone, or another number, make no workflow the one that was meant, and `--yes` takes what is recommended.
fn of_the_same_matter(found: &Value) -> bool {
    let parts = found.get("evidence").and_then(Value::as_array);
    let points = |name: &str| {
        let part = parts?
            .iter()
            .find(|part| part.get(0).and_then(Value::as_str) == Some(name))?;
        Some((part.get(1)?.as_u64()?, part.get(2)?.as_u64()?))
    };
    let (words, of_words) = points("words").unwrap_or_default();
    let (values, of_values) = points("values").unwrap_or_default();
    let (points, possible) = (words + values, of_words + of_values);
    possible > 0 && values == of_values && points * 3 >= possible * 2
}
