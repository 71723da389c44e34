//! JUnit XML: a suite for each file, a case for each dialogue; what does not hold is its failure.

use super::play::Played;
use agentctl_qa::report::junit::escaped;
use std::fmt::Write as _;

/// `files`: what messages call each file, and what was played of it.
pub fn junit(files: &[(String, &[Played])]) -> String {
    let mut suites = String::new();
    let (mut tests, mut failures) = (0, 0);
    for (file, played) in files {
        let failed = played.iter().filter(|one| one.failed() > 0).count();
        // Writing to a String cannot fail.
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\" time=\"0\">",
            escaped(file),
            played.len()
        );
        for one in *played {
            case(file, one, &mut suites);
        }
        suites.push_str("  </testsuite>\n");
        tests += played.len();
        failures += failed;
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"agentctl packs test\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" time=\"0\">\n{suites}</testsuites>\n"
    )
}

fn case(file: &str, played: &Played, out: &mut String) {
    let (class, name) = (escaped(file), escaped(&played.name));
    let failed = played.failed();
    if failed == 0 {
        let _ = writeln!(
            out,
            "    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\"/>"
        );
        return;
    }
    let mut text = String::new();
    for (turn, n) in played.turns.iter().zip(1..) {
        for held in &turn.held {
            if let Some(got) = &held.got {
                let _ = writeln!(
                    text,
                    "{file}:{}: turn {n}: {} does not hold: {got}",
                    held.place.line, held.name
                );
            }
        }
    }
    let _ = writeln!(
        out,
        "    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\">\n      <failure type=\"expectation\" message=\"{failed} expectations do not hold\">{}</failure>\n    </testcase>",
        escaped(&text)
    );
}
