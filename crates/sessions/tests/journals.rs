//! Journals in a real Postgres, at the address in AGENTCTL_TEST_POSTGRES: `tests/postgres/run` starts one.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests, which clippy does not know for such"
)]

use agentctl_engine::store::event::JOURNAL_VERSION;
use agentctl_engine::store::{Entry, Event, Last, Lease, Ledger, LedgerError, Project};
use agentctl_host::key::Key;
use agentctl_sessions::{PostgresJournals, PostgresSessions, Schema, SessionError};
use sqlx::{Connection as _, PgConnection};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

fn address() -> String {
    std::env::var("AGENTCTL_TEST_POSTGRES")
        .expect("tests/postgres/run starts a Postgres and names it in AGENTCTL_TEST_POSTGRES")
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(work)
}

fn execute(url: &str, statements: &[String]) {
    run(async {
        let mut connection = PgConnection::connect(url).await.unwrap();
        for statement in statements {
            let query = sqlx::query(sqlx::AssertSqlSafe(statement.clone()));
            query.execute(&mut connection).await.unwrap();
        }
    });
}

/// A database of the test's own.
fn database(name: &str) -> String {
    let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
    execute(&address(), &[drop, format!("CREATE DATABASE {name}")]);
    let mut url = url::Url::parse(&address()).unwrap();
    url.set_path(name);
    url.into()
}

fn open(url: &str, seconds: u64) -> PostgresJournals {
    PostgresJournals::open(url, Duration::from_secs(seconds), Schema::Refused).unwrap()
}

fn entries(from: u64, count: u64, prev: &str) -> Vec<Entry> {
    let hash = |seq: u64| format!("h{seq}");
    (from..from + count)
        .map(|seq| Entry {
            seq,
            prev: if seq == from {
                prev.to_owned()
            } else {
                hash(seq - 1)
            },
            hash: hash(seq),
            line: format!("{{\"seq\":{seq}}}"),
        })
        .collect()
}

fn genesis() -> String {
    "0".repeat(64)
}

fn begun(ledger: &dyn Ledger, run: &str) -> Lease {
    let lease = ledger.take(run, true).unwrap();
    ledger.append(&lease, &entries(1, 3, &genesis())).unwrap();
    lease
}

#[test]
fn a_run_is_written_by_who_holds_it_and_only_behind_its_last_line() {
    let url = database("held");
    let (one, two) = (open(&url, 15), open(&url, 15));
    assert_eq!(one.id(), two.id());
    let lease = begun(&one, "r");
    assert!(matches!(
        two.take("r", false),
        Err(LedgerError::Held { .. })
    ));
    assert!(matches!(
        two.take("r", true),
        Err(LedgerError::Exists { .. })
    ));
    assert!(matches!(
        two.holder("r"),
        Ok(Some(LedgerError::Held { .. }))
    ));
    assert!(matches!(
        two.take("none", false),
        Err(LedgerError::OnlyHere { .. })
    ));
    let wrong = [
        entries(3, 1, "h2"),
        entries(5, 1, "h4"),
        entries(4, 1, "other"),
    ];
    for entries in wrong {
        assert!(matches!(
            one.append(&lease, &entries),
            Err(LedgerError::Lost { .. })
        ));
    }
    one.append(&lease, &entries(4, 1, "h3")).unwrap();
    one.leave(&lease);
    assert!(two.holder("r").unwrap().is_none());
    let next = two.take("r", false).unwrap();
    assert!(next.fence > lease.fence);
    // The one before is worth nothing any more, also where the line would fit.
    for _ in 0..2 {
        let late = one.append(&lease, &entries(5, 1, "h4"));
        assert!(matches!(late, Err(LedgerError::Lost { .. })));
    }
    assert_eq!(two.fetch("r", 3).unwrap().lines, ["{\"seq\":4}"]);
    let last = Last {
        seq: 4,
        hash: "h4".to_owned(),
    };
    assert_eq!(two.runs().unwrap(), [("r".to_owned(), last)]);
}

