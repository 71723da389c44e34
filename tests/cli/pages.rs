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
    for below in [
        "docs",
        "docs/gallery",
        "docs/schemas",
        "docs/start",
        "crates/n8n/findings",
        "crates/n8n/findings/agentctl",
        "crates/n8n/findings/n8n",
        "packaging",
    ] {
        let found = folder(root.join(below));
        pages.extend(found.filter(|page| page.extension().is_some_and(|e| e == "md")));
    }
    let crates = folder(root.join("crates")).map(|at| at.join("README.md"));
    pages.extend(crates.filter(|page| page.is_file()));
    pages
}

/// The headings of a page as links name them.
fn anchors(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if let (false, Some((marks, heading))) = (fenced, line.split_once("# "))
            && marks.chars().all(|mark| mark == '#')
        {
            let kept = heading.trim().chars().filter_map(|c| match c {
                ' ' => Some('-'),
                '-' | '_' => Some(c),
                c => c.is_alphanumeric().then_some(c),
            });
            found.push(kept.collect::<String>().to_lowercase());
        }
    }
    found
}

/// What a page's links name of pages, itself or others: page and heading.
fn headings(text: &str) -> Vec<(&str, &str)> {
    let links = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let links = links.filter(|link| !link.contains([':', ' ']));
    links.filter_map(|link| link.split_once('#')).collect()
}

#[test]
fn every_heading_that_a_link_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    let mut missing = Vec::new();
    for page in pages(root) {
        let text = std::fs::read_to_string(&page).unwrap();
        for (to, heading) in headings(&text) {
            let there = match to {
                "" => page.clone(),
                to => page.parent().unwrap().join(to),
            };
            // That the page is there is another test.
            let Ok(there) = std::fs::read_to_string(there) else {
                continue;
            };
            seen += 1;
            if !anchors(&there).iter().any(|anchor| anchor == heading) {
                missing.push(format!("{}: {to}#{heading}", page.display()));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    assert!(seen > 20, "{seen}");
}

#[test]
fn the_site_has_every_page_once_and_the_schemas_page_every_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let summary = std::fs::read_to_string(root.join("site/SUMMARY.md")).unwrap();
    let mut named: Vec<PathBuf> = linked(&summary).iter().map(|to| root.join(to)).collect();
    named.sort();
    let mut wanted = pages(root);
    wanted.sort();
    assert_eq!(
        named, wanted,
        "site/SUMMARY.md and the pages that there are differ"
    );

    let schemas = root.join("docs/schemas");
    let page = std::fs::read_to_string(schemas.join("README.md")).unwrap();
    let listed = super::support::Project::new().run(&["schema", "--output-format", "json"]);
    let mut told = Vec::new();
    for one in listed.json()["schemas"].as_array().unwrap() {
        told.push(format!("| [{}](", one["name"].as_str().unwrap()));
    }
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| ["))
        .collect();
    assert_eq!(rows.len(), told.len());
    for (row, name) in rows.iter().zip(&told) {
        assert!(row.starts_with(name), "{row}");
    }
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
