use super::*;
use std::borrow::Cow;

const SKILL: &str = "---\nname: demo\ndescription: d\n---\n\n# Demo\ntext\n";

fn embedded() -> Skill {
    Skill {
        name: "demo".into(),
        description: "d".into(),
        place: SkillPlace::Embedded(vec![
            ("SKILL.md".into(), Cow::Borrowed(SKILL.as_bytes())),
            ("references/a.md".into(), Cow::Borrowed(b"A")),
        ]),
    }
}

fn on_disk(root: &Path) -> Skill {
    let folder = root.join("skills/own");
    std::fs::create_dir_all(folder.join("references")).unwrap();
    std::fs::write(folder.join("SKILL.md"), SKILL).unwrap();
    std::fs::write(folder.join("references/a.md"), "A").unwrap();
    std::fs::write(root.join("outside.md"), "secret").unwrap();
    Skill {
        name: "own".into(),
        description: "d".into(),
        place: SkillPlace::Folder {
            root: root.to_owned(),
            below: "skills/own".into(),
        },
    }
}

#[test]
fn a_skill_is_its_body_and_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let knowledge = Knowledge::new(dir.path(), [embedded(), on_disk(dir.path())]);
    for name in ["demo", "own"] {
        let text = knowledge.load_skill(name).unwrap();
        assert_eq!(text.body, "# Demo\ntext\n");
        assert_eq!(text.files, ["references/a.md"]);
        assert_eq!(
            knowledge.skill_file(name, "./references/a.md"),
            Ok("A".into())
        );
        assert!(matches!(
            knowledge.skill_file(name, "references/none.md"),
            Err(KnowledgeError::NotFound { .. })
        ));
    }
    assert_eq!(
        knowledge.load_skill("other"),
        Err(KnowledgeError::NotFound {
            what: "skill",
            name: "other".into(),
            known: vec!["demo".into(), "own".into()],
        })
    );
}

#[test]
fn a_skill_file_cannot_leave_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let skill = on_disk(dir.path());
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        dir.path().join("outside.md"),
        dir.path().join("skills/own/link.md"),
    )
    .unwrap();
    let absolute = dir.path().join("outside.md");
    let knowledge = Knowledge::new(dir.path(), [skill]);
    for path in [
        "../../outside.md",
        "references/../../../outside.md",
        absolute.to_str().unwrap(),
        "..\\..\\outside.md",
        "link.md",
        "references",
        "a\0b",
        "",
        ".",
    ] {
        let result = knowledge.skill_file("own", path);
        assert!(result.is_err(), "{path:?} gave {result:?}");
    }
}
