//! The store in a real Postgres, at the address in AGENTCTL_TEST_POSTGRES: `tests/postgres/run` starts one.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "helpers of tests, which clippy does not know for such"
)]

mod suite;

use agentctl_sessions::{
    NewMessage, PostgresSessions, Role, SessionError, Sessions, Take, Tellers,
};
use sqlx::{Connection as _, PgConnection};
use std::sync::Arc;
use suite::{key, said, turn};

fn address() -> String {
    std::env::var("AGENTCTL_TEST_POSTGRES")
        .expect("tests/postgres/run starts a Postgres and names it in AGENTCTL_TEST_POSTGRES")
}

/// A database of the test's own.
async fn database(name: &'static str) -> String {
    let mut connection = PgConnection::connect(&address()).await.unwrap();
    for statement in [
        format!("DROP DATABASE IF EXISTS {name}"),
        format!("CREATE DATABASE {name}"),
    ] {
        sqlx::query(sqlx::AssertSqlSafe(statement))
            .execute(&mut connection)
            .await
            .unwrap();
    }
    let mut url = url::Url::parse(&address()).unwrap();
    url.set_path(name);
    url.into()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_does_what_every_store_does() {
    let url = database("whole").await;
    suite::whole(Arc::new(PostgresSessions::open(&url).await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_that_open_it_first_at_once_make_the_tables_once() {
    let url = database("first").await;
    let mut opening = tokio::task::JoinSet::new();
    for n in 0..6 {
        let url = url.clone();
        opening.spawn(async move {
            let store = PostgresSessions::open(&url).await.unwrap();
            turn(&store, &key(&n.to_string()), "r1").await.unwrap();
        });
    }
    opening.join_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_counted_over_all_who_share_a_database() {
    let url = database("rates").await;
    let one = PostgresSessions::open(&url).await.unwrap();
    let two = Arc::new(PostgresSessions::open(&url).await.unwrap());
    for _ in 0..2 {
        assert_eq!(one.spend("desk", 4).await.unwrap(), Ok(()));
        assert_eq!(two.spend("desk", 4).await.unwrap(), Ok(()));
    }
    // A quarter of a minute for each.
    for store in [&one, &*two] {
        let seconds = store.spend("desk", 4).await.unwrap().unwrap_err();
        assert!((1..=15).contains(&seconds), "{seconds}");
    }
    assert_eq!(one.spend("other", 4).await.unwrap(), Ok(()));
    // What is asked for at once is counted one by one.
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let two = Arc::clone(&two);
        asked.spawn(async move { two.spend("crowd", 10).await.unwrap() });
    }
    let told = asked.join_all().await;
    assert_eq!(told.iter().filter(|told| told.is_ok()).count(), 10);
    // A minute later there is a minute's worth again.
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let later = "UPDATE agentctl_rates SET full_at = full_at - interval '1 minute'";
    sqlx::query(later).execute(&mut connection).await.unwrap();
    for _ in 0..4 {
        assert_eq!(one.spend("desk", 4).await.unwrap(), Ok(()));
    }
    assert!(two.spend("desk", 4).await.unwrap().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_is_told_by_one_of_those_who_share_a_database() {
    let url = database("tellers").await;
    let one = PostgresSessions::open(&url).await.unwrap();
    let two = PostgresSessions::open(&url).await.unwrap();
    assert!(one.take_push("p", "one", 60, Take::Free).await.unwrap());
    assert!(one.take_push("p", "one", 60, Take::Free).await.unwrap());
    assert!(!two.take_push("p", "two", 60, Take::Free).await.unwrap());
    assert_eq!(two.told_elsewhere("two").await.unwrap(), ["p"]);
    assert!(one.told_elsewhere("one").await.unwrap().is_empty());
    // Where what is told has changed it is taken from whoever has it, who finds that.
    assert!(two.take_push("p", "two", 60, Take::Over).await.unwrap());
    assert!(!one.take_push("p", "one", 60, Take::Free).await.unwrap());
    // Nobody leaves what another has.
    one.leave_push(Some("p"), "one").await.unwrap();
    one.leave_push(None, "one").await.unwrap();
    assert!(!one.take_push("p", "one", 60, Take::Free).await.unwrap());
    two.leave_push(None, "two").await.unwrap();
    assert!(one.take_push("p", "one", 60, Take::Free).await.unwrap());
    // Of one that died it is free when its time is over.
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let later = "UPDATE agentctl_tellers SET until = until - interval '61 seconds'";
    sqlx::query(later).execute(&mut connection).await.unwrap();
    assert!(two.told_elsewhere("two").await.unwrap().is_empty());
    assert!(two.take_push("p", "two", 60, Take::Free).await.unwrap());
    // Of many at once one has it.
    let mut asked = tokio::task::JoinSet::new();
    let one = Arc::new(one);
    for n in 0..20 {
        let one = Arc::clone(&one);
        asked.spawn(async move {
            let by = n.to_string();
            one.take_push("crowd", &by, 60, Take::Free).await.unwrap()
        });
    }
    let taken = asked.join_all().await;
    assert_eq!(taken.into_iter().filter(|taken| *taken).count(), 1);
}

#[tokio::test]
async fn a_newer_store_is_refused_by_its_number() {
    let url = database("newer").await;
    drop(PostgresSessions::open(&url).await.unwrap());
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let later = "INSERT INTO agentctl_migrations (version, description, success, checksum, execution_time) VALUES (99, 'later', true, ''::bytea, 0)";
    sqlx::query(later).execute(&mut connection).await.unwrap();
    let refused = PostgresSessions::open(&url).await.err().unwrap();
    assert!(
        matches!(refused, SessionError::Newer { version: 99, .. }),
        "{refused}"
    );
}

#[tokio::test]
async fn an_address_that_nobody_answers_at_is_named_without_its_password() {
    let refused = PostgresSessions::open("postgres://ann:hunter2@127.0.0.1:1/x")
        .await
        .err()
        .unwrap()
        .to_string();
    assert!(
        refused.contains("127.0.0.1:1/x") && !refused.contains("hunter2"),
        "{refused}"
    );
    let odd = PostgresSessions::open("postgres://ann:hunter2@[x")
        .await
        .err()
        .unwrap()
        .to_string();
    assert!(!odd.contains("hunter2"), "{odd}");
}

#[tokio::test]
async fn n8ns_chat_memory_comes_back_as_it_went() {
    let url = database("n8n").await;
    let store = PostgresSessions::open(&url).await.unwrap();
    for run in ["r1", "r2"] {
        turn(&store, &key("a"), run).await.unwrap();
    }
    let messages = store.messages(&key("a"), 99).await.unwrap();
    store
        .write_n8n_history("n8n_chat_histories", "u1", &messages)
        .await
        .unwrap();
    let again = store
        .write_n8n_history("n8n_chat_histories", "u1", &messages)
        .await
        .unwrap_err();
    assert!(again.to_string().contains("4 messages"), "{again}");
    let read = store
        .read_n8n_history("n8n_chat_histories", "u1", 1_000)
        .await
        .unwrap();
    let mut wanted: Vec<NewMessage> = messages.into_iter().map(|m| m.said).collect();
    wanted.iter_mut().for_each(|m| m.at = 1_000);
    assert_eq!(read.messages, wanted);
    assert_eq!(wanted[0], said(Role::User, "r1?"));
    let nobody = store
        .read_n8n_history("n8n_chat_histories", "u2", 1)
        .await
        .unwrap_err();
    assert!(nobody.to_string().contains("u2"), "{nobody}");
    assert!(store.read_n8n_history("missing", "u1", 1).await.is_err());
}
