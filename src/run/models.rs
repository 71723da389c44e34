//! Which model plays an agent: by the agent's tier. The caller decides (flags, agentctl.toml, keys); a run only asks.

use crate::{
    model::{Model, ModelError},
    pack::Tier,
};
use std::sync::Arc;

#[derive(Clone)]
pub struct ChosenModel {
    /// `provider::model`, or `offline`.
    pub name: String,
    pub model: Arc<dyn Model>,
}

pub trait Models: Send + Sync {
    fn for_tier(&self, tier: Tier) -> Result<ChosenModel, ModelError>;
}

/// One model for every tier.
impl Models for ChosenModel {
    fn for_tier(&self, _: Tier) -> Result<ChosenModel, ModelError> {
        Ok(self.clone())
    }
}
