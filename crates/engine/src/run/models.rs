//! Which model plays an agent: by its name or its tier. The caller decides (flags, agentctl.toml, keys); a run only asks.

use crate::pack::Tier;
use agentctl_base::model::{Model, ModelError};
use std::sync::Arc;

#[derive(Clone)]
pub struct ChosenModel {
    /// `provider::model`, or `offline`.
    pub name: String,
    pub model: Arc<dyn Model>,
}

pub trait Models: Send + Sync {
    fn for_agent(&self, agent: &str, tier: Tier) -> Result<ChosenModel, ModelError>;
    /// Whether a model can be chosen again by this name: then a run keeps it. One that is played from a recording cannot.
    fn can_be_named(&self, name: &str) -> bool;
}

/// One model for every agent.
impl Models for ChosenModel {
    fn for_agent(&self, _: &str, _: Tier) -> Result<ChosenModel, ModelError> {
        Ok(self.clone())
    }
    fn can_be_named(&self, name: &str) -> bool {
        name == "offline" || name.contains("::")
    }
}
