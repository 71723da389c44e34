//! What every store has to do, told once.

use agentctl_sessions::{
    Answered, Asked, Claimed, Finish, Finished, NewMessage, Push, Role, RunsOf, Scope,
    SessionError, SessionKey, Sessions, Tenants,
};
use serde_json::{Map, json};
use std::sync::Arc;
use std::time::Duration;

pub fn key(conversation: &str) -> SessionKey {
    SessionKey {
        pack: "desk".into(),
        tenant: "local".into(),
        user: "ann".into(),
        conversation: conversation.into(),
    }
}

pub fn said(role: Role, text: &str) -> NewMessage {
    NewMessage {
        role,
        text: text.into(),
        data: None,
        attachment: None,
        at: 1_000,
    }
}

/// One whole turn: both sides say one message, and the count in the state is raised.
pub async fn turn(
    store: &dyn Sessions,
    key: &SessionKey,
    run: &str,
) -> Result<Finished, SessionError> {
    let _turn = store.turn(key, Duration::from_secs(60)).await?;
    let read = store.load(key).await?;
    let count = read
        .state
        .get("count")
        .and_then(|n| n.as_i64())
        .unwrap_or(0);
    let begun = store.begin(&read, run, 1_000).await?;
    let state = Map::from_iter([("count".to_owned(), json!(count + 1))]);
    let add = vec![
        said(Role::User, &format!("{run}?")),
        said(Role::Assistant, &format!("{run}!")),
    ];
    let finish = Finish {
        run: Some(run.into()),
        open_run: None,
        version: begun.version,
        state,
        clear: false,
        add,
        now: 2_000,
    };
    store.finish(key, &finish).await
}

pub async fn whole(store: Arc<dyn Sessions>) {
    a_request_is_claimed_once_and_its_answer_kept_for_a_day(&*store).await;
    a_turn_is_read_again_as_it_was_written(&*store).await;
    a_run_is_written_once(&*store).await;
    what_changed_meanwhile_is_not_overwritten(&*store).await;
    clearing_keeps_what_comes_with_it(&*store).await;
    no_part_of_the_key_is_optional(&*store).await;
    one_turn_at_a_time(&*store).await;
    a_ninth_waiter_is_refused(store.clone()).await;
    an_erased_session_is_gone(&*store).await;
    runs_are_listed_as_they_were_written(&*store).await;
    receivers_are_kept_until_they_are_told(&*store).await;
    turns_at_once_are_all_counted(store).await;
}

async fn runs_are_listed_as_they_were_written(store: &dyn Sessions) {
    let of = |tenant: &str, conversation: &str| SessionKey {
        pack: "listed".into(),
        tenant: tenant.into(),
        user: String::new(),
        conversation: conversation.into(),
    };
    let begun = [
        ("client:a", "x", "run-1", 10),
        ("client:a:acme", "x", "run-2", 20),
        ("client:ab", "x", "run-3", 30),
        ("client:a", "y", "run-4", 40),
    ];
    for (tenant, conversation, run, at) in begun {
        let read = store.load(&of(tenant, conversation)).await.unwrap();
        store.begin(&read, run, at).await.unwrap();
    }
    // What is written at its end is the last that was written.
    let finish = Finish {
        run: Some("run-1".to_owned()),
        open_run: None,
        version: 1,
        state: Map::new(),
        clear: false,
        add: Vec::new(),
        now: 50,
    };
    store.finish(&of("client:a", "x"), &finish).await.unwrap();
    let listed = async |tenants, conversation: Option<&str>, after| {
        let of = RunsOf {
            pack: "listed".to_owned(),
            tenants,
            conversation: conversation.map(str::to_owned),
            after,
        };
        let runs = store.runs(&of, 3).await.unwrap();
        let runs: Vec<(String, i64)> = runs.into_iter().map(|r| (r.run, r.at)).collect();
        runs
    };
    let row = |run: &str, at: i64| (run.to_owned(), at);
    let own = Tenants::Below("client:a".to_owned());
    assert_eq!(
        listed(own.clone(), None, None).await,
        [row("run-1", 50), row("run-4", 40), row("run-2", 20)]
    );
    assert_eq!(
        listed(own.clone(), None, Some((40, "run-4".to_owned()))).await,
        [row("run-2", 20)]
    );
    assert_eq!(listed(own, Some("y"), None).await, [row("run-4", 40)]);
    let one = Tenants::One("client:ab".to_owned());
    assert_eq!(listed(one, None, None).await, [row("run-3", 30)]);
    assert_eq!(listed(Tenants::All, None, None).await.len(), 3);
}

