//! What an activation is handed: its surroundings, and how a run is gone on with.

use super::{Answering, Asker, Budgets, Cancel, Effects, Models, Observer};
use crate::gateway::Gateway;
use crate::pack::Pack;
use crate::store::Project;

/// What every activation needs, made by the caller.
pub struct RunContext<'a> {
    pub project: &'a Project,
    pub pack: &'a Pack,
    pub gateway: &'a Gateway,
    pub models: &'a dyn Models,
    pub effects: &'a dyn Effects,
    pub cancel: &'a Cancel,
    pub observer: &'a mut dyn Observer,
    /// A person at a terminal; None where nobody is.
    pub asker: Option<&'a mut dyn Asker>,
}

/// How to go on with a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resume {
    pub answering: Answering,
    /// Other limits than the run has so far; what is not set here stays.
    pub limits: Budgets,
    /// Go on although the pack (agents, flow, policy) is another one than the run began with.
    pub allow_other_pack: bool,
}
