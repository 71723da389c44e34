//! `agentctl push FILE…`: workflow files sent to the connected n8n or to a target of the settings, each through the gateway and as a
//! run of its own.

use super::diff::text as diff_text;
use super::pull::read;
use super::workflows::MEANWHILE;
use crate::cli::args::ModelOptions;
use crate::cli::ask;
use crate::cli::by_user::{self, Unmade};
use crate::cli::catalog_file;
use crate::cli::connection::{connected, unavailable};
use crate::cli::error::{CliError, Exit};
use crate::cli::look;
use crate::cli::observer::Terminal;
use crate::cli::output::Output;
use crate::cli::progress::{Progress, plain};
use crate::cli::runtime;
use crate::cli::session::Session;
use agentctl_base::counted::counted;
use agentctl_base::question::Glance;
use agentctl_base::shell;
use agentctl_engine::gateway::ByUser;
use agentctl_engine::run::{self, Answering};
use agentctl_engine::toolset::Difference;
use agentctl_host::files::write_atomic;
use agentctl_n8n::catalog::is_core;
use agentctl_n8n::finding::{Finding, Severity};
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n::validate::validate;
use agentctl_n8n::{Node, Workflow, WorkflowId};
use agentctl_n8n_tools::backend::{
    Backend, BackendError, BackendErrorKind, ListQuery, Stored, list_all,
};
use agentctl_n8n_tools::resources::difference;
use agentctl_n8n_tools::sync::{self, Base, Found, Freshness, Local, Missing, Moved, Names};
use agentctl_n8n_tools::tools::{Push, glance_at};
use agentctl_qa::source;
use clap::Args;
use console::style;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Send workflow files to the connected n8n: update the workflows that they follow, or create them
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl push workflows/orders.json --dry-run\n  agentctl push workflows/orders.json\n  agentctl push workflows/ --target prod --dry-run\n  agentctl push workflows/orders.json --allow publish\n\nShows the diff. Refused (exit code 5): the workflow was changed on n8n since the file was pulled (--force), most of its nodes would go (--allow wipe), the n8n has no such node or not in that version (--allow versions), it is active and the change goes live (--allow publish), credentials change, or a target has none of that type and name (--allow credentials).\nEach push is a run: `agentctl undo RUN` takes it back."
)]
pub struct PushArgs {
    /// Workflow files, or folders of them
    #[arg(value_name = "FILE|FOLDER", required = true)]
    pub files: Vec<PathBuf>,
    /// The workflow to update; default: the one that the file follows, else a new one
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// Another n8n, as `[targets.NAME]` of agentctl.toml describes it: with ids of its own, and its credentials by type and name
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// Over what was changed on n8n since the file was pulled
    #[arg(long)]
    pub force: bool,
    /// Create a new workflow where the one that the file follows is gone, as after `agentctl undo` of its creation
    #[arg(long, conflicts_with = "id")]
    pub new: bool,
    /// Allow what a guard would ask: wipe, publish, credentials, versions
    #[arg(long, value_name = "GUARD", value_parser = ["wipe", "publish", "credentials", "versions"])]
    pub allow: Vec<String>,
    /// Show the workflow as it would be, the diff and what would be left to do, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

impl PushArgs {
    fn allows(&self, guard: &str) -> bool {
        self.allow.iter().any(|allowed| allowed == guard)
    }
}

/// What became of one file.
pub struct Pushed {
    file: PathBuf,
    /// `created`, `updated`, `unchanged`, or what it would be.
    pub what: &'static str,
    pub id: Option<WorkflowId>,
    /// The run that made it; None: nothing was changed.
    pub run: Option<String>,
    /// What was said of it on the way to its end.
    text: String,
    diff: String,
    accounts: Vec<Found>,
    missing: Vec<Missing>,
    /// Of a dry run: what there is to know of what would be there.
    glance: Option<Glance>,
}

pub fn push(root: &Path, args: &PushArgs, out: &Output) -> Result<Exit, CliError> {
    if let ([file], false) = (args.files.as_slice(), args.files.iter().any(|f| f.is_dir())) {
        let pushed = pushed(root, file, args, out)?;
        return out.answer(Exit::Complete, || pushed.told(args), || pushed.json());
    }
    if args.id.is_some() {
        return Err(CliError::usage(
            "--id names one workflow, and there are several files",
        ));
    }
    let files = files(&args.files, out)?;
    let mut exit = Exit::Complete;
    let mut ended = Vec::with_capacity(files.len());
    for file in &files {
        // What goes wrong with one file is no reason to leave out the others.
        let pushed = pushed(root, file, args, out);
        if let (Err(error), Exit::Complete) = (&pushed, exit) {
            exit = error.exit;
        }
        ended.push((file, pushed));
    }
    out.answer(
        exit,
        || {
            let mut text = String::new();
            for (file, pushed) in &ended {
                match pushed {
                    Ok(pushed) => text.push_str(&pushed.told(args)),
                    Err(error) => {
                        let shown = style(file.display()).bold();
                        text.push_str(&format!("{shown}: not pushed: {}\n", error.message));
                        for hint in &error.hints {
                            text.push_str(&format!("  hint: {hint}\n"));
                        }
                    }
                }
            }
            let failed = ended.iter().filter(|(_, pushed)| pushed.is_err()).count();
            text.push_str(&format!(
                "{}, {failed} not pushed\n",
                counted(ended.len(), "file")
            ));
            text
        },
        || {
            let files = ended.iter().map(|(file, pushed)| match pushed {
                Ok(pushed) => pushed.json(),
                Err(error) => json!({"file": file.display().to_string(), "what": "not pushed",
                    "error": error.message, "exit_code": error.exit.code()}),
            });
            json!({"files": files.collect::<Vec<_>>(), "target": args.target})
        },
    )
}

/// The files that are meant; of a folder those that hold a workflow.
fn files(named: &[PathBuf], out: &Output) -> Result<Vec<PathBuf>, CliError> {
    let found = source::collect(named).map_err(|e| CliError::usage(e.to_string()))?;
    let mut files = Vec::new();
    for source in found {
        // What cannot be read may be a workflow, and its own push says what is wrong with it.
        let is_workflow = |text: String| match serde_json::from_str::<Value>(&text) {
            Ok(value) => value.get("nodes").is_some_and(Value::is_array),
            Err(_) => true,
        };
        let holds_one = source::read(&source).is_ok_and(is_workflow);
        if source.named || holds_one {
            files.push(source.path);
        } else {
            out.note(&format!(
                "{}: passed over, it is no workflow",
                source.path.display()
            ));
        }
    }
    if files.is_empty() {
        return Err(CliError::usage(
            "there is no workflow file in what was named",
        ));
    }
    Ok(files)
}

/// What a push is going to do.
struct Plan {
    now: Option<Stored>,
    after: Workflow,
}

/// The push of one file itself, without its answer. What was changed on the n8n while it was decided about is read again, shown and
/// asked about anew.
pub fn pushed(root: &Path, file: &Path, args: &PushArgs, out: &Output) -> Result<Pushed, CliError> {
    let mut again = 0..by_user::AGAIN;
    loop {
        match looked_at(root, file, args, out) {
            Err(unmade) if unmade.stale && again.next().is_some() => out.note(MEANWHILE),
            done => return done.map_err(Unmade::told),
        }
    }
}

fn looked_at(root: &Path, file: &Path, args: &PushArgs, out: &Output) -> Result<Pushed, Unmade> {
    let mut local =
        read(file)?.ok_or_else(|| CliError::usage(format!("{} is not there", file.display())))?;
    name_after(file, &mut local.workflow);
    let target = args.target.as_deref();
    let session = Session::at(root, target, &ModelOptions::offline(), out)?;
    let backend = connected(&session)?;
    let (id, base) = local.place(target);
    let (id, base) = (
        args.id.clone().or_else(|| id.map(|id| id.0.clone())),
        base.cloned(),
    );
    let (moved, now) = runtime::block_on(async {
        let moved = accounts(backend, &local.workflow, &session.names(target), target).await?;
        let now = find(backend, (id.as_deref(), args), &moved.workflow)
            .await
            .map_err(unavailable)?;
        Ok::<_, CliError>((moved, now))
    })??;
    let (accounts, missing) = (moved.found.clone(), moved.missing.clone());
    let workflow = fitting(moved, target, args, out)?;
    let stale = now
        .as_ref()
        .filter(|_| !args.force)
        .and_then(|now| stale(file, base.as_ref(), &workflow, now));
    if target.is_none() {
        // The file follows this n8n, so its credentials are this one's.
        local.workflow = workflow.clone();
    }
    let after = sync::pushed(&workflow, now.as_ref().map(|now| &now.workflow));
    let plan = Plan { now, after };
    let before = plan.now.as_ref().map(|now| &now.workflow);
    let difference = difference(&out.redactor(), before, Some(&plan.after));
    let same = before == Some(&plan.after);
    let mut pushed = Pushed {
        file: file.to_owned(),
        what: "unchanged",
        id: plan.now.as_ref().map(|now| now.id.clone()),
        run: None,
        text: String::new(),
        diff: difference.diff.clone(),
        accounts,
        missing,
        glance: None,
    };
    if same {
        pushed.text = diff_text(&difference);
        if let Some(now) = plan.now.as_ref().filter(|_| !args.dry_run) {
            follow(file, &local, target, now)?;
        }
        return Ok(pushed);
    }
    if let Some(why) = stale {
        overwrites(&why, &difference, target, args, out)?;
    }
    let facts = catalog_file::of_n8n(root, backend.place(), out)?;
    facts.warn(out);
    known_there(&plan.after, before, &facts, args, out)?;
    if args.dry_run {
        let glance = glance_at(&plan.after, facts.catalog);
        pushed.text = ahead(&plan.after, before.map(|_| &difference), &glance);
        pushed.glance = Some(glance);
        pushed.what = match before {
            Some(_) => "would be updated",
            None => "would be created",
        };
        return Ok(pushed);
    }
    if out.is_text() {
        // Before anything is asked or done.
        out.note(&diff_text(&difference));
    }
    let cancel = session.cancel.clone();
    let (done, notes) = carry_out(session, file, args, plan, out)?;
    for note in &notes {
        out.note(note);
    }
    let (run_id, stored, created) = done;
    follow(file, &local, target, &stored)?;
    drop(cancel);
    pushed.what = if created { "created" } else { "updated" };
    pushed.id = Some(stored.id);
    pushed.run = Some(run_id);
    Ok(pushed)
}

/// What a push would leave there. Of a new workflow the tree says all that the diff would.
fn ahead(after: &Workflow, difference: Option<&Difference>, glance: &Glance) -> String {
    console::set_colors_enabled_stderr(console::colors_enabled());
    let lines = difference.map_or(&[][..], |difference| &difference.lines);
    let mut text = look::document(after, |node| lines.iter().any(|line| line.contains(node)));
    if let Some(difference) = difference {
        text.push_str(&diff_text(difference));
        text.push('\n');
    }
    text.push_str(&look::known(glance));
    text
}

/// Whether the n8n has each node in its version: one that it lacks is shown there as unknown and does not run.
fn known_there(
    after: &Workflow,
    before: Option<&Workflow>,
    facts: &catalog_file::NodeFacts,
    args: &PushArgs,
    out: &Output,
) -> Result<(), CliError> {
    // What stands there in that version already, it has.
    let is_there = |node: &Node| {
        let mut nodes = before.into_iter().flat_map(|there| &there.nodes);
        nodes.any(|old| {
            old.node_type() == node.node_type() && old.type_version() == node.type_version()
        })
    };
    let lacks = |found: &Finding| {
        let node = found
            .node
            .as_deref()
            .and_then(|name| after.node_by_name(name));
        let Some(node) = node.filter(|node| !is_there(node)) else {
            return false;
        };
        match found.code.as_str() {
            // Of other packages nobody knows which of them it has.
            "n8n/unknown-type" => is_core(node.node_type()),
            code => code == "n8n/unknown-version",
        }
    };
    let lacking: Vec<Finding> = validate(after, facts.catalog)
        .into_iter()
        .filter(|found| found.severity == Severity::Error && lacks(found))
        .collect();
    if lacking.is_empty() {
        return Ok(());
    }
    // Facts of another release are no proof that it lacks a version which they do not know either.
    let unknown = validate(after, facts.own);
    let is_unknown = |found: &Finding| {
        (unknown.iter()).any(|other| other.node == found.node && other.code == found.code)
    };
    let is_sure = facts.unsure.is_none() || !lacking.iter().all(is_unknown);
    let lines: Vec<String> = lacking
        .iter()
        .map(|found| {
            let node = found.node.as_deref().unwrap_or_default();
            format!("{:?}: {}", plain(node), plain(&found.message))
        })
        .collect();
    if args.allows("versions") || args.dry_run || !is_sure {
        for line in &lines {
            out.note(&format!("warning: {line}"));
        }
        if is_sure && !args.allows("versions") {
            out.note("a push is refused without --allow versions");
        }
        return Ok(());
    }
    Err(CliError::new(Exit::Refused, lines.join("; "))
        .hint("`agentctl qa FILE` says what it has; --allow versions pushes it all the same"))
}

/// n8n wants a name, and many files that it exported have none: the file's own, as n8n's editor gives it.
fn name_after(file: &Path, workflow: &mut Workflow) {
    if workflow.name().trim().is_empty()
        && let Some(stem) = file.file_stem().and_then(|stem| stem.to_str())
    {
        workflow.set_name(stem);
    }
}

/// The workflow with the credentials of the n8n that it goes to. One that does not name its credentials to API clients is no reason
/// against a push to the n8n that the file follows, where they are as they were.
async fn accounts(
    backend: &dyn Backend,
    workflow: &Workflow,
    names: &Names,
    target: Option<&str>,
) -> Result<Moved, CliError> {
    let untouched = || Moved {
        workflow: workflow.clone(),
        found: Vec::new(),
        missing: Vec::new(),
    };
    if workflow
        .nodes
        .iter()
        .all(|node| node.credentials().is_none_or(Map::is_empty))
    {
        return Ok(untouched());
    }
    match backend.credentials().await {
        Ok(there) => Ok(sync::moved(workflow, &there, names)),
        Err(error) if error.kind != BackendErrorKind::Unavailable && target.is_none() => {
            Ok(untouched())
        }
        Err(error) => Err(unavailable(error)),
    }
}

/// What is done about credentials that the n8n lacks: to a target they do not go, unless it is allowed, and then without them.
fn fitting(
    moved: Moved,
    target: Option<&str>,
    args: &PushArgs,
    out: &Output,
) -> Result<Workflow, CliError> {
    if moved.missing.is_empty() {
        return Ok(moved.workflow);
    }
    let lines: Vec<String> = moved.missing.iter().map(said).collect();
    if target.is_none() {
        for line in &lines {
            out.note(&format!("warning: {line}"));
        }
        return Ok(moved.workflow);
    }
    if args.allows("credentials") {
        return Ok(sync::without(moved));
    }
    if args.dry_run {
        return Ok(moved.workflow);
    }
    Err(CliError::new(Exit::Refused, lines.join("; "))
        .hint("create them there, or say how they are called there: [targets.NAME.credentials.TYPE] in agentctl.toml")
        .hint("--allow credentials pushes the workflow without them"))
}

fn said(missing: &Missing) -> String {
    let (node, name, kind) = (
        plain(&missing.node),
        plain(&missing.name),
        plain(&missing.credential_type),
    );
    match missing.there {
        0 => {
            format!("{node:?} uses the credential {name:?} ({kind}), which this n8n does not have")
        }
        several => format!(
            "{node:?} uses the credential {name:?} ({kind}), and this n8n has {several} of that type and name"
        ),
    }
}

/// The workflow that the file is pushed over. A new one that is there already under this name and with this graph (a push that was killed
/// before it could write its id down) is that one.
async fn find(
    backend: &dyn Backend,
    (id, args): (Option<&str>, &PushArgs),
    workflow: &Workflow,
) -> Result<Option<Stored>, BackendError> {
    if let Some(id) = id {
        let followed = match backend.resolve(id).await {
            Ok(id) => backend.get(&id).await,
            Err(error) => Err(error),
        };
        match followed {
            Err(error) if error.kind == BackendErrorKind::NotFound && args.new => {}
            Err(error) if error.kind == BackendErrorKind::NotFound => {
                return Err(error.with_hint(match args.id {
                    Some(_) => "agentctl workflows list shows what is there; push with --new in place of --id creates a new workflow",
                    None => "--new creates a new workflow, which the file follows then",
                }));
            }
            followed => return followed.map(Some),
        }
    }
    let hash = graph_hash(&sync::pushed(workflow, None));
    let named = list_all(backend, &ListQuery::named(workflow.name())).await?;
    match named
        .workflows
        .iter()
        .find(|listed| listed.graph_hash == hash)
    {
        Some(listed) => backend.get(&listed.id).await.map(Some),
        None => Ok(None),
    }
}

/// Why a push would lose what somebody did on the n8n since the file was pulled, in words; None: it would not.
fn stale(file: &Path, base: Option<&Base>, workflow: &Workflow, now: &Stored) -> Option<String> {
    let file = file.display();
    match sync::freshness(base, now) {
        Freshness::Same => None,
        // What is the same cannot be lost.
        _ if graph_hash(workflow) == now.graph_hash => None,
        Freshness::Changed => Some(format!(
            "the workflow `{}` was changed on n8n since {file} was pulled",
            now.id
        )),
        Freshness::Unknown => Some(format!(
            "{file} does not say which state of the workflow `{}` it was made from",
            now.id
        )),
    }
}

/// Shows what would become of what is there now, and asks whether it may: a person at the terminal. A dry run does nothing to it.
fn overwrites(
    why: &str,
    difference: &Difference,
    target: Option<&str>,
    args: &PushArgs,
    out: &Output,
) -> Result<(), CliError> {
    if args.dry_run {
        out.note(&format!("{why}; a push is refused without --force"));
        return Ok(());
    }
    if out.is_text() {
        out.note("what the push would make of what is there now:");
        out.note(&diff_text(difference));
    }
    let person = out.is_text() && out.can_ask();
    let text = format!("{why}. Overwrite what is there?");
    if person && ask::sure(text, "yes, overwrite it", "no, leave it as it is")? {
        return Ok(());
    }
    let look = match target {
        Some(target) => format!(
            "agentctl push FILE --target {} --dry-run shows the difference to what is there now",
            shell::word(target)
        ),
        None => {
            "agentctl pull ID OTHER-FILE shows what is there now; --dry-run the difference to it"
                .to_owned()
        }
    };
    Err(CliError::new(Exit::Refused, why)
        .hint(look)
        .hint("agentctl push --force overwrites it; `agentctl undo RUN` brings it back"))
}

/// Through the gateway, as a run; what is on the n8n afterwards, and whether it is new.
#[expect(clippy::type_complexity, reason = "one caller")]
fn carry_out(
    session: Session,
    file: &Path,
    args: &PushArgs,
    plan: Plan,
    out: &Output,
) -> Result<((String, Stored, bool), Vec<String>), Unmade> {
    let answers: Map<String, Value> = args
        .allow
        .iter()
        .map(|what| (format!("approve-{what}"), json!("approve")))
        .collect();
    let answering = Answering {
        answers,
        yes: false,
    };
    let progress = Arc::new(Progress::new(out));
    let n8n = Arc::clone(session.n8n()?);
    let push = Push {
        file: file.display().to_string(),
        over: plan
            .now
            .as_ref()
            .map(|now| (now.id.clone(), now.graph_hash.clone())),
        after: plan.after,
        target: args.target.clone(),
    };
    let cancel = session.cancel.clone();
    let serving = by_user::serving(session);
    let arguments = push.arguments();
    let change = push.clone().on(&n8n);
    let own = ByUser {
        command: "push",
        name: Push::NAME,
        arguments,
        change: change.as_ref(),
        allowing: &|guard| format!("look at the diff; to allow it: --allow {guard}"),
    };
    let mut person = Terminal::new(&progress);
    let asker = out.can_ask().then_some(&mut person as &mut dyn run::Asker);
    let done = runtime::block_on_until(&cancel, async {
        let pushed = by_user::make(&serving, &own, &answering, asker).await?;
        let backend = n8n.backend();
        let id = pushed.content.get("id").and_then(Value::as_str);
        let id = WorkflowId(id.unwrap_or_default().to_owned());
        let stored = backend.get(&id).await.map_err(unavailable)?;
        backend.close().await;
        Ok::<_, Unmade>(((pushed.run_id, stored, push.over.is_none()), pushed.notes))
    })?;
    progress.finish();
    done
}

/// The file follows what is on the n8n now.
fn follow(
    file: &Path,
    local: &Local,
    target: Option<&str>,
    stored: &Stored,
) -> Result<(), CliError> {
    let base = Base::of(stored);
    if local.place(target) == (Some(&stored.id), Some(&base)) {
        return Ok(());
    }
    let text = sync::followed(local, target, stored);
    write_atomic(file, text.as_bytes()).map_err(|e| {
        CliError::failed(e.to_string()).hint(format!(
            "n8n has the workflow as `{}`; agentctl pull writes its file",
            stored.id
        ))
    })
}

impl Pushed {
    fn told(&self, args: &PushArgs) -> String {
        // Of a push that was made the diff stands above already.
        let mut text = self.text.clone();
        for found in &self.accounts {
            let (node, name) = (plain(&found.node), plain(&found.name));
            text.push_str(&format!(
                "  {node}: the credential {name:?} is `{}` there\n",
                plain(&found.id)
            ));
        }
        for missing in &self.missing {
            text.push_str(&format!("  {}\n", said(missing)));
        }
        let id = self
            .id
            .as_ref()
            .map(|id| format!(" `{id}`"))
            .unwrap_or_default();
        let shown = style(self.file.display()).bold();
        text.push_str(&format!("{shown}: {}{id}\n", self.what));
        if let Some(run) = &self.run {
            let target = args
                .target
                .as_ref()
                .map(|name| format!(" --target {}", shell::word(name)));
            let target = target.unwrap_or_default();
            text.push_str(&format!("take it back with: agentctl undo {run}{target}\n"));
        }
        text
    }

    fn json(&self) -> Value {
        let mut value = json!({"file": self.file.display().to_string(), "id": self.id, "what": self.what,
            "run": self.run, "diff": self.diff});
        if let Value::Object(map) = &mut value {
            if let Some(glance) = &self.glance {
                map.insert("glance".into(), json!(glance));
            }
            if !self.accounts.is_empty() {
                map.insert("credentials".into(), json!(self.accounts));
            }
            if !self.missing.is_empty() {
                map.insert("credentials_missing".into(), json!(self.missing));
            }
        }
        value
    }
}
