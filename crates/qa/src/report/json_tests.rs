use super::super::fixture::files;
use super::*;
use crate::summary::{Summary, Threshold};

/// As programs know it.
const NAME: &str = "urn:agentctl:schema:qa";

/// The whole answer, which must be what its pieces make together.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    files: &'a [Checked],
    summary: &'a Summary,
}

#[test]
fn the_pieces_make_the_whole() {
    fn pretty(value: &impl Serialize, margin: &str) -> String {
        let text = serde_json::to_string_pretty(value).unwrap();
        text.replace('\n', &format!("\n{margin}"))
    }
    let all = files();
    for files in [&[][..], &all[..1], &all] {
        let summary = Summary::default();
        let mut whole = String::new();
        for (i, file) in files.iter().enumerate() {
            whole.push_str(before_file(i == 0));
            whole.push_str(&pretty(file, FILE_MARGIN));
        }
        whole.push_str(before_summary(files.is_empty()));
        whole.push_str(&pretty(&summary, SUMMARY_MARGIN));
        whole.push_str(END);
        let summary = &summary;
        let answer = serde_json::to_string_pretty(&Answer {
            schema: NAME,
            files,
            summary,
        })
        .unwrap();
        assert_eq!(whole, format!("{answer}\n"));
    }
}

#[test]
fn the_form_is_fixed_and_shows_no_secret() {
    let files = files();
    let mut summary = Summary::default();
    for file in &files {
        summary.add(file, Threshold::Error);
    }
    let answer = Answer {
        schema: NAME,
        files: &files,
        summary: &summary,
    };
    insta::assert_snapshot!(serde_json::to_string_pretty(&answer).unwrap(), @r#"
    {
      "$schema": "urn:agentctl:schema:qa",
      "files": [
        {
          "path": "/repo/w/ü 1.json",
          "workflow": "One",
          "nodes": 2,
          "findings": [
            {
              "id": "a1",
              "code": "agentctl/missing-expression-prefix",
              "severity": "error",
              "node": "A <b> & \"c\"",
              "node_id": "id-A <b> & \"c\"",
              "pointer": "/nodes/0/parameters/url",
              "line": 3,
              "column": 5,
              "message": "50% of it,\nsee: this",
              "fix": {
                "confidence": "sure",
                "title": "begin with =",
                "ops": [
                  {
                    "op": "set_parameter",
                    "node": "id-A",
                    "pointer": "/url",
                    "value": "=Bearer [redacted:openai]"
                  }
                ]
              }
            },
            {
              "id": "a2",
              "code": "n8n/credential",
              "severity": "warning",
              "node": "B",
              "node_id": "id-B",
              "pointer": "/nodes/0/parameters/url",
              "line": 3,
              "column": 5,
              "message": "still to connect: Slack API",
              "fix": null
            },
            {
              "id": "a3",
              "code": "n8n/no-trigger",
              "severity": "error",
              "node": null,
              "node_id": null,
              "pointer": "/nodes",
              "line": 3,
              "column": 5,
              "message": "no trigger",
              "fix": null,
              "known": true
            },
            {
              "id": "a4",
              "code": "n8n/credential",
              "severity": "error",
              "node": "C",
              "node_id": "id-C",
              "pointer": "/nodes/0/parameters/url",
              "line": 3,
              "column": 5,
              "message": "\u0001odd",
              "fix": null,
              "waived": {
                "reason": "on purpose",
                "expires": "2027-01-31"
              }
            }
          ]
        },
        {
          "path": "/repo/w/clean.json",
          "workflow": "Two",
          "nodes": 1,
          "findings": []
        }
      ],
      "summary": {
        "files": 2,
        "clean": 1,
        "skipped": [],
        "errors": 1,
        "warnings": 1,
        "infos": 0,
        "known": 1,
        "waived": 1,
        "fixed": 0,
        "by_code": {
          "agentctl/missing-expression-prefix": 1,
          "n8n/credential": 1
        },
        "failed": true
      }
    }
    "#);
}
