use super::super::fixture::files;
use super::*;

#[test]
fn what_fails_the_check_is_a_failure() {
    insta::assert_snapshot!(junit(&files(), Threshold::Error, Path::new("/repo")), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="agentctl qa" tests="5" failures="1" errors="0" time="0">
      <testsuite name="w/ü 1.json" tests="4" failures="1" errors="0" skipped="2" time="0">
        <testcase classname="w/ü 1.json" name="agentctl/missing-expression-prefix [A &lt;b&gt; &amp; &quot;c&quot;] a1" time="0"><failure type="agentctl/missing-expression-prefix" message="50% of it,&#10;see: this">error agentctl/missing-expression-prefix [A &lt;b&gt; &amp; &quot;c&quot;]&#10;50% of it,&#10;see: this&#10;at w/ü 1.json:3:5 /nodes/0/parameters/url&#10;</failure></testcase>
        <testcase classname="w/ü 1.json" name="n8n/credential [B] a2" time="0"><system-out>warning n8n/credential [B]&#10;still to connect: Slack API&#10;at w/ü 1.json:3:5 /nodes/0/parameters/url&#10;</system-out></testcase>
        <testcase classname="w/ü 1.json" name="n8n/no-trigger a3" time="0"><skipped message="in the baseline"/></testcase>
        <testcase classname="w/ü 1.json" name="n8n/credential [C] a4" time="0"><skipped message="waived until 2027-01-31: on purpose"/></testcase>
      </testsuite>
      <testsuite name="w/clean.json" tests="1" failures="0" errors="0" skipped="0" time="0">
        <testcase classname="w/clean.json" name="Two" time="0"/>
      </testsuite>
    </testsuites>
    "#);
}

#[test]
fn the_threshold_decides() {
    let line = |threshold| {
        junit(&files(), threshold, Path::new("/repo"))
            .lines()
            .nth(1)
            .unwrap()
            .to_owned()
    };
    insta::assert_snapshot!(line(Threshold::Warning), @r#"<testsuites name="agentctl qa" tests="5" failures="2" errors="0" time="0">"#);
    insta::assert_snapshot!(line(Threshold::Never), @r#"<testsuites name="agentctl qa" tests="5" failures="0" errors="0" time="0">"#);
}
