//! stdout and stderr that are gone, full, or read by nobody: no panic, no run that waits for a reader, no lock that is held meanwhile.

use super::support::{Project, Ran};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};

const REQUEST: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales and append it to the Google Sheet Orders";
const BUILD: [&str; 3] = ["build", "--yes", REQUEST];

fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

/// A pipe that takes nothing more.
fn stuffed() -> (PipeReader, PipeWriter) {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    let (reader, mut writer) = pipe().unwrap();
    let set = |flags| fcntl(writer.as_fd(), FcntlArg::F_SETFL(flags)).unwrap();
    set(OFlag::O_NONBLOCK);
    while writer.write(&[b'.'; 4096]).is_ok() {}
    let set = |flags| fcntl(writer.as_fd(), FcntlArg::F_SETFL(flags)).unwrap();
    set(OFlag::empty());
    (reader, writer)
}

/// What reads a pipe and goes at once.
fn gone() -> PipeWriter {
    pipe().unwrap().1
}

fn ran(mut command: Command) -> Ran {
    command.output().unwrap().into()
}

fn is_whole(project: &Project) {
    let verified = project.run(&["runs", "verify"]);
    assert_eq!(verified.code, 0, "{}", verified.stdout);
    assert_eq!(project.workflows().len(), 1);
}

#[test]
fn a_stderr_that_is_gone_or_full_changes_nothing() {
    for stderr in [Stdio::from(gone()), Stdio::from(full())] {
        let project = Project::new();
        let mut command = project.command(&BUILD);
        let child = command.stdout(Stdio::piped()).stderr(stderr);
        let ended: Ran = child.spawn().unwrap().wait_with_output().unwrap().into();
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stdout.contains("checked: "), "{}", ended.stdout);
        is_whole(&project);
    }
    // What is wrong is still told by the code.
    let project = Project::new();
    for stderr in [Stdio::from(gone()), Stdio::from(full())] {
        let mut command = project.command(&["runs", "show", "none"]);
        assert_eq!(command.stderr(stderr).status().unwrap().code(), Some(2));
    }
}

/// `agentctl build … 2>&1 | head -1`
#[test]
fn who_reads_one_line_of_everything_ends_nothing() {
    let project = Project::new();
    let (reader, writer) = pipe().unwrap();
    let mut command = project.command(&BUILD);
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    let mut child = command.spawn().unwrap();
    // Its copies of the pipe's end.
    drop(command);
    let mut first = String::new();
    BufReader::new(reader).read_line(&mut first).unwrap();
    assert!(first.starts_with("model: "), "{first}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    is_whole(&project);
}

#[test]
fn a_full_stdout_is_told_with_its_reason_and_a_closed_one_is_not() {
    let project = Project::new();
    for args in [
        &["--help"][..],
        &["--version"],
        &["skills", "list"],
        &["completions", "bash"],
        &["--output-format", "stream-json", "build", "--yes", REQUEST],
    ] {
        let mut command = project.command(args);
        let child = command.stdout(full()).stderr(Stdio::piped());
        let ended: Ran = child.spawn().unwrap().wait_with_output().unwrap().into();
        assert_eq!(ended.code, 1, "{args:?}: {}", ended.stderr);
        let told = "cannot write to stdout: No space left on device";
        assert!(ended.stderr.contains(told), "{args:?}: {}", ended.stderr);
        let mut command = project.command(args);
        let child = command.stdout(gone()).stderr(Stdio::piped());
        let ended: Ran = child.spawn().unwrap().wait_with_output().unwrap().into();
        assert_eq!(ended.code, 0, "{args:?}: {}", ended.stderr);
        assert!(
            !ended.stderr.contains("error:"),
            "{args:?}: {}",
            ended.stderr
        );
    }
}

#[test]
fn a_stderr_that_nobody_reads_holds_neither_a_run_nor_its_end() {
    let project = Project::new();
    let (_reader, writer) = stuffed();
    let mut command = project.command(&BUILD);
    let child = command.stdout(Stdio::piped()).stderr(writer);
    let ended: Ran = child.spawn().unwrap().wait_with_output().unwrap().into();
    assert_eq!(ended.code, 0);
    assert!(ended.stdout.contains("checked: "), "{}", ended.stdout);
    is_whole(&project);
}

#[test]
fn a_stdout_that_nobody_reads_holds_no_run_and_loses_nothing() {
    let undisturbed = Project::new();
    let expected =
        ran(undisturbed.command(&["--output-format", "stream-json", "build", "--yes", REQUEST]));
    let project = Project::new();
    let (mut reader, writer) = stuffed();
    let args = ["--output-format", "stream-json", "build", "--yes", REQUEST];
    let mut command = project.command(&args);
    command.stdout(writer).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Its copy of the pipe's end.
    drop(command);
    let mut remarks = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(remarks.any(|line| line.unwrap().starts_with("run ")));
    // The run comes to its end and lets go of the project, although the program still waits for a reader.
    let other = "Every day at 9:00 post the open Jira bugs to Slack #dev";
    let is_busy = |ran: &Ran| ran.code == 1 && ran.stderr.contains("in use by process");
    let mut next = project.run(&["build", "--yes", other]);
    while is_busy(&next) {
        next = project.run(&["build", "--yes", other]);
    }
    assert_eq!(next.code, 0, "{}", next.stderr);
    assert!(child.try_wait().unwrap().is_none(), "it has not been read");
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    let lines = text.trim_start_matches('.').lines();
    let last: Value = serde_json::from_str(lines.clone().last().unwrap()).unwrap();
    assert_eq!(last["type"], "result");
    assert_eq!(lines.count(), expected.stdout.lines().count());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Bytes that a client sends; all answers are read, its stderr is not.
fn served(project: &Project, stderr: Stdio, calls: u64) -> (Child, Vec<Value>) {
    let mut command = project.command(&["mcp", "serve", "--role", "builder"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(stderr).spawn().unwrap();
    drop(command);
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut answers = Vec::new();
    let mut ask = |id: u64, method: &str, params: Value| {
        let asked = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{asked}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        answers.push(serde_json::from_str::<Value>(&line).unwrap());
    };
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "deaf", "version": "1"}});
    ask(0, "initialize", client);
    for id in 1..=calls {
        // Refused, which is told on stderr each time.
        ask(
            id,
            "tools/call",
            json!({"name": "write_learning", "arguments": {}}),
        );
    }
    // Between its calls it holds nothing.
    assert_eq!(project.run(&BUILD).code, 0);
    drop(input);
    (child, answers)
}

#[test]
fn a_client_that_does_not_read_stderr_is_served_and_holds_nobody_up() {
    let (_reader, unread) = stuffed();
    for (stderr, calls) in [
        (Stdio::from(unread), 12),
        (Stdio::from(gone()), 3),
        (Stdio::from(full()), 3),
    ] {
        let project = Project::new();
        let (mut child, answers) = served(&project, stderr, calls);
        for (id, answer) in answers.iter().enumerate() {
            assert_eq!(answer["id"], id, "{answer}");
            assert!(answer.get("result").is_some(), "{answer}");
        }
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}
