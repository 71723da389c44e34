//! How a run's end is told to a person: what was built, where it is, what was checked and what was not, what is still
//! theirs to do, and the next command to type.

mod draft;

use crate::cli::progress::{plain, plain_long, shown};
use crate::cli::questions;
use crate::cli::words::lost;
use crate::cli::{cases, look};
use agentctl_base::counted::counted;
use agentctl_base::question::Outcome;
use agentctl_base::shell;
use agentctl_base::untrusted::{self, prose};
use agentctl_engine::policy::Grants;
use agentctl_engine::run::{Reply, RunReport};
use agentctl_n8n::{Workflow, catalog::Catalog, needs};
use agentctl_n8n_tools::report::{Built, QA_REPORT, QaReport, WORKFLOW, is_of_credentials};
use console::style;
use serde_json::{Value, json};

/// The text of `build`, `resume` and `answer`. `workflow`: the document that the run left, when there is one,
/// and the catalog of the project.
pub fn text(report: &RunReport, workflow: Option<(&Workflow, &Catalog)>) -> String {
    let mut out = String::new();
    let made = Built::of(&report.made, &report.lost);
    for reply in &report.messages {
        said(reply, &mut out);
    }
    if report.taken_back {
        let run = &report.run_id;
        out.push_str(&format!(
            "taken back: an undo put back what this run changed; agentctl log {run} shows its changes{}\n",
            match report.redo {
                Some(number) => format!(", agentctl undo {run} --to {number} brings them back"),
                None => String::new(),
            }
        ));
        // What was checked and what was left to do is of a workflow that is not there any more.
        if matches!(
            report.outcome,
            Outcome::Complete | Outcome::Draft | Outcome::Partial
        ) {
            return out;
        }
    }
    other_workflow(report, &made, &mut out);
    if matches!(report.outcome, Outcome::Draft | Outcome::Partial) {
        draft::told(report, &made, &mut out);
    }
    if let (Some(built), Some((document, catalog))) = (&made.workflow, workflow) {
        out.push_str(&format!(
            "{} ({})\n\n",
            style(plain(&built.name)).bold(),
            counted(built.node_count, "node")
        ));
        out.push_str(&agentctl_n8n::tree::tree(document, Some(catalog)));
        out.push('\n');
        if let Some(file) = &built.file {
            let file = plain(file);
            out.push_str(&format!("file: {file} (imports into n8n as it is)\n"));
        }
    }
    if let (Some(built), Some(n8n)) = (&made.workflow, &made.n8n) {
        let page = page(n8n, &format!("workflow/{}", built.id));
        out.push_str(&format!("workflow: {}, {page}\n", plain(&built.id)));
    }
    checked(report, &made, &mut out);
    open_points(report, made.n8n.as_deref(), workflow, &mut out);
    if !report.overrides.is_empty() {
        let files: Vec<String> = report.overrides.iter().map(|file| plain(file)).collect();
        out.push_str(&format!(
            "in place of the built-in pack: {}\n",
            files.join(", ")
        ));
    }
    for (id, counted) in &made.losses {
        out.push_str(&format!("lost of {}: {}\n", plain(id), lost(counted)));
    }
    for loosened in &report.policy_loosened {
        out.push_str(&format!(
            "policy loosened by the project: {}\n",
            plain_long(loosened)
        ));
    }
    for grants in &report.grants {
        out.push_str("tools of other servers that this run could use:\n");
        for line in granted(grants) {
            out.push_str(&format!("  {}\n", plain_long(&line)));
        }
    }
    ending(report, &made, &mut out);
    out
}

