//! The whole `--help` of every command, so that no change to it goes unseen.

mod agents;
mod automations;
mod checking;
mod conversations;
mod project;
mod runs;

use super::support::Project;
use agentctl::cli::Cli;
use clap::CommandFactory;
use std::sync::OnceLock;

/// The files below, in which each command has its snapshot.
const SNAPSHOTS: [&str; 6] = [
    include_str!("agents.rs"),
    include_str!("automations.rs"),
    include_str!("checking.rs"),
    include_str!("conversations.rs"),
    include_str!("project.rs"),
    include_str!("runs.rs"),
];

/// Every command of the tree, as typed, without `help` itself, and the text behind its options.
fn tree() -> Vec<(String, String)> {
    fn walk(command: &clap::Command, path: &str, found: &mut Vec<(String, String)>) {
        for below in command.get_subcommands() {
            let path = format!("{path} {}", below.get_name()).trim().to_owned();
            let after = below.get_after_help().map(ToString::to_string);
            found.push((path.clone(), after.unwrap_or_default()));
            walk(below, &path, found);
        }
    }
    let mut found = Vec::new();
    walk(&Cli::command(), "", &mut found);
    found
}

pub fn commands() -> Vec<String> {
    tree().into_iter().map(|(command, _)| command).collect()
}

fn printed(command: &str) -> String {
    let typed: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
    let ran = Project::new().run(&typed);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command}");
    let lines: Vec<&str> = ran.stdout.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// The heading under which the options that every command has stand, behind the command's own.
const GLOBAL: &str = "\nGlobal options:\n";

/// The options that every command has, each with its text, as `agentctl --help` prints them.
fn global_options() -> &'static [String] {
    static FOUND: OnceLock<Vec<String>> = OnceLock::new();
    FOUND.get_or_init(read_global_options)
}

fn read_global_options() -> Vec<String> {
    let whole = printed("");
    let (_, after) = whole.split_once(GLOBAL).unwrap();
    let (options, _) = after.split_once("\n\nExamples:\n").unwrap();
    let is_first = |line: &str| line.trim_start().starts_with('-') && !line.starts_with("       ");
    let mut found: Vec<String> = Vec::new();
    for line in options.lines() {
        match found.last_mut() {
            Some(option) if !is_first(line) => *option += &format!("\n{line}"),
            _ => found.push(line.to_owned()),
        }
    }
    found.iter().map(|o| o.trim_end().to_owned()).collect()
}

const HELP: &str = "  -h, --help\n          Print help (see a summary with '-h')\n";

/// The whole help of a command but for the options that every command has, which must be there word for word, under a heading of their
/// own behind the command's.
/// A command that is told its pack as its first word has no `--pack` beside it.
fn help(command: &str) -> String {
    let text = format!("{}\n", printed(command));
    let (own, rest) = text
        .split_once(GLOBAL)
        .unwrap_or_else(|| panic!("{command} without{GLOBAL}{text}"));
    let is_told_its_pack = text.contains("[OPTIONS] <PACK") || text.contains("[OPTIONS] [PACK");
    let mut rest = rest;
    for option in global_options() {
        let is_pack = option.trim_start().starts_with("--pack ");
        if is_told_its_pack && is_pack && !rest.starts_with(option.as_str()) {
            continue;
        }
        let after = rest.strip_prefix(&format!("{option}\n"));
        let after = after.unwrap_or_else(|| panic!("{command}, instead of\n{option}\n{rest}"));
        rest = after.strip_prefix('\n').unwrap_or(after);
    }
    let own = own.replacen(HELP, "", 1);
    let own = own.trim_end();
    // Nothing but `--help` stood there.
    let own = own.strip_suffix("\nOptions:").unwrap_or(own).trim_end();
    format!("{own}\n\n{rest}").trim_end().to_owned()
}

#[test]
fn every_command_has_a_snapshot_and_an_example_that_uses_it() {
    for (command, after) in tree() {
        let typed = format!("help(\"{command}\")");
        assert!(
            SNAPSHOTS.iter().any(|file| file.contains(&typed)),
            "no snapshot of `{command} --help` in tests/cli/help"
        );
        assert!(
            after.starts_with("Example") && after.contains(&format!("agentctl {command}")),
            "{command:?} has no example, or one that does not use it"
        );
    }
}

