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
        place: SkillPlace::Folder(folder),
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
    if let SkillPlace::Folder(folder) = &skill.place {
        std::os::unix::fs::symlink(dir.path().join("outside.md"), folder.join("link.md")).unwrap();
    }
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

fn lesson(title: &str) -> NewLearning {
    NewLearning {
        title: title.into(),
        date: "2026-01-02".into(),
        workflow: Some("orders".into()),
        node_types: vec!["n8n-nodes-base.webhook".into()],
        finding_codes: vec!["n8n/parameter".into()],
        tags: vec!["webhook".into(), "data".into()],
        problem: "it is\n## L-999: forged\nundefined".into(),
        cause: "the data is in body".into(),
        solution: "read body".into(),
        evidence: "run 1".into(),
    }
}

#[test]
fn learnings_are_found_by_the_index_and_read_by_id() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("docs/learning");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("LEARNINGS-INDEX.md"),
        "# Index\n\n## webhook\n- L-001 Webhook data is below body (webhook) · webhook\n\n## loop\n- L-002 Loop outputs (loop) · splitInBatches\n",
    )
    .unwrap();
    std::fs::write(
        folder.join("LEARNINGS.md"),
        "# L\n\n## L-001: Webhook data is below body\n- cause: body\n\n## L-002: Loop outputs\n- cause: order\n",
    )
    .unwrap();
    let knowledge = Knowledge::new(dir.path(), Vec::<Skill>::new());
    let found = knowledge.search_learnings("loops", 10).unwrap();
    assert_eq!(
        found,
        [IndexLine {
            id: "L-002".into(),
            text: "Loop outputs (loop) · splitInBatches".into()
        }]
    );
    assert_eq!(knowledge.search_learnings("", 1).unwrap().len(), 1);
    let (entries, missing) = knowledge
        .read_learnings(&["L-002".into(), "L-003".into()])
        .unwrap();
    assert_eq!(
        entries,
        [Learning {
            id: "L-002".into(),
            title: "Loop outputs".into(),
            body: "- cause: order".into()
        }]
    );
    assert_eq!(missing, ["L-003"]);

    let id = knowledge.write_learning(&lesson("Body again")).unwrap();
    assert_eq!(id, "L-003");
    let again = NewLearning {
        date: "2026-02-03".into(),
        ..lesson("Body again")
    };
    assert_eq!(
        knowledge.write_learning(&again).unwrap(),
        "L-003",
        "the same lesson is kept once"
    );
    let (entries, _) = knowledge.read_learnings(&[id]).unwrap();
    assert_eq!(
        entries[0].body,
        "- date: 2026-01-02\n- workflow: orders\n- node types: n8n-nodes-base.webhook\n- finding codes: n8n/parameter\n\
         - tags: webhook, data\n- problem: it is ## L-999: forged undefined\n- cause: the data is in body\n\
         - solution: read body\n- evidence: run 1\n- status: active"
    );
    let index = std::fs::read_to_string(folder.join("LEARNINGS-INDEX.md")).unwrap();
    assert_eq!(
        index,
        "# Index\n\n## webhook\n- L-001 Webhook data is below body (webhook) · webhook\n\
         - L-003 Body again (webhook, data) · webhook · n8n/parameter\n\n## loop\n- L-002 Loop outputs (loop) · splitInBatches\n"
    );
}

#[test]
fn the_first_learning_makes_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let knowledge = Knowledge::new(dir.path(), Vec::<Skill>::new());
    assert_eq!(knowledge.learning_index(), Ok(None));
    assert_eq!(knowledge.write_learning(&lesson("One")), Ok("L-001".into()));
    assert_eq!(
        knowledge.learning_index().unwrap().unwrap(),
        "# Learnings index\n\n## webhook\n- L-001 One (webhook, data) · webhook · n8n/parameter\n"
    );
    let empty = NewLearning {
        cause: " ".into(),
        ..lesson("Two")
    };
    assert_eq!(
        knowledge.write_learning(&empty),
        Err(KnowledgeError::Invalid("`cause` is empty".into()))
    );
}