/// What the run decided about a workflow that was there before, which nobody may have thought of: that it changed it, or that it could
/// have.
fn other_workflow(report: &RunReport, made: &Built, out: &mut String) {
    let Some(decision) = report.state.get("decision") else {
        return;
    };
    let text = |of: &Value, key: &str| {
        let text = of.get(key).and_then(Value::as_str);
        text.map(plain)
    };
    let fit = |of: &Value| match of.get("fit_score").and_then(Value::as_u64) {
        Some(fit) => format!(", fit {fit}"),
        None => String::new(),
    };
    // Who names it with --workflow needs no telling.
    let chosen = decision.get("decided_by").is_some();
    if let (Some("modify"), Some(built), true) = (
        decision.get("choice").and_then(Value::as_str),
        &made.workflow,
        chosen,
    ) {
        out.push_str(&format!(
            "changed a workflow that was there: {} ({}{})\n",
            plain(&built.name),
            plain(&built.id),
            fit(decision)
        ));
    }
    let Some(other) = decision
        .get("could_change")
        .filter(|other| other.is_object())
    else {
        return;
    };
    if let Some(id) = text(other, "workflow_id") {
        let named = shell::word(&id);
        let what = text(other, "what").map_or_else(String::new, |what| format!(": {what}"));
        out.push_str(&format!(
            "built as a new workflow; {id}{} is like it, and agentctl build --workflow {named} \"…\" would change it instead{what}\n",
            fit(other)
        ));
    }
}

/// A message of the flow as it was written, its lines kept: who asked for a report in Markdown can read it on as that.
fn said(reply: &Reply, out: &mut String) {
    out.push_str(untrusted::text(&reply.text).trim_end());
    out.push('\n');
    if let Some(place) = &reply.attachment {
        out.push_str(&format!("{}\n", plain(place)));
    }
    out.push('\n');
}

/// One line for each entry; a plan without any is said too.
fn granted(grants: &Value) -> Vec<String> {
    let lines = Grants::parse(grants).map(|grants| grants.lines());
    match lines {
        Ok(lines) if !lines.is_empty() => lines,
        _ => vec!["none".to_owned()],
    }
}

/// A page of n8n's editor.
fn page(n8n: &str, path: &str) -> String {
    plain(&format!("{}/{path}", n8n.trim_end_matches('/')))
}

/// What was checked, and what was not: never more than was seen.
fn checked(report: &RunReport, made: &Built, out: &mut String) {
    let Some(qa) = &made.qa_report else { return };
    let versions = match made.node_facts {
        Some(_) => "",
        None => "node types and versions, ",
    };
    out.push_str(&format!(
        "checked: structure, {versions}parameters, connections, expressions: {}, {}{}\n",
        counted(qa.error_count, "error"),
        counted(qa.warning_count, "warning"),
        if qa.cycle > 1 {
            format!(" (after {} QA cycles)", qa.cycle)
        } else {
            String::new()
        }
    ));
    if let Some(whose) = &made.node_facts {
        out.push_str(&format!(
            "not checked: node types and versions of this n8n ({})\n",
            prose(whose)
        ));
    }
    if qa.executed {
        executed(report, qa, out);
    } else {
        let why = report
            .sections
            .get(QA_REPORT)
            .and_then(|r| r.get("not_executed"))
            .and_then(Value::as_str)
            .unwrap_or("no step of the run executed it");
        out.push_str(&format!(
            "not checked: it was not executed ({})\n",
            prose(why)
        ));
        for case in cases::in_words(cases::of_state(&report.state)) {
            out.push_str(&format!("  case {case}: not tried\n"));
        }
    }
    let findings = report
        .sections
        .get(QA_REPORT)
        .and_then(|r| r.get("findings"))
        .and_then(Value::as_array);
    // A credential that is still to be connected stands below, too: it takes no line from what is told here alone.
    let (credentials, others): (Vec<&Value>, Vec<&Value>) = (findings.into_iter().flatten())
        .partition(|finding| {
            let code = finding.get("code").and_then(Value::as_str);
            code.is_some_and(is_of_credentials)
        });
    for finding in others.into_iter().chain(credentials).take(10) {
        let field = |key: &str| finding.get(key).and_then(Value::as_str).unwrap_or("");
        out.push_str(&format!(
            "  {} {} [{}] {}\n",
            plain(field("severity")),
            plain(field("code")),
            prose(&plain(field("node"))),
            prose(field("message"))
        ));
    }
    if let Some(server) = &qa.server {
        second_opinion(server, out);
    }
}

