//! What is kept of a folder, and what becomes of it when the folder changes later.

use super::trust_tests::{Place, inventory};
use super::*;

#[test]
fn what_one_file_held_of_all_folders_counts_until_a_folder_has_its_own() {
    let place = Place::full();
    let home = place.home();
    // With what a later version of the same number adds.
    let old = br#"{"version": 1, "folders": {"/a": {"at": "x", "items": {"y": "z"}, "later": 1}}, "n8n": {"/a/.agentctl/n8n": "h"}, "later": {}}"#;
    home.write("trust.json", old).unwrap();
    let read = |key: &str| Book::read(&home, key).unwrap();
    assert_eq!(read("/a").folder().unwrap().items["y"], "z");
    assert_eq!(read("/a").n8n(N8N_DATA), Some("h"));
    assert_eq!(read("/b"), Book::default());
    // What is said now takes nothing else away, and a folder that is forgotten stays forgotten.
    Book::trust(&home, "/a", &inventory(place.path()), "now").unwrap();
    assert!(!read("/a").folder().unwrap().items.contains_key("y"));
    assert_eq!(read("/a").n8n(N8N_DATA), Some("h"));
    assert!(Book::revoke(&home, "/a").unwrap());
    assert_eq!(
        (read("/a").folder(), read("/a").n8n(N8N_DATA)),
        (None, None)
    );
    assert_eq!(home.read("trust.json").unwrap().unwrap(), old);
}

#[test]
fn what_was_approved_and_is_gone_stands_in_the_way_until_that_is_approved() {
    let place = Place::full();
    let home = place.home();
    let key = folder_key(place.path()).unwrap();
    for (gone, uses) in [
        ("agents/architect.md", "pack"),
        ("agents/flow.yaml", "pack"),
        ("agents/policy.yaml", "pack"),
        ("skills/a/SKILL.md", "pack"),
        (".claude/skills/b/SKILL.md", "pack"),
        ("agentctl.toml", "settings"),
        ("n8n-catalog.bin", "catalog"),
        (".mcp.json", "servers"),
    ] {
        place.trust(&home);
        let path = place.path().join(gone);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let judged = place.judged(&home);
        assert_eq!(judged.standing(), Standing::Changed, "{gone}");
        let found = [
            ("pack", judged.pack().map(|_| ())),
            ("settings", judged.settings().map(|_| ())),
            ("catalog", judged.catalog().map(|_| ())),
            ("servers", judged.servers_or_none().map(|_| ())),
        ];
        for (what, found) in found {
            match found {
                Ok(()) => assert_ne!(what, uses, "{gone}"),
                Err(why) => {
                    assert_eq!(what, uses, "{gone}");
                    let told = why.to_string();
                    assert!(
                        told.ends_with("was changed since this folder was trusted: it is gone"),
                        "{told}"
                    );
                }
            }
        }
        // The word for it, and the file that comes back, which nobody approved then.
        Book::trust(&home, &key, &inventory(place.path()), "now").unwrap();
        assert_eq!(place.judged(&home).standing(), Standing::Trusted, "{gone}");
        place.write(gone, &text);
        assert_eq!(place.judged(&home).standing(), Standing::Changed, "{gone}");
    }
    // Of a folder whose files went away altogether, too.
    place.trust(&home);
    for entry in std::fs::read_dir(place.path()).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => std::fs::remove_dir_all(path).unwrap(),
            false => std::fs::remove_file(path).unwrap(),
        }
    }
    assert_eq!(place.judged(&home).standing(), Standing::Changed);
    assert!(place.judged(&home).pack().is_err());
}

#[cfg(unix)]
#[test]
fn an_approved_skill_that_cannot_be_read_any_more_is_not_left_out_silently() {
    let place = Place::full();
    let home = place.home();
    place.trust(&home);
    let skill = place.path().join("skills/a");
    std::fs::remove_dir_all(&skill).unwrap();
    std::fs::create_dir_all(place.outside.path().join("skill")).unwrap();
    std::fs::write(place.outside.path().join("skill/SKILL.md"), "x").unwrap();
    std::os::unix::fs::symlink(place.outside.path().join("skill"), &skill).unwrap();
    assert!(place.judged(&home).pack().is_err());
    // Looked at again, it is left out like any other of its kind.
    place.trust(&home);
    let judged = place.judged(&home);
    assert_eq!(judged.standing(), Standing::Trusted);
    assert!(judged.pack().unwrap().left_out.contains("skills/a"));
}

#[test]
fn a_no_is_for_these_files_and_lasts_until_the_folder_is_trusted() {
    let place = Place::full();
    let home = place.home();
    let key = folder_key(place.path()).unwrap();
    let refuses = || {
        let book = Book::read(&home, &key).unwrap();
        book.refuses(&inventory(place.path()))
    };
    assert!(!refuses());
    Book::refuse(&home, &key, &inventory(place.path())).unwrap();
    assert!(refuses());
    assert_eq!(place.judged(&home).standing(), Standing::Restricted);
    place.write("agents/architect.md", "other");
    assert!(!refuses());
    Book::refuse(&home, &key, &inventory(place.path())).unwrap();
    place.trust(&home);
    assert!(!refuses());
}

#[test]
fn plain_data_of_a_pack_counts_where_init_made_the_folder_and_nowhere_else() {
    let place = Place::full();
    std::fs::remove_dir_all(place.path().join("packs")).unwrap();
    place.write("packs/desk/data/teams.yaml", "[]");
    let home = place.home();
    let key = folder_key(place.path()).unwrap();
    let verdict = || {
        let judged = place.judged(&home);
        let found = judged.items().iter().find(|j| j.item.name == "packs/desk");
        found.unwrap().verdict.clone()
    };
    assert_eq!(verdict(), Verdict::New);
    Book::add(&home, &key, &[], &[], true, "now").unwrap();
    assert_eq!(verdict(), Verdict::Trusted);
    place.write("packs/desk/data/teams.yaml", "[{}]");
    assert_eq!(verdict(), Verdict::Trusted);
    // With anything else in it the folder is no plain data.
    for other in [
        "packs/desk/data/teams.schema.json",
        "packs/desk/agents/turn.flow.yaml",
        "packs/desk/pack.yaml",
    ] {
        place.write(other, "{}");
        assert_eq!(verdict(), Verdict::New, "{other}");
        std::fs::remove_file(place.path().join(other)).unwrap();
    }
    // Of a folder that was looked at and approved, what was approved counts.
    place.trust(&home);
    place.write("packs/desk/data/teams.yaml", "[{}, {}]");
    assert_eq!(verdict(), Verdict::Changed);
}
