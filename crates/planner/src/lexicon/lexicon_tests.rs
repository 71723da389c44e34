use super::*;

#[test]
fn every_service_has_a_node_and_every_table_row_is_whole() {
    let broken: Vec<_> = services()
        .iter()
        .filter(|s| s.actions.is_empty() && s.triggers.is_empty())
        .map(|s| s.key.as_str())
        .collect();
    assert_eq!(broken, Vec::<&str>::new());
    assert!(services().len() > 300);
}

#[test]
fn no_two_services_share_an_alias() {
    let mut seen: HashMap<&str, &str> = HashMap::new();
    let mut twice = Vec::new();
    for s in services() {
        for a in &s.aliases {
            if let Some(other) = seen.insert(&a.text, &s.key)
                && other != s.key
            {
                twice.push((a.text.as_str(), other, s.key.as_str()));
            }
        }
    }
    assert_eq!(twice, Vec::<(&str, &str, &str)>::new());
}

#[test]
fn word_lists_go_into_patterns() {
    assert!(has(r"^{if}\b", "Wenn etwas passiert"));
    assert!(has(r"^{if}\b", "as soon as it rains"));
    assert_eq!(first(r"in (\d+) {day}\b", "remind me in 3 days"), Some("3"));
}
