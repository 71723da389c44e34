//! Which model plays an agent: by its name or its tier. The caller decides (flags, agentctl.toml, keys); a run only asks.

use agentctl_base::model::{Model, ModelError};
use agentctl_engine::pack::Tier;
use std::sync::Arc;

#[derive(Clone)]
pub struct ChosenModel {
    /// `provider::model`, or `offline`.
    pub name: String,
    pub model: Arc<dyn Model>,
}

pub trait Models: Send + Sync {
    fn for_agent(&self, agent: &str, tier: Tier) -> Result<ChosenModel, ModelError>;
}

/// One model for every agent.
impl Models for ChosenModel {
    fn for_agent(&self, _: &str, _: Tier) -> Result<ChosenModel, ModelError> {
        Ok(self.clone())
    }
}
