//! The offline model: a deterministic planner that fills the agents' roles without a key and without a network.
//! It reads a request into a [`plan::Plan`], compiles a plan into a workflow and edits an existing workflow; it never
//! invents a node type or a parameter (both come from the catalog) and asks about what it cannot read.

pub mod acceptance;
pub mod account;
pub mod assemble;
mod chart;
mod clause;
pub mod compile;
mod cover;
mod coverage;
pub mod draft;
mod evidence;
#[cfg(test)]
mod evidence_tests;
mod existing;
pub mod explain;
mod extend;
mod gate;
pub mod glance;
mod learned;
mod lex;
mod lexicon;
mod modify;
mod pattern;
pub mod plan;
pub mod read;
mod reuse;
mod roles;
mod states;
#[cfg(test)]
mod tables_tests;
mod talk;
pub mod time;
mod timezone;
pub mod wish;

use agentctl_kit::{cut, spot};

use agentctl_base::{
    BoxFuture,
    model::{Model, ModelAnswer, ModelError, ModelRequest},
};
use agentctl_n8n::catalog::Catalog;

/// The planner as a model. Its answers are free and the same every time, so they need not be synced before they are used.
#[derive(Debug)]
pub struct OfflineModel {
    catalog: &'static Catalog,
}

impl OfflineModel {
    /// One that builds for the n8n whose node facts these are: a version that it lacks is never chosen.
    pub fn with(catalog: &'static Catalog) -> Self {
        OfflineModel { catalog }
    }
}

impl Default for OfflineModel {
    fn default() -> Self {
        OfflineModel::with(Catalog::embedded())
    }
}

impl Model for OfflineModel {
    fn is_paid(&self) -> bool {
        false
    }
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        _sink: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(std::future::ready(roles::play(request, self.catalog)))
    }
}