/// The word of the server behind the n8n, as its own.
pub fn second_opinion(server: &Value, out: &mut String) {
    let text = |key: &str| server.get(key).and_then(Value::as_str).unwrap_or("");
    let name = plain(text("name"));
    if !text("failed").is_empty() {
        let why = prose(text("failed"));
        out.push_str(&format!("{name}'s own check could not be had: {why}\n"));
        return;
    }
    let errors = server.get("error_count").and_then(Value::as_u64);
    let errors = errors.unwrap_or(0);
    out.push_str(&format!(
        "{name}'s own check: {}\n",
        match errors {
            0 => "no errors".to_owned(),
            1 => "1 error; it decides nothing".to_owned(),
            n => format!("{n} errors; they decide nothing"),
        }
    ));
    let told = server.get("errors").and_then(Value::as_array);
    for error in told
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .take(10)
    {
        out.push_str(&format!("  {}\n", prose(error)));
    }
}

/// What the test run came to, node by node where something was not as in real life.
fn executed(report: &RunReport, qa: &QaReport, out: &mut String) {
    let because = qa
        .inconclusive_because
        .as_deref()
        .map(|why| format!("; {}", prose(why)));
    let how = match qa.test_status.as_deref() {
        Some("pass") if qa.simulated.is_empty() => "; it came through",
        Some("pass") => "; what ran came through, the simulated nodes are not proven",
        Some("fail") => "; it failed",
        Some("inconclusive") => because.as_deref().unwrap_or("; it could not be told"),
        _ => "",
    };
    let id = qa.execution_id.as_deref().unwrap_or("unknown");
    let list = |names: &[String]| -> String {
        let names: Vec<String> = names.iter().map(|name| prose(&plain(name))).collect();
        names.join(", ")
    };
    let untried = match qa.untried.as_slice() {
        [] => String::new(),
        names => format!("; untried: {}", list(names)),
    };
    out.push_str(&format!(
        "executed: yes, execution {}{how}{untried}\n",
        plain(id)
    ));
    if !qa.ran.is_empty() {
        out.push_str(&format!("  ran: {}\n", list(&qa.ran)));
    }
    let nodes = report.sections.get(QA_REPORT).and_then(|r| r.get("nodes"));
    for name in &qa.simulated {
        let of = |node: &&serde_json::Value| node.get("node").and_then(Value::as_str) == Some(name);
        let why = nodes
            .and_then(Value::as_array)
            .and_then(|nodes| nodes.iter().find(of))
            .and_then(|node| node.get("because"))
            .and_then(Value::as_str)
            .unwrap_or("");
        out.push_str(&format!(
            "  simulated: {}{}\n",
            prose(&plain(name)),
            if why.is_empty() {
                String::new()
            } else {
                format!(" ({})", prose(why))
            }
        ));
    }
    if let Some(asked) = &qa.no_case {
        let asked = prose(&plain(asked));
        out.push_str(&format!(
            "  no case was tried, and the request has some: {asked}\n"
        ));
    }
    if !qa.no_case_of.is_empty() {
        let changed = list(&qa.no_case_of);
        out.push_str(&format!("  no case comes to what was changed: {changed}\n"));
    }
    for case in &qa.cases {
        let text = |key: &str| {
            prose(&plain(
                case.get(key).and_then(Value::as_str).unwrap_or_default(),
            ))
        };
        let outcome = text("outcome").replace('_', " ");
        out.push_str(&format!("  case {}: {outcome}\n", text("name")));
        let checks = case.get("checks").and_then(Value::as_array);
        for check in checks.into_iter().flatten() {
            let text = |key: &str| check.get(key).and_then(Value::as_str).unwrap_or_default();
            if text("outcome") != "passed" {
                let (what, why) = (prose(&plain(text("what"))), prose(&plain(text("why"))));
                out.push_str(&format!("    {what}: {why}\n"));
            }
        }
    }
    if !qa.not_reached.is_empty() {
        out.push_str(&format!("  not reached: {}\n", list(&qa.not_reached)));
    }
    if let Some(egress) = &qa.egress {
        let out_of_it: Vec<String> = egress.iter().map(left).collect();
        let told = match out_of_it.is_empty() {
            true => "nothing".to_owned(),
            false => out_of_it.join(", "),
        };
        out.push_str(&format!("  left n8n: {told}\n"));
    }
    match (&qa.left_behind, &qa.copy) {
        (Some(left), _) => out.push_str(&format!("  {}\n", prose(&plain(left)))),
        (None, Some(copy)) => {
            let copy = prose(&plain(copy));
            out.push_str(&format!("  on a temporary copy, removed again: {copy}\n"));
        }
        (None, None) => {}
    }
}