#[test]
fn what_a_dead_replica_held_is_free_when_its_lease_ran_out_and_not_before() {
    let url = database("dead");
    let (one, two) = (open(&url, 2), open(&url, 2));
    let lease = begun(&one, "r");
    // Renewed for as long as it lives.
    thread::sleep(Duration::from_secs(5));
    assert!(two.take("r", false).is_err());
    assert!(two.abandoned().unwrap().is_empty());
    // It ends without a word.
    drop(one);
    let died = Instant::now();
    assert!(two.take("r", false).is_err());
    let taken = loop {
        match two.take("r", false) {
            Ok(taken) => break taken,
            Err(LedgerError::Held { .. }) => thread::sleep(Duration::from_millis(50)),
            Err(other) => unreachable!("{other}"),
        }
        if died.elapsed() > Duration::from_millis(2500) {
            assert_eq!(two.abandoned().unwrap(), ["r"]);
        }
    };
    assert!(
        died.elapsed() < Duration::from_secs(4),
        "{:?}",
        died.elapsed()
    );
    let late = two.append(&lease, &entries(4, 1, "h3"));
    assert!(matches!(late, Err(LedgerError::Lost { .. })));
    two.append(&taken, &entries(4, 1, "h3")).unwrap();
}

#[test]
fn of_many_who_want_a_run_at_once_one_gets_it_and_of_many_lines_with_one_number_one_is_kept() {
    let url = database("race");
    let ledger = Arc::new(open(&url, 15));
    for round in 0..10 {
        let name = format!("r{round}");
        let lease = begun(&*ledger, &name);
        ledger.leave(&lease);
        let start = Arc::new(Barrier::new(6));
        let takers: Vec<_> = (0..6)
            .map(|_| {
                let (ledger, start, name) = (Arc::clone(&ledger), Arc::clone(&start), name.clone());
                thread::spawn(move || {
                    start.wait();
                    ledger.take(&name, false).ok()
                })
            })
            .collect();
        let got: Vec<Lease> = takers
            .into_iter()
            .filter_map(|t| t.join().unwrap())
            .collect();
        assert_eq!(got.len(), 1);
        let writers: Vec<_> = (0..6)
            .map(|_| {
                let (ledger, lease) = (Arc::clone(&ledger), got[0].clone());
                thread::spawn(move || ledger.append(&lease, &entries(4, 1, "h3")).is_ok())
            })
            .collect();
        let kept = writers
            .into_iter()
            .filter_map(|w| w.join().unwrap().then_some(()))
            .count();
        assert_eq!(kept, 1);
        assert_eq!(ledger.fetch(&name, 0).unwrap().lines.len(), 4);
    }
}

#[test]
fn a_long_run_comes_in_parts_what_is_kept_comes_whole_and_what_is_removed_is_gone() {
    let url = database("long");
    let ledger = open(&url, 15);
    let lease = ledger.take("r", true).unwrap();
    ledger
        .append(&lease, &entries(1, 2500, &genesis()))
        .unwrap();
    let mut after = 0;
    let mut parts = Vec::new();
    loop {
        let fetched = ledger.fetch("r", after).unwrap();
        after += fetched.lines.len() as u64;
        parts.push(fetched.lines.len());
        if !fetched.more {
            break;
        }
    }
    assert_eq!(parts, [1000, 1000, 500]);
    let bytes: Vec<u8> = (0..=255).collect();
    ledger.keep("r", "snapshots/a", &bytes).unwrap();
    ledger.keep("r", "snapshots/a", b"other").unwrap();
    assert_eq!(ledger.kept("r", "snapshots/a").unwrap(), Some(bytes));
    assert_eq!(ledger.kept("r", "b").unwrap(), None);
    assert_eq!(ledger.names("r").unwrap(), ["snapshots/a"]);
    assert!(matches!(ledger.remove("r"), Err(LedgerError::Held { .. })));
    ledger.leave(&lease);
    assert!(ledger.remove("r").unwrap());
    assert!(!ledger.remove("r").unwrap());
    assert!(!ledger.remove("never").unwrap());
    assert!(matches!(
        ledger.fetch("r", 0),
        Err(LedgerError::Gone { .. })
    ));
    assert!(matches!(
        ledger.take("r", true),
        Err(LedgerError::Gone { .. })
    ));
    assert_eq!(ledger.removed().unwrap(), ["r"]);
    assert!(ledger.names("r").unwrap().is_empty() && ledger.runs().unwrap().is_empty());
}

#[test]
fn who_holds_a_run_hears_that_it_is_to_end_and_who_takes_it_later_does_not() {
    let url = database("stop");
    let (one, two) = (open(&url, 1), open(&url, 15));
    assert!(!two.stop("r").unwrap());
    let lease = begun(&one, "r");
    begun(&one, "other");
    assert!(one.stops().unwrap().is_empty());
    assert!(two.stop("r").unwrap());
    assert_eq!(one.stops().unwrap(), ["r"]);
    assert!(two.stops().unwrap().is_empty());
    one.leave(&lease);
    assert!(one.stops().unwrap().is_empty());
    assert!(!two.stop("r").unwrap());
    two.take("r", false).unwrap();
    assert!(two.stops().unwrap().is_empty());
}

