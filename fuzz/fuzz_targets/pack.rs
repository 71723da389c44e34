//! The files of a pack, one of them any text: pack.yaml, an agent, offline.yaml, a skill's head, data, a tool with its mock and its
//! tests, an orchestrator, dialogues. The first byte says which. Accepted, or each mistake has its file and a place in it.
#![no_main]

use agentctl::pack::named;
use agentctl_base::yaml::Problem;
use agentctl_engine::pack::{BuiltIn, LoadOptions, Orchestrator, Pack, load};
use agentctl_engine::vocabulary::Vocabulary;
use agentctl_n8n_tools::vocabulary;
use libfuzzer_sys::fuzz_target;
use std::borrow::Cow;
use std::path::Path;
use std::sync::LazyLock;

macro_rules! template {
    ($path:literal) => {
        (
            $path,
            include_str!(concat!("../../src/cli/commands/packs/template/", $path)),
        )
    };
}
macro_rules! tool {
    ($file:literal) => {
        (
            concat!("tools/fetch_url/", $file),
            include_str!(concat!("../../packs/research/tools/fetch_url/", $file)),
        )
    };
}

const FILES: [(&str, &str); 11] = [
    template!("pack.yaml"),
    template!("agents/helper.md"),
    template!("agents/offline.yaml"),
    template!("skills/house-rules/SKILL.md"),
    template!("data/texts.yaml"),
    tool!("tool.yaml"),
    tool!("mock.json"),
    tool!("tests.yaml"),
    template!("agents/turn.flow.yaml"),
    template!("agents/policy.yaml"),
    template!("tests/first.yaml"),
];

static WORDS: LazyLock<Vocabulary> =
    LazyLock::new(|| vocabulary::n8n().with_kinds(&agentctl_tools::kinds()));

fn desk(other: Option<(&str, &str)>) -> Result<Pack, Vec<Problem>> {
    let files = FILES.map(|(path, text)| {
        let bytes = match other {
            Some((named, text)) if named == path => text.as_bytes().to_vec(),
            _ => text.replace("NAME", "desk").into_bytes(),
        };
        (path.to_owned(), Cow::Owned(bytes))
    });
    let built_in = BuiltIn::named("desk", WORDS.clone(), files);
    let read = load(
        &built_in,
        None,
        Path::new("/nowhere"),
        &LoadOptions::default(),
    );
    read.map_err(|errors| errors.problems)
}

static DESK: LazyLock<Pack> = LazyLock::new(|| desk(None).expect("the template is a pack"));

fn placed(problems: &[Problem], text: &str, file: &str) {
    assert!(!problems.is_empty(), "refused without a reason");
    let lines = text.matches(['\n', '\r']).count() as u64 + 1;
    for problem in problems
        .iter()
        .filter(|problem| problem.file.ends_with(file))
    {
        assert!(problem.place.line <= lines, "{problem} is behind the end");
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((kind, bytes)) = data.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let _ = &*DESK;
    match kind % 10 {
        8 => {
            let file = "given.json".to_owned();
            let given = Orchestrator::Given {
                file,
                text: text.to_owned(),
            };
            let options = LoadOptions {
                orchestrators: [("research".to_owned(), given)].into(),
                ..LoadOptions::default()
            };
            let _ = named("research", Path::new("/nowhere"), &options);
        }
        9 => {
            if let Err(problems) = agentctl::dialogues::read(text, "first.yaml", &DESK) {
                placed(&problems, text, "first.yaml");
            }
        }
        at => {
            let (path, _) = FILES[usize::from(at)];
            if let Err(problems) = desk(Some((path, text))) {
                placed(&problems, text, path);
            }
        }
    }
});
