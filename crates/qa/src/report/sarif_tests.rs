use super::super::fixture::files;
use super::*;

#[test]
fn a_run_has_rules_results_places_and_suppressions() {
    let mut log = sarif(&files(), Path::new("/repo"));
    for rule in log["runs"][0]["tool"]["driver"]["rules"]
        .as_array_mut()
        .unwrap()
    {
        // The pages are docs, which change.
        let help = rule.as_object_mut().unwrap().remove("help").unwrap();
        assert!(help["markdown"].as_str().unwrap().starts_with("# "));
    }
    insta::assert_snapshot!(version_hidden(format!("{log:#}")), @r#"
    {
      "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
      "version": "2.1.0",
      "runs": [
        {
          "tool": {
            "driver": {
              "name": "agentctl",
              "semanticVersion": "VERSION",
              "rules": [
                {
                  "id": "agentctl/missing-expression-prefix",
                  "name": "AgentctlMissingExpressionPrefix",
                  "shortDescription": {
                    "text": "Missing expression prefix"
                  },
                  "fullDescription": {
                    "text": "Without a leading = n8n takes {{ }} as plain text."
                  },
                  "defaultConfiguration": {
                    "level": "error"
                  }
                },
                {
                  "id": "n8n/credential",
                  "name": "N8nCredential",
                  "shortDescription": {
                    "text": "Credential"
                  },
                  "fullDescription": {
                    "text": "n8n does not publish a node whose account is not connected."
                  },
                  "defaultConfiguration": {
                    "level": "warning"
                  }
                },
                {
                  "id": "n8n/no-trigger",
                  "name": "N8nNoTrigger",
                  "shortDescription": {
                    "text": "No trigger"
                  },
                  "fullDescription": {
                    "text": "n8n does not publish a workflow that nothing can start."
                  },
                  "defaultConfiguration": {
                    "level": "error"
                  }
                }
              ]
            }
          },
          "columnKind": "unicodeCodePoints",
          "results": [
            {
              "ruleId": "agentctl/missing-expression-prefix",
              "level": "error",
              "message": {
                "text": "A <b> & \"c\": 50% of it,\nsee: this"
              },
              "locations": [
                {
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "w/%C3%BC%201.json"
                    },
                    "region": {
                      "startLine": 3,
                      "startColumn": 5,
                      "endLine": 3,
                      "endColumn": 12
                    }
                  },
                  "logicalLocations": [
                    {
                      "name": "A <b> & \"c\"",
                      "fullyQualifiedName": "/nodes/0/parameters/url",
                      "kind": "element"
                    }
                  ]
                }
              ],
              "partialFingerprints": {
                "agentctlFindingId/v1": "a1"
              },
              "properties": {
                "pointer": "/nodes/0/parameters/url",
                "nodeId": "id-A <b> & \"c\"",
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
              "ruleIndex": 0
            },
            {
              "ruleId": "n8n/credential",
              "level": "warning",
              "message": {
                "text": "B: still to connect: Slack API"
              },
              "locations": [
                {
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "w/%C3%BC%201.json"
                    },
                    "region": {
                      "startLine": 3,
                      "startColumn": 5,
                      "endLine": 3,
                      "endColumn": 12
                    }
                  },
                  "logicalLocations": [
                    {
                      "name": "B",
                      "fullyQualifiedName": "/nodes/0/parameters/url",
                      "kind": "element"
                    }
                  ]
                }
              ],
              "partialFingerprints": {
                "agentctlFindingId/v1": "a2"
              },
              "properties": {
                "pointer": "/nodes/0/parameters/url",
                "nodeId": "id-B",
                "fix": null
              },
              "ruleIndex": 1
            },
            {
              "ruleId": "n8n/no-trigger",
              "level": "error",
              "message": {
                "text": "no trigger"
              },
              "locations": [
                {
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "w/%C3%BC%201.json"
                    },
                    "region": {
                      "startLine": 3,
                      "startColumn": 5,
                      "endLine": 3,
                      "endColumn": 12
                    }
                  }
                }
              ],
              "partialFingerprints": {
                "agentctlFindingId/v1": "a3"
              },
              "properties": {
                "pointer": "/nodes",
                "nodeId": null,
                "fix": null
              },
              "ruleIndex": 2,
              "suppressions": [
                {
                  "kind": "external",
                  "justification": "in the baseline"
                }
              ]
            },
            {
              "ruleId": "n8n/credential",
              "level": "error",
              "message": {
                "text": "C: \u0001odd"
              },
              "locations": [
                {
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "w/%C3%BC%201.json"
                    },
                    "region": {
                      "startLine": 3,
                      "startColumn": 5,
                      "endLine": 3,
                      "endColumn": 12
                    }
                  },
                  "logicalLocations": [
                    {
                      "name": "C",
                      "fullyQualifiedName": "/nodes/0/parameters/url",
                      "kind": "element"
                    }
                  ]
                }
              ],
              "partialFingerprints": {
                "agentctlFindingId/v1": "a4"
              },
              "properties": {
                "pointer": "/nodes/0/parameters/url",
                "nodeId": "id-C",
                "fix": null
              },
              "ruleIndex": 1,
              "suppressions": [
                {
                  "kind": "external",
                  "justification": "on purpose (until 2027-01-31)"
                }
              ]
            }
          ]
        }
      ]
    }
    "#);
}

