//! Two checked files for the tests of the reports: one with every kind of finding, one clean.

use crate::check::{Checked, Judged, State};
use crate::place::Place;
use agentctl_n8n::edit::EditOp;
use agentctl_n8n::finding::{Confidence, Finding, Fix, Severity};

fn judged(
    id: &str,
    code: &str,
    severity: Severity,
    node: Option<&str>,
    message: &str,
    state: State,
) -> Judged {
    Judged {
        finding: Finding {
            id: id.into(),
            code: code.into(),
            severity,
            node: node.map(str::to_owned),
            node_id: node.map(|n| format!("id-{n}")),
            pointer: if node.is_some() {
                "/nodes/0/parameters/url".into()
            } else {
                "/nodes".into()
            },
            place: None,
            message: message.into(),
            fix: None,
        },
        place: Place {
            line: 3,
            column: 5,
            end_line: 3,
            end_column: 12,
        },
        state,
    }
}

pub(super) fn files() -> Vec<Checked> {
    let mut fixable = judged(
        "a1",
        "agentctl/missing-expression-prefix",
        Severity::Error,
        Some("A <b> & \"c\""),
        "50% of it,\nsee: this",
        State::Open,
    );
    fixable.finding.fix = Some(Fix {
        confidence: Confidence::Sure,
        title: "begin with =".into(),
        ops: vec![EditOp::SetParameter {
            node: "id-A".into(),
            pointer: "/url".into(),
            value: "=Bearer sk-proj-abcdefghijklmnopqrstuvwx0123".into(),
        }],
    });
    vec![
        Checked {
            path: "/repo/w/ü 1.json".into(),
            workflow: Some("One".into()),
            nodes: 2,
            findings: vec![
                fixable,
                judged(
                    "a2",
                    "n8n/credential",
                    Severity::Warning,
                    Some("B"),
                    "still to connect: Slack API",
                    State::Open,
                ),
                judged(
                    "a3",
                    "n8n/no-trigger",
                    Severity::Error,
                    None,
                    "no trigger",
                    State::Known,
                ),
                judged(
                    "a4",
                    "n8n/credential",
                    Severity::Error,
                    Some("C"),
                    "\u{1}odd",
                    State::Waived {
                        reason: "on purpose".into(),
                        expires: "2027-01-31".parse().unwrap(),
                    },
                ),
            ],
            mended: None,
        },
        Checked {
            path: "/repo/w/clean.json".into(),
            workflow: Some("Two".into()),
            nodes: 1,
            findings: Vec::new(),
            mended: None,
        },
    ]
}