async fn a_turn_is_read_again_as_it_was_written(store: &dyn Sessions) {
    let key = key("read again");
    let before = store.load(&key).await.unwrap();
    assert_eq!((before.version, before.message_count()), (0, 0));
    turn(store, &key, "r1").await.unwrap();
    let after = store.load(&key).await.unwrap();
    assert_eq!(after.state["count"], 1);
    assert_eq!(after.last_run.as_deref(), Some("r1"));
    assert_eq!(
        (after.open_run, after.created, after.updated),
        (None, 1_000, 2_000)
    );
    let mut odd = said(
        Role::Assistant,
        "with ' and \" and \u{0} … 🙂".replace('\u{0}', "").as_str(),
    );
    odd.data = Some(json!({"rows": [1, 2.5, null]}));
    odd.attachment = Some("https://example.com/a?b=c".into());
    let finish = Finish {
        run: Some("r2".into()),
        open_run: None,
        version: after.version,
        state: after.state.clone(),
        clear: false,
        add: vec![odd.clone()],
        now: 3_000,
    };
    store.finish(&key, &finish).await.unwrap();
    let last = store.messages(&key, 1).await.unwrap();
    assert_eq!(last[0].said, odd);
    assert_eq!(last[0].foreign, None);
    let all = store.messages(&key, 100).await.unwrap();
    assert_eq!(all.iter().map(|m| m.seq).collect::<Vec<_>>(), [1, 2, 3]);
}

async fn a_run_is_written_once(store: &dyn Sessions) {
    let key = key("once");
    let read = store.load(&key).await.unwrap();
    let begun = store.begin(&read, "r1", 1).await.unwrap();
    assert_eq!(
        store.load(&key).await.unwrap().open_run.as_deref(),
        Some("r1")
    );
    let finish = Finish {
        run: Some("r1".into()),
        open_run: None,
        version: begun.version,
        state: Map::new(),
        clear: false,
        add: vec![said(Role::User, "a")],
        now: 2,
    };
    let first = store.finish(&key, &finish).await.unwrap();
    assert!(matches!(first, Finished::Now(_)));
    let second = store.finish(&key, &finish).await.unwrap();
    assert!(matches!(second, Finished::Before(_)));
    assert_eq!(store.messages(&key, 9).await.unwrap().len(), 1);
}

async fn what_changed_meanwhile_is_not_overwritten(store: &dyn Sessions) {
    let key = key("changed");
    let read = store.load(&key).await.unwrap();
    turn(store, &key, "r1").await.unwrap();
    let late = store.begin(&read, "r2", 1).await.unwrap_err();
    assert!(
        matches!(late, SessionError::Changed { expected: 0, .. }),
        "{late}"
    );
    let finish = Finish {
        run: Some("r2".into()),
        open_run: None,
        version: 1,
        state: Map::new(),
        clear: true,
        add: vec![],
        now: 2,
    };
    let late = store.finish(&key, &finish).await.unwrap_err();
    assert!(matches!(late, SessionError::Changed { .. }), "{late}");
    assert_eq!(store.messages(&key, 9).await.unwrap().len(), 2);
}

async fn clearing_keeps_what_comes_with_it(store: &dyn Sessions) {
    let key = key("cleared");
    turn(store, &key, "r1").await.unwrap();
    let read = store.load(&key).await.unwrap();
    let finish = Finish {
        run: Some("r2".into()),
        open_run: None,
        version: read.version,
        state: Map::new(),
        clear: true,
        add: vec![
            said(Role::User, "clear context"),
            said(Role::Assistant, "done"),
        ],
        now: 2,
    };
    store.finish(&key, &finish).await.unwrap();
    let stand = store.messages(&key, 9).await.unwrap();
    assert_eq!(stand.iter().map(|m| m.seq).collect::<Vec<_>>(), [3, 4]);
    turn(store, &key, "r3").await.unwrap();
    assert_eq!(store.messages(&key, 9).await.unwrap().len(), 4);
}

