//! The packs that are compiled into the binary: n8n-builder, which is the repository's own `agents/` and `skills/`, and those in
//! `packs/`; with a project's own packs and files over them.

use agentctl_engine::pack::{
    self, BuiltIn, LoadOptions, PACKS, Pack, PackErrors, TestFile, Use, is_name,
};
use agentctl_engine::vocabulary::Vocabulary;
use agentctl_n8n_tools::vocabulary;
use rust_embed::RustEmbed;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

#[cfg(test)]
mod flow_tests;
#[cfg(test)]
mod pack_tests;
#[cfg(test)]
mod policy_tests;
#[cfg(test)]
mod prompts_tests;

/// The pack whose folder is the project itself: what `build` runs.
pub const BUILDER: &str = "n8n-builder";

#[derive(RustEmbed)]
#[folder = "agents/"]
#[prefix = "agents/"]
struct Agents;

#[derive(RustEmbed)]
#[folder = "skills/"]
#[prefix = "skills/"]
struct Skills;

#[derive(RustEmbed)]
#[folder = "packs/"]
#[allow_missing = true]
struct Named;

static BUILT_IN: LazyLock<BuiltIn> = LazyLock::new(|| {
    let agents = Agents::iter().filter_map(|path| Some((path.to_string(), Agents::get(&path)?)));
    let skills = Skills::iter().filter_map(|path| Some((path.to_string(), Skills::get(&path)?)));
    let files = agents.chain(skills);
    let files = files.map(|(path, file)| (path, file.data));
    let manifest = Cow::Borrowed(include_bytes!("n8n-builder.yaml").as_slice());
    let manifest = (pack::MANIFEST.to_owned(), manifest);
    // The copilot's too, word for word.
    let ask = include_bytes!("../../packs/n8n-copilot/tools/ask_research/tool.yaml");
    let ask = (
        "tools/ask_research/tool.yaml".to_owned(),
        Cow::Borrowed(ask.as_slice()),
    );
    BuiltIn::new(words(), files.chain([manifest, ask]))
});

/// What the files of every pack may name.
fn words() -> Vocabulary {
    vocabulary::n8n().with_kinds(&agentctl_tools::kinds())
}

