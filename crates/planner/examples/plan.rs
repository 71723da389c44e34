//! `cargo run -p agentctl-planner --example plan -- REQUESTS.json OUT [--show]`: reads each request of a file,
//! without the program around the planner, and writes what was built, asked or refused as `OUT/<id>.json`, as scorers take it.
//! `--show` writes beside it, as `OUT/<id>.txt`, the request with its clauses, its items, its plan and its account. Requests that
//! change a workflow are left out.

use agentctl_n8n::catalog::Catalog;
use agentctl_planner::{account, compile, explain, read};
use serde_json::{Value, json};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let show = args.iter().any(|a| a == "--show");
    let mut plain = args.iter().filter(|a| !a.starts_with("--"));
    let (Some(file), Some(out)) = (plain.next(), plain.next()) else {
        return Err("usage: plan REQUESTS.json OUT [--show]".into());
    };
    let requests: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    std::fs::create_dir_all(out)?;
    for item in &requests {
        let (Some(id), Some(request)) = (item["id"].as_str(), item["request"].as_str()) else {
            continue;
        };
        if item.get("existing").is_some() {
            continue;
        }
        let (answer, shown) = answer(request);
        if show {
            std::fs::write(Path::new(out).join(format!("{id}.txt")), shown)?;
        }
        std::fs::write(
            Path::new(out).join(format!("{id}.json")),
            answer.to_string(),
        )?;
    }
    Ok(())
}

/// What is written for a request, and how it was read.
fn answer(request: &str) -> (Value, String) {
    let language = explain::language(request);
    let clauses = explain::explain(request, language);
    let items = explain::items(request, language);
    let mut shown = format!("({language}) {request}\n{clauses}\n{items}\n");
    let reading = read::read(request, &read::ReadContext::default());
    if let Some(refusal) = reading.refusal {
        let refused = json!({"kind": "refuse", "reason": refusal.reason, "alternatives": refusal.alternatives});
        return (refused, shown);
    }
    let questions: Vec<&str> = reading.questions.iter().map(|q| q.text.as_str()).collect();
    if reading.plan.steps.is_empty() || reading.questions.iter().any(|q| q.required) {
        return (json!({"kind": "clarify", "questions": questions}), shown);
    }
    let built = compile::compile(&reading.plan, Catalog::embedded());
    let account = account::account_of_plan(request, &reading.plan, &built);
    let assumed = account::assumptions(request, &reading.plan.language, &built);
    let notes: Vec<String> = built.notes.iter().cloned().chain(assumed).collect();
    shown += &format!("{}\n{}\n", json!(reading.plan), json!(account));
    let made = json!({"missing": account.missing, "percent": account.percent(), "workflow": built.workflow.to_value(), "notes": notes.join("\n"), "questions": questions});
    (made, shown)
}
