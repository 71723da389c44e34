//! Our own tools for another agent, as one role of the builder's pack: what `mcp serve` and the `/mcp` of `serve` hand out.

use super::args::ModelOptions;
use super::error::CliError;
use super::folder_trust;
use super::output::Output;
use super::runtime;
use super::session::{self, Session};
use crate::pack::BUILDER;
use crate::trust::Kind;
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{Observer, Serving, SessionTerms, ToolSessions, Unobserved};
use agentctl_mcp::serve::Hosts;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a call waits for a build that has the project.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Whose tools, and narrowed to what.
pub struct Wanted<'a> {
    pub role: &'a str,
    pub workflow: Option<&'a str>,
    pub scope: &'a [String],
}

/// Works out the terms before anything is served. Error: there is no such role, workflow or node, or the folder is not trusted.
pub fn settle(
    root: &Path,
    wanted: &Wanted<'_>,
    out: &Output,
) -> Result<(Session, SessionTerms), CliError> {
    let session = Session::of_pack(root, BUILDER, &ModelOptions::offline(), out)?;
    if !session.pack.agents.contains_key(wanted.role) {
        // Perhaps a role of the project's own.
        let kinds = |kind: Kind| kind.is_of_pack();
        session
            .in_force
            .needs(kinds)
            .map_err(folder_trust::refused)?;
    }
    let terms = runtime::block_on(async {
        let terms = SessionTerms::settle(
            &session.pack,
            &session.gateway,
            wanted.role,
            wanted.workflow,
            wanted.scope,
        );
        let terms = terms.await;
        // A server that was started for this belongs to this runtime.
        if let Some(n8n) = session.any_n8n() {
            n8n.backend().close().await;
        }
        terms
    })?
    .map_err(|e| session::run_error(&e))?;
    Ok((session, terms))
}

/// What makes single calls of a pack's tools for other agents; None: its `channels.a2a` names no role for them. `agent`: the tools are
/// those of this agent alone.
pub fn of_guest(
    root: &Path,
    name: &str,
    pack: &Pack,
    agent: Option<&str>,
    out: &Output,
) -> Result<Option<Arc<dyn Hosts>>, CliError> {
    let Some(guest) = &pack.manifest.channels.a2a.tools else {
        return Ok(None);
    };
    let session = Session::of_pack(root, name, &ModelOptions::offline(), out)?;
    let terms = SessionTerms {
        role: guest.role.clone(),
        lender: agent.map(str::to_owned),
        only: None,
        scope: None,
    };
    Ok(Some(hosts(session, terms, Box::new(Unobserved))))
}

/// What opens a session for each client. `observer` sees what they do.
pub fn hosts(
    session: Session,
    terms: SessionTerms,
    observer: Box<dyn Observer + Send>,
) -> Arc<ToolSessions> {
    Arc::new(ToolSessions::new(Serving {
        project: session.project,
        pack: session.pack,
        gateway: session.gateway,
        effects: Box::new(session.effects),
        observer: Mutex::new(observer),
        terms,
        lock_wait: LOCK_WAIT,
    }))
}