/// A file of a pack: its path there, and its content.
type File = (String, Cow<'static, [u8]>);

static NAMED: LazyLock<BTreeMap<String, BuiltIn>> = LazyLock::new(|| {
    let mut packs: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for path in Named::iter() {
        if let Some((name, relative)) = path.split_once('/')
            && let Some(file) = Named::get(&path)
        {
            let files = packs.entry(name.to_owned()).or_default();
            files.push((relative.to_owned(), file.data));
        }
    }
    let named = packs.into_iter().map(|(name, files)| {
        let pack = BuiltIn::named(&name, words(), files);
        (name, pack)
    });
    named.collect()
});

/// Why there is no such pack to work with.
#[derive(Debug, thiserror::Error)]
pub enum NoPack {
    #[error("there is no pack {name:?}")]
    Unknown {
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    #[error("the pack {pack} has no flow {name:?}")]
    Flow {
        pack: String,
        name: String,
        known: Vec<String>,
    },
    #[error("{errors}")]
    Errors { pack: String, errors: PackErrors },
}

/// The built-in pack alone.
pub fn built_in() -> Result<Pack, PackErrors> {
    load(Path::new(""), &LoadOptions::default())
}

/// The builder's pack, with those of the project's own files over it that count.
pub fn load(project: &Path, options: &LoadOptions) -> Result<Pack, PackErrors> {
    pack::load(&BUILT_IN, None, project, options)
}

/// A pack by name (`NAME`, or `NAME/FLOW` for another flow than its own entry), with those of the project's own files over it that count.
pub fn named(named: &str, project: &Path, options: &LoadOptions) -> Result<Pack, NoPack> {
    let (name, flow) = match named.split_once('/') {
        Some((name, flow)) => (name, Some(flow)),
        None => (named, None),
    };
    let pack = of_name(name, project, options)?;
    let Some(flow) = flow else { return Ok(pack) };
    let flows = pack.flows.keys().cloned().collect();
    pack.with_flow(flow).ok_or_else(|| NoPack::Flow {
        pack: name.to_owned(),
        name: flow.to_owned(),
        known: flows,
    })
}

fn of_name(name: &str, project: &Path, options: &LoadOptions) -> Result<Pack, NoPack> {
    let loaded = match name == BUILDER {
        true => load(project, options),
        false => {
            let built_in = texts_of(name, project, options)?;
            pack::load(&built_in, Some(&BUILT_IN), project, options)
        }
    };
    loaded.map_err(|errors| broken(name, errors))
}

fn broken(name: &str, errors: PackErrors) -> NoPack {
    NoPack::Errors {
        pack: name.to_owned(),
        errors,
    }
}

/// The files of a pack's `tests/`.
pub fn tests(name: &str, project: &Path, options: &LoadOptions) -> Result<Vec<TestFile>, NoPack> {
    let name = name.split_once('/').map_or(name, |(name, _)| name);
    let built_in = texts_of(name, project, options)?;
    pack::tests(&built_in, project, options).map_err(|errors| broken(name, errors))
}

/// What is compiled in of a pack.
fn texts_of(
    name: &str,
    project: &Path,
    options: &LoadOptions,
) -> Result<Cow<'static, BuiltIn>, NoPack> {
    if name == BUILDER {
        return Ok(Cow::Borrowed(&BUILT_IN));
    }
    if let Some(built_in) = NAMED.get(name) {
        return Ok(Cow::Borrowed(built_in));
    }
    if own_names(project, options).contains(name) {
        let own = BuiltIn::named(name, words(), []);
        return Ok(Cow::Owned(own));
    }
    Err(NoPack::Unknown {
        name: name.to_owned(),
        known: names(project, options),
    })
}

/// Every pack that can be named: the built-in ones, and the project's own where its files count. Sorted.
pub fn names(project: &Path, options: &LoadOptions) -> Vec<String> {
    let mut names: BTreeSet<String> = NAMED.keys().cloned().collect();
    names.insert(BUILDER.to_owned());
    names.extend(own_names(project, options));
    names.into_iter().collect()
}

/// The same with every folder of the project that could be a pack, trusted or not: for a list of names alone.
pub fn seen(project: &Path) -> Vec<String> {
    let mut all = LoadOptions::default();
    all.files.own = Use::Project;
    names(project, &all)
}

/// The agents of the builder's pack, with every file of the project that could be one, trusted or not: for a list of names alone.
pub fn roles_seen(project: &Path) -> Vec<String> {
    let own = std::fs::read_dir(project.join("agents"))
        .into_iter()
        .flatten();
    let own = own.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let built_in = Agents::iter().filter_map(|path| Some(path.strip_prefix("agents/")?.to_owned()));
    let names = built_in.chain(own);
    let names = names.filter_map(|file| Some(file.strip_suffix(".md")?.to_owned()));
    let names: BTreeSet<String> = names.filter(|name| is_name(name)).collect();
    names.into_iter().collect()
}

fn own_names(project: &Path, options: &LoadOptions) -> BTreeSet<String> {
    if options.files.own == Use::BuiltIn {
        return BTreeSet::new();
    }
    // A folder that cannot be read brings no packs: one that is asked for is then told as unknown.
    let entries = std::fs::read_dir(project.join(PACKS)).into_iter().flatten();
    entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_name(name) && name != BUILDER)
        .filter(|name| !options.files.left_out.contains(&format!("{PACKS}/{name}")))
        .filter(|name| project.join(PACKS).join(name).join(pack::MANIFEST).exists())
        .collect()
}

/// Whether a pack of this name comes with the program.
pub fn is_shipped(name: &str) -> bool {
    name == BUILDER || NAMED.contains_key(name)
}

/// Whether `path` below a project is, byte for byte, the built-in file of that path.
pub fn is_built_in(path: &str, bytes: &[u8]) -> bool {
    BUILT_IN.is_same(path, bytes) || NAMED.values().any(|pack| pack.is_same(path, bytes))
}
