use super::super::fixture::files;
use super::*;

#[test]
fn open_findings_are_commands_on_one_line_each() {
    insta::assert_snapshot!(annotations(&files(), Path::new("/repo")), @r#"
    ::error file=w/ü 1.json,line=3,endLine=3,col=5,endColumn=12,title=agentctl/missing-expression-prefix::A <b> & "c": 50%25 of it,%0Asee: this
    ::warning file=w/ü 1.json,line=3,endLine=3,col=5,endColumn=12,title=n8n/credential::B: still to connect: Slack API
    "#);
}
