use super::*;

#[test]
fn values_are_set_aside_and_come_back() {
    let request = "Ping https://status.acme.io/health every 5 min, then tell #ops-room on Slack and mail it to a.b@done.io.";
    let masked = Masked::of(request);
    assert_eq!(
        masked.text,
        "Ping §u0§ every 5 min, then tell §c1§ on §s3§ and mail it to §m2§."
    );
    assert_eq!(masked.plain(&masked.text), request);
}

#[test]
fn parentheses_are_read_inside() {
    let masked = Masked::of("add it (see Trello, 'Board A') to Asana");
    let services: Vec<_> = masked
        .all(&masked.text, "s")
        .iter()
        .map(|e| e.value.clone())
        .collect();
    assert_eq!(services, ["Trello", "Asana"]);
    assert_eq!(
        masked.one(&masked.text, "q").map(|e| e.value.clone()),
        Some("Board A".into())
    );
}
