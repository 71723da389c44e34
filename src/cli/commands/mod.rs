//! One file a command, or a folder where it is large: what can be typed after it with its help, its code, and what it prints.

mod a2a;
mod accept;
mod agents;
mod analyze;
mod answer;
mod approvals;
mod bench;
mod build;
mod catalog;
mod chat;
mod completions;
mod diff;
mod doctor;
pub(super) mod explain;
mod flow;
mod init;
mod learnings;
mod log;
mod man;
mod mcp;
mod models;
mod n8n;
mod orchestrators;
mod packs;
mod policy;
mod pull;
mod push;
mod qa;
pub(in crate::cli) mod report;
mod resume;
mod run;
pub(in crate::cli) mod runs;
pub(in crate::cli) mod schema;
mod serve;
mod sessions;
mod show;
mod skills;
mod status;
mod test;
mod tools;
mod trust;
mod undo;
mod usage;
mod worker;
mod workflows;

use super::error::{CliError, Exit};
use super::output::Output;
use clap::Subcommand;
use std::path::Path;

/// In the order in which `--help` lists them.
#[derive(Debug, Subcommand)]
pub enum Command {
    Init(init::InitArgs),
    Build(build::BuildArgs),
    Chat(chat::ChatArgs),
    Run(run::RunArgs),
    Serve(serve::ServeArgs),
    Worker(worker::WorkerArgs),
    Explain(explain::ExplainArgs),
    Resume(resume::ResumeArgs),
    Answer(answer::AnswerArgs),
    Status(status::StatusArgs),
    #[command(subcommand)]
    Runs(runs::RunsCommand),
    #[command(subcommand)]
    Sessions(sessions::SessionsCommand),
    #[command(subcommand)]
    Approvals(approvals::ApprovalsCommand),
    Usage(usage::UsageArgs),
    Models(models::ModelsArgs),
    Bench(bench::BenchArgs),
    Undo(undo::UndoArgs),
    Accept(accept::AcceptArgs),
    Show(show::ShowArgs),
    Report(report::ReportArgs),
    Diff(diff::DiffArgs),
    Log(log::LogArgs),
    #[command(subcommand)]
    Agents(agents::AgentsCommand),
    #[command(subcommand)]
    Skills(skills::SkillsCommand),
    #[command(subcommand)]
    Tools(tools::ToolsCommand),
    #[command(subcommand)]
    Packs(packs::PacksCommand),
    #[command(subcommand)]
    Orchestrators(orchestrators::OrchestratorsCommand),
    #[command(subcommand)]
    Flow(flow::FlowCommand),
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    #[command(subcommand)]
    Catalog(catalog::CatalogCommand),
    Pull(pull::PullArgs),
    Push(push::PushArgs),
    Test(test::TestArgs),
    #[command(subcommand)]
    Workflows(workflows::WorkflowsCommand),
    #[command(subcommand)]
    Executions(workflows::ExecutionsCommand),
    #[command(subcommand)]
    Credentials(workflows::CredentialsCommand),
    Qa(qa::QaArgs),
    Analyze(analyze::AnalyzeArgs),
    #[command(subcommand)]
    Learnings(learnings::LearningsCommand),
    #[command(subcommand)]
    Mcp(mcp::McpCommand),
    #[command(subcommand, name = "a2a")]
    A2a(a2a::A2aCommand),
    #[command(subcommand)]
    N8n(n8n::N8nCommand),
    Trust(trust::TrustArgs),
    Doctor(doctor::DoctorArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl Command {
    /// Whether this command was told to ask nobody.
    pub fn no_input(&self) -> bool {
        match self {
            Command::Build(args) => args.answers.no_input,
            Command::Run(args) => args.answers.no_input,
            Command::Resume(args) => args.answers.no_input,
            _ => false,
        }
    }

    /// `whole`: the command line as clap sees it, for the commands that describe it.
    pub fn run(
        &self,
        project: &Path,
        whole: fn() -> clap::Command,
        out: &Output,
    ) -> Result<Exit, CliError> {
        match self {
            Command::Init(args) => init::init(project, args, out),
            Command::Build(args) => build::build(project, args, out),
            Command::Chat(args) => chat::chat(project, args, out),
            Command::Run(args) => run::run(project, args, out),
            Command::Serve(args) => serve::serve(project, args, out),
            Command::Worker(args) => worker::worker(project, args, out),
            Command::Sessions(command) => sessions::sessions(project, command, out),
            Command::Explain(args) => explain::explain(project, args, out),
            Command::Resume(args) => resume::resume(project, args, out),
            Command::Answer(args) => answer::answer(project, args, out),
            Command::Status(_) => status::status(project, out),
            Command::Runs(command) => runs::runs(project, command, out),
            Command::Approvals(command) => approvals::approvals(project, command, out),
            Command::Usage(args) => usage::usage(project, args, out),
            Command::Models(args) => models::models(project, args, out),
            Command::Bench(args) => bench::bench(project, args, out),
            Command::Undo(args) => undo::undo(project, args, out),
            Command::Accept(args) => accept::accept(project, args, out),
            Command::Show(args) => show::show(project, args, out),
            Command::Report(args) => report::report(project, args, out),
            Command::Diff(args) => diff::diff(project, args, out),
            Command::Log(args) => log::log(project, args, out),
            Command::Agents(command) => agents::agents(project, command, out),
            Command::Skills(command) => skills::skills(project, command, out),
            Command::Tools(command) => tools::tools(project, command, out),
            Command::Packs(command) => packs::packs(project, command, out),
            Command::Orchestrators(command) => orchestrators::orchestrators(project, command, out),
            Command::Flow(command) => flow::flow(project, command, out),
            Command::Policy(command) => policy::policy(project, command, out),
            Command::Catalog(command) => catalog::catalog(project, command, out),
            Command::Pull(args) => pull::pull(project, args, out),
            Command::Workflows(command) => workflows::workflows(project, command, out),
            Command::Executions(command) => workflows::executions(project, command, out),
            Command::Credentials(command) => workflows::credentials(project, command, out),
            Command::Test(args) => test::test(project, args, out),
            Command::Push(args) => push::push(project, args, out),
            Command::Qa(args) => qa::qa(project, args, out),
            Command::Analyze(args) => analyze::analyze(project, args, out),
            Command::Learnings(command) => learnings::learnings(project, command, out),
            Command::Mcp(command) => mcp::mcp(project, command, out),
            Command::A2a(command) => a2a::a2a(project, command, out),
            Command::N8n(command) => n8n::n8n(project, command, out),
            Command::Trust(args) => trust::trust(project, args, out),
            Command::Doctor(_) => doctor::doctor(project, out),
            Command::Schema(args) => schema::schema(args, out),
            Command::Completions(args) => completions::completions(args),
            Command::Man(args) => man::man(args, whole()),
        }
    }
}
