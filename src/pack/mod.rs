//! A pack as loaded: agents, flow, policy, skills.
use crate::{flow::Flow, policy::Policy};
use indexmap::IndexMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    Opus,
    Sonnet,
    Haiku,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub name: String,
    pub tier: Tier,
    pub tools: Vec<String>,
    pub skills: Vec<String>,
    pub max_turns: u32,
    pub prompt: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SkillHead {
    pub name: String,
    pub description: String,
}

pub struct Pack {
    pub agents: IndexMap<String, Agent>,
    pub flow: Flow,
    pub policy: Policy,
    pub skills: Vec<SkillHead>,
    pub hash: String,
}
