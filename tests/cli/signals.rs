//! Signals while a server works that hears nothing: it ignores the end of its input and every signal that can be ignored, and has
//! a child and a grandchild that do the same.

use super::support::Project;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

const SIGNALS: [(Signal, i32); 4] = [
    (Signal::SIGHUP, 129),
    (Signal::SIGINT, 130),
    (Signal::SIGQUIT, 131),
    (Signal::SIGTERM, 143),
];

/// All of its processes hold the pipe `there`; a line in it says that a call has come.
const DEAF: &str = r#"trap '' HUP INT QUIT TERM
exec 9>"$THERE"
sh -c 'sleep 600 & wait' &
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"deaf","version":"1"}}}\n' "$id";;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"find","description":"Finds.","inputSchema":{"type":"object"}}]}}\n' "$id";;
    *'"tools/call"'*) echo called >&9; sleep 600;;
    *'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id";;
  esac
done
[ "$ENDS" = 1 ] || sleep 600
"#;

/// A flow of one call.
const FLOW: &str = "\
name: one-call
stages: [work]
blocked: blocked
failures: errors
fields:
  errors: {kind: append, writers: [program]}
steps:
  - {id: find, stage: work, tool: mcp__docs__find, role: researcher, args: {}}
";

const POLICY: &str = "\
rules:
  - id: find
    effect: allow
    roles: [researcher]
    tools: [mcp__docs__find]
    when: 'true'
    reason: it is called here
    match: [{role: researcher, args: {}}]
    not_match: [{role: builder, args: {}}]
";

/// A project whose server is deaf, or ends with its input and leaves its children.
fn project(ends: bool) -> (Project, PathBuf) {
    let project = Project::new();
    let there = project.file("there");
    mkfifo(&there, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
    project.write("deaf.sh", DEAF);
    let env = json!({"THERE": there, "ENDS": if ends { "1" } else { "0" }});
    let server = json!({"command": "sh", "args": ["deaf.sh"], "env": env});
    let file = json!({"mcpServers": {"docs": server}});
    project.write(".mcp.json", &file.to_string());
    (project, there)
}

fn started(mut command: Command) -> Child {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::piped()).spawn().unwrap()
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

/// Ready when a call has come.
fn called(there: &PathBuf) -> BufReader<File> {
    let mut pipe = BufReader::new(File::open(there).unwrap());
    let mut line = String::new();
    pipe.read_line(&mut line).unwrap();
    assert_eq!(line, "called\n");
    pipe
}

/// Comes back when nobody holds the pipe any more.
fn nobody_is_left(mut pipe: impl Read) {
    pipe.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn one_signal_ends_a_call_by_hand_with_all_that_the_server_started() {
    for (signal, code) in SIGNALS {
        let (project, there) = project(false);
        let mut child = started(project.command(&["mcp", "call", "docs", "find"]));
        let pipe = called(&there);
        send(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        nobody_is_left(pipe);
    }
}

#[test]
fn a_second_signal_ends_a_run_amid_a_tool_call_with_all_that_the_server_started() {
    let (project, there) = project(false);
    project.write("agents/flow.yaml", FLOW);
    project.write("agents/policy.yaml", POLICY);
    let allowed = |args: &[&str]| project.command(&[&["--allow-loose-policy"], args].concat());
    let mut approving = started(allowed(&["mcp", "approve", "docs"]));
    nobody_is_left(File::open(&there).unwrap());
    assert_eq!(approving.wait().unwrap().code(), Some(0));
    for (signal, code) in SIGNALS {
        let mut child = started(allowed(&["build", "--yes", "Find it"]));
        let pipe = called(&there);
        let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
        send(&child, signal);
        let heard = "stopping after this step; again to stop at once";
        assert!(told.any(|line| line.unwrap() == heard));
        send(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        nobody_is_left(pipe);
        let verified = project.run(&["runs", "verify"]);
        assert_eq!(verified.code, 0, "{}", verified.stdout);
    }
}

#[test]
fn what_a_server_leaves_behind_ends_with_it() {
    for ends in [true, false] {
        let (project, there) = project(ends);
        let mut child = started(project.command(&["mcp", "tools", "docs"]));
        let pipe = File::open(&there).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        nobody_is_left(pipe);
    }
}

#[test]
fn who_was_told_to_go_on_without_a_terminal_does() {
    let (project, there) = project(false);
    let agentctl = project.command(&["mcp", "call", "docs", "find"]);
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]);
    command
        .arg(agentctl.get_program())
        .args(agentctl.get_args());
    command.current_dir(project.path());
    for (name, value) in agentctl.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut child = started(command);
    let pipe = called(&there);
    send(&child, Signal::SIGHUP);
    send(&child, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    nobody_is_left(pipe);
}

/// What asks would else read a terminal that is gone, at full speed and for ever.
#[test]
fn a_terminal_that_goes_away_while_a_question_waits_ends_the_program() {
    let project = Project::new();
    let command = project.command(&["build", "post our new stuff on social media automatically"]);
    let code = crate::support::left_by_its_terminal(command, "(in your own words)");
    assert_eq!(code, Some(129));
}