#[test]
fn agentctl_itself() {
    insta::assert_snapshot!(printed(""), @r#"
    Build, check and repair n8n workflows with agents whose rules the program enforces

    Usage: agentctl [OPTIONS] <COMMAND>

    Commands:
      init           Set up a project folder: workflows/, memory/, .gitignore, .mcp.json.example
      build          Build a workflow from a request, or change an existing one with --workflow
      chat           Talk with a pack; the conversation is kept and goes on tomorrow
      run            Run a flow of a pack once
      serve          Serve packs over HTTP: webhooks, chat, OpenAI clients, agents
      worker         Do what a Restate server hands out: turns that go on where a worker died
      explain        Show what the offline planner makes of each word of a request; builds nothing
      resume         Go on with a run that was interrupted or waits for answers
      answer         Answer the questions of a waiting run, and go on with it
      status         What the active run is doing, or how it ended
      runs           List, show, verify, move and prune runs
      sessions       The conversations that are kept
      approvals      Look at the calls that wait for your word
      usage          What a run used: tokens, cache hits and cost by agent, phase, model and tool
      models         Which model plays which agent, what it costs, and whether it answers
      bench          Run the requests of a file with a model, and score what it builds
      undo           Take back what a run changed, all of it or down to one of its changes
      accept         Say that a workflow is as you want it: what agents take away is counted from there
      show           Show a workflow: as a tree, a chart for Markdown, a picture, or a page
      report         Write a run as a page: request, questions, phases, pictures before and after,
                     findings, refusals, cost
      diff           Show what changed between two states of a workflow, or between two files
      log            Read a run's journal as a story: who did what, when, by which rule, at what cost
      agents         The agents of the pack
      skills         The skills that agents can load
      tools          The tools that a pack's files declare
      packs          The packs: agent systems that run on the same engine
      orchestrators  Orchestrators: which agents of a pack work on a request, and in which order
      flow           Check or draw the flow
      policy         Show the permission matrix, or explain one decision
      catalog        Look up n8n's node types; no n8n needed
      pull           Write workflows of the connected n8n as files that git can keep
      push           Send workflow files to the connected n8n: update the workflows that they follow, or
                     create them
      test           Try a workflow on the connected n8n against cases: what goes in, what services
                     answer, what must come out
      workflows      Workflows of the connected n8n: list them, publish one, take one out of service
      executions     Executions of the connected n8n
      credentials    Credentials of the connected n8n: names, types and ids, never what they hold
      qa             Check workflow files, or the workflows of the connected n8n
      analyze        Why a run went as it did, and what can be learned from it; reads only
      learnings      What runs taught: add, find, check and index entries of docs/learning/
      mcp            The MCP servers of .mcp.json: what they are, their tools, calls by hand
      a2a            Other agents over A2A: their cards, messages to them, their tasks
      n8n            A throw-away n8n of your own to develop against: install, start, stop
      trust          Say that what a project folder overrides may count: its servers, agents, flow,
                     policy, skills, catalog and settings
      doctor         Check this machine and this project: what works, what does not, what to do
      schema         Print the JSON Schema of an answer or a file, for programs that read or write it
      completions    Print a shell completion script: it also completes run ids, workflow files, finding
                     codes, packs and node types
      man            Print the manual page, or write one page for each command
      help           Print this message or the help of the given subcommand(s)

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Global options:
          --project <DIR>
              The project folder: holds workflows/, memory/ and your own agents/ and skills/

              [default: .]

          --output-format <FORMAT>
              How the answer is written to stdout; progress and questions always go to stderr

              Possible values:
              - text:        For people
              - json:        One JSON object (or array) at the end
              - stream-json: One JSON object a line as things happen; the first is `init`, the last
                `result` (also: jsonl)

              [default: text]

          --color <WHEN>
              When to use colour

              [default: auto]
              [possible values: auto, always, never]

      -q, --quiet
              No progress on stderr, only errors and questions

      -v, --verbose
              Every step and every call of a tool on stderr

          --allow-loose-policy
              Let the project's agents/policy.yaml allow more than the built-in policy; the run's
              journal and report say what

          --trust-once
              Let everything in the project folder count for this command, without keeping it (see
              `agentctl trust`)

          --pack <PACK>
              Which pack (`agentctl packs list`); default: [packs] default of agentctl.toml, else
              n8n-builder

          --backend <BACKEND>
              Where workflows live: auto (an n8n server enabled in .mcp.json, else files), embedded
              (files), n8n-mcp, instance-mcp, rest

    Examples:
      agentctl build "Every day at 9:00 post the open Jira bugs to Slack #dev"
      agentctl qa workflows/
      agentctl resume

    With no key, no n8n and no network it works on the offline model and the embedded n8n backend.
    Exit codes: 0 complete, 1 findings or failed, 2 usage, 3 blocked, 4 waiting for an answer, 5
    refused, 6 model, 7 n8n or MCP, 8 budget, 9 draft (not all of the request is in it), 70 internal
    error, 129/130/131/143 ended by a signal (state saved).
    "#);
}
