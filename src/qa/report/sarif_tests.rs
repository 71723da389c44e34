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
