//! Everything that may happen to a short run, in every order: the run is begun, resumed, answered with yes, no or nonsense, left
//! alone until an approval is too old, and taken back, while somebody else edits the list, a run of somebody else's changes it, the
//! clock is set back, and another process holds the project. No order is drawn: every state that can be reached is looked at once,
//! and from each of them an end can be reached.
//!
//! With `EXPLORE_KILLS=1` it is also killed, once on each way, before, within and after each of its writes (minutes); with
//! `EXPLORE_KILLS=2` twice, and the second time only at every `EXPLORE_EVERY`th such place (100), since all of them are hours.
//! `EXPLORE_ALONE=1` leaves the other run, the clock and the taking back out.

use crate::rules::{READS, REMOVES_ONE, REMOVES_TWO, changing};
use crate::support::{House, block_on, gateway, list_of, request_on};
use agentctl_base::question::Outcome;
use agentctl_engine::run::{
    Counted, Resume, RunError, RunReport, Undo, advance, answer, show, start, undo,
};
use agentctl_engine::store::{Event, Holder, Project, Record, StateFile};
use agentctl_host::files::Disk;
use agentctl_host::key::Key;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// More than the time that an answer to an approval counts, in seconds.
const LATE: i64 = 2 * 86_400;
const HOUR: i64 = 3_600;
/// How far the clock is set back, in seconds.
const BACK: i64 = 400 * 86_400;
/// Nobody takes a longer way.
const MOST_STATES: usize = 100_000;