/// One node that went out of n8n in the test, and where to.
fn left(egress: &Value) -> String {
    let field = |key: &str| {
        prose(&plain(
            egress.get(key).and_then(Value::as_str).unwrap_or(""),
        ))
    };
    let node = field("node");
    match field("by").as_str() {
        "host" => format!("{node} (GET {})", field("host")),
        _ => format!("{node} (let act; {})", field("type")),
    }
}

/// Which of the n8n's credentials the nodes got, and which the user still has to give them.
fn accounts(list: &[Value], n8n: Option<&str>, out: &mut String) {
    let there = match n8n {
        Some(n8n) => format!("at {}", page(n8n, "home/credentials")),
        None => "in n8n under Credentials".to_owned(),
    };
    for entry in list {
        let field = |key: &str| plain(entry.get(key).and_then(Value::as_str).unwrap_or(""));
        let name = |of: &Value| prose(&plain(of.get("name").and_then(Value::as_str).unwrap_or("")));
        let (node, label, kind) = (prose(&field("node")), prose(&field("label")), field("type"));
        if let Some(taken) = entry.get("taken") {
            out.push_str(&format!(
                "credential of [{node}]: {} ({label})\n",
                name(taken)
            ));
        } else if let Some(several) = entry.get("candidates").and_then(Value::as_array) {
            if let [one] = several.as_slice() {
                out.push_str(&format!(
                    "credential of [{node}]: not connected; {} fits: choose it in n8n in this node ({label}, {kind})\n",
                    name(one)
                ));
                continue;
            }
            let names: Vec<String> = several.iter().map(name).collect();
            out.push_str(&format!(
                "credential of [{node}]: several fit ({}); choose one in n8n: open the workflow, then this node ({label}, {kind})\n",
                names.join(", ")
            ));
        } else {
            out.push_str(&format!(
                "credential of [{node}]: missing; create it {there} ({label}, {kind}), then choose it in this node\n"
            ));
        }
    }
}

/// The nodes that stand without a credential and that no call told of: they were so before, or came with a later change.
fn unconnected(document: &Workflow, catalog: &Catalog, told: &[Value]) -> Vec<Value> {
    let open = needs::all_needs(document, catalog).into_iter();
    open.filter(|need| need.id.is_none())
        .map(|need| {
            let label = catalog.credential_label(&need.credential_type);
            json!({"node": need.node, "type": need.credential_type, "label": label.unwrap_or(&need.credential_type)})
        })
        .filter(|open| {
            let same = |key: &str, known: &Value| known.get(key) == open.get(key);
            !told
                .iter()
                .any(|known| same("node", known) && same("type", known))
        })
        .collect()
}

