//! `agentctl doctor`: what works on this machine and in this project, what does not, and what to do.

use crate::cli::args::ModelNames;
use crate::cli::catalog_file;
use crate::cli::connection;
use crate::cli::conversations;
use crate::cli::declared;
use crate::cli::error::{CliError, Exit};
use crate::cli::folder_trust;
use crate::cli::model_choice;
use crate::cli::output::Output;
use crate::cli::progress::plain_long;
use crate::cli::project;
use crate::cli::runtime;
use crate::cli::serving;
use crate::cli::session;
use crate::cli::settings;
use crate::pack;
use crate::trust::{CATALOG, Since, Standing};
use agentctl_base::counted::counted;
use agentctl_engine::pack::Pack;
use agentctl_engine::run;
use agentctl_host::home::variable;
use agentctl_mcp::{McpServer, ProbeOutcome};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n_tools::backend::{Backend, Choice, InstanceCheck, is_idle};
use agentctl_n8n_tools::resources::parse;
use agentctl_tools::SEARCH;
use clap::Args;
use console::style;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// Check this machine and this project: what works, what does not, what to do
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  agentctl doctor")]
pub struct DoctorArgs;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    what: String,
    status: Status,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    /// Not there, and not needed.
    Off,
    Warning,
    Failed,
}

