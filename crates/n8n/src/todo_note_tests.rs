use super::*;

fn item(node: &str, text: &str) -> Item {
    Item {
        node: node.to_owned(),
        text: text.to_owned(),
    }
}

fn workflow() -> Workflow {
    let mut workflow = Workflow::empty("W");
    for (i, name) in ["Hook", "Slack", "Mail"].into_iter().enumerate() {
        let id = NodeId(format!("id-{i}"));
        let mut node = Node::new(id, name, "n8n-nodes-base.noOp", 1.0, Map::new());
        node.set_position(240.0 * i as f64, 0.0);
        workflow.nodes.push(node);
    }
    workflow
}

/// Whether the note covers no node.
fn is_clear(workflow: &Workflow, note: &Node) -> bool {
    is_free(workflow, &place(note).unwrap())
}

#[test]
fn a_note_is_made_taken_out_and_renewed() {
    let made = workflow();
    let todo = [
        item("Slack", "connect a credential: Slack API"),
        item("", "ask Ann"),
    ];
    let first = note(&made, &todo, None, "new").unwrap();
    assert_eq!(
        content(&first),
        "## To do\n- **Slack**: connect a credential: Slack API\n- ask Ann"
    );
    // Above what it is about, and over nothing.
    assert_eq!(first.position().unwrap().0, 240.0);
    assert!(first.position().unwrap().1 < 0.0 && is_clear(&made, &first));
    let mut written = made.clone();
    written.nodes.push(first.clone());
    assert_eq!(take(&mut written), Some(first.clone()));
    assert_eq!((written, said(&first)), (made.clone(), todo.to_vec()));
    // With less to do it stays the same node, where it was.
    let less = note(&made, &todo[1..], Some(&first), "other").unwrap();
    assert_eq!((less.id(), less.position()), (first.id(), first.position()));
    assert_eq!(content(&less), "## To do\n- ask Ann");
    assert_eq!(note(&made, &[], Some(&first), "other"), None);
}

#[test]
fn a_note_moves_when_something_came_below_it() {
    let mut made = workflow();
    made.nodes[0].set_position(240.0, -160.0);
    let todo = [item("Slack", "choose a channel")];
    let first = note(&made, &todo, None, "new").unwrap();
    assert!(is_clear(&made, &first));
    let (x, y) = first.position().unwrap();
    made.nodes[2].set_position(x + 16.0, y + 16.0);
    assert!(!is_clear(&made, &first));
    let moved = note(&made, &todo, Some(&first), "new").unwrap();
    assert!(is_clear(&made, &moved));
}

#[test]
fn a_note_that_somebody_wrote_in_is_a_node_like_any_other() {
    for content in [
        "## To do\n- **Slack**: done!\nAnn",
        "My own",
        "## To do\nfree text",
    ] {
        let mut made = workflow();
        let mut own = note(&made, &[item("Slack", "x")], None, "new").unwrap();
        own.edit_parameters(|p| p.insert("content".into(), content.into()));
        made.nodes.push(own);
        let same = made.clone();
        assert_eq!((take(&mut made), &made), (None, &same), "{content}");
        // And no second one of its name is put beside it.
        assert_eq!(note(&made, &[item("Slack", "y")], None, "new"), None);
    }
}

#[test]
fn what_was_done_with_a_node_goes_from_the_note() {
    let before = workflow();
    let mut after = before.clone();
    after.nodes.remove(0);
    after.nodes[0].edit_parameters(|p| p.insert("channel".into(), "#dev".into()));
    after.nodes[1].set("name", "Send".into());
    let todo = ["Hook", "Slack", "Mail", ""].map(|node| item(node, "x"));
    assert_eq!(
        still(todo.to_vec(), &before, &after),
        [item("Send", "x"), item("", "x")]
    );
}
