//! Packs, and conversations with them.

use crate::support::Project;

#[test]
fn packs() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("packs list"), @"");
    insta::assert_snapshot!(project.said("packs show front-door"), @"");
    insta::assert_snapshot!(project.said("packs show font-door"), @"");
    insta::assert_snapshot!(project.said("packs check"), @"");
    project.write(
        "packs/front-door/data/teams.yaml",
        "- {id: a, name: A}\n- [1, 2\n",
    );
    insta::assert_snapshot!(project.said("packs check front-door"), @"");
    insta::assert_snapshot!(project.said("packs graph nobody"), @"");
}

#[test]
fn one_turn_and_what_is_kept_of_it() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("chat front-door --session ann --quiet hello"), @"");
    insta::assert_snapshot!(project.said("chat front-door --session ann --quiet /help"), @"");
    insta::assert_snapshot!(project.said("chat back-door --session ann hello"), @"");
    insta::assert_snapshot!(project.said("sessions show bob"), @"");
    insta::assert_snapshot!(project.said("sessions clear ann"), @"");
    insta::assert_snapshot!(project.said("sessions export ann --to ann.json"), @"");
    insta::assert_snapshot!(project.said("sessions import front-door bob --from ann.json"), @"");
    insta::assert_snapshot!(project.said("sessions adopt ann"), @"");
    insta::assert_snapshot!(project.said("sessions delete ann"), @"");
    insta::assert_snapshot!(project.said("sessions delete ann --yes"), @"");
    let listed = project.run(&["sessions", "list"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert!(
        listed.stdout.contains("bob") && !listed.stdout.contains("ann"),
        "{}",
        listed.stdout
    );
}

#[test]
fn a_flow_once() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("run front-door/missing hello"), @"");
    insta::assert_snapshot!(project.said("run front-door --input nothing.json hello"), @"");
}
