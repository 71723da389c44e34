use super::*;
use agentctl_n8n::Severity;

fn finding() -> Finding {
    Finding {
        id: "abc".into(),
        code: "agentctl/unreachable-node".into(),
        severity: Severity::Warning,
        node: Some("Old".into()),
        node_id: Some("id-1".into()),
        pointer: "/nodes/0".into(),
        place: None,
        message: "never runs".into(),
        fix: None,
    }
}

/// The waivers of a whole agentctl.toml, whose other sections are not looked at.
pub(crate) fn of_file(text: &str) -> Result<Vec<Waiver>, BadWaiver> {
    #[derive(Default, Deserialize)]
    struct File {
        #[serde(default)]
        qa: Section,
    }
    let line_of = |offset: usize| 1 + text[..offset].matches('\n').count();
    let file: File = toml::from_str(text).map_err(|e| BadWaiver {
        line: e.span().map_or(1, |span| line_of(span.start)),
        message: e.message().to_owned(),
    })?;
    file.qa.waivers(&line_of)
}

fn waiver(body: &str) -> Result<Waiver, BadWaiver> {
    let text = format!("[models]\ndefault = \"offline\"\n\n[[qa.waiver]]\n{body}\n");
    Ok(of_file(&text)?.into_iter().next().unwrap())
}

const REST: &str = "reason = \"kept\"\nexpires = \"2027-01-31\"\n";

#[test]
fn a_waiver_means_what_it_names() {
    for (body, path, means) in [
        ("code = \"agentctl/unreachable-node\"", "w/a.json", true),
        ("code = \"agentctl/\"", "w/a.json", true),
        ("code = \"n8n/credential\"", "w/a.json", false),
        ("code = \"unreachable-node\"", "w/a.json", true),
        ("code = \"n8n/\"", "w/a.json", false),
        ("id = \"abc\"", "w/a.json", true),
        ("id = \"abd\"", "w/a.json", false),
        ("code = \"agentctl/\"\nnode = \"Old\"", "w/a.json", true),
        ("code = \"agentctl/\"\nnode = \"id-1\"", "w/a.json", true),
        ("code = \"agentctl/\"\nnode = \"New\"", "w/a.json", false),
        (
            "code = \"agentctl/\"\npath = \"w/*.json\"",
            "w/a.json",
            true,
        ),
        (
            "code = \"agentctl/\"\npath = \"w/*.json\"",
            "w/b/a.json",
            false,
        ),
        (
            "code = \"agentctl/\"\npath = \"**/a.json\"",
            "w/b/a.json",
            true,
        ),
        ("code = \"agentctl/\"\npath = \"**/a.json\"", "a.json", true),
        ("code = \"agentctl/\"\npath = \"./w/\"", "w/b/a.json", true),
        ("code = \"agentctl/\"\npath = \"w\"", "ww/a.json", false),
        (
            "code = \"agentctl/\"\npath = \"w/?.json\"",
            "w/a.json",
            true,
        ),
        (
            "code = \"agentctl/\"\npath = \"w/a+json\"",
            "w/aajson",
            false,
        ),
    ] {
        let waiver = waiver(&format!("{body}\n{REST}")).unwrap();
        assert_eq!(waiver.means(&finding(), path), means, "{body} on {path}");
    }
}

#[test]
fn it_holds_through_its_last_day() {
    for expires in ["\"2027-01-31\"", "2027-01-31"] {
        let waiver = waiver(&format!("id = \"a\"\nreason = \"r\"\nexpires = {expires}")).unwrap();
        assert!(waiver.holds_on("2027-01-31".parse().unwrap()));
        assert!(!waiver.holds_on("2027-02-01".parse().unwrap()));
        assert_eq!(waiver.line, 4);
    }
}

#[test]
fn a_waiver_without_reason_or_day_is_refused_with_its_line() {
    let error = |body: &str| waiver(body).unwrap_err().to_string();
    insta::assert_snapshot!(error("code = \"n8n/\"\nexpires = \"2027-01-31\""), @"line 4: missing field `reason`");
    insta::assert_snapshot!(error("code = \"n8n/\"\nreason = \"kept\""), @"line 4: missing field `expires`");
    insta::assert_snapshot!(error("code = \"n8n/\"\nreason = \" \"\nexpires = \"2027-01-31\""), @"line 4: a waiver needs a reason");
    insta::assert_snapshot!(error(REST), @"line 4: a waiver needs the code or the id of what it waives");
    insta::assert_snapshot!(error("id = \"a\"\nreason = \"kept\"\nexpires = \"soon\""), @r#"line 4: `expires` is "soon"; write a day like 2027-01-31"#);
    insta::assert_snapshot!(error("id = \"a\"\nreson = \"kept\"\nexpires = \"soon\""), @"line 6: unknown field `reson`, expected one of `code`, `id`, `path`, `node`, `reason`, `expires`");
    insta::assert_snapshot!(error(&format!("code = \"agentctl/unreachable\"\n{REST}")), @r#"line 4: no finding has the code "agentctl/unreachable"; did you mean agentctl/unreachable-node?"#);
    assert!(of_file("").unwrap().is_empty());
}
