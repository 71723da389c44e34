//! What an edit scope lets pass, and what it names when it does not.

use super::*;

fn scoped(entries: &[&str], list: Value) -> Decision {
    let before = chain(5);
    let entries: Vec<String> = entries.iter().map(|e| (*e).to_owned()).collect();
    edit_scope(&entries, &before, &before, &edited(&before, list))
}

#[test]
fn in_scope_passes() {
    for (scope, list) in [
        // by id, by name
        (
            vec!["id-2"],
            json!([{"op": "set_parameter", "node": "id-2", "pointer": "/x", "value": 9}]),
        ),
        (
            vec!["Node 2"],
            json!([{"op": "set_parameter", "node": "id-2", "pointer": "/x", "value": 9}]),
        ),
        // a rename, and what follows it
        (
            vec!["id-2"],
            json!([{"op": "rename_node", "node": "id-2", "name": "Other"}]),
        ),
        // moving is free
        (
            vec![],
            json!([{"op": "move_node", "node": "id-4", "position": [7, 7]}]),
        ),
        // one end in scope
        (
            vec!["id-2"],
            json!([{"op": "disconnect", "from": "id-1", "to": "id-2"}]),
        ),
        (
            vec!["id-2"],
            json!([{"op": "connect", "from": "id-2", "to": "id-4"}]),
        ),
        (vec!["id-2"], json!([{"op": "remove_node", "node": "id-2"}])),
        // a new node between a node in scope and one that is not
        (
            vec!["id-2"],
            json!([add("New"), {"op": "rewire", "from": "id-2", "to": "id-3", "new_to": "New"}, {"op": "connect", "from": "New", "to": "id-3"}]),
        ),
        // two new ones in a row
        (
            vec!["id-4"],
            json!([add("A"), add("B"), {"op": "connect", "from": "id-4", "to": "A"}, {"op": "connect", "from": "A", "to": "B"}]),
        ),
        // one in place of another
        (
            vec!["id-2"],
            json!([{"op": "remove_node", "node": "id-2"}, add("New"), {"op": "connect", "from": "id-1", "to": "New"}, {"op": "connect", "from": "New", "to": "id-3"}]),
        ),
        // the document itself
        (
            vec!["$workflow"],
            json!([{"op": "set_settings", "settings": {"timezone": "UTC"}}, {"op": "set_name", "name": "N"}, add("Loose")]),
        ),
    ] {
        let decision = scoped(&scope, list.clone());
        assert_eq!(decision, allow(EDIT_SCOPE), "{scope:?} {list}");
    }
}

#[test]
fn out_of_scope_is_refused_by_name() {
    for (scope, list, says) in [
        (
            vec!["id-2"],
            json!([{"op": "set_parameter", "node": "id-3", "pointer": "/x", "value": 9}]),
            "node \"Node 3\"",
        ),
        (
            vec![],
            json!([{"op": "set_parameter", "node": "id-3", "pointer": "/x", "value": 9}]),
            "the scope is empty",
        ),
        (
            vec!["id-2"],
            json!([{"op": "remove_node", "node": "id-3"}]),
            "node \"Node 3\"",
        ),
        (
            vec!["id-2"],
            json!([{"op": "disable_node", "node": "id-3"}]),
            "node \"Node 3\"",
        ),
        (
            vec!["id-2"],
            json!([{"op": "rename_node", "node": "id-3", "name": "Other"}]),
            "node \"Node 3\"",
        ),
        (
            vec!["id-2"],
            json!([{"op": "disconnect", "from": "id-3", "to": "id-4"}]),
            "connection \"Node 3\" → \"Node 4\"",
        ),
        (
            vec!["id-2"],
            json!([{"op": "connect", "from": "id-0", "to": "id-4"}]),
            "connection \"Node 0\" → \"Node 4\"",
        ),
        (
            vec!["id-2"],
            json!([add("Loose")]),
            "new node \"Loose\", connected to nothing in scope",
        ),
        (
            vec!["id-2"],
            json!([add("New"), {"op": "connect", "from": "id-4", "to": "New"}]),
            "new node \"New\"",
        ),
        (
            vec!["id-2"],
            json!([{"op": "set_settings", "settings": {"timezone": "UTC"}}]),
            "the workflow's settings",
        ),
        (
            vec!["id-2"],
            json!([{"op": "set_name", "name": "N"}]),
            "the workflow's name",
        ),
        (
            vec!["id-2"],
            json!([{"op": "set_credential", "node": "id-3", "credential_type": "a", "id": "1", "name": "n"}]),
            "node \"Node 3\"",
        ),
        // a swap of names moves nothing into the scope
        (
            vec!["Node 2"],
            json!([{"op": "rename_node", "node": "id-2", "name": "T"}, {"op": "rename_node", "node": "id-3", "name": "Node 2"}]),
            "node \"Node 3\"",
        ),
        // an entry that names nothing allows nothing
        (
            vec!["nobody"],
            json!([{"op": "set_parameter", "node": "id-3", "pointer": "/x", "value": 9}]),
            "node \"Node 3\"",
        ),
    ] {
        let decision = scoped(&scope, list.clone());
        assert!(
            matches!(&decision, Decision::Deny { reason, .. } if reason.contains(says)),
            "{list}: {decision:?}"
        );
    }
}

#[test]
fn a_name_means_the_node_that_had_it_when_the_scope_was_given() {
    let given_on = chain(4);
    let entries = vec!["Node 1".to_owned()];
    let renamed = edited(
        &given_on,
        json!([{"op": "rename_node", "node": "id-1", "name": "T"}]),
    );
    assert_eq!(
        edit_scope(&entries, &given_on, &given_on, &renamed),
        allow(EDIT_SCOPE)
    );
    let own = edited(
        &renamed,
        json!([{"op": "set_parameter", "node": "T", "pointer": "/x", "value": 5}]),
    );
    assert_eq!(
        edit_scope(&entries, &given_on, &renamed, &own),
        allow(EDIT_SCOPE)
    );
    let other = edited(
        &renamed,
        json!([{"op": "rename_node", "node": "id-3", "name": "Node 1"}]),
    );
    assert!(matches!(
        edit_scope(&entries, &given_on, &renamed, &other),
        Decision::Deny { .. }
    ));
    // What was added since stays in scope.
    let grown = edited(
        &renamed,
        json!([add("New"), {"op": "connect", "from": "T", "to": "New"}]),
    );
    let tuned = edited(
        &grown,
        json!([{"op": "set_parameter", "node": "New", "pointer": "/y", "value": 1}]),
    );
    assert_eq!(
        edit_scope(&entries, &given_on, &grown, &tuned),
        allow(EDIT_SCOPE)
    );
}