fn version_hidden(text: String) -> String {
    text.replace(
        concat!("\"", env!("CARGO_PKG_VERSION"), "\""),
        "\"VERSION\"",
    )
}

#[test]
fn paths_become_uris() {
    assert_eq!(uri("w/ü 1%.json"), "w/%C3%BC%201%25.json");
    assert_eq!(uri("/elsewhere/a.json"), "file:///elsewhere/a.json");
}

/// One finding of every rule there is, with and without a node, in a file of the repository.
fn one_of_each() -> Vec<Checked> {
    let mut files = files();
    let file = files.first_mut().unwrap();
    let model = file.findings.first().unwrap().clone();
    let all = agentctl_n8n::validate::RULES
        .iter()
        .chain(rules::FILE_RULES);
    file.findings = all
        .enumerate()
        .map(|(i, rule)| {
            let mut judged = model.clone();
            judged.finding.code = rule.code.to_owned();
            judged.finding.severity = rule.severity;
            judged.finding.id = format!("{i:012x}");
            if i % 2 == 0 {
                judged.finding.node = None;
            }
            judged
        })
        .collect();
    files
}

/// What GitHub's code scanning asks of a file ("SARIF support for code scanning"): without it an upload is refused, or its
/// alerts have no rule, no text or no line.
#[test]
fn code_scanning_takes_it() {
    /// Of `shortDescription`, `fullDescription`.
    const LONGEST_DESCRIPTION: usize = 1024;
    const LONGEST_NAME: usize = 255;
    let log = sarif(&one_of_each(), Path::new("/repo"));
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let runs = log["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    let driver = &runs[0]["tool"]["driver"];
    assert_eq!(driver["name"], "agentctl");
    let text = |value: &Value| {
        value
            .as_str()
            .filter(|text| !text.is_empty())
            .unwrap()
            .to_owned()
    };
    let mut ids = std::collections::BTreeSet::new();
    let rules = driver["rules"].as_array().unwrap();
    for rule in rules {
        assert!(ids.insert(text(&rule["id"])), "twice: {rule}");
        assert!(text(&rule["name"]).len() <= LONGEST_NAME);
        for description in ["shortDescription", "fullDescription"] {
            assert!(text(&rule[description]["text"]).chars().count() <= LONGEST_DESCRIPTION);
        }
        text(&rule["help"]["text"]);
        text(&rule["help"]["markdown"]);
        let level = text(&rule["defaultConfiguration"]["level"]);
        assert!(["note", "warning", "error"].contains(&level.as_str()));
    }
    let results = runs[0]["results"].as_array().unwrap();
    assert!(results.len() >= rules.len() && rules.len() > 30);
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(result["ruleId"], rule["id"]);
        text(&result["message"]["text"]);
        let level = text(&result["level"]);
        assert!(["note", "warning", "error"].contains(&level.as_str()));
        assert_eq!(result["locations"].as_array().unwrap().len(), 1);
        let place = &result["locations"][0]["physicalLocation"];
        // Relative to the repository, and nothing that a URI may not hold.
        let uri = text(&place["artifactLocation"]["uri"]);
        assert!(
            !uri.starts_with('/') && !uri.contains(':') && uri.is_ascii() && !uri.contains(' ')
        );
        let at = |key: &str| place["region"][key].as_u64().unwrap();
        assert!(at("startLine") >= 1 && at("startColumn") >= 1);
        assert!((at("endLine"), at("endColumn")) >= (at("startLine"), at("startColumn")));
        let prints = result["partialFingerprints"].as_object().unwrap();
        assert!(!prints.is_empty() && prints.values().all(|print| !text(print).is_empty()));
    }
}