/// Credentials, ids and values that only the user can give.
fn open_points(
    report: &RunReport,
    n8n: Option<&str>,
    workflow_now: Option<(&Workflow, &Catalog)>,
    out: &mut String,
) {
    let workflow = report.sections.get(WORKFLOW);
    let list = |key: &str| {
        workflow
            .and_then(|w| w.get(key))
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let mut known = list("credentials");
    if let (Some(_), Some((document, catalog))) = (n8n, workflow_now) {
        known.extend(unconnected(document, catalog, &known));
    }
    accounts(&known, n8n, out);
    let mut todo = list("todo");
    if n8n.is_some() && workflow_now.is_some() {
        // Each of them stands above.
        todo.retain(|item| item.get("kind").and_then(Value::as_str) != Some("credential"));
    }
    if !todo.is_empty() {
        out.push_str("still yours to do:\n");
        for item in &todo {
            let field = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or("");
            // A model may write a point as a sentence; the offline one says to which node it belongs.
            if let Some(text) = item.as_str() {
                out.push_str(&format!("  - {}\n", prose(text)));
                continue;
            }
            match field("node") {
                "" => out.push_str(&format!("  - {}\n", prose(field("text")))),
                node => out.push_str(&format!("  - [{}] {}\n", plain(node), prose(field("text")))),
            }
        }
    }
    let notes = list("notes");
    if !notes.is_empty() {
        out.push_str("good to know:\n");
        for note in notes.iter().filter_map(Value::as_str) {
            out.push_str(&format!("  - {}\n", prose(note)));
        }
    }
}

fn ending(report: &RunReport, made: &Built, out: &mut String) {
    let run = &report.run_id;
    match report.outcome {
        Outcome::Complete | Outcome::Draft | Outcome::Partial => {
            if let Some(built) = &made.workflow {
                let target = shell::word(built.file.as_deref().unwrap_or(&built.id));
                out.push_str(&format!("next: agentctl build --workflow {target} \"…\" to change it, agentctl undo {run} to take it back\n"));
            }
        }
        Outcome::Waiting => {
            // A look at what would be written tells them itself.
            if !report.questions.iter().any(look::is_look) {
                for case in cases::in_words(cases::of_state(&report.state)) {
                    out.push_str(&format!("case {case}\n"));
                }
            }
            out.push_str(&questions::questions(&report.questions, &report.taken));
            out.push_str(&format!(
                "next: {}\n",
                questions::answer_command(run, &report.questions)
            ));
        }
        Outcome::Refused => {
            out.push_str(&format!(
                "{} {}\n",
                style("refused:").red().bold(),
                prose(&report.message)
            ));
            for alternative in alternatives(report) {
                out.push_str(&format!("  instead: {}\n", prose(&alternative)));
            }
        }
        Outcome::Blocked => {
            out.push_str(&format!(
                "{} {}\n",
                style("blocked:").red().bold(),
                prose(&report.message)
            ));
            if let Some(cause) = &report.cause {
                let summary = cause.get("summary").unwrap_or(cause);
                out.push_str(&format!("root cause: {}\n", prose(&shown(summary))));
            }
            out.push_str(&format!(
                "next: agentctl runs show {run}, or agentctl undo {run}\n"
            ));
        }
        Outcome::Interrupted => out.push_str(&format!(
            "interrupted; the state is saved\nnext: agentctl resume {run}\n"
        )),
        Outcome::Cancelled => out.push_str("cancelled\n"),
        Outcome::Failed | Outcome::Budget => {
            let why = match report.message.as_str() {
                "" => "the run does not say why; agentctl analyze tells what its journal knows",
                why => why,
            };
            out.push_str(&format!(
                "{} {}\n",
                style("failed:").red().bold(),
                prose(why)
            ));
            out.push_str(&format!(
                "next: agentctl runs show {run}, then agentctl resume {run}\n"
            ));
        }
    }
}

pub fn alternatives(report: &RunReport) -> Vec<String> {
    report
        .state
        .get("requirements")
        .and_then(|r| r.get("refusal"))
        .and_then(|r| r.get("alternatives"))
        .and_then(Value::as_array)
        .map(|list| {
            list.iter()
                .filter_map(|v| v.as_str().map(str::to_owned))
                .collect()
        })
        .unwrap_or_default()
}
