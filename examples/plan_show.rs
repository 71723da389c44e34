//! Prints how requests are read: one request a line on stdin, or a requests file as argument.
use agentctl::model::offline::plan::{Does, Step};
use agentctl::model::offline::read::{ReadContext, read};

fn show(steps: &[Step], depth: usize) {
    let pad = "  ".repeat(depth + 2);
    for s in steps {
        let line = |does: &Does| serde_json::to_string(does).unwrap_or_default();
        match &s.does {
            Does::If {
                condition,
                then,
                otherwise,
            } => {
                println!(
                    "{pad}IF {}",
                    serde_json::to_string(condition).unwrap_or_default()
                );
                show(then, depth + 1);
                println!("{pad}ELSE");
                show(otherwise, depth + 1);
            }
            Does::Switch { cases, .. } => {
                println!("{pad}SWITCH");
                for c in cases {
                    println!("{pad} case {}", c.label);
                    show(&c.steps, depth + 1);
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
                println!(
                    "{pad}APPROVAL {} {}",
                    service.said,
                    serde_json::to_string(args).unwrap_or_default()
                );
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
                    .map(|a| {
                        format!(
                            "{}={}",
                            serde_json::to_string(&a.role).unwrap_or_default(),
                            serde_json::to_string(&a.value).unwrap_or_default()
                        )
                    })
                    .collect();
                println!(
                    "{pad}{} {verb:?} {} once={once} {}",
                    service
                        .node_types
                        .first()
                        .map_or("?", String::as_str)
                        .trim_start_matches("n8n-nodes-base."),
                    object.as_deref().unwrap_or("-"),
                    args.join(" ").replace("\"val\":", "")
                );
            }
            other => println!("{pad}{}", line(other)),
        }
    }
}

fn main() {
    let only: Vec<String> = std::env::args().skip(2).collect();
    let file = std::env::args().nth(1).unwrap_or_default();
    let text = if file == "-" {
        std::io::read_to_string(std::io::stdin()).unwrap_or_default()
    } else {
        std::fs::read_to_string(&file).unwrap_or_default()
    };
    let requests: Vec<(String, String)> = match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(serde_json::Value::Array(a)) => a
            .iter()
            .map(|r| {
                (
                    r["id"].as_str().unwrap_or_default().to_owned(),
                    r["request"].as_str().unwrap_or_default().to_owned(),
                )
            })
            .collect(),
        _ => text
            .lines()
            .enumerate()
            .map(|(i, l)| (i.to_string(), l.to_owned()))
            .collect(),
    };
    for (id, request) in requests {
        if !only.is_empty() && !only.contains(&id) || request.is_empty() {
            continue;
        }
        let r = read(&request, &ReadContext::default());
        println!(
            "## {id} {request}\n   name: {} [{}] tz {:?} retry {:?} minimal {}",
            r.plan.name, r.plan.language, r.plan.timezone, r.plan.retry, r.plan.minimal
        );
        println!(
            "   T {}",
            serde_json::to_string(&r.plan.triggers).unwrap_or_default()
        );
        show(&r.plan.steps, 0);
        if !r.plan.on_error.is_empty() {
            println!("   ON ERROR");
            show(&r.plan.on_error, 0);
        }
        for q in &r.questions {
            println!(
                "   ? {} {}{}",
                q.topic,
                q.text,
                if q.required { "" } else { " (optional)" }
            );
        }
        if let Some(f) = &r.refusal {
            println!("   REFUSED {} {:?}", f.reason, f.alternatives);
        }
    }
}