#[test]
fn tables_of_an_older_agentctl_are_refused_until_somebody_says_that_they_change() {
    let url = database("older");
    drop(run(PostgresSessions::open(&url)).unwrap());
    drop(open(&url, 15));
    let back = [
        "DROP TABLE agentctl_pushes",
        "DELETE FROM agentctl_migrations WHERE version = 3",
    ];
    execute(&url, &back.map(str::to_owned));
    let refused = run(PostgresSessions::open(&url)).err().unwrap();
    assert!(
        matches!(
            refused,
            SessionError::Older {
                has: 2,
                wants: 3,
                ..
            }
        ),
        "{refused}"
    );
    assert!(refused.to_string().contains("serve --migrate"), "{refused}");
    drop(run(PostgresSessions::open_as(&url, Schema::Migrated)).unwrap());
    drop(run(PostgresSessions::open(&url)).unwrap());
    let back = [
        "ALTER TABLE agentctl_journals DROP COLUMN stop",
        "DELETE FROM agentctl_journal_migrations WHERE version = 2",
    ];
    execute(&url, &back.map(str::to_owned));
    let lease = Duration::from_secs(1);
    let refused = PostgresJournals::open(&url, lease, Schema::Refused).err();
    assert!(
        matches!(refused, Some(SessionError::Older { .. })),
        "{refused:?}"
    );
    drop(PostgresJournals::open(&url, lease, Schema::Migrated).unwrap());
    drop(open(&url, 15));
    let later = "INSERT INTO agentctl_journal_migrations (version, description, success, checksum, execution_time) VALUES (99, 'later', true, ''::bytea, 0)";
    execute(&url, &[later.to_owned()]);
    for schema in [Schema::Refused, Schema::Migrated] {
        let newer = PostgresJournals::open(&url, Duration::from_secs(1), schema)
            .err()
            .unwrap();
        assert!(
            matches!(newer, SessionError::Newer { version: 99, .. }),
            "{newer}"
        );
    }
}

#[test]
fn a_database_that_is_away_is_named_without_its_password_and_so_is_one_that_goes_away() {
    let address_of = "postgres://ann:hunter2@127.0.0.1:1/x";
    let lease = Duration::from_secs(1);
    let away = PostgresJournals::open(address_of, lease, Schema::Refused)
        .err()
        .unwrap()
        .to_string();
    assert!(
        away.contains("127.0.0.1:1/x") && !away.contains("hunter2"),
        "{away}"
    );
    let url = database("goes");
    let ledger = open(&url, 15);
    let lease = begun(&ledger, "r");
    execute(&address(), &["DROP DATABASE goes WITH (FORCE)".to_owned()]);
    let began = Instant::now();
    let gone = ledger.append(&lease, &entries(4, 1, "h3")).unwrap_err();
    assert!(matches!(gone, LedgerError::Away { .. }), "{gone}");
    assert!(
        began.elapsed() < Duration::from_secs(12),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn two_folders_share_a_run_through_it() {
    let url = database("folders");
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let project = |at: usize| {
        let key = Some(Key::fixed([7; 32]));
        let project = Project::open(dirs[at].path()).unwrap().with_key(key);
        project.with_ledger(Arc::new(open(&url, 15)))
    };
    let (one, two) = (project(0), project(1));
    let step = |n: usize| Event::StepStarted {
        step: format!("s{n} \u{0} é"),
    };
    let at = jiff::Timestamp::UNIX_EPOCH;
    let mut journal = one.begin_run("r").unwrap();
    let begun = Event::RunStarted {
        journal_version: JOURNAL_VERSION,
        agentctl_version: "1".into(),
        run_id: "r".into(),
        flow: "f".into(),
        pack_hash: "p".into(),
        input: serde_json::Map::new(),
    };
    journal.append(at, begun, true).unwrap();
    for n in 1..20 {
        journal.append(at, step(n), n % 3 == 0).unwrap();
    }
    assert!(two.open_run("r", &mut |_, _| {}).is_err());
    assert_eq!(two.read_run("r").unwrap().head().0, 20);
    drop(journal);
    let (mut journal, loaded) = two.open_run("r", &mut |_, _| {}).unwrap();
    assert!(loaded.foreign.is_none());
    journal.append(at, step(20), true).unwrap();
    drop(journal);
    assert_eq!(
        one.read_run("r").unwrap().head(),
        two.read_run("r").unwrap().head()
    );
    let file = |project: &Project| std::fs::read(project.run("r").unwrap().journal()).unwrap();
    assert_eq!(file(&one), file(&two));
}
