use super::{address, document, documents_of, result};
use agentctl_evidence::Corpus;
use serde_json::{Value, json};

const LONG: &str = "The Vell bridge is 310 metres long. It was opened in 2004 by Dr. Ilse Ahlgren, who said: \"At last!\" Nobody minded.\n- Cars: 4,100 a day.\n# Costs\nIt cost 41.5 million euros.";

#[test]
fn what_a_result_told_is_read_out_of_it_again_sentence_by_sentence() {
    let documents = vec![
        document(
            "https://www.city.example/bridge#top",
            "The bridge",
            "2021",
            LONG,
        )
        .unwrap(),
        document(
            "https://news.example/a?b=1",
            "News",
            "",
            "The bridge is 450 metres long.",
        )
        .unwrap(),
    ];
    let before = Corpus::new(documents.clone());
    let content = Value::Object(result(documents, "How long is the Vell bridge?"));
    assert_eq!(
        content["results"][0]["url"],
        "https://city.example/bridge".replace("city", "www.city")
    );
    assert_eq!(content["results"][0]["source"], "city.example");
    let after = Corpus::new(documents_of(&content));
    let mut ids = 0;
    for passage in before.passages() {
        assert_eq!(
            after.quote(&passage.id),
            Some(passage.quote),
            "{}",
            passage.id
        );
        ids += 1;
    }
    assert_eq!(content["ids"].as_array().unwrap().len(), ids);
    assert!(ids >= 7, "{ids}");
}

#[test]
fn only_what_says_so_is_of_the_web() {
    let told = json!({"results": [{"id": "a#1", "doc": "a", "quote": "x y"}]});
    assert!(documents_of(&told).is_empty());
    assert!(document("ftp://a.example/b", "", "", "text").is_none());
    assert!(document("https://a.example/b", "", "", " - ").is_none());
    assert_eq!(address("heat-01~2"), None);
}
