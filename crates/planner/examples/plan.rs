//! `cargo run -p agentctl-planner --example plan -- REQUESTS.json OUTDIR`: reads each request of a file, without the program
//! around the planner, and writes what was built, asked or refused as `OUTDIR/<id>.json`, as the scorer takes it.

use agentctl_n8n::catalog::Catalog;
use agentctl_planner::{compile, read};
use serde_json::{Value, json};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, out, ..] = args.as_slice() else {
        return Err("usage: plan REQUESTS.json OUTDIR".into());
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
        if std::env::var_os("ACCOUNT").is_some() {
            println!("\n{id}: {request}");
        }
        if std::env::var_os("EXPLAIN").is_some() {
            println!(
                "{}",
                agentctl_planner::explain::explain(
                    request,
                    agentctl_planner::explain::language(request)
                )
            );
        }
        if std::env::var_os("ITEMS").is_some() {
            let language = agentctl_planner::explain::language(request);
            println!("{}", agentctl_planner::explain::items(request, language));
        }
        let answer = answer(request);
        std::fs::write(
            Path::new(out).join(format!("{id}.json")),
            answer.to_string(),
        )?;
    }
    Ok(())
}

fn answer(request: &str) -> Value {
    let reading = read::read(request, &read::ReadContext::default());
    if std::env::var_os("NEW").is_some() {
        let language = agentctl_planner::explain::language(request);
        let reading = agentctl_planner::assemble::read(request, language);
        if let Some(refusal) = reading.refusal {
            return json!({"kind": "refuse", "reason": refusal.reason, "alternatives": refusal.alternatives});
        }
        let questions: Vec<&str> = reading.questions.iter().map(|q| q.text.as_str()).collect();
        if std::env::var_os("ACCOUNT").is_some() {
            println!("language {language}");
            println!("questions: {questions:?}");
        }
        if reading.questions.iter().any(|q| q.required) {
            return json!({"kind": "clarify", "questions": questions});
        }
        let plan = reading.plan;
        if std::env::var_os("PLAN").is_some() {
            println!("{}", serde_json::to_string(&plan).unwrap_or_default());
        }
        let built = compile::compile(&plan, Catalog::embedded());
        let account =
            agentctl_planner::account::account(request, &plan.language, &[&built.workflow]);
        if std::env::var_os("ACCOUNT").is_some() {
            println!(
                "{} of {} parts, {} %: {:?}",
                account.built,
                account.parts,
                account.percent(),
                account.missing
            );
        }
        if plan.steps.is_empty() {
            return json!({"kind": "clarify", "questions": [account.missing.join(", ")]});
        }
        return json!({"missing": account.missing, "percent": account.percent(), "workflow": built.workflow.to_value()});
    }
    if let Some(refusal) = reading.refusal {
        return json!({"kind": "refuse", "reason": refusal.reason, "alternatives": refusal.alternatives});
    }
    let questions: Vec<&str> = reading.questions.iter().map(|q| q.text.as_str()).collect();
    if reading.plan.steps.is_empty() || reading.questions.iter().any(|q| q.required) {
        return json!({"kind": "clarify", "questions": questions});
    }
    if std::env::var_os("PLAN").is_some() {
        println!(
            "{}",
            serde_json::to_string(&reading.plan).unwrap_or_default()
        );
    }
    let built = compile::compile(&reading.plan, Catalog::embedded());
    let account =
        agentctl_planner::account::account(request, &reading.plan.language, &[&built.workflow]);
    if std::env::var_os("ACCOUNT").is_some() {
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
