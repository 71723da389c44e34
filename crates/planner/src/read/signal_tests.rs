use super::things;
use crate::plan::{Role, Val};
use crate::read::text::Masked;

fn named(text: &str) -> Vec<(String, String)> {
    let m = Masked::of(text);
    things(&m, &m.text)
        .into_iter()
        .filter_map(|a| match (a.role, a.value) {
            (Role::Field(n), Val::Lit { value }) => {
                Some((n, value.as_str().unwrap_or_default().to_owned()))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn named_things_are_read() {
    let one = |a: &str, b: &str| vec![(a.to_owned(), b.to_owned())];
    assert_eq!(
        named("Consume the Kafka topic orders-v2"),
        one("topic", "orders-v2")
    );
    assert_eq!(
        named("Écoute le topic MQTT maison/porte"),
        one("topic", "maison/porte")
    );
    assert_eq!(
        named("a message arrives in the RabbitMQ queue jobs"),
        one("queue", "jobs")
    );
}
