//! What is shown on a terminal keeps to its width, from 60 to 200 columns. A word that is longer than the line stays whole, and so do the
//! lines of a document (`show --format svg`, `qa --explain`).

use super::support::Project;
use std::io::Read as _;
use std::process::Stdio;

/// All that a command writes to a terminal so wide.
fn shown(project: &Project, args: &[&str], columns: u16) -> String {
    let size = nix::pty::Winsize {
        ws_row: 40,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let pty = nix::pty::openpty(Some(&size), None).unwrap();
    let mut command = project.command(args);
    command
        .stdin(Stdio::null())
        .stdout(pty.slave.try_clone().unwrap())
        .stderr(pty.slave)
        .env("TERM", "xterm")
        .env("NO_COLOR", "1");
    let mut child = command.spawn().unwrap();
    // The child has the only ends of it now, so that reading ends with the child.
    drop(command);
    let (mut text, mut bytes) = (Vec::new(), [0; 4096]);
    let mut master = std::fs::File::from(pty.master);
    while let Ok(read @ 1..) = master.read(&mut bytes) {
        text.extend_from_slice(&bytes[..read]);
    }
    child.wait().unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let project = Project::new();
    let request = "When a webhook receives an order over 100 EUR, post it to Slack #sales and append it to the Google Sheet Orders";
    assert_eq!(project.run(&["build", "--yes", request]).code, 0);
    let commands: [&[&str]; 16] = [
        &["status"],
        &["log"],
        &["usage"],
        &["runs", "list"],
        &["runs", "show"],
        &["qa", "workflows"],
        &["show", "workflows"],
        &["diff"],
        &["analyze"],
        &["agents", "list"],
        &["packs", "list"],
        &["skills", "list"],
        &["models"],
        &["doctor"],
        &["catalog", "search", "slack"],
        &["explain", request],
    ];
    for args in commands {
        for columns in [60, 80, 200] {
            let text = shown(&project, args, columns);
            // A bar is written over itself.
            for line in text.split(['\n', '\r']) {
                let words = line
                    .split([' ', '│', '├', '└', '─'])
                    .filter(|word| !word.is_empty());
                let width = console::measure_text_width(line.trim_end());
                assert!(
                    width <= usize::from(columns) || words.count() == 1,
                    "{args:?} on {columns} columns: {width} in {line:?}"
                );
            }
        }
    }
}