/// What the other run does.
const RIVAL_ADDS: (&str, &str) = (
    "edit_list",
    r#"[{"op": "add", "text": "by a rival", "owner": "ann"}]"#,
);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Begin,
    Resume,
    Say(&'static str),
    /// Somebody else edits the list.
    Edit,
    /// So much time passes that an approval counts no more.
    Wait,
    /// Another run of this user's changes the list, and ends.
    Rival,
    /// The clock is set back.
    Back,
    /// What the run did is taken back.
    Undo,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kill {
    Before,
    Within,
    After,
}

/// Counts writes, and ends the process at one of them: nothing unwinds into what a killed process would not have done.
#[derive(Debug, Default)]
struct Deadly {
    writes: AtomicUsize,
    at: Mutex<Option<(usize, Kill)>>,
}

struct Killed;

impl Deadly {
    fn meets(&self) -> Option<Kill> {
        let now = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        let at = *self.at.lock().unwrap();
        at.filter(|(at, _)| *at == now).map(|(_, kill)| kill)
    }
}

impl Disk for Deadly {
    fn write(&self, file: &mut File, bytes: &[u8], _: &Path) -> std::io::Result<()> {
        let kill = self.meets();
        match kill {
            Some(Kill::Before) => {}
            Some(Kill::Within) => file.write_all(&bytes[..bytes.len() / 2])?,
            Some(Kill::After) | None => file.write_all(bytes)?,
        }
        match kill {
            Some(_) => resume_unwind(Box::new(Killed)),
            None => Ok(()),
        }
    }
    fn sync(&self, _: &File, _: &Path) -> std::io::Result<()> {
        Ok(())
    }
}

type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// Where a run may be.
#[derive(Debug, Clone)]
struct World {
    files: Tree,
    /// How it was come to.
    way: Vec<(Step, Option<(usize, Kill)>)>,
    kills: usize,
    edited: bool,
    late: bool,
    back: bool,
    /// It was tried to take back what the run did.
    undone: bool,
    /// The runs of others that were begun.
    rivals: BTreeSet<String>,
}

fn tree(root: &Path) -> Tree {
    let mut files = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    files
}

fn put(root: &Path, files: &Tree) {
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
    }
    for (path, bytes) in files {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

struct Explorer {
    house: House,
    /// Whose runs change the same list.
    rival: House,
    /// Others work there too, the clock is set, and what was done is taken back.
    together: bool,
}

impl Explorer {
    fn root(&self) -> &Path {
        self.house.dir.path()
    }

    /// The run that was begun, if a record of it is there.
    fn run(&self, world: &World) -> Option<(String, Vec<Record>, RunReport)> {
        let mut runs = self.house.project.run_ids().unwrap().into_iter();
        let run = runs.rfind(|run| !world.rivals.contains(run))?;
        let mut records = Vec::new();
        let keep = &mut |record: &Record| records.push(record.clone());
        let report = show(&self.house.project, &self.house.pack, &run, keep).ok()?;
        Some((run, records, report))
    }

    /// Another process: it knows what is on the disk.
    fn enter(&mut self, world: &World) -> Arc<Deadly> {
        put(self.root(), &world.files);
        let disk = Arc::new(Deadly::default());
        let root = self.root().to_owned();
        self.house.project = Project::on(disk.clone(), &root).with_key(Some(Key::fixed([7; 32])));
        self.house.gateway = gateway(&root, &self.house.pack);
        let hours = i64::try_from(world.way.len()).unwrap() * HOUR;
        let late = if world.late { LATE } else { 0 };
        let back = if world.back { BACK } else { 0 };
        let now = 1_800_000_000 + hours + late - back;
        self.house.effects = Counted::from(now);
        self.rival.project = Project::on(disk.clone(), &root).with_key(Some(Key::fixed([7; 32])));
        self.rival.gateway = gateway(&root, &self.rival.pack);
        self.rival.effects = Counted::from(now + HOUR / 2);
        disk
    }

    fn act(&mut self, world: &World, step: Step) -> Result<Option<Outcome>, RunError> {
        let run = self.run(world);
        let report = match step {
            Step::Begin => block_on(start(self.house.context(), request_on("old")))?,
            Step::Resume => {
                let (run, ..) = run.unwrap();
                block_on(advance(self.house.context(), Some(&run), Resume::default()))?
            }
            Step::Say(word) => {
                let (run, _, report) = run.unwrap();
                let asked = &report.questions[0].id;
                let answers = Map::from_iter([(asked.clone(), json!(word))]);
                let resume = Resume::default();
                block_on(answer(self.house.context(), Some(&run), answers, resume))?
            }
            Step::Edit => {
                let mut list = self.house.list("old").unwrap();
                list.add("by hand", None);
                self.house.put("old", &list);
                return Ok(None);
            }
            Step::Wait | Step::Back => return Ok(None),
            Step::Rival => block_on(start(self.rival.context(), request_on("old")))?,
            Step::Undo => {
                let (run, ..) = run.unwrap();
                let done = block_on(undo(self.house.context(), Undo::Run(Some(run)), false));
                let list = self.house.list("old").unwrap();
                let all = ["a", "b", "c", "d"]
                    .iter()
                    .all(|item| list.item(item).is_some());
                assert!(
                    done.is_err() || all,
                    "taken back, and not as it was: {list:?}"
                );
                return done.map(|_| None);
            }
        };
        Ok(Some(report.outcome))
    }

    /// The world after a step, and how many writes it made.
    fn after(&mut self, world: &World, step: Step, kill: Option<(usize, Kill)>) -> (World, usize) {
        let disk = self.enter(world);
        let before = self.house.project.run_ids().unwrap();
        *disk.at.lock().unwrap() = kill;
        let acted = catch_unwind(AssertUnwindSafe(|| self.act(world, step)));
        let mut next = World {
            files: Tree::new(),
            ..world.clone()
        };
        next.way.push((step, kill));
        match acted {
            Ok(Ok(_)) => assert_eq!(kill, None, "{:?}", next.way),
            // Told, and nothing was done: nonsense, and an answer to what was asked too long ago.
            Ok(Err(RunError::Usage(_))) if step == Step::Say("nonsense") => {}
            Ok(Err(RunError::Usage(why))) if world.late && why.contains("too long ago") => {}
            // Nothing was changed yet, or somebody changed the list since: then nobody's work is taken away.
            Ok(Err(RunError::Usage(why))) if step == Step::Undo && why.contains("changed no") => {}
            Ok(Err(RunError::Refused { .. }))
                if step == Step::Undo && (world.edited || !world.rivals.is_empty()) => {}
            Ok(Err(error)) => panic!("{error}: {:?}", next.way),
            Err(end) => assert!(end.is::<Killed>(), "{:?}", next.way),
        }
        next.kills += usize::from(kill.is_some());
        next.edited |= step == Step::Edit;
        next.late |= step == Step::Wait;
        next.back |= step == Step::Back;
        next.undone |= step == Step::Undo;
        if step == Step::Rival {
            let runs = self.house.project.run_ids().unwrap().into_iter();
            next.rivals.extend(runs.filter(|run| !before.contains(run)));
        }
        next.files = tree(self.root());
        (next, disk.writes.load(Ordering::SeqCst))
    }

    /// What may happen now.
    fn steps(&mut self, world: &World) -> Vec<Step> {
        self.enter(world);
        let Some((_, _, report)) = self.run(world) else {
            return vec![Step::Begin];
        };
        let goes_on = [Outcome::Waiting, Outcome::Interrupted, Outcome::Budget];
        if !goes_on.contains(&report.outcome) {
            return Vec::new();
        }
        let mut steps = vec![Step::Resume];
        if !report.questions.is_empty() {
            steps.extend(["approve", "refuse", "nonsense"].map(Step::Say));
        }
        if !world.edited {
            steps.push(Step::Edit);
        }
        if !world.late && !report.questions.is_empty() {
            steps.push(Step::Wait);
        }
        if self.together {
            steps.push(Step::Undo);
            steps.extend(world.rivals.is_empty().then_some(Step::Rival));
            steps.extend((!world.back).then_some(Step::Back));
        }
        steps
    }

    /// Two worlds with one key go on alike: times, names and the number of takings-up aside.
    fn key(&self, world: &World) -> String {
        let run = self.run(world);
        let records = run.iter().flat_map(|(_, records, _)| records);
        let events = records.map(|record| &record.event).filter(|event| {
            !matches!(
                event,
                Event::ActivationStarted { .. } | Event::ActivationEnded { .. }
            )
        });
        let mut events = json!(events.collect::<Vec<_>>());
        timeless(&mut events);
        let name = run.map_or_else(String::new, |(run, ..)| run);
        let events = events.to_string().replace(&name, "RUN");
        let list = self.house.list("old").unwrap().text();
        let World {
            kills,
            edited,
            late,
            back,
            undone,
            rivals,
            ..
        } = world;
        let rivals = rivals.len();
        format!("{kills} {edited} {late} {back} {undone} {rivals} {list} {events}")
    }

    /// What holds wherever a run is.
    fn check(&mut self, world: &World) {
        let way = &world.way;
        let disk = self.enter(world);
        let list = self.house.list("old").unwrap();
        let has = |item: &str| list.item(item).is_some();
        // What somebody did between two changes of the run goes with them when they are taken back, and has a number in the history.
        assert!(
            world.undone || has("by hand") == world.edited,
            "somebody's edit is lost: {way:?}"
        );
        let Some((run, records, report)) = self.run(world) else {
            assert!(has("a") && has("b"), "{way:?}");
            return;
        };
        let mut changes = BTreeSet::new();
        for record in &records {
            if let Event::ToolFinished {
                change: Some(change),
                ..
            } = &record.event
            {
                let once = changes.insert((change.before.clone(), change.after.clone()));
                assert!(once, "a change was made twice: {way:?}");
            }
        }
        let said =
            |event: &Event| matches!(event, Event::AnswerGiven { value, .. } if value == "approve");
        let yes = records.iter().any(|record| said(&record.event));
        // Two are the most of three and of four things, and not of the five that the list has when both others added theirs. Where they
        // did so behind the change, the state before that was looked at as well.
        let five = world.edited && !world.rivals.is_empty();
        assert!(
            yes || five || has("b") && has("c"),
            "most was lost without a yes: {way:?}"
        );
        assert_eq!(report.damage, [""; 0], "{way:?}");
        // The summary is what the journal says up to the record that it names.
        if let StateFile::Good(state) = StateFile::read(&self.house.project.state_file()).unwrap()
            && state.run_id == run
            && state.journal.seq == records.last().unwrap().seq
        {
            assert_eq!(
                state.outcome.unwrap_or(Outcome::Interrupted),
                report.outcome,
                "{way:?}"
            );
            assert_eq!(state.stage, report.stage, "{way:?}");
            assert_eq!(state.questions, report.questions, "{way:?}");
        }
        // Who holds the project is not disturbed, and is named.
        let holder = Holder {
            pid: 99,
            run_id: None,
            since: String::new(),
            host: None,
        };
        let _held = self.house.project.lock(&holder).unwrap();
        let before = disk.writes.load(Ordering::SeqCst);
        let refused = self.act(world, Step::Resume);
        assert!(refused.is_err(), "{way:?}");
        assert_eq!(disk.writes.load(Ordering::SeqCst), before, "{way:?}");
    }
}

fn timeless(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.shift_remove("expires_at");
            map.values_mut().for_each(timeless);
        }
        Value::Array(items) => items.iter_mut().for_each(timeless),
        _ => {}
    }
}

