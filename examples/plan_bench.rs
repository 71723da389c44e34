//! Reads requests, compiles them and writes one JSON file for each, in the form that the planner's benchmark scores.
//!
//! `cargo run --example plan_bench -- REQUESTS.json OUTDIR [id …]`; `REQUESTS.json` is a list of `{id, request}` (the key
//! `existing` marks a change of a workflow and is left out). `--show` instead of OUTDIR prints the plans; `-` reads plain
//! requests from stdin, one a line.
#![expect(clippy::print_stdout, reason = "measurements and examples print")]

use agentctl_n8n::catalog::Catalog;
use agentctl_planner::compile::compile;
use agentctl_planner::plan::{Does, Step};
use agentctl_planner::read::{ReadContext, Reading, read};
use serde_json::{Value, json};
use std::path::Path;

fn json_line(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value)
        .unwrap_or_default()
        .replace("\"val\":", "")
        .replace(",\"of\":null", "")
}

fn show(steps: &[Step], depth: usize) {
    let pad = "  ".repeat(depth + 2);
    for s in steps {
        match &s.does {
            Does::If {
                condition,
                then,
                otherwise,
            } => {
                println!("{pad}IF {}", json_line(condition));
                show(then, depth + 1);
                println!("{pad}ELSE");
                show(otherwise, depth + 1);
            }
            Does::Switch {
                cases, fallback, ..
            } => {
                println!("{pad}SWITCH");
                for c in cases {
                    println!("{pad} case {}", c.label);
                    show(&c.steps, depth + 1);
                }
                if let Some(f) = fallback {
                    println!("{pad} else");
                    show(f, depth + 1);
                }
            }
            Does::Loop {
                batch_size,
                body,
                after,
            } => {
                println!("{pad}LOOP {batch_size}");
                show(body, depth + 1);
                println!("{pad}AFTER");
                show(after, depth + 1);
            }
            Does::Approval {
                service,
                args,
                approved,
                rejected,
            } => {
                println!("{pad}APPROVAL {} {}", service.said, json_line(args));
                show(approved, depth + 1);
                println!("{pad}REJECTED");
                show(rejected, depth + 1);
            }
            Does::Service {
                service,
                verb,
                object,
                args,
                once,
            } => {
                let args: Vec<String> = args
                    .iter()
                    .map(|a| format!("{}={}", json_line(&a.role), json_line(&a.value)))
                    .collect();
                println!(
                    "{pad}{} {verb:?} {} once={once} {}",
                    service.node_types.first().map_or("?", String::as_str),
                    object.as_deref().unwrap_or("-"),
                    args.join(" ")
                );
            }
            other => println!("{pad}{}", json_line(other)),
        }
    }
}

fn print(id: &str, request: &str, r: &Reading) {
    println!("## {id} {request}");
    println!(
        "   {} [{}] tz {:?} retry {:?} minimal {}",
        r.plan.name, r.plan.language, r.plan.timezone, r.plan.retry, r.plan.minimal
    );
    for t in &r.plan.triggers {
        println!("   T {}", json_line(t));
    }
    show(&r.plan.steps, 0);
    if !r.plan.on_error.is_empty() {
        println!("   ON ERROR");
        show(&r.plan.on_error, 0);
    }
    for q in &r.questions {
        println!(
            "   ? {}{} {}",
            q.topic,
            if q.required { "" } else { " (optional)" },
            q.text
        );
    }
    if let Some(f) = &r.refusal {
        println!("   REFUSED {} {:?}", f.reason, f.alternatives);
    }
}

fn answer(r: &Reading, catalog: &Catalog) -> Value {
    let texts: Vec<Value> = r
        .questions
        .iter()
        .map(|q| json!({"topic": q.topic, "text": q.text, "options": q.options.iter().map(|o| o.label.clone()).collect::<Vec<_>>()}))
        .collect();
    if let Some(refusal) = &r.refusal {
        let mut out = json!({"kind": "refuse", "reason": refusal.reason, "alternatives": refusal.alternatives});
        if !r.plan.steps.is_empty()
            && let Some(map) = out.as_object_mut()
        {
            map.insert("workflow".into(), json!(compile(&r.plan, catalog).workflow));
        }
        return out;
    }
    if r.questions.iter().any(|q| q.required) {
        return json!({"kind": "clarify", "questions": texts});
    }
    let compiled = compile(&r.plan, catalog);
    json!({"workflow": compiled.workflow, "notes": compiled.notes})
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(file), Some(out)) = (args.next(), args.next()) else {
        return Err("usage: plan_bench REQUESTS.json|- OUTDIR|--show [id …]".into());
    };
    let only: Vec<String> = args.collect();
    let text = if file == "-" {
        std::io::read_to_string(std::io::stdin())?
    } else {
        std::fs::read_to_string(&file)?
    };
    let requests: Vec<Value> = if file == "-" {
        text.lines()
            .enumerate()
            .map(|(i, l)| json!({"id": i.to_string(), "request": l}))
            .collect()
    } else {
        serde_json::from_str(&text)?
    };
    let catalog = Catalog::embedded();
    for r in requests {
        let (Some(id), Some(request)) = (
            r.get("id").and_then(Value::as_str),
            r.get("request").and_then(Value::as_str),
        ) else {
            continue;
        };
        if request.trim().is_empty() || !only.is_empty() && !only.iter().any(|o| o == id) {
            continue;
        }
        let reading = read(request, &ReadContext::default());
        if out == "--show" {
            print(id, request, &reading);
        } else if r.get("existing").is_none_or(Value::is_null) {
            let path = Path::new(&out).join(format!("{id}.json"));
            std::fs::write(
                path,
                serde_json::to_string_pretty(&answer(&reading, catalog))?,
            )?;
        }
    }
    Ok(())
}
