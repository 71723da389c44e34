//! The record of what was accepted: when it moves, what two processes see of it, and what stops a change.

use super::*;
use crate::fixture::chain;
use crate::guards::{Outline, Start};
use agentctl_host::home::Home;
use agentctl_n8n::Workflow;
use agentctl_n8n::hash::graph_hash;
use std::fs;
use std::path::Path;

fn home(dir: &Path) -> Home {
    let text = dir.to_str().unwrap().to_owned();
    Home::find(
        |name| (name == "AGENTCTL_HOME").then(|| text.clone()),
        Path::new("/no/project"),
    )
    .unwrap()
}

fn shelf(dir: &Path) -> HomeShelf {
    HomeShelf::new(home(dir), "project /somewhere")
}

fn id(text: &str) -> WorkflowId {
    WorkflowId(text.to_owned())
}

fn outline(workflow: &Workflow) -> Outline {
    Outline::of(workflow, &|_| Start::Unknown)
}

/// Asks with the workflow as it is, on a day of January 2026.
fn ask<T>(workflow: &Workflow, day: u8, with: impl FnOnce(&State<'_>) -> T) -> T {
    let hash = graph_hash(workflow);
    with(&State {
        graph_hash: &hash,
        now: format!("2026-01-{day:02}T00:00:00Z").parse().unwrap(),
        outline: &|| outline(workflow),
    })
}

fn leave(
    shelf: &dyn Accepted,
    id: &WorkflowId,
    before: &str,
    after: &str,
    lossy: bool,
) -> Result<(), NotKept> {
    let step = Step {
        before,
        after,
        lossy,
    };
    shelf.leave(id, &step)
}

fn seen(base: &Base) -> (BaseHow, &str, usize) {
    (base.how, &base.since[..10], base.outline.total())
}

/// Both shelves keep the same.
fn each(test: impl Fn(&dyn Fn() -> Arc<dyn Accepted>)) {
    let memory: Arc<dyn Accepted> = Arc::new(MemoryShelf::default());
    test(&|| Arc::clone(&memory));
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("home");
    // Each a process of its own.
    test(&|| Arc::new(shelf(&at)));
}

#[test]
fn the_base_stays_while_agentctl_works_and_moves_when_somebody_else_does() {
    each(|open| {
        let (one, two) = (open(), open());
        let (id, full) = (id("orders"), chain("Orders", 8));
        let base = ask(&full, 1, |state| one.base(&id, state)).unwrap();
        assert_eq!(seen(&base), (BaseHow::FirstSeen, "2026-01-01", 8));
        // One takes half, the other sees it and the old base.
        let half = chain("Orders", 4);
        leave(&*one, &id, &graph_hash(&full), &graph_hash(&half), true).unwrap();
        for state in [&full, &half] {
            let base = ask(state, 2, |state| two.base(&id, state)).unwrap();
            assert_eq!(seen(&base), (BaseHow::FirstSeen, "2026-01-01", 8));
        }
        let less = graph_hash(&chain("Orders", 3));
        leave(&*two, &id, &graph_hash(&half), &less, false).unwrap();
        let base = ask(&chain("Orders", 3), 3, |state| one.base(&id, state)).unwrap();
        assert_eq!(seen(&base), (BaseHow::FirstSeen, "2026-01-01", 8));
        // What neither left is somebody's edit.
        let edited = chain("Orders", 6);
        let base = ask(&edited, 4, |state| one.base(&id, state)).unwrap();
        assert_eq!(seen(&base), (BaseHow::Edited, "2026-01-04", 6));
        let known = two.known(&id).unwrap().unwrap();
        assert_eq!(seen(&known), (BaseHow::Edited, "2026-01-04", 6));
        // A person's word.
        ask(&half, 5, |state| two.accept(&id, BaseHow::Accepted, state)).unwrap();
        let base = ask(&half, 6, |state| one.base(&id, state)).unwrap();
        assert_eq!(seen(&base), (BaseHow::Accepted, "2026-01-05", 4));
        one.forget(&id).unwrap();
        assert_eq!(two.known(&id).unwrap(), None);
    });
}

#[test]
fn workflows_and_places_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("home");
    let one = shelf(&at);
    let other = HomeShelf::new(home(&at), "n8n https://n8n.example.com/");
    ask(&chain("A", 8), 1, |state| one.base(&id("a"), state)).unwrap();
    assert_eq!(one.known(&id("b")).unwrap(), None);
    assert_eq!(other.known(&id("a")).unwrap(), None);
    // For its owner only, and none of the workflow's values in it.
    let secret = {
        let mut workflow = chain("B", 1);
        workflow.nodes[0].edit_parameters(|p| p.insert("x".into(), "hunter2-hunter2".into()));
        workflow
    };
    ask(&secret, 1, |state| one.base(&id("b"), state)).unwrap();
    let files: Vec<_> = fs::read_dir(at.join("accepted"))
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    assert_eq!(files.len(), 2);
    for file in files {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(
                fs::metadata(&file).unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
        assert!(!fs::read_to_string(&file).unwrap().contains("hunter2"));
    }
}

#[test]
fn what_cannot_be_read_or_written_is_an_error_and_never_a_new_beginning() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("home");
    let full = chain("A", 8);
    ask(&full, 1, |state| shelf(&at).base(&id("a"), state)).unwrap();
    let file = fs::read_dir(at.join("accepted"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let kept = fs::read(&file).unwrap();
    let other = String::from_utf8(kept.clone())
        .unwrap()
        .replace("\"workflow\":\"a\"", "\"workflow\":\"b\"");
    for broken in [
        b"{}".to_vec(),
        b"not json".to_vec(),
        Vec::new(),
        other.into_bytes(),
    ] {
        fs::write(&file, broken).unwrap();
        let read = ask(&full, 2, |state| shelf(&at).base(&id("a"), state));
        assert!(read.is_err(), "{read:?}");
    }
    fs::write(&file, kept).unwrap();
    let base = ask(&full, 2, |state| shelf(&at).base(&id("a"), state)).unwrap();
    assert_eq!(seen(&base), (BaseHow::FirstSeen, "2026-01-01", 8));
    // A folder where the notes should go.
    let open = shelf(&at);
    ask(&full, 2, |state| open.base(&id("a"), state)).unwrap();
    fs::create_dir(file.with_extension("left")).unwrap();
    assert!(leave(&open, &id("a"), "g", "h", true).is_err());
}

#[test]
fn many_notes_are_cut_to_the_last_and_to_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("home");
    let open = shelf(&at);
    let full = chain("A", 2);
    ask(&full, 1, |state| open.base(&id("a"), state)).unwrap();
    let half = chain("A", 1);
    let there = graph_hash(&half);
    leave(&open, &id("a"), &graph_hash(&full), &there, true).unwrap();
    for n in 0..4100 {
        leave(&open, &id("a"), &there, &format!("h{n}"), false).unwrap();
    }
    let fresh = shelf(&at);
    let known = |hash: &str| fresh.left(&id("a")).contains(hash);
    assert!(known("h4099") && known("h3700") && known(&there) && !known("h1"));
    // What is not among them may still be agentctl's own: it is no edit of somebody else's.
    for state in [&full, &half, &chain("A", 7)] {
        let base = ask(state, 2, |state| fresh.base(&id("a"), state)).unwrap();
        assert_eq!(seen(&base), (BaseHow::FirstSeen, "2026-01-01", 2));
    }
    // A person's word makes it whole again.
    ask(&half, 3, |state| {
        fresh.accept(&id("a"), BaseHow::Accepted, state)
    })
    .unwrap();
    let base = ask(&chain("A", 5), 4, |state| open.base(&id("a"), state)).unwrap();
    assert_eq!(seen(&base), (BaseHow::Edited, "2026-01-04", 5));
}

#[test]
fn a_note_that_broke_off_takes_none_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("home");
    let full = chain("A", 2);
    ask(&full, 1, |state| shelf(&at).base(&id("a"), state)).unwrap();
    leave(&shelf(&at), &id("a"), "g", "h", false).unwrap();
    let files = fs::read_dir(at.join("accepted")).unwrap();
    let mut files = files.map(|file| file.unwrap().path());
    let left = files.find(|file| file.extension().unwrap() == "left");
    let left = left.unwrap();
    let text = fs::read_to_string(&left).unwrap();
    fs::write(&left, format!("{text}abc")).unwrap();
    leave(&shelf(&at), &id("a"), "h", "i", false).unwrap();
    let left = shelf(&at).left(&id("a"));
    assert!(left.contains("h") && left.contains("i"), "{left:?}");
}