#[test]
fn every_order_of_what_may_happen_to_a_short_run_leaves_a_way_to_an_end() {
    let said = |name: &str, unless| std::env::var(name).map_or(unless, |n| n.parse().unwrap());
    let (most_kills, every) = (said("EXPLORE_KILLS", 0), said("EXPLORE_EVERY", 100));
    let house = House::new(changing("old", &[READS, REMOVES_ONE, REMOVES_TWO]));
    house.put("old", &list_of("Old", &["a", "b", "c", "d"]));
    let mut explorer = Explorer {
        house,
        rival: House::new(changing("old", &[READS, RIVAL_ADDS])),
        together: said("EXPLORE_ALONE", 0) == 0,
    };
    let first = World {
        files: tree(explorer.root()),
        way: Vec::new(),
        kills: 0,
        edited: false,
        late: false,
        back: false,
        undone: false,
        rivals: BTreeSet::new(),
    };
    let (mut again, mut known) = (0, BTreeMap::from([(explorer.key(&first), 0)]));
    let mut ends = BTreeSet::new();
    // Where a step leads from where, for those that nobody disturbs.
    let mut from: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let (mut left, mut tried) = (VecDeque::from([(0, first)]), 0);
    while let Some((number, world)) = left.pop_front() {
        explorer.check(&world);
        let steps = explorer.steps(&world);
        if steps.is_empty() {
            ends.insert(number);
        }
        for step in steps {
            let mut kills = vec![None];
            while let Some(kill) = kills.pop() {
                let (next, writes) = explorer.after(&world, step, kill);
                tried += 1;
                if kill.is_none() && world.kills < most_kills {
                    let at = (1..=writes).rev();
                    let how = [Kill::After, Kill::Within, Kill::Before];
                    let places = at.flat_map(|at| how.map(|kill| (at, kill)));
                    let drawn = places.filter(|_| {
                        again += usize::from(world.kills > 0);
                        world.kills == 0 || again.is_multiple_of(every)
                    });
                    kills.extend(drawn.map(Some));
                }
                let count = known.len();
                let key = explorer.key(&next);
                let reached = *known.entry(key).or_insert_with(|| {
                    left.push_back((count, next));
                    count
                });
                if kill.is_none() {
                    from.entry(reached).or_default().push(number);
                }
            }
        }
        assert!(
            known.len() < MOST_STATES,
            "the states do not come to an end"
        );
    }
    // Backwards from the ends.
    let mut can_end = ends.clone();
    let mut next: Vec<usize> = ends.iter().copied().collect();
    while let Some(number) = next.pop() {
        let before = from.get(&number).into_iter().flatten();
        next.extend(before.filter(|before| can_end.insert(**before)));
    }
    assert_eq!(
        can_end.len(),
        known.len(),
        "from some states no end can be reached"
    );
    println!("{tried} steps, {} states, {} ends", known.len(), ends.len());
    assert!(ends.len() > 2, "{}", ends.len());
}
