//! A change was made, and what it left cannot be read back (EIO, no file handle left, a connection that is gone): the run stops, and
//! each time that it is taken up it looks again.

use crate::support::{Shop, block_on, built, good, request};
use agentctl_base::{model::ToolStatus, question::Outcome};
use agentctl_engine::run::{RunError, Undo, UndoneHow, undo};
use agentctl_engine::store::Event;
use agentctl_knowledge::{Knowledge, Skill};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n_tools::backend::BackendErrorKind;
use agentctl_n8n_tools::fixture::{Lie, MemoryBackend, gateway_on};
use std::sync::Arc;

fn shop() -> (Shop, Arc<MemoryBackend>) {
    let mut shop = Shop::new(good);
    let backend = Arc::new(MemoryBackend::new());
    let knowledge = Knowledge::new(shop.dir.path(), Vec::<Skill>::new());
    let policy = shop.pack.policy.clone();
    shop.gateway = gateway_on(policy, backend.clone(), knowledge, Catalog::embedded());
    (shop, backend)
}

/// The first reading of a workflow is that of the one that was just made.
fn unread(backend: &MemoryBackend) {
    backend.next("get", Lie::Fails(BackendErrorKind::Unavailable));
}

fn results(shop: &Shop) -> Vec<(ToolStatus, bool)> {
    let of_creation = |event: Event| match event {
        Event::ToolFinished { result, change, .. } if result.name == "create_workflow" => {
            Some((result.status, change.is_some()))
        }
        _ => None,
    };
    shop.journal().into_iter().filter_map(of_creation).collect()
}

#[test]
fn each_resume_looks_again_until_it_can_be_read() {
    let (mut whole, _) = shop();
    let report = whole.start(request("orders")).unwrap();

    let (mut shop, backend) = shop();
    unread(&backend);
    let stopped = shop.start(request("orders")).unwrap_err();
    assert!(matches!(stopped, RunError::Backend { .. }), "{stopped}");
    unread(&backend);
    assert!(matches!(shop.resume(None), Err(RunError::Backend { .. })));
    let again = shop.resume(None).unwrap();
    assert_eq!(again.outcome, Outcome::Complete);
    assert_eq!(built(&again).workflow, built(&report).workflow);
    assert_eq!(again.state, report.state);
    // It was made once, and told once.
    assert_eq!(backend.ids().len(), 1);
    let creations = backend.writes();
    let creations = creations.iter().filter(|w| w.starts_with("create"));
    assert_eq!(creations.count(), 1);
    let told = [(ToolStatus::Unknown, false), (ToolStatus::Ok, true)];
    assert_eq!(results(&shop), told);
}

#[test]
fn an_undo_looks_too_and_takes_it_back() {
    let (mut shop, backend) = shop();
    unread(&backend);
    shop.start(request("orders")).unwrap_err();
    assert_eq!(backend.ids().len(), 1);
    let done = block_on(undo(shop.context(None), Undo::Run(None), false)).unwrap();
    assert_eq!(done.resources[0].what, UndoneHow::Removed);
    assert!(backend.ids().is_empty());
}

#[test]
fn what_could_not_be_read_and_was_not_written_is_made_once() {
    let (mut shop, backend) = shop();
    // The write fails in silence, and what is there cannot be read.
    backend.next("create", Lie::ClaimsSuccess);
    unread(&backend);
    shop.start(request("orders")).unwrap_err();
    assert!(backend.ids().is_empty());
    assert_eq!(shop.resume(None).unwrap().outcome, Outcome::Complete);
    assert_eq!(backend.ids().len(), 1);
}
