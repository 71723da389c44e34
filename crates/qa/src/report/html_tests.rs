use super::super::fixture::files;
use super::*;
use crate::summary::Threshold;

fn page(files: &[Checked]) -> String {
    let mut summary = Summary::default();
    for file in files {
        summary.add(file, Threshold::Error);
    }
    let hide = |of: &str| of.replace("Slack API", "[hidden]");
    html(files, &summary, Path::new("/repo"), &hide)
}

#[test]
fn every_finding_is_a_row_with_its_place_and_state() {
    let page = page(&files());
    let (_, body) = page.split_once("<tbody>").unwrap();
    let (body, _) = body.split_once("</tbody>").unwrap();
    let rows: Vec<&str> = body.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(
        rows[0],
        "<tr><td><span class=\"error\">error</span></td><td>agentctl/missing-expression-prefix</td><td>w/ü 1.json:3:5</td><td>One</td><td>A &lt;b&gt; &amp; &quot;c&quot;</td><td>50% of it, see: this (fix: begin with =)</td><td>open</td></tr>"
    );
    assert!(
        rows[1].contains("still to connect: [hidden]"),
        "{}",
        rows[1]
    );
    assert!(rows[3].contains("waived until 2027-01-31: on purpose") && !rows[3].contains('\u{1}'));
    assert!(page.contains("<dt>1</dt><dd><code>n8n/credential</code></dd>"));
    assert!(page.contains("The check failed."));
}

#[test]
fn a_hostile_name_is_text_and_the_only_script_is_the_one_that_the_policy_names() {
    let mut files = files();
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>";
    files[0].path = format!("/repo/{hostile}.json");
    files[0].workflow = Some(hostile.to_owned());
    for judged in &mut files[0].findings {
        judged.finding.node = Some(hostile.to_owned());
        judged.finding.message = hostile.to_owned();
        judged.finding.code = hostile.to_owned();
    }
    let page = page(&files);
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("</script").count(), 1);
    assert!(!page.contains("<img"));
    assert!(page.contains("script-src 'sha256-") && !page.contains("unsafe"));
}
