//! Cases 277, 278, 283, 284, 286 to 289: what is the user's own: the key, approvals of servers, the word for a published workflow,
//! taking over a run, and an old project.

use crate::attack::*;
use crate::records::*;
use crate::support::*;
use agentctl_base::model::ToolStatus;
use agentctl_base::question::{AnsweredBy, Outcome, Question};
use agentctl_engine::run::{self, Asked, Asker, Counted, RunError, Undo, UndoTerms};
use agentctl_engine::store::{Event, Project, StoreError, Whose};
use agentctl_host::home::{Home, HomeError};
use agentctl_mcp::{OLD_PINS, Pins};
use agentctl_n8n_tools::resources::parse;
use serde_json::{Value, json};
use std::path::Path;

#[tokio::test]
async fn case_277_approvals_of_servers_that_came_with_the_folder_count_for_nothing() {
    use agentctl_mcp::fake::{polite, server};
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    std::fs::create_dir_all(project.join("memory")).unwrap();
    let home = |own: &str| {
        let own = dir.path().join(own).display().to_string();
        let variable = move |name: &str| (name == "AGENTCTL_HOME").then(|| own.clone());
        Home::find(variable, &project).unwrap()
    };
    // What `mcp approve` wrote, on somebody else's machine, put where it lay before.
    let theirs = home("theirs");
    let mut pins = Pins::default();
    crate::server::approved("docs", &crate::server::tools(), &mut pins);
    pins.write(&theirs, &project).unwrap();
    let written = files_below(theirs.dir());
    let [(name, bytes)] = written.as_slice() else {
        panic!("{written:?}")
    };
    assert!(
        name.starts_with("pins/") && name.ends_with(".json"),
        "{name}"
    );
    std::fs::write(project.join(OLD_PINS), bytes).unwrap();
    let mine = home("mine");
    let pins = Pins::read(&mine, &project).unwrap();
    assert!(pins.is_empty());
    let (client, heard) = server("docs", |_, message| {
        polite(message, &crate::server::tools())
    });
    let mut bench = crate::server::gateway([client], pins);
    let result = bench
        .call("role", crate::server::FIND, crate::server::q())
        .await;
    assert_eq!(result.status, ToolStatus::Refused, "{:?}", result.content);
    assert!(heard.calls().is_empty());
    // Nor do those of another folder of one's own.
    let other = dir.path().join("other");
    std::fs::create_dir(&other).unwrap();
    assert!(Pins::read(&theirs, &other).unwrap().is_empty());
    assert!(!Pins::read(&theirs, &project).unwrap().is_empty());
}

#[test]
fn case_278_a_key_of_the_wrong_size_or_that_others_may_read_marks_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let (own, project) = (dir.path().join("own"), dir.path().join("project"));
    std::fs::create_dir(&project).unwrap();
    let home = || {
        let own = own.display().to_string();
        Home::find(
            move |name| (name == "AGENTCTL_HOME").then(|| own.clone()),
            &project,
        )
        .unwrap()
    };
    home().key().unwrap();
    let key = own.join("key");
    let good = std::fs::read(&key).unwrap();
    let mode = |mode| std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode));
    let request = "Every day at 9 post \"hello\" to Slack #dev";
    for (bytes, bits, why) in [
        (good[..31].to_vec(), 0o600, "a key has 32 bytes"),
        (Vec::new(), 0o600, "a key has 32 bytes"),
        ([&good[..], b"\n"].concat(), 0o600, "a key has 32 bytes"),
        (good.clone(), 0o640, "others may read it"),
        (good.clone(), 0o604, "others may read it"),
    ] {
        std::fs::write(&key, &bytes).unwrap();
        mode(bits).unwrap();
        for found in [home().known_key().map(|_| ()), home().key().map(|_| ())] {
            let Err(HomeError::Broken { why: said, .. }) = found else {
                panic!("{found:?}")
            };
            assert!(said.contains(why), "{said}");
        }
        let (code, _, told) = with_own(&project, &own, &["build", "--yes", request]);
        assert_eq!(code, 1, "{told}");
        assert!(
            told.contains(why) && told.contains("move it away"),
            "{told}"
        );
        assert!(!project.join("memory/runs").exists());
        assert_eq!(std::fs::read(&key).unwrap(), bytes, "no key is replaced");
    }
    // Moved away, a new one is made; what the old one marked is another's then.
    std::fs::write(&key, &good).unwrap();
    mode(0o600).unwrap();
    assert_eq!(with_own(&project, &own, &["build", "--yes", request]).0, 0);
    assert_eq!(with_own(&project, &own, &["runs", "verify"]).0, 0);
    std::fs::rename(&key, own.join("away")).unwrap();
    home().key().unwrap();
    let (code, told, _) = with_own(&project, &own, &["runs", "verify"]);
    assert_eq!(code, 5, "{told}");
    assert!(told.contains("marks of another user"), "{told}");
    assert_eq!(with_own(&project, &own, &["undo"]).0, 5);
}

