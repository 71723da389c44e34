//! `cargo run -p agentctl-planner --example plan -- REQUESTS.json OUT [both|older|newer] [--show]`: reads each request of a file,
//! without the program around the planner, and writes what was built, asked or refused as `OUT/<id>.json`, as scorers take it.
//! `--show` prints each request with its clauses, its items, its plan and its account. Requests that change a workflow are left out.

use agentctl_n8n::catalog::Catalog;
use agentctl_planner::{account, assemble, choice, compile, explain, read};
use serde_json::{Value, json};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let show = args.iter().any(|a| a == "--show");
    let mut plain = args.iter().filter(|a| !a.starts_with("--"));
    let (Some(file), Some(out)) = (plain.next(), plain.next()) else {
        return Err("usage: plan REQUESTS.json OUT [both|older|newer] [--show]".into());
    };
    let reader = plain.next().map_or("both", String::as_str);
    let requests: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    std::fs::create_dir_all(out)?;
    for item in &requests {
        let (Some(id), Some(request)) = (item["id"].as_str(), item["request"].as_str()) else {
            continue;
        };
        if item.get("existing").is_some() {
            continue;
        }
        if show {
            let language = explain::language(request);
            println!("\n{id} ({language}): {request}");
            println!("{}", explain::explain(request, language));
            println!("{}", explain::items(request, language));
        }
        let answer = answer(request, reader, show);
        std::fs::write(
            Path::new(out).join(format!("{id}.json")),
            answer.to_string(),
        )?;
    }
    Ok(())
}

fn answer(request: &str, reader: &str, show: bool) -> Value {
    let cx = read::ReadContext::default();
    let reading = match reader {
        "older" => read::read(request, &cx),
        "newer" => assemble::read(request, explain::language(request)),
        _ => choice::reading(request, &cx),
    };
    if let Some(refusal) = reading.refusal {
        return json!({"kind": "refuse", "reason": refusal.reason, "alternatives": refusal.alternatives});
    }
    let questions: Vec<&str> = reading.questions.iter().map(|q| q.text.as_str()).collect();
    if reading.plan.steps.is_empty() || reading.questions.iter().any(|q| q.required) {
        return json!({"kind": "clarify", "questions": questions});
    }
    let built = compile::compile(&reading.plan, Catalog::embedded());
    let account = account::account(request, &reading.plan.language, &[&built.workflow]);
    if show {
        println!("{}", json!(reading.plan));
        println!(
            "{} of {} parts, {} %: {:?}",
            account.built,
            account.parts,
            account.percent(),
            account.missing
        );
    }
    json!({"missing": account.missing, "percent": account.percent(), "workflow": built.workflow.to_value(), "notes": built.notes.join("\n"), "questions": questions})
}
