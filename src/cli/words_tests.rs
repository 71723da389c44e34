use super::words::{STATE, in_words};
use serde_json::json;

#[test]
fn keys_are_renamed_in_their_place_and_nothing_below_them() {
    let answer = json!({"change": 1, "revision": {"revision": "h"}, "after": null});
    assert_eq!(
        in_words(answer, STATE).to_string(),
        r#"{"change":1,"graph_hash":{"revision":"h"},"after":null}"#
    );
    assert_eq!(in_words("text", STATE), json!("text"));
}
