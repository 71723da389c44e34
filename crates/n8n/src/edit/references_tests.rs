use super::*;
use proptest::prelude::*;

fn names(text: &str) -> Vec<String> {
    references(text, false)
        .into_iter()
        .map(|r| r.node)
        .collect()
}

#[test]
fn every_spelling_is_found() {
    let text = r#"={{ $('Get Order').item.json.id + $node["B\"2"].json.x + $node.Plain.json + $items( "D" , 0) + $(`E`) + $('It\'s') }}"#;
    assert_eq!(
        names(text),
        ["Get Order", "B\"2", "Plain", "D", "E", "It's"]
    );
}

#[test]
fn what_only_looks_like_a_reference_is_none() {
    for text in [
        "jq$('A')",
        "$('A' + x)",
        "$(`A${i}`)",
        "$node",
        "$nodes['A']",
        "$json['A']",
        "$('A",
        "$(A)",
        "$node.1x",
        "\\x4",
        "$('\\u12')",
    ] {
        assert_eq!(names(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn python_spelling_counts_only_in_python() {
    let code = r#"x = _("A").item.json + _node["B"]["json"]; my_("C")"#;
    assert_eq!(names(code), Vec::<String>::new());
    let python: Vec<String> = references(code, true).into_iter().map(|r| r.node).collect();
    assert_eq!(python, ["A", "B"]);
}

#[test]
fn renaming_keeps_the_quote_and_escapes_it() {
    let text = r#"={{ $('A').x }} A $("A").y {{ $node.A.json['A'] }} $('AB')"#;
    let rename = |text: &str, old: &str, new: &str| rename(text, false, (old, new), |_| false);
    assert_eq!(
        rename(text, "A", "It's \"n\"").as_deref(),
        Some(
            r#"={{ $('It\'s "n"').x }} A $("It's \"n\"").y {{ $node["It's \"n\""].json['A'] }} $('AB')"#
        )
    );
    assert_eq!(
        rename("={{ $node.A.json }}", "A", "B2").as_deref(),
        Some("={{ $node.B2.json }}")
    );
    assert_eq!(rename("={{ $('B') }} A", "A", "C"), None);
}

#[test]
fn a_name_that_looks_like_a_reference_is_a_name() {
    let named = |text: &str, nodes: &[&str]| {
        let found = apart(text, false, |name| nodes.contains(&name)).into_iter();
        found.map(|r| r.node).collect::<Vec<_>>()
    };
    let text = r#"={{ $("$('A')").first() + $('A').last() }}"#;
    assert_eq!(named(text, &["A", "$('A')"]), ["$('A')", "A"]);
    let is_node = |name: &str| ["A", "$('A')"].contains(&name);
    assert_eq!(
        rename(text, false, ("A", "B"), is_node).as_deref(),
        Some(r#"={{ $("$('A')").first() + $('B').last() }}"#)
    );
    // A text that only begins like one hides none.
    let text = r#"={{ '$("' + $('A').item.json.x + '")' }}"#;
    assert_eq!(named(text, &["A"]), ["A"]);
}

proptest! {
    #[test]
    fn a_renamed_reference_means_the_new_name(old in "\\PC{1,12}", new in "\\PC{1,12}", quote in prop::sample::select(vec!['\'', '"', '`'])) {
        let text = format!("={{{{ $({}).item.json.x }}}}", quoted(&old, quote));
        prop_assert_eq!(names(&text), vec![old.clone()]);
        let renamed = rename(&text, false, (&old, &new), |_| false).unwrap_or_default();
        prop_assert_eq!(names(&renamed), vec![new.clone()]);
        prop_assert_eq!(rename(&renamed, false, (&new, &old), |_| false).unwrap_or_default(), text);
    }

    #[test]
    fn any_text_is_read_without_panic(text in "[$_(){}\\[\\]'\"`\\\\nodeitmsux0-9\\. é]{0,40}") {
        references(&text, true);
    }
}

#[test]
fn a_name_that_is_computed_is_known_to_be_one() {
    let named = |key: &str, text: &str| {
        let map = serde_json::json!({"name": "N", "parameters": {key: {"deep": [text]}}});
        let map = match key {
            "x" => map,
            _ => serde_json::json!({"name": "N", "parameters": {key: text}}),
        };
        let named = named_by(&Node::from(map.as_object().unwrap().clone()));
        (named.nodes.into_iter().collect::<Vec<_>>(), named.computed)
    };
    let of = |names: &[&str], computed: bool| {
        (
            names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>(),
            computed,
        )
    };
    for (key, text, wanted) in [
        ("x", "={{ $('A').item.json.b }}", of(&["A"], false)),
        (
            "x",
            "={{ $( 'A' ).all() + $node.B.json.c }}",
            of(&["A", "B"], false),
        ),
        ("x", "={{ $items('A', 0) }}", of(&["A"], false)),
        ("x", "={{ $json.a + $items().length }}", of(&[], false)),
        ("x", "={{ $('A' + $json.b) }}", of(&[], true)),
        (
            "x",
            "={{ $('A').item.json.b + $node[$json.c] }}",
            of(&["A"], true),
        ),
        ("x", "={{ $items($json.a) }}", of(&[], true)),
        // No expression, so nobody evaluates it.
        ("x", "costs $(5)", of(&[], false)),
        (
            "jsCode",
            "const f = $;\nreturn f('A').all();",
            of(&[], true),
        ),
        (
            "jsCode",
            "return '$' + `${x}` + $input.all().length;",
            of(&[], false),
        ),
        ("jsCode", "return Object.keys($node);", of(&[], true)),
        ("pythonCode", "return _('A').all()", of(&["A"], false)),
        ("pythonCode", "return _(name).all()", of(&[], true)),
        ("pythonCode", "for _, x in items: pass", of(&[], false)),
    ] {
        assert_eq!(named(key, text), wanted, "{text}");
    }
}