impl Check {
    fn new(what: impl Into<String>, status: Status, detail: impl Into<String>) -> Self {
        Check {
            what: what.into(),
            status,
            detail: detail.into(),
            hint: None,
        }
    }
    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

pub fn doctor(root: &Path, out: &Output) -> Result<Exit, CliError> {
    let mut checks = vec![folder(root), trust(root, out)];
    checks.extend(packs(root, out));
    checks.extend([catalog(root, out), model(root, out)]);
    checks.extend(backend(root, out));
    checks.extend([journals(root), sessions(root, out), served(root, out)]);
    checks.extend(servers(root, out)?);
    let failed = checks.iter().any(|c| c.status == Status::Failed);
    let exit = if failed { Exit::Failed } else { Exit::Complete };
    out.answer(
        exit,
        || {
            let mut text = format!("agentctl {}\n", env!("CARGO_PKG_VERSION"));
            for check in &checks {
                let mark = match check.status {
                    Status::Ok => style("✓").green(),
                    Status::Off => style("-").dim(),
                    Status::Warning => style("!").yellow(),
                    Status::Failed => style("✗").red(),
                };
                text.push_str(&format!(
                    "{mark} {}: {}\n",
                    check.what,
                    plain_long(&check.detail)
                ));
                if let Some(hint) = &check.hint {
                    text.push_str(&format!(
                        "  {} {}\n",
                        style("hint:").cyan(),
                        plain_long(hint)
                    ));
                }
            }
            text
        },
        || json!({"version": env!("CARGO_PKG_VERSION"), "checks": checks}),
    )
}

/// The folder must be there and take files.
fn folder(root: &Path) -> Check {
    let shown = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    match tempfile::Builder::new().prefix(".agentctl-doctor").tempfile_in(root) {
        Ok(_) => Check::new("project", Status::Ok, shown.display().to_string()),
        Err(e) => Check::new("project", Status::Failed, format!("{} cannot be written: {e}", shown.display())).hint("runs and workflows are kept there: pick another folder with --project, or mend its permissions"),
    }
}

/// Whether what the folder overrides counts.
fn trust(root: &Path, out: &Output) -> Check {
    let in_force = match folder_trust::in_force(root, out) {
        Ok(in_force) => in_force,
        Err(error) => return failed("trust", error),
    };
    let names = folder_trust::names(in_force.untrusted());
    let check = |status, detail: String| {
        Check::new("trust", status, detail)
            .hint("agentctl trust --show lists what would come into force; agentctl trust lets it")
    };
    match in_force.standing() {
        Standing::Nothing => Check::new("trust", Status::Ok, "the folder overrides nothing"),
        Standing::Trusted if names.is_empty() => {
            let detail = match in_force.items().len() {
                1 => "trusted, the one item of it".to_owned(),
                count => format!("trusted, all {count} items of it"),
            };
            Check::new("trust", Status::Ok, detail)
        }
        Standing::Trusted => check(Status::Warning, format!("trusted, but for {names}")),
        Standing::Restricted => check(
            Status::Warning,
            format!("restricted: not trusted, so these do not count: {names}"),
        ),
        Standing::Changed => check(
            Status::Warning,
            match in_force.since() {
                Since::Trusted => format!("new or changed since it was trusted: {names}"),
                Since::Made => format!("new or changed since agentctl init: {names}"),
            },
        ),
    }
}

/// The packs that are built in, and this project's own.
fn packs(root: &Path, out: &Output) -> Vec<Check> {
    let options = match session::load_options_unset(root, out) {
        Ok(options) => options,
        Err(error) => return vec![failed("packs", error)],
    };
    let names = pack::names(root, &options);
    let checks = names.iter().flat_map(|name| {
        let loaded = pack::named(name, root, &options).map_err(|e| session::no_pack(&e));
        let searches = loaded
            .as_ref()
            .ok()
            .and_then(|pack| searches(name, pack, root, out));
        let lacking = loaded
            .as_ref()
            .ok()
            .and_then(|pack| lacking(name, pack, root, out));
        let own = std::iter::once(pack_check(name, loaded));
        own.chain(lacking).chain(searches)
    });
    checks.collect()
}

/// What the real tools of a pack lack here; None: nothing. Search engines are told apart.
fn lacking(name: &str, pack: &Pack, root: &Path, out: &Output) -> Option<Check> {
    let what = format!("tools of {name}");
    // Settings that cannot be read are told once, by what reads them.
    let config = settings::of_project(root, out).ok()?;
    let tools = match declared::made(pack, &config, declared::Means::default()) {
        Ok(tools) => tools,
        Err(error) => return (!pack.tools.is_empty()).then(|| failed(&what, error)),
    };
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut refused: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    // The others are looked at where they are: servers, n8n, other agents.
    let here = pack.tools.values();
    for tool in here.filter(|tool| matches!(tool.kind.name(), "http" | "exec")) {
        if let Some(why) = tools.lacks(tool.id) {
            by_reason.entry(why).or_default().push(tool.id);
        } else if let Some(why) = tools.refused(tool.id) {
            refused.entry(why).or_default().push(tool.id);
        }
    }
    if !refused.is_empty() {
        let told = refused
            .iter()
            .map(|(why, names)| format!("{}: {why}", names.join(", ")));
        let told: Vec<String> = told.collect();
        let why = format!("each call is refused (guard.address): {}", told.join("; "));
        return Some(Check::new(what, Status::Warning, why));
    }
    let told: Vec<String> = by_reason
        .iter()
        .map(|(why, names)| format!("{}: {why}", names.join(", ")))
        .collect();
    let check = Check::new(what, Status::Off, told.join("; "));
    (!told.is_empty()).then(|| check.hint("until then their mocks answer"))
}

/// Where a pack with search engines of the web searches; None: it has none.
fn searches(name: &str, pack: &Pack, root: &Path, out: &Output) -> Option<Check> {
    let engines = pack
        .tools
        .values()
        .filter(|tool| tool.kind.name() == SEARCH);
    let engines: Vec<&str> = engines.map(|tool| tool.id).collect();
    if engines.is_empty() {
        return None;
    }
    let what = format!("searches of {name}");
    let chosen = match declared::engine(pack) {
        Ok(Some(engine)) => engine,
        Ok(None) => {
            let hint = format!(
                "{}={} searches the web",
                declared::WEB_SEARCH,
                engines.join("|")
            );
            let own = "in its own documents, or those of --corpus";
            return Some(Check::new(what, Status::Ok, own).hint(hint));
        }
        Err(error) => return Some(failed(&what, error)),
    };
    let made = settings::of_project(root, out)
        .and_then(|config| declared::made(pack, &config, declared::Means::default()));
    Some(match made.map(|tools| tools.lacks(&chosen)) {
        Ok(None) => Check::new(what, Status::Ok, format!("in the web, by {chosen}")),
        Ok(Some(why)) => Check::new(what, Status::Warning, format!("{chosen}: {why}"))
            .hint("until then its mock answers"),
        Err(error) => failed(&what, error),
    })
}

fn pack_check(name: &str, loaded: Result<Pack, CliError>) -> Check {
    let name = format!("pack {name}");
    match loaded {
        Ok(pack) => {
            let own = pack
                .agents
                .values()
                .filter(|a| !a.source.starts_with("built-in"))
                .count();
            let status = if pack.warnings.is_empty() {
                Status::Ok
            } else {
                Status::Warning
            };
            let mut check = Check::new(
                name.as_str(),
                status,
                format!(
                    "{} ({own} of this project), {}, flow {}",
                    counted(pack.agents.len(), "agent"),
                    counted(pack.skills.len(), "skill"),
                    pack.flow.name
                ),
            );
            if !pack.warnings.is_empty() {
                check = check.hint(pack.warnings.join("; "));
            }
            check
        }
        Err(error) => failed(&name, error),
    }
}

fn catalog(root: &Path, out: &Output) -> Check {
    let source = match catalog_file::of(root, out) {
        Ok(catalog) => catalog.source(),
        Err(error) => return failed("catalog", error),
    };
    if source.types == 0 {
        return Check::new(
            "catalog",
            Status::Failed,
            "the compiled-in catalog cannot be read",
        )
        .hint("this is a bug: build agentctl from a clean clone, or report it");
    }
    let version = source
        .n8n_version
        .as_deref()
        .unwrap_or("of unknown version");
    let own = match source == Catalog::embedded().source() {
        true => String::new(),
        false => format!(" ({}, before those compiled in)", CATALOG),
    };
    Check::new(
        "catalog",
        Status::Ok,
        format!(
            "n8n {version}: {} node types, {} type-version pairs{own}",
            source.types, source.type_versions
        ),
    )
}

/// Which models the settings name, and whether their keys are there; none is asked.
fn model(root: &Path, out: &Output) -> Check {
    let Ok(pack) = session::load_pack(root, out) else {
        return Check::new("model", Status::Off, "the agents cannot be read");
    };
    let chosen = settings::of_project(root, out).and_then(|config| {
        model_choice::choose(
            &pack,
            &ModelNames::default(),
            &BTreeMap::new(),
            &config,
            Catalog::embedded(),
            out,
        )
    });
    match chosen {
        Ok(chosen) if chosen.is_offline() => Check::new(
            "model",
            Status::Ok,
            "offline (no key, no network; reads plain requests)",
        ),
        Ok(chosen) => Check::new("model", Status::Ok, chosen.names().join(", "))
            .hint("agentctl models asks whether they answer"),
        Err(error) => failed("model", error),
    }
}

/// Which n8n the project works on, what it can do there, and whether it is there and takes the key.
fn backend(root: &Path, out: &Output) -> Vec<Check> {
    let opened = settings::of_project(root, out).and_then(|config| {
        let choice = connection::choice(root, out, &config)?;
        let backend = choice.target.open(root);
        let backend = backend.map_err(|e| CliError::new(Exit::Backend, e.to_string()))?;
        Ok((choice, backend))
    });
    let (choice, backend) = match opened {
        Ok(opened) => opened,
        Err(error) => return vec![failed("backend", error)],
    };
    let mut checks = vec![abilities(&choice, backend.as_ref())];
    let looked = runtime::block_on(async {
        let looked = backend.check().await;
        backend.close().await;
        looked
    });
    match looked {
        Ok(looked) => {
            // Where it is not there, that is worse than another release.
            let there = looked.iter().all(|seen| seen.ok);
            checks.extend(looked.into_iter().map(seen_check));
            checks.extend(there.then(|| facts(root, backend.place(), out)).flatten());
        }
        Err(error) => checks.push(failed("backend", error)),
    }
    checks
}

/// Whether the nodes of the connected n8n are known, where that is not what the check of the catalog said.
fn facts(root: &Path, place: Option<&str>, out: &Output) -> Option<Check> {
    let said = catalog_file::of(root, out).ok()?.source().clone();
    let facts = match catalog_file::of_n8n(root, place, out) {
        Ok(facts) => facts,
        Err(error) => return Some(failed("catalog", error)),
    };
    if let Some(unsure) = facts.unsure {
        return Some(Check::new("catalog", Status::Warning, unsure));
    }
    let source = facts.catalog.source();
    let version = source.n8n_version.as_deref().unwrap_or_default();
    (*source != said).then(|| {
        let kept = format!(
            "for the connected n8n: n8n {version}, {} node types, kept in your cache folder",
            source.types
        );
        Check::new("catalog", Status::Ok, kept)
    })
}

/// Where conversations are kept, and whether it can be reached.
fn sessions(root: &Path, out: &Output) -> Check {
    match runtime::block_on(conversations::postgres(root, out)) {
        Ok(Ok(Some(_))) => Check::new("sessions", Status::Ok, "in Postgres"),
        Ok(Ok(None)) => Check::new("sessions", Status::Ok, "in memory/agentctl.db"),
        Ok(Err(error)) | Err(error) => failed("sessions", error),
    }
}

/// What `serve` would serve, to whom and where.
fn served(root: &Path, out: &Output) -> Check {
    let plan = match serving::plan(root, None, &[], out) {
        Ok(plan) => plan,
        Err(error) => {
            let check = failed("serve", error);
            return Check {
                status: Status::Warning,
                ..check
            };
        }
    };
    let clients = plan.clients.all().iter();
    let clients: Vec<String> = clients
        .map(|client| format!("{} ({})", client.name, client.how.name()))
        .collect();
    let more = [
        plan.mcp()
            .map(|role| format!(", /mcp with the tools of {role}")),
        plan.has_page().then(|| ", a page".to_owned()),
        plan.has_ui().then(|| ", /ui".to_owned()),
    ];
    let detail = format!(
        "{}{} on {}://{}; clients: {}",
        plan.packs.join(", "),
        more.into_iter().flatten().collect::<String>(),
        plan.scheme(),
        plan.listen,
        clients.join(", ")
    );
    Check::new("serve", Status::Ok, detail).hint("agentctl serve --check tells each door")
}

fn failed(what: &str, error: CliError) -> Check {
    let check = Check::new(what, Status::Failed, error.message);
    match error.hints.into_iter().next() {
        Some(hint) => check.hint(hint),
        None => check,
    }
}

fn seen_check(seen: InstanceCheck) -> Check {
    let status = match seen.ok {
        true => Status::Ok,
        false => Status::Failed,
    };
    let check = Check::new("n8n", status, format!("{}: {}", seen.what, seen.detail));
    match seen.hint {
        Some(hint) => check.hint(hint),
        None => check,
    }
}

fn abilities(choice: &Choice, backend: &dyn Backend) -> Check {
    let words = backend.can().words();
    let listed = |has: bool| {
        let words = words.iter().filter(|(_, can)| *can == has);
        words.map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
    };
    let mut detail = format!("{} ({})", backend.name(), choice.why);
    match choice.target {
        agentctl_n8n_tools::backend::Target::Embedded => detail.push_str(
            ": workflow files in workflows/; it cannot execute workflows, tests are reported as not executed",
        ),
        _ => detail.push_str(&format!(": can {}; cannot {}", listed(true), listed(false))),
    }
    Check::new("backend", Status::Ok, detail)
}

/// So many runs are read to their end; what the older ones told when they were read last is believed, as lists of runs do.
const MOST_VERIFIED: usize = 100;

fn journals(root: &Path) -> Check {
    let project = match project::open_here(root) {
        Ok(project) => project,
        Err(e) => return Check::new("runs", Status::Failed, e.message),
    };
    let ids = match project.run_ids() {
        Ok(ids) if ids.is_empty() => return Check::new("runs", Status::Off, "none yet"),
        Ok(ids) => ids,
        Err(e) => return Check::new("runs", Status::Failed, e.to_string()),
    };
    let (mut broken, mut foreign) = (Vec::new(), Vec::new());
    let (older, newest) = ids.split_at(ids.len().saturating_sub(MOST_VERIFIED));
    let verified = run::verify_all(&project, &parse, newest);
    for (id, verified) in newest.iter().zip(verified) {
        match verified {
            Ok(verified) if !verified.is_whole() => {
                broken.push(format!("{id}: records or snapshots of it are lost"));
            }
            Ok(verified) if verified.foreign.is_some() => foreign.push(id.clone()),
            Ok(_) => {}
            Err(e) => broken.push(format!("{id}: {e}")),
        }
    }
    let told = match older {
        [] => Vec::new(),
        _ => match run::list(&project) {
            Ok(told) => told,
            Err(e) => return Check::new("runs", Status::Failed, e.to_string()),
        },
    };
    for run in told.into_iter().take(older.len()) {
        match (run.broken, run.foreign) {
            (Some(why), _) => broken.push(format!("{}: {why}", run.run_id)),
            (None, Some(_)) => foreign.push(run.run_id),
            (None, None) => {}
        }
    }
    let looked = match older.len() {
        0 => "every chain is whole".to_owned(),
        _ => format!(
            "every chain of the newest {MOST_VERIFIED} is whole, the others as they were when they were read last (agentctl runs verify reads them all)"
        ),
    };
    if broken.is_empty() && !foreign.is_empty() {
        Check::new(
            "runs",
            Status::Warning,
            format!(
                "{} journals, {looked}; not written by your agentctl: {}",
                ids.len(),
                foreign.join(", ")
            ),
        )
        .hint("nothing is done with such a run; agentctl runs adopt RUN shows what it would let happen and makes it yours")
    } else if broken.is_empty() {
        Check::new(
            "runs",
            Status::Ok,
            format!("{}, {looked}", counted(ids.len(), "journal")),
        )
    } else {
        Check::new("runs", Status::Failed, broken.join("; ")).hint("agentctl runs verify tells what is lost; a journal that was changed by hand cannot be resumed: put the file back, or move its folder out of memory/runs")
    }
}

/// The servers of `.mcp.json` and the n8n instances that they name: asked now, with a time limit each.
fn servers(root: &Path, out: &Output) -> Result<Vec<Check>, CliError> {
    // The check of trust has told why.
    let Ok(in_force) = folder_trust::in_force(root, out) else {
        return Ok(Vec::new());
    };
    let config = match agentctl_mcp::read(root, &in_force.servers(), &variable) {
        Ok(None) => {
            return Ok(vec![Check::new(
                "mcp",
                Status::Off,
                "no .mcp.json; the embedded backend needs none",
            )]);
        }
        Ok(Some(config)) => match settings::of_project(root, out) {
            Ok(settings) => config.with_plain_http(&settings.plain_http),
            // Its own check says what is wrong with the settings.
            Err(_) => config,
        },
        Err(e) => {
            return Ok(vec![Check::new("mcp", Status::Failed, e.to_string()).hint(
                "compare it with .mcp.json.example (agentctl init writes one)",
            )]);
        }
    };
    let mut checks: Vec<Check> = config
        .problems
        .iter()
        .map(|p| Check::new("mcp", Status::Failed, p.to_string()))
        .collect();
    checks.extend(
        config
            .warnings
            .iter()
            .map(|w| Check::new("mcp", Status::Warning, w.to_string())),
    );
    checks.extend(config.withheld.iter().map(|(name, shown)| {
        let detail = format!("{name} ({shown}): not started, it is not trusted");
        Check::new("mcp", Status::Off, detail)
    }));
    let choice = settings::of_project(root, out)
        .and_then(|settings| connection::choice(root, out, &settings))
        .ok();
    // To start one may take npx minutes, and nothing here would use it.
    let idle = |server: &McpServer| {
        choice
            .as_ref()
            .is_some_and(|choice| is_idle(server, choice))
    };
    let (idle, asked): (Vec<McpServer>, Vec<McpServer>) =
        config.servers.iter().cloned().partition(idle);
    checks.extend(idle.iter().map(|server| {
        let why = choice.as_ref().map_or("", |choice| choice.why.as_str());
        let detail = format!(
            "{}: not started, another backend is in use ({why})",
            server.name
        );
        Check::new("mcp", Status::Off, detail).hint("agentctl mcp tools NAME starts it")
    }));
    let mut urls = agentctl_mcp::n8n_urls(&config);
    urls.retain(|(name, _)| idle.iter().all(|server| server.name != *name));
    let (statuses, instances) = runtime::block_on(async {
        let statuses = agentctl_mcp::probe_all(&asked).await;
        let mut instances = Vec::new();
        for (server, url) in &urls {
            instances.push((server.clone(), agentctl_mcp::n8n_health(url).await));
        }
        (statuses, instances)
    })?;
    for status in statuses {
        checks.push(match status.outcome {
            ProbeOutcome::Ready {
                server,
                protocol,
                tools,
            } => Check::new(
                "mcp",
                Status::Ok,
                format!(
                    "{} ({}): {server}, protocol {protocol}, {}",
                    status.name,
                    status.transport,
                    counted(tools.len(), "tool")
                ),
            ),
            ProbeOutcome::Failed(error) => {
                let last = error.last_words();
                let level = if status.required {
                    Status::Failed
                } else {
                    Status::Warning
                };
                Check::new(
                    "mcp",
                    level,
                    format!(
                        "{} ({}): {}{last}",
                        status.name, status.transport, error.reason
                    ),
                )
                .hint(error.hint)
            }
        });
    }
    for (server, health) in instances {
        let status = if health.healthy {
            Status::Ok
        } else {
            Status::Warning
        };
        checks.push(Check::new(
            "n8n",
            status,
            format!("{} (for {server}): {}", health.url, health.detail),
        ));
    }
    Ok(checks)
}
