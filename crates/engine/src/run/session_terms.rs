//! On what terms another agent may use the tools: as which role, and narrowed to which resource and parts of it. Worked out before the
//! server starts, so that a scope that names nothing is the user's mistake and not a refusal in the middle of the work.

use super::RunError;
use crate::{
    gateway::Gateway,
    pack::{Pack, ToolKind},
    toolset::{BackendError, BackendErrorKind, Document, Resources},
};
use agentctl_mcp::serve::{Offer, Offered};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTerms {
    pub role: String,
    /// The role whose tools these are, where they are lent: no tool that it may not use itself; None: the first role's own.
    pub lender: Option<String>,
    /// The id of the one resource that may be changed; None: any.
    pub only: Option<String>,
    /// Ids or names of the parts that may be changed; None: all.
    pub scope: Option<Vec<String>>,
}

impl SessionTerms {
    /// A scope belongs to one resource: the one named, or the only one that has all of its parts.
    pub async fn settle(
        pack: &Pack,
        gateway: &Gateway,
        role: &str,
        only: Option<&str>,
        scope: &[String],
    ) -> Result<SessionTerms, RunError> {
        if !pack.agents.contains_key(role) {
            let known: Vec<&str> = pack.agents.keys().map(String::as_str).collect();
            return Err(RunError::Usage(format!(
                "there is no role {role:?}; roles: {}",
                known.join(", ")
            )));
        }
        let resources = gateway.resources();
        let named = match only {
            Some(reference) => Some(found(resources, reference).await?),
            None => None,
        };
        let given = (!scope.is_empty()).then(|| scope.to_vec());
        let only = match (named, &given) {
            (None, None) => None,
            (Some((id, _)), None) => Some(id),
            (Some((id, document)), Some(scope)) => {
                let missing = resources.missing_parts(&document, scope);
                if !missing.is_empty() {
                    return Err(RunError::Usage(format!(
                        "the {} `{id}` has no {} {}",
                        resources.kind(),
                        resources.part(),
                        missing.join(", ")
                    )));
                }
                Some(id)
            }
            (None, Some(scope)) => Some(only_with(resources, scope).await?),
        };
        Ok(SessionTerms {
            role: role.to_owned(),
            lender: None,
            only,
            scope: given,
        })
    }

    /// The tools of the role, as far as the terms allow a call of them to come to anything. A role that is no agent's has all that the
    /// policy grants it.
    pub fn offer(&self, pack: &Pack, gateway: &Gateway) -> Offer {
        let granted = pack.policy.allowed_tools(&self.role);
        let for_clients = |name: &String| gateway.tool(name).is_some_and(|tool| tool.for_clients);
        let listed: Vec<String> = match pack.agents.get(&self.role) {
            Some(agent) => {
                let more = granted.into_iter().filter(for_clients);
                agent.tools.iter().cloned().chain(more).collect()
            }
            None => granted,
        };
        // A flow has no run of its own here.
        let is_flow = |name: &String| {
            let tool = pack.tools.get(name);
            tool.is_some_and(|tool| matches!(tool.kind, ToolKind::Flow { .. }))
        };
        let lender = self.lender.as_ref();
        let lent = lender.map(|lender| pack.policy.allowed_tools(lender));
        let is_lent = |name: &String| lent.as_ref().is_none_or(|own| own.contains(name));
        let fits = |name: &String| !is_flow(name) && is_lent(name);
        let listed: Vec<String> = listed.into_iter().filter(fits).collect();
        let confined = self.only.is_some();
        let tools: Vec<Offered> = gateway
            .tools_for(&self.role, &listed)
            .into_iter()
            .filter_map(|spec| {
                let Some(tool) = gateway.tool(&spec.name) else {
                    // What it does elsewhere cannot be confined to a resource.
                    let hints = gateway.foreign_hints(&self.role, &spec.name);
                    let returns = None;
                    return (!confined).then_some(Offered {
                        spec,
                        hints,
                        returns,
                    });
                };
                let (hints, returns) = (tool.hints(), tool.returns.map(|make| make()));
                let offered = Offered {
                    spec,
                    hints,
                    returns,
                };
                (!confined || !tool.makes_or_deletes).then_some(offered)
            })
            .collect();
        let changes = tools.iter().any(|tool| !tool.hints.read_only);
        Offer {
            instructions: self.instructions(gateway.resources(), changes),
            tools,
        }
    }

    fn instructions(&self, resources: &dyn Resources, changes: bool) -> String {
        let words = resources.client_words();
        let mut text = format!(
            "{}, as the role \"{}\". A program decides about each call, and journals it. ",
            words.about, self.role
        );
        if changes {
            text.push_str(words.before_change);
            text.push_str(
                " Before each change a snapshot is taken; the user can take the whole session back with `agentctl undo`. ",
            );
        }
        if let Some(only) = &self.only {
            let kind = resources.kind();
            text.push_str(&format!("Only the {kind} `{only}` may be changed"));
            match &self.scope {
                Some(scope) => text.push_str(&format!(", and in it only: {}. ", scope.join(", "))),
                None => text.push_str(". "),
            }
        }
        text.push_str(
            "A refused call names its rule and what to do next; the same call again is refused again, and nobody can be asked here. ",
        );
        text.push_str(words.data);
        text
    }
}

/// What the user's text means, as it is now.
async fn found(resources: &dyn Resources, reference: &str) -> Result<(String, Document), RunError> {
    let looked = match resources.resolve(reference).await {
        Ok(id) => resources.find(&id).await,
        Err(error) => Err(error),
    };
    match looked {
        Ok(Some(found)) => Ok((found.id, found.document)),
        Ok(None) => Err(RunError::Usage(format!(
            "there is no {} {reference:?}",
            resources.kind()
        ))),
        Err(error) => Err(unread(error)),
    }
}

fn unread(error: BackendError) -> RunError {
    match error.kind {
        BackendErrorKind::Unavailable => RunError::unavailable(error, ToString::to_string),
        _ => RunError::Usage(error.to_string()),
    }
}

/// The one resource that has all of these parts.
async fn only_with(resources: &dyn Resources, scope: &[String]) -> Result<String, RunError> {
    let ids = resources
        .all()
        .await
        .map_err(|error| RunError::unavailable(error, ToString::to_string))?;
    let mut fitting = Vec::new();
    for id in ids {
        let (id, document) = found(resources, &id).await?;
        if resources.missing_parts(&document, scope).is_empty() {
            fitting.push(id);
        }
    }
    let (kind, part) = (resources.kind(), resources.part());
    match fitting.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(RunError::Usage(format!(
            "no {kind} of the project has all of these {part}s: {}",
            scope.join(", ")
        ))),
        several => Err(RunError::Usage(format!(
            "several {kind}s have these {part}s ({}); say which one with --{kind}",
            several.join(", ")
        ))),
    }
}
