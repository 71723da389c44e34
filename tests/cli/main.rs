//! The built binary, as its users run it.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::type_complexity,
    reason = "tests and measurements fail loudly"
)]

mod alone;
mod apart;
mod assistant;
mod bench;
mod build;
mod ci;
mod commands;
mod completing;
mod connected;
mod conversations;
mod copilot;
mod course;
mod dialogues;
mod drafts;
mod file_schemas;
mod floors;
mod formats;
mod gallery;
mod handoff;
mod harbour;
mod help;
mod history;
mod killed;
mod killed_agents;
mod large;
mod learning;
mod lent;
mod limits;
mod look;
mod many_runs;
mod mcp;
mod model_faults;
mod models;
mod named_commands;
mod names;
mod nearby;
mod old_folder;
mod own_tools;
mod pack_in_pack;
mod pages;
mod partial;
mod phases;
mod pipes;
mod project_of_today;
mod prompts;
mod published;
mod pushed;
mod qa;
mod recorded;
mod remote_questions;
mod reports;
mod research;
mod room;
mod said;
mod schemas;
mod serve;
mod serving;
mod shared_runs;
mod shortage;
mod signals;
mod signed;
mod sources;
mod support;
mod talked;
mod targets;
mod tested_alone;
mod trust;
mod turn_faults;
mod turns;
mod widths;
mod wire;
mod wires;
