//! One line for a plan: the trigger, then every step in reading order. Branches are flattened (`if …`, `else`), so that a
//! filter and a decision without another side read alike.

use agentctl_planner::plan::{
    Arg, Cond, Does, LlmTask, Plan, ScheduleRule, Service, Step, Trigger, Val,
};

/// The parts of a plan: trigger first.
pub fn parts(plan: &Plan) -> Vec<String> {
    let triggers: Vec<String> = plan.triggers.iter().map(trigger).collect();
    let mut out = vec![triggers.join(" + ")];
    steps(&plan.steps, &mut out);
    if !plan.on_error.is_empty() {
        out.push("on_error".into());
        steps(&plan.on_error, &mut out);
    }
    for more in &plan.also {
        let mut inner = parts(more);
        if let Some(first) = inner.first_mut() {
            first.insert_str(0, "also ");
        }
        out.extend(inner);
    }
    out
}

fn short(service: &Service) -> String {
    service.node_types.first().map_or_else(
        || format!("?{}", service.said),
        |t| t.rsplit('.').next().unwrap_or(t).to_owned(),
    )
}

fn word(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_value(value).unwrap();
    match json {
        serde_json::Value::String(s) => s,
        serde_json::Value::Object(o) => o
            .values()
            .next()
            .map_or_else(String::new, |v| v.as_str().unwrap_or_default().to_owned()),
        other => other.to_string(),
    }
}

fn val(v: &Val) -> String {
    match v {
        Val::Lit { value } => value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned),
        Val::Field { name, of } => of
            .as_ref()
            .map_or_else(|| format!("${name}"), |o| format!("${o}.{name}")),
        Val::Template { parts } => parts.iter().map(val).collect(),
        Val::Now { offset_seconds, .. } => format!("now{offset_seconds:+}"),
        Val::Math { left, sign, right } => format!("{}{sign}{}", val(left), val(right)),
        Val::Expr { code } => format!("={code}"),
    }
}

fn args(list: &[Arg]) -> String {
    list.iter()
        .map(|a| format!(" {}={}", word(&a.role), val(&a.value)))
        .collect()
}

fn rule(r: &ScheduleRule) -> String {
    match r {
        ScheduleRule::Seconds { n } => format!("every {n} seconds"),
        ScheduleRule::Minutes { n } => format!("every {n} minutes"),
        ScheduleRule::Hours { n, .. } => format!("every {n} hours"),
        ScheduleRule::Days { n, hour, minute } => format!("every {n} days {hour}:{minute:02}"),
        ScheduleRule::Weeks {
            weekdays,
            hour,
            minute,
            ..
        } => format!("weekly {weekdays:?} {hour}:{minute:02}").replace(", ", ","),
        ScheduleRule::Months {
            n,
            day,
            hour,
            minute,
        } => format!("every {n} months day={day} {hour}:{minute:02}"),
        ScheduleRule::Cron { expression } => format!("cron {expression}"),
    }
}

fn trigger(t: &Trigger) -> String {
    match t {
        Trigger::Manual => "manual".into(),
        Trigger::SubWorkflow { inputs } => format!("sub {}", inputs.join(",")),
        Trigger::Schedule { rules } => format!(
            "schedule {}",
            rules.iter().map(rule).collect::<Vec<_>>().join(" & ")
        ),
        Trigger::Webhook {
            method,
            path,
            fields,
            ..
        } => format!(
            "webhook {method} {} {}",
            path.clone().unwrap_or_default(),
            fields.join(",")
        ),
        Trigger::Form { title, fields } => format!(
            "form \"{title}\" {}",
            fields
                .iter()
                .map(|f| f.label.clone())
                .collect::<Vec<_>>()
                .join(",")
        ),
        Trigger::Chat { .. } => "chat".into(),
        Trigger::Service {
            service,
            event,
            object,
            args: a,
        } => format!(
            "on {} object={} event=({event}){}",
            short(service),
            object.clone().unwrap_or_default(),
            args(a)
        ),
        Trigger::Poll { every, step } => {
            let mut out = Vec::new();
            steps(std::slice::from_ref(step), &mut out);
            format!("poll {} {}", rule(every), out.join(" "))
        }
        Trigger::McpServer { .. } => "mcp".into(),
        Trigger::Error => "error".into(),
    }
}

pub fn cond(c: &Cond) -> String {
    match c {
        Cond::All { of } => of.iter().map(cond).collect::<Vec<_>>().join(" and "),
        Cond::Any { of } => of.iter().map(cond).collect::<Vec<_>>().join(" or "),
        Cond::Not { of } => format!("not({})", cond(of)),
        Cond::Compare { left, op, right } => format!("{} {} {}", val(left), word(op), val(right)),
        Cond::Age {
            field,
            older,
            seconds,
        } => format!(
            "{} {} {seconds}s",
            val(field),
            if *older { "older" } else { "newer" }
        ),
    }
}

fn steps(list: &[Step], out: &mut Vec<String>) {
    for s in list {
        step(&s.does, out);
    }
}

