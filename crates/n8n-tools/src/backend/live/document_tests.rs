use super::*;

#[test]
fn a_request_leaves_out_what_n8n_does_not_take_and_what_says_nothing() {
    let workflow: Workflow = serde_json::from_value(json!({
        "name": "Any",
        "nodes": [{
            "id": "1", "name": "A", "type": "t.a", "typeVersion": 1, "position": [0, 0], "parameters": {"x": null},
            "createdAt": "x", "updatedAt": "y", "extendsCredential": "slackApi", "waitBetweenTries": null, "colour": "red"
        }],
        "connections": {},
        "settings": {
            "executionOrder": "v1", "availableInMCP": true, "timezone": null, "binaryMode": "separate", "timeSavedMode": "dynamic"
        }
    }))
    .unwrap();
    let body = to_create(&workflow, false);
    assert_eq!(
        Value::Object(body),
        json!({
            "name": "Any",
            "nodes": [{
                "id": "1", "name": "A", "type": "t.a", "typeVersion": 1, "position": [0, 0], "parameters": {"x": null}, "colour": "red"
            }],
            "connections": {},
            "settings": {"executionOrder": "v1", "timeSavedMode": "dynamic"}
        })
    );
}
