//! `agentctl models`: which model plays which agent, where its key comes from, what it costs, and whether it answers.

use crate::cli::args::ModelNames;
use crate::cli::error::{CliError, Exit};
use crate::cli::model_choice;
use crate::cli::output::Output;
use crate::cli::progress::plain_long;
use crate::cli::runtime::block_on;
use crate::cli::session;
use crate::cli::settings;
use agentctl_base::model::{AgentTask, Message, Model, ModelRequest};
use agentctl_models::provider::Wire;
use agentctl_models::{ModelName, Price, Prices};
use clap::Args;
use serde::Serialize;
use serde_json::{Map, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Which model plays which agent, what it costs, and whether it answers
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl models\n  agentctl models --no-call --model anthropic::claude-sonnet-4-5\n\nModels are set in agentctl.toml: [models] opus, sonnet, haiku, default; [models.agents]; [providers.NAME].\nKeys come from the environment or a command, never from a file. Each model is asked one short question.\nExit code 6: one does not answer."
)]
pub struct ModelsArgs {
    #[command(flatten)]
    pub model: ModelNames,
    /// Only list; ask nobody
    #[arg(long)]
    pub no_call: bool,
}

#[derive(Debug, Serialize)]
struct Told {
    model: String,
    agents: Vec<String>,
    /// `--model`, `[models]`, …
    chosen_by: Vec<String>,
    /// None: the provider's own.
    base_url: Option<String>,
    price: Option<Price>,
    prices_of: Option<&'static str>,
    /// None: it was not asked.
    answers: Option<bool>,
    /// Why it does not.
    problem: Option<String>,
    hints: Vec<String>,
}

pub fn models(root: &Path, args: &ModelsArgs, out: &Output) -> Result<Exit, CliError> {
    let pack = session::load_pack(root, out)?;
    let config = settings::of_project(root, out)?;
    let plan = model_choice::plan(&pack, &args.model, &BTreeMap::new(), &config)?;
    let mut of_model: BTreeMap<ModelName, Vec<(String, &'static str)>> = BTreeMap::new();
    for (agent, (model, why)) in plan {
        of_model.entry(model).or_default().push((agent, why));
    }
    let mut told = Vec::new();
    for (name, agents) in of_model {
        let mut chosen_by: Vec<String> = agents.iter().map(|(_, why)| (*why).to_owned()).collect();
        chosen_by.dedup();
        let mut one = Told {
            model: name.to_string(),
            agents: agents.into_iter().map(|(agent, _)| agent).collect(),
            chosen_by,
            base_url: None,
            price: None,
            prices_of: None,
            answers: None,
            problem: None,
            hints: Vec::new(),
        };
        match model_choice::access(&name, &config, out) {
            Ok(None) => {
                one.price = Some(Price::FREE);
                one.answers = Some(true);
            }
            Ok(Some(access)) => {
                one.base_url = access.base_url.as_ref().map(ToString::to_string);
                one.price = access.price;
                one.prices_of = access.kind.listed_as().and_then(Prices::as_of);
                if !args.no_call {
                    let asked = Wire::new(access)
                        .map_err(|e| e.to_string())
                        .and_then(|wire| ask(&wire, &name));
                    one.answers = Some(asked.is_ok());
                    one.problem = asked.err();
                }
            }
            Err(error) => {
                one.answers = Some(false);
                one.problem = Some(error.message);
                one.hints = error.hints;
            }
        }
        told.push(one);
    }
    let exit = if told.iter().any(|one| one.answers == Some(false)) {
        Exit::Model
    } else {
        Exit::Complete
    };
    out.answer(exit, || text(&told), || json!({"models": told}))
}

/// The smallest request there is.
fn ask(wire: &Wire, name: &ModelName) -> Result<(), String> {
    let request = ModelRequest {
        model: name.to_string(),
        task: AgentTask {
            agent: "models".into(),
            step: "models".into(),
            task: "answer".into(),
            instructions: String::new(),
            input: Map::new(),
        },
        system: "You are asked whether you can be reached.".into(),
        messages: vec![Message::User {
            text: "Answer with the JSON object {\"ok\": true} and nothing else.".into(),
        }],
        tools: Vec::new(),
        output_schema: json!({"type": "object", "additionalProperties": false, "required": ["ok"],
            "properties": {"ok": {"type": "boolean"}}}),
        shortened: vec![],
        task_at: 0,
    };
    let answered = block_on(wire.call(&request, &|_| {})).map_err(|error| error.message)?;
    answered.map(|_| ()).map_err(|e| e.to_string())
}

fn text(told: &[Told]) -> String {
    let mut text = String::new();
    for one in told {
        let state = match (one.answers, &one.problem) {
            (Some(true), _) => "answers",
            (None, _) => "not asked",
            (Some(false), _) => "does not answer",
        };
        text.push_str(&format!("{}  {state}\n", one.model));
        text.push_str(&format!(
            "  agents: {} (by {})\n",
            one.agents.join(", "),
            one.chosen_by.join(", ")
        ));
        if let Some(url) = &one.base_url {
            text.push_str(&format!("  address: {url}\n"));
        }
        match one.price {
            _ if one.model == "offline" => {}
            Some(price) => text.push_str(&format!(
                "  price: {} USD input, {} USD output for a million tokens{}\n",
                price.input,
                price.output,
                one.prices_of
                    .map(|day| format!(" (list of {day})"))
                    .unwrap_or_default()
            )),
            None if one.problem.is_some() => {}
            None => text.push_str(
                "  price: unknown (set it under [prices] in agentctl.toml; --max-cost needs it)\n",
            ),
        }
        if let Some(problem) = &one.problem {
            text.push_str(&format!("  problem: {}\n", plain_long(problem)));
        }
        for hint in &one.hints {
            text.push_str(&format!("  hint: {hint}\n"));
        }
    }
    text
}