fn step(does: &Does, out: &mut Vec<String>) {
    match does {
        Does::Service {
            service,
            verb,
            object,
            args: a,
            ..
        } => out.push(format!(
            "{} {} {}{}",
            short(service),
            word(verb),
            object.clone().unwrap_or_default(),
            args(a)
        )),
        Does::Http {
            method,
            url,
            query,
            body,
            ..
        } => out.push(format!("http {method} {url}{}{}", args(query), args(body))),
        Does::If {
            condition,
            then,
            otherwise,
        } => {
            out.push(format!("if {}", cond(condition)));
            steps(then, out);
            if !otherwise.is_empty() {
                out.push("else".into());
                steps(otherwise, out);
            }
        }
        Does::Switch {
            on,
            cases,
            fallback,
        } => {
            out.push(format!("switch {}", val(on)));
            for c in cases {
                out.push(format!("case {}", c.label));
                steps(&c.steps, out);
            }
            if let Some(f) = fallback {
                out.push("else".into());
                steps(f, out);
            }
        }
        Does::Filter { condition } => out.push(format!("if {}", cond(condition))),
        Does::Loop {
            batch_size,
            body,
            after,
        } => {
            out.push(format!("loop {batch_size}"));
            steps(body, out);
            steps(after, out);
        }
        Does::Wait { seconds } => out.push(format!("wait {seconds}s")),
        Does::Approval {
            service,
            args: a,
            approved,
            rejected,
        } => {
            out.push(format!("approval {}{}", short(service), args(a)));
            steps(approved, out);
            if !rejected.is_empty() {
                out.push("else".into());
                steps(rejected, out);
            }
        }
        Does::Llm { task, provider, .. } => out.push(format!(
            "llm {} {}",
            task_word(task),
            provider.clone().unwrap_or_default()
        )),
        Does::Agent {
            provider,
            knowledge,
            ..
        } => out.push(format!(
            "agent {}{}",
            provider.clone().unwrap_or_default(),
            knowledge
                .iter()
                .map(|k| format!(
                    " knows={} {}",
                    short(&k.store),
                    k.collection.clone().unwrap_or_default()
                ))
                .collect::<String>()
        )),
        Does::Aggregate { format, .. } => out.push(format!("aggregate {format}")),
        Does::Split { field } => out.push(format!("split {}", val(field))),
        Does::SetFields { fields } => out.push(format!("set{}", args(fields))),
        Does::Sort { by, descending } => out.push(format!(
            "sort {} {}",
            val(by),
            if *descending { "desc" } else { "asc" }
        )),
        Does::LimitTo { n } => out.push(format!("limit {n}")),
        Does::Unique { by } => out.push(format!(
            "unique {}",
            by.iter().map(val).collect::<Vec<_>>().join(",")
        )),
        Does::Summarize { measures, by } => out.push(format!(
            "summarize {} by {}",
            measures
                .iter()
                .map(|m| format!("{} {}", m.op, val(&m.of)))
                .collect::<Vec<_>>()
                .join(","),
            by.iter().map(val).collect::<Vec<_>>().join(",")
        )),
        Does::Dedupe { key, .. } => out.push(format!("dedupe {}", val(key))),
        Does::NotIn { key, lookup } => {
            let mut inner = Vec::new();
            steps(std::slice::from_ref(lookup), &mut inner);
            out.push(format!("not_in {} {}", val(key), inner.join(" ")));
        }
        Does::Join {
            left,
            right,
            on,
            keep,
        } => {
            steps(left, out);
            steps(right, out);
            out.push(format!("join {on} {keep}"));
        }
        Does::Gather { branches } | Does::Each { branches } => {
            branches.iter().for_each(|b| steps(b, out))
        }
        Does::ToFile { format, .. } => out.push(format!("to_file {format}")),
        Does::FromFile { format, .. } => out.push(format!("from_file {format}")),
        Does::ReadDisk { path } => out.push(format!("read_disk {path}")),
        Does::WriteDisk { path } => out.push(format!("write_disk {path}")),
        Does::Respond {
            status,
            body,
            as_text,
        } => out.push(format!(
            "respond {status}{} {}",
            args(body),
            as_text.as_ref().map(val).unwrap_or_default()
        )),
        Does::CallWorkflow { reference, .. } => out.push(format!("call_workflow {reference}")),
        Does::Transcribe { .. } => out.push("transcribe".into()),
        Does::GenerateImage { .. } => out.push("image".into()),
        Does::Code { purpose, .. } => out.push(format!("code {purpose}")),
        Does::Ingest {
            store,
            collection,
            embeddings,
            chunk_size,
            overlap,
        } => out.push(format!(
            "ingest {} {} embeddings={} chunk={} overlap={}",
            short(store),
            collection.clone().unwrap_or_default(),
            embeddings.clone().unwrap_or_default(),
            chunk_size.unwrap_or(0),
            overlap.unwrap_or(0)
        )),
        Does::WaitUntil { at, offset_seconds } => {
            out.push(format!("wait_until {} {offset_seconds:+}s", val(at)))
        }
        Does::Nothing => out.push("nothing".into()),
    }
}

fn task_word(task: &LlmTask) -> String {
    match task {
        LlmTask::Classify { labels } => format!("classify {}", labels.join(",")),
        LlmTask::Sentiment => "sentiment".into(),
        LlmTask::Extract { fields } => format!("extract {}", fields.join(",")),
        LlmTask::Summarize => "summarize".into(),
        LlmTask::Translate { language } => format!("translate {language}"),
        LlmTask::Write => "write".into(),
    }
}