#[test]
fn case_283_no_learning_is_accepted_from_a_foreign_run() {
    let (mut shop, run) = waiting();
    shop.answer(json!({"approve-1": "refuse"})).unwrap();
    let before = all(&shop);
    let other = tempfile::tempdir().unwrap();
    let accept = ["analyze", &run, "--accept-learnings"];
    let (code, _, told) = with_own(shop.dir.path(), other.path(), &accept);
    assert_eq!(code, 5, "{told}");
    assert!(told.contains("was not written by your agentctl"), "{told}");
    let (code, page, told) = with_own(shop.dir.path(), other.path(), &["analyze", &run]);
    assert_eq!(code, 0, "{told}");
    assert!(page.contains(&run) && told.contains("was not written by your agentctl"));
    assert!(all(&shop) == before);
}

struct Says(&'static str, Vec<Question>);

impl Asker for Says {
    fn ask(&mut self, question: &Question) -> Result<Asked, String> {
        self.1.push(question.clone());
        Ok(Asked::Answer(json!(self.0)))
    }
}
#[test]
fn case_284_undo_on_a_published_workflow_asks() {
    let (mut shop, _) = after_orders(changing);
    let before = std::fs::read_to_string(orders(&shop)).unwrap();
    let run = shop.start(request("change orders")).unwrap().run_id;
    let of_run = || Undo::Run(Some(run.clone()));
    let mut now: Value =
        serde_json::from_str(&std::fs::read_to_string(orders(&shop)).unwrap()).unwrap();
    now["active"] = json!(true);
    std::fs::write(orders(&shop), now.to_string()).unwrap();
    let published = all(&shop);

    let error = take_back(&mut shop, of_run()).unwrap_err();
    assert_eq!(error.exit_code(), 5);
    assert_eq!(
        error.to_string(),
        "the workflow \"orders\" is published, so what is put back is live at once; nothing was done"
    );
    assert!(error.hint().unwrap().contains("--allow publish"));
    let mut no = Says("refuse", vec![]);
    let said_no = run::undo(shop.context(Some(&mut no)), of_run(), true);
    assert_eq!(block_on(said_no).unwrap_err().exit_code(), 5);
    assert!(all(&shop) == published);
    let [question] = no.1.as_slice() else {
        panic!("{:?}", no.1)
    };
    assert_eq!(question.recommended, None, "--yes is no answer");
    let diff = question.proposal.as_ref().unwrap().diff.as_ref().unwrap();
    assert!(
        diff.contains("-") && diff.contains("changed by a run"),
        "{diff}"
    );

    let mut yes = Says("approve", vec![]);
    block_on(run::undo(shop.context(Some(&mut yes)), of_run(), false)).unwrap();
    assert_eq!(std::fs::read_to_string(orders(&shop)).unwrap(), before);
    let said: Vec<Event> = shop.journal_of(&run);
    let said = said.iter().filter(|event| {
        matches!(event, Event::AnswerGiven { step, value, by: AnsweredBy::Terminal, .. }
            if step == "undo" && value == "approve")
    });
    assert_eq!(said.count(), 1);
    // Taking the undo back would publish the file's workflow again: that is asked too, and may be allowed beforehand.
    let again = UndoTerms {
        to: Some(1),
        ..UndoTerms::default()
    };
    let asked = block_on(run::undo_by(shop.context(None), of_run(), again));
    assert_eq!(asked.unwrap_err().exit_code(), 5);
    let allowed = UndoTerms {
        allow_publish: true,
        ..again
    };
    block_on(run::undo_by(shop.context(None), of_run(), allowed)).unwrap();
    let now: Value =
        serde_json::from_str(&std::fs::read_to_string(orders(&shop)).unwrap()).unwrap();
    assert_eq!(now["active"], true);
}

#[test]
fn case_286_without_a_folder_of_ones_own_a_run_works_and_is_foreign_afterwards() {
    let (mut shop, _) = after_orders(changing);
    shop.project = Project::new(shop.dir.path());
    let report = shop.start(request("change orders")).unwrap();
    assert_eq!((report.outcome, report.foreign), (Outcome::Complete, None));
    let text = std::fs::read_to_string(journal_of(&shop, &report.run_id)).unwrap();
    assert!(!text.contains("\"mark\""));
    assert_eq!(
        nothing_is_done_with(&mut shop, &report.run_id),
        (1, Whose::NoKey)
    );

    let dir = tempfile::tempdir().unwrap();
    let homeless = |args: &[&str]| {
        let mut command = agentctl(dir.path(), args);
        command
            .env_remove("AGENTCTL_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("HOME");
        ran(command)
    };
    let request = "Every day at 9 post \"hello\" to Slack #dev";
    let (code, _, told) = homeless(&["build", "--yes", request]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("runs are not marked as yours"), "{told}");
    for args in [&["undo"][..], &["resume"], &["runs", "adopt", "2"]] {
        let (code, _, told) = homeless(args);
        assert_eq!(code, 5, "{args:?} {told}");
        assert!(told.contains("AGENTCTL_HOME"), "{args:?} {told}");
    }
    assert_eq!(homeless(&["runs", "verify"]).0, 5);
    // With one, it was written by nobody that is known.
    let own = tempfile::tempdir().unwrap();
    let (code, _, told) = with_own(dir.path(), own.path(), &["undo"]);
    assert_eq!(code, 5);
    assert!(told.contains("it carries no mark"), "{told}");
}

#[test]
fn case_287_adopting_shows_what_would_happen_and_needs_the_users_word() {
    let (mut shop, run) = waiting();
    let mut events = shop.journal_of(&run);
    events.push(approval_of(&events));
    forge(&journal_of(&shop, &run), &events);
    let now = jiff::Timestamp::from_second(1_850_000_100).unwrap();
    let look = |shop: &Shop| {
        let (project, pack) = (&shop.project, &shop.pack);
        block_on(run::adoption(
            project,
            pack,
            shop.gateway.resources(),
            shop.gateway.redactor(),
            &run,
            now,
        ))
        .unwrap()
    };
    let found = look(&shop);
    let [answer] = found.answers.as_slice() else {
        panic!("{:?}", found.answers)
    };
    let call = answer.approves.as_ref().unwrap();
    assert_eq!(
        (&answer.value, answer.by, call.tool.as_str(), call.counts),
        (
            &json!("approve"),
            AnsweredBy::Terminal,
            "delete_workflow",
            true
        )
    );
    assert!(found.pack_in_force && !found.ended);

    // The program shows it, and without a word nothing is done.
    let own = tempfile::tempdir().unwrap();
    let before = all(&shop);
    let (code, _, told) = with_own(shop.dir.path(), own.path(), &["runs", "adopt", &run]);
    assert_eq!(code, 5, "{told}");
    for said in [
        "answer in it to approve-1",
        "delete_workflow",
        "other agents, another flow or another policy",
        "--yes",
    ] {
        assert!(told.contains(said), "{said}: {told}");
    }
    assert!(all(&shop) == before);

    // What is adopted is what was shown.
    append(
        &journal_of(&shop, &run),
        Event::StepStarted { step: "x".into() },
    );
    let changed = run::adopt(
        &shop.project,
        shop.gateway.resources(),
        &shop.effects,
        &found,
    );
    assert!(
        matches!(changed, Err(RunError::Store(StoreError::Broken { .. }))),
        "{changed:?}"
    );
    assert!(orders(&shop).exists());
    forge(&journal_of(&shop, &run), &events);
    let found = look(&shop);
    let chain = std::fs::read_to_string(journal_of(&shop, &run)).unwrap();
    let adopted = run::adopt(
        &shop.project,
        shop.gateway.resources(),
        &shop.effects,
        &found,
    )
    .unwrap();
    assert_eq!(adopted, found.foreign);
    let verified = run::verify(&shop.project, &parse, &run).unwrap();
    assert_eq!(
        (verified.foreign, verified.records),
        (None, events.len() as u64 + 1)
    );
    let last = chain.lines().last().unwrap();
    let hash = last.split("\"hash\":\"").nth(1).unwrap().get(..64).unwrap();
    let after = std::fs::read_to_string(journal_of(&shop, &run)).unwrap();
    let behind = after.lines().last().unwrap();
    assert!(
        behind.contains(&format!("\"prev\":\"{hash}\"")),
        "the chain is as it was"
    );
    assert!(behind.contains("\"type\":\"adopted\",\"from\":1"));
    // A second time there is nothing to adopt.
    assert_eq!(look(&shop).foreign, None);
    // Now it is the user's word, and the run goes on.
    shop.effects = Counted::from(1_850_000_200);
    // The summary tells of the journal that stood there before.
    let other = shop.resume(Some(&run)).unwrap_err().to_string();
    assert!(other.contains("holds another one in its place"), "{other}");
    std::fs::remove_file(shop.project.state_file()).unwrap();
    shop.resume(Some(&run)).unwrap();
    assert!(!orders(&shop).exists());
}

#[test]
fn case_288_a_beginning_of_ones_own_run_is_told_from_the_whole() {
    let (mut shop, run) = waiting();
    let path = journal_of(&shop, &run);
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let cut = lines.len() - 2;
    std::fs::write(&path, lines[..cut].concat()).unwrap();
    let verified = run::verify(&shop.project, &parse, &run).unwrap();
    // Marks tell who wrote a record, not that none came after it; the summary does.
    assert_eq!(
        (verified.foreign.clone(), verified.shorter_than_state),
        (None, Some(lines.len() as u64))
    );
    assert!(!verified.is_whole());
    // Nothing goes on from there. Without the summary it comes to the same question again, and nothing is done without an answer.
    let refused = shop.resume(Some(&run)).unwrap_err().to_string();
    assert!(refused.contains("records of run"), "{refused}");
    std::fs::remove_file(shop.project.state_file()).unwrap();
    assert_eq!(shop.resume(Some(&run)).unwrap().outcome, Outcome::Waiting);
    assert!(orders(&shop).exists());
}

/// What agentctl wrote before there were marks: a run that changed a workflow, and one that waits.
#[test]
fn case_289_an_old_projects_runs_are_listed_adopted_resumed_and_undone() {
    let (changed, waits) = ("20261122-055119-d5ce56", "20261122-055120-6e7785");
    let dir = tempfile::tempdir().unwrap();
    let own = tempfile::tempdir().unwrap();
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old_project");
    copy(&old, dir.path());
    let run = |args: &[&str]| with_own(dir.path(), own.path(), args);
    let (code, told, _) = run(&["runs", "list"]);
    assert_eq!(code, 0);
    assert_eq!(told.matches("foreign").count(), 2, "{told}");
    let (code, told, _) = run(&["runs", "verify"]);
    assert_eq!(code, 5, "{told}");
    assert_eq!(told.matches("chain whole, author unknown").count(), 2);
    let status = run(&["status"]);
    assert_eq!(status.0, 0, "{}", status.2);
    assert!(status.1.contains(waits) && status.2.contains("it carries no mark"));
    let workflow = dir
        .path()
        .join("workflows/orders-over-100-eur-to-slack.json");
    let left = std::fs::read(&workflow).unwrap();
    assert_eq!(run(&["undo", changed]).0, 5);
    assert_eq!(run(&["resume", waits, "--allow-pack-change"]).0, 5);
    assert_eq!(run(&["answer", waits, "timing=every day at 9:00"]).0, 5);
    assert_eq!(std::fs::read(&workflow).unwrap(), left);

    let (code, told, shown) = run(&["runs", "adopt", changed, "--yes"]);
    assert_eq!(code, 0, "{shown}");
    assert!(told.contains("is yours now"), "{told}");
    assert!(
        shown.contains("undo would do this:") && shown.contains("#sales"),
        "{shown}"
    );
    let (code, _, told) = run(&["undo", changed]);
    assert_eq!(code, 0, "{told}");
    let kept = old.join("memory/runs").join(changed).join("snapshots");
    let kept = std::fs::read_dir(kept).unwrap().next().unwrap().unwrap();
    assert_eq!(
        std::fs::read(&workflow).unwrap(),
        std::fs::read(kept.path()).unwrap()
    );

    assert_eq!(run(&["runs", "adopt", waits, "--yes"]).0, 0);
    let answers = dir.path().join("answers.json");
    let given = json!({"timing": "every day at 9:00", "recipient": "Slack #builds"});
    std::fs::write(&answers, given.to_string()).unwrap();
    let answers = answers.display().to_string();
    let resume = [
        "resume",
        waits,
        "--yes",
        "--allow-pack-change",
        "--answers",
        &answers,
    ];
    let (code, _, told) = run(&resume);
    // It goes on: to its end, whole or as a draft, or to the next question.
    assert!(matches!(code, 0 | 4 | 9), "{code} {told}");
    assert_eq!(run(&["runs", "verify"]).0, 0);
    let (_, told, _) = run(&["log", waits]);
    assert!(told.contains("you took the run over"), "{told}");
}
