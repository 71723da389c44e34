//! What trust costs at each start: the inventory of a folder with one of everything, hashed, and compared with what was approved.
//!
//! `cargo bench --bench trust`. The bar is 2 ms for "a start".
#![allow(clippy::unwrap_used, reason = "tests and measurements fail loudly")]

use agentctl::trust::{Basis, Book, InForce, Inventory, Standing, folder_key};
use agentctl_host::home::Home;
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::path::Path;

fn inventory(root: &Path) -> Inventory {
    Inventory::of(root, &agentctl::pack::is_built_in).unwrap()
}

fn write(root: &Path, name: &str, text: &[u8]) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// As much as a busy team's folder has: every built-in agent and skill replaced, a catalog of its own, six servers.
fn fill(root: &Path) {
    let prompt = "Say what is, and what is not known.\n".repeat(120);
    for agent in ["analyst", "architect", "builder", "qa", "researcher"] {
        write(root, &format!("agents/{agent}.md"), prompt.as_bytes());
    }
    write(root, "agents/flow.yaml", prompt.repeat(4).as_bytes());
    write(root, "agents/policy.yaml", prompt.as_bytes());
    for folder in ["skills", ".claude/skills"] {
        for skill in 0..6 {
            let at = format!("{folder}/skill-{skill}");
            write(root, &format!("{at}/SKILL.md"), prompt.repeat(2).as_bytes());
            for part in 0..3 {
                write(
                    root,
                    &format!("{at}/references/{part}.md"),
                    prompt.as_bytes(),
                );
            }
        }
    }
    let settings = "[models]\ndefault = \"a::m\"\n[providers.a]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/\"\n[n8n]\nbackend = \"rest\"\n";
    write(root, "agentctl.toml", settings.as_bytes());
    let servers: Vec<String> = (0..6)
        .map(|n| format!(r#""s{n}": {{"command": "npx", "args": ["-y", "server-{n}"], "env": {{"KEY": "${{KEY_{n}}}"}}}}"#))
        .collect();
    let servers = format!(r#"{{"mcpServers": {{{}}}}}"#, servers.join(", "));
    write(root, ".mcp.json", servers.as_bytes());
    // As large as the compiled-in one.
    write(root, "n8n-catalog.bin", &vec![7; 300 * 1024]);
}

fn benches(c: &mut Criterion) {
    let (project, outside, empty) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    fill(project.path());
    let dir = outside.path().join("home").display().to_string();
    let find = |root: &Path| {
        Home::find(|name| (name == "AGENTCTL_HOME").then(|| dir.clone()), root).unwrap()
    };
    let (home, key) = (find(project.path()), folder_key(project.path()).unwrap());
    Book::trust(&home, &key, &inventory(project.path()), "now").unwrap();
    for n in 0..200 {
        // Other folders of the same user.
        let other = format!("/somewhere/else/{n}");
        Book::trust(&home, &other, &inventory(project.path()), "now").unwrap();
    }
    let start = |root: &Path| {
        let found = inventory(root);
        let book = Book::read(&find(root), &folder_key(root).unwrap()).unwrap();
        InForce::judge(found, Basis::Kept(book.folder()))
    };
    assert_eq!(start(project.path()).standing(), Standing::Trusted);
    c.bench_function("trust/a start in a folder with everything", |b| {
        b.iter(|| black_box(start(project.path())));
    });
    c.bench_function("trust/the inventory of it alone", |b| {
        b.iter(|| black_box(inventory(project.path())));
    });
    c.bench_function("trust/a start in a folder with nothing", |b| {
        b.iter(|| black_box(start(empty.path())));
    });
}

criterion_group!(trust, benches);
criterion_main!(trust);
