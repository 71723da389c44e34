//! What the documents name is there: each path in backticks, and each link to a file, of docs/, of the root's own pages and of the crates'
//! READMEs.

use std::path::{Path, PathBuf};

/// Folders of the repository that a page may name a file of. What begins otherwise is a place of a user's project or no path at all.
const TOPS: [&str; 8] = [
    ".ci/",
    "benches/",
    "crates/",
    "docs/",
    "examples/",
    "fuzz/",
    "src/",
    "tests/",
];

/// Of a user's project, though `docs/` is a folder of the repository too.
const LEARNINGS: &str = "docs/learning/";

fn pages(root: &Path) -> Vec<PathBuf> {
    let tops = [
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "README.md",
        "SECURITY.md",
    ];
    let mut pages: Vec<PathBuf> = tops.iter().map(|top| root.join(top)).collect();
    let folder = |at: PathBuf| std::fs::read_dir(at).unwrap().map(|e| e.unwrap().path());
    pages.extend(
        folder(root.join("docs")).filter(|page| page.extension().is_some_and(|e| e == "md")),
    );
    let crates = folder(root.join("crates")).map(|at| at.join("README.md"));
    pages.extend(crates.filter(|page| page.is_file()));
    pages
}

/// The words in backticks, outside of fenced blocks.
fn quoted(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

/// The path that the words are; None: they are none, or stand for many.
fn path(words: &str) -> Option<&str> {
    let path = words.split(['#', ':']).next()?;
    // A name in capitals stands for any: `src/cli/commands/NAME.rs`.
    let is_one = !path.contains([' ', '*', '<', '{', '…', '$'])
        && !path
            .split(['/', '.'])
            .any(|part| part.len() > 2 && part.chars().all(|c| c.is_ascii_uppercase()));
    (is_one && TOPS.iter().any(|top| path.starts_with(top))).then_some(path)
}

/// The files that a page's links lead to, as they are written there.
fn linked(text: &str) -> Vec<&str> {
    let links = text.split("](").skip(1);
    let targets = links.filter_map(|rest| rest.split([')', '#']).next());
    targets
        .filter(|target| !target.is_empty() && !target.contains([':', ' ']))
        .collect()
}

#[test]
fn every_path_that_a_page_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    let mut missing = Vec::new();
    for page in pages(root) {
        let text = std::fs::read_to_string(&page).unwrap();
        let words = quoted(&text);
        let named = words.iter().filter_map(|words| path(words));
        let named = named.filter(|path| !path.starts_with(LEARNINGS));
        let here = page.parent().unwrap();
        let paths = named.map(|path| (path, root.join(path)));
        let links = linked(&text).into_iter().map(|to| (to, here.join(to)));
        for (said, at) in paths.chain(links) {
            seen += 1;
            if !at.exists() {
                missing.push(format!("{}: {said}", page.display()));
            }
        }
    }
    assert!(
        seen > 100,
        "only {seen} paths were found: is the search broken?"
    );
    assert_eq!(missing, Vec::<String>::new(), "no such file or folder");
}