async fn no_part_of_the_key_is_optional(store: &dyn Sessions) {
    let mine = key("mine");
    turn(store, &mine, "r1").await.unwrap();
    let other = |change: fn(&mut SessionKey)| {
        let mut other = mine.clone();
        change(&mut other);
        other
    };
    for other in [
        other(|k| k.pack = "other".into()),
        other(|k| k.tenant = "other".into()),
        other(|k| k.user = "other".into()),
        other(|k| k.conversation = "other".into()),
        // The same letters in other places.
        other(|k| {
            k.tenant = "loc".into();
            k.user = "alann".into();
        }),
    ] {
        assert_eq!(store.load(&other).await.unwrap().version, 0, "{other:?}");
        assert!(store.messages(&other, 9).await.unwrap().is_empty());
        let gone = store.erase(&other).await.unwrap_err();
        assert!(matches!(gone, SessionError::Unknown { .. }), "{gone}");
    }
    let of = |user: &str| Scope::Of {
        tenant: "local".into(),
        user: user.into(),
    };
    assert!(store.list(&of("bob"), 99).await.unwrap().is_empty());
    let ann = store.list(&of("ann"), 99).await.unwrap();
    assert!(ann.iter().any(|s| s.key == mine && s.messages == 2));
    assert_eq!(store.list(&Scope::Operator, 1).await.unwrap().len(), 1);
}

async fn one_turn_at_a_time(store: &dyn Sessions) {
    let key = key("turns");
    let held = store.turn(&key, Duration::ZERO).await.unwrap();
    let busy = store
        .turn(&key, Duration::from_millis(30))
        .await
        .unwrap_err();
    assert!(matches!(busy, SessionError::Busy { .. }), "{busy}");
    let other = store.turn(&self::key("others"), Duration::ZERO).await;
    assert!(other.is_ok());
    drop(held);
    store.turn(&key, Duration::from_secs(60)).await.unwrap();
}

async fn a_ninth_waiter_is_refused(store: Arc<dyn Sessions>) {
    let key = key("queue");
    let held = store.turn(&key, Duration::ZERO).await.unwrap();
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..agentctl_sessions::MOST_WAITING + 3 {
        let (store, key) = (store.clone(), key.clone());
        waiting.spawn(async move { store.turn(&key, Duration::from_secs(60)).await.map(drop) });
    }
    for _ in 0..3 {
        let refused = waiting.join_next().await.unwrap().unwrap().unwrap_err();
        assert!(matches!(refused, SessionError::Queue), "{refused}");
    }
    drop(held);
    for _ in 0..agentctl_sessions::MOST_WAITING {
        waiting.join_next().await.unwrap().unwrap().unwrap();
    }
}

async fn an_erased_session_is_gone(store: &dyn Sessions) {
    let key = key("erased");
    turn(store, &key, "r1").await.unwrap();
    turn(store, &key, "r2").await.unwrap();
    let erased = store.erase(&key).await.unwrap();
    assert_eq!(erased.messages, 4);
    assert_eq!(erased.runs, ["r1", "r2"]);
    assert_eq!(store.load(&key).await.unwrap().version, 0);
    assert!(store.messages(&key, 9).await.unwrap().is_empty());
}

async fn turns_at_once_are_all_counted(store: Arc<dyn Sessions>) {
    let mut all = tokio::task::JoinSet::new();
    for session in 0..6 {
        for n in 0..5 {
            let store = store.clone();
            all.spawn(async move {
                let key = key(&format!("at once {session}"));
                turn(&*store, &key, &format!("run-{session}-{n}")).await
            });
        }
    }
    while let Some(done) = all.join_next().await {
        assert!(matches!(done.unwrap().unwrap(), Finished::Now(_)));
    }
    for session in 0..6 {
        let key = key(&format!("at once {session}"));
        assert_eq!(store.load(&key).await.unwrap().state["count"], 5);
        let messages = store.messages(&key, 99).await.unwrap();
        assert_eq!(messages.len(), 10);
        let mine = format!("run-{session}-");
        assert!(messages.iter().all(|m| m.said.text.starts_with(&mine)));
        for (asked, answered) in messages
            .iter()
            .step_by(2)
            .zip(messages.iter().skip(1).step_by(2))
        {
            assert_eq!(asked.run, answered.run);
        }
    }
}

