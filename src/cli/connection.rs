//! Which n8n a command works on: the connected one, the project's files, or a target of the settings; and how it is told that there is
//! none.

use super::error::{CliError, Exit};
use super::folder_trust;
use super::output::Output;
use super::session::{Session, listed};
use crate::config::Config;
use crate::config::targets::Address;
use crate::trust::Standing;
use agentctl_host::home::variable;
use agentctl_mcp::Secret;
use agentctl_n8n_tools::backend::{
    self, Backend, BackendError, BackendErrorKind, Choice, ChoiceError, Offered,
};
use std::path::Path;
use std::sync::Arc;

/// An n8n, and why it is that one.
pub type Connected = (Choice, Arc<dyn Backend>);

/// Which n8n the project works on. Nothing is reached or started by choosing.
pub fn choice(root: &Path, out: &Output, config: &Config) -> Result<Choice, CliError> {
    use backend::BackendName as B;
    let in_force = folder_trust::in_force(root, out)?;
    let asked = out.backend.or(config.backend).unwrap_or(B::Auto);
    // What a project asks for is not in `config` while it does not count, so this is the user's word.
    if !matches!(asked, B::Auto | B::Embedded) {
        in_force.live().map_err(folder_trust::refused)?;
    }
    let servers = match asked {
        B::Embedded => None, // the file need not even be readable
        _ => {
            let may = in_force.servers_or_none().map_err(folder_trust::refused)?;
            match in_force.standing() {
                Standing::Restricted => None,
                _ => agentctl_mcp::read(root, &may, &variable).map_err(|e| {
                    CliError::of_servers(&e)
                        .hint("mend it, or go on without n8n: --backend embedded")
                })?,
            }
        }
    };
    let offered = Offered {
        flag: out.backend,
        settings: config.backend,
        servers: servers.as_ref(),
        variable: &variable,
        plain_http: &config.plain_http,
    };
    let mut choice = backend::choose(&offered).map_err(no_choice)?;
    if asked == B::Auto && in_force.standing() == Standing::Restricted {
        choice.why = "this folder is not trusted".to_owned();
    }
    Ok(choice)
}

/// The project's backend, with the choice that led to it; one that is not the files is said on stderr.
pub fn backend_of(root: &Path, out: &Output, config: &Config) -> Result<Connected, CliError> {
    opened(root, out, choice(root, out, config)?)
}

/// An n8n that the settings name for pushing to.
pub fn targeted(
    root: &Path,
    config: &Config,
    name: &str,
    out: &Output,
) -> Result<Connected, CliError> {
    let in_force = folder_trust::in_force(root, out)?;
    in_force.live().map_err(folder_trust::refused)?;
    let Some(target) = config.targets.get(name) else {
        let known: Vec<String> = config.targets.keys().cloned().collect();
        let told = CliError::usage(format!("agentctl.toml has no target {name:?}"));
        return Err(match known.is_empty() {
            true => told.hint(
                "describe it there: [targets.NAME] with url and key_env (docs/workflows-in-git.md)",
            ),
            false => told.hint(listed("targets", name, &known)),
        });
    };
    let set = |name: &str| {
        let value = variable(name).filter(|value| !value.trim().is_empty());
        value.ok_or_else(|| {
            CliError::new(
                Exit::Backend,
                format!("the environment has no variable {name}"),
            )
            .hint("agentctl.toml names it under [targets]")
        })
    };
    let url = match &target.address {
        Address::Url(url) => url.clone(),
        Address::Variable(name) => set(name)?,
    };
    let why = format!("the target {name:?} of the settings");
    let key = Secret::new(set(&target.key_env)?);
    let choice = backend::choose_rest(url, key, why, &config.plain_http).map_err(no_choice)?;
    opened(root, out, choice)
}

fn no_choice(error: ChoiceError) -> CliError {
    let exit = match error.is_refused {
        true => Exit::Refused,
        false => Exit::Backend,
    };
    CliError::new(exit, error.message).hint(error.hint)
}

fn opened(root: &Path, out: &Output, choice: Choice) -> Result<Connected, CliError> {
    let opened = choice.target.open(root);
    let opened = opened.map_err(|e| {
        let told = CliError::new(unreached(&e), e.to_string());
        match e.hint {
            Some(hint) => told.hint(hint),
            None => told,
        }
    })?;
    if choice.target != backend::Target::Embedded {
        out.note(&format!("n8n: {} ({})", opened.name(), choice.why));
    }
    Ok((choice, opened))
}

/// The n8n that is connected; files are none.
pub fn connected(session: &Session) -> Result<&dyn Backend, CliError> {
    let backend = session.n8n()?.backend();
    if backend.can().execute {
        return Ok(backend);
    }
    folder_trust::could_be_connected(&session.in_force)?;
    Err(CliError::usage(format!("no n8n is connected: this project works on the {} backend", backend.name()))
        .hint("name one in .mcp.json, or with --backend; `agentctl n8n up --write-mcp` starts one to develop against"))
}

/// Says where a list cannot be all that there is: n8n's own MCP server alone shows what is open to it.
pub fn tell_of_closed(backend: &dyn Backend, out: &Output) {
    if backend.can().reads_only {
        out.note(
            "only workflows that are available in MCP are seen; with N8N_API_URL and N8N_API_KEY all of them are",
        );
    }
}

pub fn unavailable(error: BackendError) -> CliError {
    let exit = match error.kind {
        BackendErrorKind::Unavailable => unreached(&error),
        _ => Exit::Failed,
    };
    told(exit, error)
}

/// What went wrong, with what to do next where that is known.
pub fn told(exit: Exit, error: BackendError) -> CliError {
    let told = CliError::new(exit, error.message);
    match error.hint {
        Some(hint) => told.hint(hint),
        None => told,
    }
}

/// Whose fault it is that there was no answer.
pub fn unreached(error: &BackendError) -> Exit {
    match error.machine {
        true => Exit::Failed,
        false => Exit::Backend,
    }
}
