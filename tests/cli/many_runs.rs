//! A project of many runs: what reads them all stays short, and says what it did not read.

use super::support::Project;
use agentctl_engine::store;
use agentctl_engine::testkit::journals::write_run;
use agentctl_host::key::Key;

/// The project as the program keeps it, under its user's key.
fn kept(project: &Project) -> store::Project {
    let key = std::fs::read(project.home().join("key")).unwrap();
    let key = Key::fixed(key.try_into().unwrap());
    store::Project::new(project.path()).with_key(Some(key))
}

/// So many runs like the one that is there, each written before it.
fn with_older_runs(project: &Project, count: u64) -> Vec<String> {
    let kept = kept(project);
    let [first] = kept.run_ids().unwrap().try_into().unwrap();
    let records = kept.read_run(&first).unwrap().records;
    let ids: Vec<String> = (0..count)
        .map(|n| format!("20200101-000000-{n:06x}"))
        .collect();
    for (order, id) in (0..).zip(&ids) {
        write_run(&kept, &records, id, order, 0);
    }
    ids
}

#[test]
fn doctor_reads_the_newest_runs_whole_and_tells_what_it_knows_of_the_others() {
    let project = Project::new();
    let request = "Every day at 9:00 post hello to Slack #dev";
    assert_eq!(project.run(&["build", "--yes", request]).code, 0);
    let one = project.run(&["doctor"]);
    assert!(
        one.stdout
            .contains("runs: 1 journal, every chain is whole\n"),
        "{}",
        one.stdout
    );
    let older = with_older_runs(&project, 101);
    let told = project.run(&["doctor"]);
    assert_eq!(told.code, 0, "{}", told.stdout);
    assert!(
        told.stdout.contains("runs: 102 journals, every chain of the newest 100 is whole, the others as they were when they were read last (agentctl runs verify reads them all)"),
        "{}",
        told.stdout
    );
    // One of the others that is no journal any more is told all the same.
    let oldest = &older[0];
    project.write(&format!("memory/runs/{oldest}/journal.jsonl"), "nonsense\n");
    let told = project.run(&["doctor"]);
    assert_eq!(told.code, 1, "{}", told.stdout);
    assert!(
        told.stdout.contains(&format!("runs: {oldest}: ")),
        "{}",
        told.stdout
    );
}

#[test]
fn of_many_runs_only_those_that_are_listed_are_read() {
    let project = Project::new();
    let request = "Every day at 9:00 post hello to Slack #dev";
    assert_eq!(project.run(&["build", "--yes", request]).code, 0);
    let older = with_older_runs(&project, 30);
    // What cannot be read stands as such in the list of all, and costs a short list nothing.
    project.write(
        &format!("memory/runs/{}/journal.jsonl", older[0]),
        "nonsense\n",
    );
    let all = project.run(&["runs", "list"]);
    let lines: Vec<&str> = all.stdout.lines().collect();
    assert_eq!(lines.len(), 31, "{}", all.stdout);
    assert!(
        lines[0].starts_with('*') && lines[30].contains("unreadable"),
        "{}",
        all.stdout
    );
    let short = project.run(&["runs", "list", "--limit", "3"]);
    assert_eq!(short.stdout.lines().collect::<Vec<_>>(), lines[..3]);
    let told = |id: &String| {
        project
            .path()
            .join(format!("memory/runs/{id}/checkpoint.jsonl"))
    };
    let kept = |ids: &[String]| ids.iter().filter(|id| told(id).exists()).count();
    assert_eq!(
        kept(&older[1..]),
        29,
        "the whole list keeps what each run tells"
    );
    for id in &older {
        let _ = std::fs::remove_file(told(id));
    }
    assert_eq!(project.run(&["runs", "list", "-n", "3"]).code, 0);
    assert_eq!(
        kept(&older),
        2,
        "of the older ones the two that are shown were read"
    );
}