async fn a_request_is_claimed_once_and_its_answer_kept_for_a_day(store: &dyn Sessions) {
    let claim = async |body: &str, now| store.claim("request", body, now).await.unwrap();
    assert_eq!(claim("a", 1_000).await, Claimed::New);
    assert_eq!(claim("b", 1_001).await, Claimed::Other);
    assert_eq!(claim("a", 1_002).await, Claimed::Begun(None));
    let key = key("claimed");
    let read = store.load(&key).await.unwrap();
    let begun = store
        .begin_for(&read, "run-c", Some("request"), 1_003)
        .await;
    assert_eq!(begun.unwrap().version, 1);
    let begun = Claimed::Begun(Some("run-c".to_owned()));
    assert_eq!(claim("a", 1_004).await, begun);
    let asked = Asked {
        body: "a".to_owned(),
        run: Some("run-c".to_owned()),
        answered: None,
    };
    assert_eq!(store.asked("request").await.unwrap(), Some(asked));
    assert_eq!(store.asked("another").await.unwrap(), None);
    assert_eq!(store.of_run("run-c").await.unwrap(), Some(key.clone()));
    assert_eq!(store.of_id(&key.id()).await.unwrap(), Some(key.clone()));
    assert_eq!(store.of_run("run-x").await.unwrap(), None);
    let answered = Answered {
        status: 200,
        content_type: "application/json".to_owned(),
        body: "{}".to_owned(),
        run: Some("run-c".to_owned()),
        session: Some(key.id()),
    };
    store.answered("request", &answered).await.unwrap();
    assert_eq!(claim("a", 1_005).await, Claimed::Answered(answered));
    assert_eq!(claim("b", 1_006).await, Claimed::Other);
    let day = 24 * 60 * 60 * 1000;
    assert_eq!(claim("a", 1_001 + day).await, Claimed::New);
    store.unclaim("request").await.unwrap();
    assert_eq!(claim("b", 1_002 + day).await, Claimed::New);
    // Erased with the conversation: its answer holds what was said.
    let read = store.load(&key).await.unwrap();
    store
        .begin_for(&read, "run-d", Some("request"), 2_000)
        .await
        .unwrap();
    store.erase(&key).await.unwrap();
    assert_eq!(claim("c", 1_003 + day).await, Claimed::New);
    store.unclaim("request").await.unwrap();
}

async fn receivers_are_kept_until_they_are_told(store: &dyn Sessions) {
    let push = |id: &str, at: i64| Push {
        id: id.to_owned(),
        run: None,
        request: Some(format!("request of {id}")),
        name: "mine".to_owned(),
        target: "sealed".to_owned(),
        told: 0,
        tries: 0,
        ended: false,
        at,
    };
    let open = async || {
        let open = store.open_pushes(9).await.unwrap().into_iter();
        open.map(|push| push.id).collect::<Vec<_>>()
    };
    let before = open().await;
    assert_eq!(before, Vec::<String>::new());
    store.put_push(&push("a", 10)).await.unwrap();
    store.put_push(&push("b", 20)).await.unwrap();
    // Nothing was begun yet that could be told.
    assert_eq!(open().await, before);
    let key = key("told");
    let read = store.load(&key).await.unwrap();
    let request = Some("request of a");
    store.begin_for(&read, "run-a", request, 30).await.unwrap();
    let attached = store.attach_pushes("request of b", "run-b").await.unwrap();
    assert_eq!(attached.len(), 1);
    assert_eq!(open().await, ["a", "b"]);
    let mut of = store.pushes_of("run-a").await.unwrap();
    let mut a = of.remove(0);
    assert_eq!(a.run.as_deref(), Some("run-a"));
    a.told = 7;
    a.tries = 2;
    assert!(store.told_push(&a).await.unwrap());
    assert_eq!(store.pushes_of("run-a").await.unwrap(), [a.clone()]);
    a.ended = true;
    assert!(store.told_push(&a).await.unwrap());
    assert_eq!(open().await, ["b"]);
    store.forget_push("b").await.unwrap();
    assert!(!store.told_push(&push("b", 40)).await.unwrap());
    // What has ended is forgotten after a day, and with its conversation at once.
    store.put_push(&push("c", 50)).await.unwrap();
    assert_eq!(store.pushes_of("run-a").await.unwrap().len(), 1);
    store.erase(&key).await.unwrap();
    assert_eq!(store.pushes_of("run-a").await.unwrap(), []);
    let day = agentctl_sessions::KEPT_FOR;
    store.put_push(&push("d", 60 + day)).await.unwrap();
    let late = store.attach_pushes("request of c", "run-c").await.unwrap();
    assert_eq!(late, []);
    store.forget_push("d").await.unwrap();
}
