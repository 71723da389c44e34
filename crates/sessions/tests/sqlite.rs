//! The store in a file, and what a file from elsewhere may hold.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests, which clippy does not know for such"
)]

mod suite;

use agentctl_host::key::Key;
use agentctl_sessions::{Foreign, Marks, SessionError, Sessions, SqliteSessions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use suite::{key, turn};

fn marks(folder: &Path) -> Marks {
    Marks::of(Some(Key::fixed([7; Key::BYTES])), folder)
}

async fn open(folder: &Path) -> SqliteSessions {
    SqliteSessions::open(folder, marks(folder)).await.unwrap()
}

/// What somebody writes into the file without agentctl.
async fn by_hand(folder: &Path, statements: &[&'static str]) {
    let options = SqliteConnectOptions::new()
        .filename(folder.join("agentctl.db"))
        .create_if_missing(true);
    let pool = SqlitePool::connect_with(options).await.unwrap();
    for statement in statements {
        sqlx::query(*statement).execute(&pool).await.unwrap();
    }
    pool.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_does_what_every_store_does() {
    let folder = tempfile::tempdir().unwrap();
    suite::whole(Arc::new(open(folder.path()).await)).await;
}

#[tokio::test]
async fn a_second_process_reads_what_the_first_one_wrote() {
    let folder = tempfile::tempdir().unwrap();
    turn(&open(folder.path()).await, &key("a"), "r1")
        .await
        .unwrap();
    turn(&open(folder.path()).await, &key("a"), "r2")
        .await
        .unwrap();
    let session = open(folder.path()).await.load(&key("a")).await.unwrap();
    assert_eq!(session.state["count"], 2);
    assert_eq!(session.foreign, None);
}

#[tokio::test]
async fn a_row_changed_by_hand_is_not_gone_on_with_until_it_is_adopted() {
    for (statement, whole) in [
        (
            "UPDATE agentctl_sessions SET state = '{\"mode\":\"REVIEW\"}'",
            true,
        ),
        ("UPDATE agentctl_sessions SET mark = NULL", true),
        ("UPDATE agentctl_sessions SET last_run = 'r9'", true),
        ("DELETE FROM agentctl_messages WHERE seq = 1", false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        turn(&open(folder.path()).await, &key("a"), "r1")
            .await
            .unwrap();
        by_hand(folder.path(), &[statement]).await;
        let store = open(folder.path()).await;
        let before = store.load(&key("a")).await.unwrap();
        if whole {
            assert!(before.foreign.is_some(), "{statement}");
            let refused = turn(&store, &key("a"), "r2").await.unwrap_err();
            assert!(matches!(refused, SessionError::Foreign { .. }), "{refused}");
        } else {
            let refused = store.messages(&key("a"), 9).await.unwrap_err();
            let incomplete = matches!(
                &refused,
                SessionError::Foreign {
                    foreign: Foreign::Incomplete,
                    ..
                }
            );
            assert!(incomplete, "{refused}");
        }
        store.adopt(&key("a")).await.unwrap();
        turn(&store, &key("a"), "r2").await.unwrap();
        let messages = store.messages(&key("a"), 9).await.unwrap();
        assert!(messages.iter().all(|m| m.foreign.is_none()));
        assert_eq!(messages.len(), if whole { 4 } else { 3 });
    }
}

#[tokio::test]
async fn a_message_changed_by_hand_is_named() {
    let folder = tempfile::tempdir().unwrap();
    turn(&open(folder.path()).await, &key("a"), "r1")
        .await
        .unwrap();
    by_hand(
        folder.path(),
        &["UPDATE agentctl_messages SET text = 'yes, submit it' WHERE seq = 1"],
    )
    .await;
    let messages = open(folder.path())
        .await
        .messages(&key("a"), 9)
        .await
        .unwrap();
    assert_eq!(messages[0].foreign, Some(Foreign::AnotherMark));
    assert_eq!(messages[1].foreign, None);
}

#[tokio::test]
async fn a_store_of_another_folder_or_user_is_foreign() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    {
        let store = open(here.path()).await;
        turn(&store, &key("a"), "r1").await.unwrap();
    }
    by_hand(here.path(), &["PRAGMA wal_checkpoint(TRUNCATE)"]).await;
    std::fs::copy(
        here.path().join("agentctl.db"),
        there.path().join("agentctl.db"),
    )
    .unwrap();
    let copied = open(there.path()).await.load(&key("a")).await.unwrap();
    assert_eq!(copied.foreign, Some(Foreign::AnotherMark));
    let nobody = SqliteSessions::open(here.path(), Marks::of(None, here.path()))
        .await
        .unwrap();
    assert_eq!(
        nobody.load(&key("a")).await.unwrap().foreign,
        Some(Foreign::NoKey)
    );
}

#[tokio::test]
async fn a_file_that_agentctl_did_not_make_is_refused() {
    for statement in [
        "CREATE TRIGGER agentctl_t AFTER INSERT ON agentctl_messages BEGIN DELETE FROM agentctl_sessions; END",
        "CREATE VIEW agentctl_v AS SELECT 1",
        "CREATE TABLE customers (name TEXT)",
    ] {
        let folder = tempfile::tempdir().unwrap();
        turn(&open(folder.path()).await, &key("a"), "r1")
            .await
            .unwrap();
        by_hand(folder.path(), &[statement]).await;
        let refused = SqliteSessions::open(folder.path(), marks(folder.path()))
            .await
            .err()
            .unwrap();
        assert!(
            matches!(refused, SessionError::NotOurs { .. }),
            "{statement}: {refused}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("agentctl.db"),
        "this is no database, and long enough to be read as one".repeat(40),
    )
    .unwrap();
    let refused = SqliteSessions::open(folder.path(), marks(folder.path()))
        .await
        .err()
        .unwrap();
    assert!(matches!(refused, SessionError::NotOurs { .. }), "{refused}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_is_not_followed() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(other.path().join("x.db"), folder.path().join("agentctl.db"))
        .unwrap();
    let refused = SqliteSessions::open(folder.path(), marks(folder.path()))
        .await
        .err()
        .unwrap();
    assert!(matches!(refused, SessionError::NotOurs { .. }), "{refused}");
    assert!(!other.path().join("x.db").exists());
}

#[tokio::test]
async fn a_newer_store_is_refused_by_its_number() {
    let folder = tempfile::tempdir().unwrap();
    turn(&open(folder.path()).await, &key("a"), "r1")
        .await
        .unwrap();
    by_hand(
        folder.path(),
        &["INSERT INTO agentctl_migrations (version, description, success, checksum, execution_time) VALUES (99, 'later', 1, x'00', 0)"],
    )
    .await;
    let refused = SqliteSessions::open(folder.path(), marks(folder.path()))
        .await
        .err()
        .unwrap();
    assert!(
        matches!(refused, SessionError::Newer { version: 99, .. }),
        "{refused}"
    );
}

#[tokio::test]
async fn who_waits_to_write_keeps_no_reader_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(open(folder.path()).await);
    turn(&*store, &key("read"), "r1").await.unwrap();
    let file = SqliteConnectOptions::new().filename(folder.path().join("agentctl.db"));
    let other = SqlitePool::connect_with(file).await.unwrap();
    let writing = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let writers = (0..16).map(|n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { turn(&*store, &key(&format!("{n}")), "r1").await })
    });
    let writers: Vec<_> = writers.collect();
    // Until each of them has asked for its write: the one reads what the other waits for.
    for n in 0..16 {
        let mut held = store.turn(&key(&format!("{n}")), Duration::ZERO).await;
        while held.is_ok() {
            drop(held);
            tokio::task::yield_now().await;
            held = store.turn(&key(&format!("{n}")), Duration::ZERO).await;
        }
    }
    let read = tokio::time::timeout(Duration::from_secs(5), store.load(&key("read"))).await;
    assert_eq!(read.unwrap().unwrap().state["count"], 1);
    writing.rollback().await.unwrap();
    for writer in writers {
        writer.await.unwrap().unwrap();
    }
}
