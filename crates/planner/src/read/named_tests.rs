use super::*;

fn said(text: &str) -> Vec<(&'static str, String)> {
    let m = Masked::of(text);
    names(&m, &m.text)
}

#[test]
fn things_are_named_by_their_kind() {
    let cases: [(&str, &str, &str); 14] = [
        ("add a row to Baserow table 4477", "table", "4477"),
        (
            "füge eine Zeile in die Baserow-Tabelle 5512 ein",
            "table",
            "5512",
        ),
        ("get all rows of coda table grid-Vz81", "table", "grid-Vz81"),
        (
            "create a card in Trello list 64f0aa11bb22",
            "list",
            "64f0aa11bb22",
        ),
        ("set the status of item 556677 to Done", "item", "556677"),
        ("send it to the RabbitMQ queue alerts", "queue", "alerts"),
        (
            "publish it to the Kafka topic payments",
            "topic",
            "payments",
        ),
        (
            "start the function resize-images",
            "function",
            "resize-images",
        ),
        ("trigger the Jenkins job build-web", "job", "build-web"),
        ("get the document from index orders", "index", "orders"),
        ("crea una tarea en la lista 901234", "list", "901234"),
        ("create a task in project 120045", "project", "120045"),
        (
            "delete from the Postgres table sessions",
            "table",
            "sessions",
        ),
        (
            "get the state of sensor.living_room",
            "entity",
            "sensor.living_room",
        ),
    ];
    for (text, kind, name) in cases {
        assert!(
            said(text).contains(&(kind, name.to_owned())),
            "{text}: {:?}",
            said(text)
        );
    }
}

#[test]
fn ordinary_words_name_nothing() {
    for text in [
        "add the task to the list and post it",
        "send the page to Slack",
        "create a folder for each customer",
    ] {
        assert!(said(text).is_empty(), "{text}: {:?}", said(text));
    }
}

#[test]
fn a_condition_on_records_is_read() {
    let m = Masked::of("delete the rows whose expires_at is before now");
    let found = wheres(&m, &m.text);
    assert!(
        matches!(found.as_slice(), [Arg { role: Role::Where { column, op: Cmp::Lt }, .. }] if column == "expires_at"),
        "{found:?}"
    );
}
