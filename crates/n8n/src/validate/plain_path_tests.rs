use super::super::javascript::JavaScript;
use super::*;
use proptest::prelude::*;

#[test]
fn what_people_write_most_is_plain() {
    for code in [
        "$json",
        " $json.body.a ",
        "$json[\"a b\"][0].c",
        "$json.items.first().x",
        "$('A b')",
        "\n$('A').item.json['ä']\t",
        "$(\"A\").first().json.class",
        "$('')()[1]",
    ] {
        let read = script(code);
        assert!(read.is_some(), "{code}");
        assert_eq!(
            read,
            Some(JavaScript::default().parsed_expression(code)),
            "{code}"
        );
    }
    for code in [
        "",
        "$",
        "$json.",
        "$json.1",
        "$jsonx",
        "$json.a b",
        "$json[01]",
        "$json['a]",
        "$json[a]",
        "$('A'",
        "$('A\\'')",
        "$json.a + 1",
        "$json?.a",
        "$json.#a",
        "$json.a(1)",
        "$( 'A')",
        "$json // x",
    ] {
        assert_eq!(script(code), None, "{code}");
    }
}

proptest! {
    #[test]
    fn says_what_the_parser_says(
        head in prop_oneof![Just("$json"), Just("$('A')"), Just("$(\"B c\")"), Just("$('"), Just(" $json"), Just("$node")],
        steps in proptest::collection::vec(
            prop_oneof![
                Just(".a"), Just(".item"), Just(".json"), Just(".isExecuted"), Just(".class"), Just("._x1"), Just("()"), Just("[0]"),
                Just("[10]"), Just("[007]"), Just("['x y']"), Just("[\"$\"]"), Just("['']"), Just("."), Just("')"), Just(" "), Just("\n"),
                Just("é"), Just("['é']"), Just("?."), Just("{"), Just("}}"), Just("\\"), Just("[9999999999]"), Just("\u{2028}"),
            ],
            0..7,
        ),
    ) {
        let code = format!("{head}{}", steps.concat());
        if let Some(read) = script(&code) {
            prop_assert_eq!(read, JavaScript::default().parsed_expression(&code));
        }
    }
}
