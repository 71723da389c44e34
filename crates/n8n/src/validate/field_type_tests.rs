//! What n8n's own check says of each value and type (asked by `tests/oracle`).

use super::problem;
use serde_json::{Value, json};

/// One JSON value a line.
const VALUES: &str = r##"
""
"0"
"1"
" 1 "
"1_0"
"0x1F"
"0X"
"0b2"
"0b11"
"1e400"
"Infinity"
"+Infinity"
"--Infinity"
"-0x1"
"1."
".5"
"."
"e5"
"NaN"
"TRUE"
"true "
"[]"
"[1]"
"['a']"
"[1,]"
"{}"
"{\"a\":1}"
"{\"a\":1,}"
"null"
"5"
"\"x\""
"text"
"http://a"
"https://a b"
"https://ex ample.com"
"http://"
"http://["
"http://[::1]"
"http://%"
"http://a:99999"
"http://a:b"
"mailto:a@b.c"
"javascript:1"
"http:///x"
"://"
"a:b"
"https://münchen.de"
"http://1.2.3.4.5"
"http://256.1.1.1"
"ftp://x"
"file:///x"
"FILE://x"
"//x"
"x.y"
"x:80/y"
"data:text/plain,x"
"ws://x"
"http://a<b"
"http://a^b"
"http://a|b"
"http://-a-"
"http://a..b"
"http://."
"http://a?b c"
"http://xn--a"
"http://😀.com"
"user:pw@host"
"http://@"
"http://a@"
"http://a\\b"
"a/b"
"?x"
"#x"
"12:30"
"12:30:10"
"12:30+01"
"٣٣:٣٣"
"12:30:10+0100"
"12:30:10+0100+1:30"
"a.b.c"
"a.b."
".."
"a.b.c="
"a_b"
"9a"
"ä"
"a b"
"_"
"[{\"fieldLabel\":\"a\"}]"
"[{\"fieldType\":\"text\",\"x\":1}]"
"[{\"fieldType\":5}]"
"[{\"fieldType\":[\"text\"]}]"
"[{\"fieldOptions\":{\"values\":[]}}]"
"[{\"fieldOptions\":[{\"option\":\"a\",\"b\":1}]}]"
"[{\"fieldOptions\":null}]"
"[{\"html\":null}]"
"[null]"
5
0
1
2
1.5
1e+21
true
false
[]
{}
[""]
["5"]
[[5]]
[true]
[null]
["true"]
["http://x.com"]
["{}"]
["[]"]
{"mimeType": "a", "id": 1}
{"mimeType": "a"}
{"mimeType": null, "data": null}
[{}]
["=x"]
[["=x"]]
"=x"
" =x"
"\u00855"
"\ufeff5"
"##;

/// Per type, those of the values that n8n takes.
const TAKEN: &[(&str, &str)] = &[
    (
        "url",
        r##"
"0"
"1"
"1_0"
"0x1F"
"0X"
"0b2"
"0b11"
"1e400"
"Infinity"
"+Infinity"
"--Infinity"
"-0x1"
"1."
"."
"e5"
"NaN"
"TRUE"
"true "
"{}"
"null"
"5"
"\"x\""
"text"
"http://a"
"http://[::1]"
"mailto:a@b.c"
"javascript:1"
"http:///x"
"https://münchen.de"
"ftp://x"
"file:///x"
"FILE://x"
"//x"
"x.y"
"x:80/y"
"http://-a-"
"http://a..b"
"http://."
"http://a?b c"
"http://😀.com"
"user:pw@host"
"http://a\\b"
"a/b"
"12:30"
"a.b.c"
"a.b."
".."
"a.b.c="
"a_b"
"9a"
"ä"
"_"
["http://x.com"]
["=x"]
[["=x"]]
"=x"
"\ufeff5"
"##,
    ),
    (
        "number",
        r##"
""
"0"
"1"
" 1 "
"0x1F"
"0b11"
"1e400"
"Infinity"
"+Infinity"
"1."
".5"
"5"
5
0
1
2
1.5
1e+21
true
false
[]
[""]
["5"]
[[5]]
[null]
["=x"]
[["=x"]]
"=x"
"\ufeff5"
"##,
    ),
    (
        "boolean",
        r##"
"0"
"1"
" 1 "
"1."
"TRUE"
0
1
true
false
[]
[""]
[null]
["=x"]
[["=x"]]
"=x"
"##,
    ),
    (
        "time",
        r##"
"12:30"
"12:30:10"
"12:30+01"
"12:30:10+0100"
"12:30:10+0100+1:30"
["=x"]
[["=x"]]
"=x"
"##,
    ),
    (
        "array",
        r##"
"[]"
"[1]"
"['a']"
"[{\"fieldLabel\":\"a\"}]"
"[{\"fieldType\":\"text\",\"x\":1}]"
"[{\"fieldType\":5}]"
"[{\"fieldType\":[\"text\"]}]"
"[{\"fieldOptions\":{\"values\":[]}}]"
"[{\"fieldOptions\":[{\"option\":\"a\",\"b\":1}]}]"
"[{\"fieldOptions\":null}]"
"[{\"html\":null}]"
"[null]"
[]
[""]
["5"]
[[5]]
[true]
[null]
["true"]
["http://x.com"]
["{}"]
["[]"]
[{}]
["=x"]
[["=x"]]
"=x"
"##,
    ),
    (
        "object",
        r##"
"{}"
"{\"a\":1}"
"{\"a\":1,}"
"null"
{}
["{}"]
{"mimeType": "a", "id": 1}
{"mimeType": "a"}
{"mimeType": null, "data": null}
["=x"]
[["=x"]]
"=x"
"##,
    ),
    (
        "jwt",
        r##"
"a.b.c"
"a.b."
"a.b.c="
["=x"]
[["=x"]]
"=x"
"##,
    ),
    (
        "string-alphanumeric",
        r##"
"Infinity"
"e5"
"NaN"
"TRUE"
"null"
"text"
"a_b"
"_"
true
false
["=x"]
[["=x"]]
"=x"
"##,
    ),
    (
        "form-fields",
        r##"
"[]"
"[{\"fieldLabel\":\"a\"}]"
"[{\"fieldType\":[\"text\"]}]"
"[{\"fieldOptions\":{\"values\":[]}}]"
"[{\"html\":null}]"
["[]"]
["=x"]
[["=x"]]
"=x"
"##,
    ),
    (
        "options",
        r##"
"1"
5
true
["=x"]
[["=x"]]
"=x"
"##,
    ),
    (
        "binary",
        r##"
{"mimeType": "a", "id": 1}
{"mimeType": null, "data": null}
["=x"]
[["=x"]]
"=x"
"##,
    ),
];

#[test]
fn values_are_checked_against_types_as_n8n_does() {
    let read = |text: &str| -> Vec<Value> {
        let lines = text.lines().filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let choices = [
        json!({"value": "1"}),
        json!({"value": 5}),
        json!({"value": true}),
    ];
    for (kind, taken) in TAKEN {
        let found: Vec<Value> = read(VALUES)
            .into_iter()
            .filter(|value| problem(value, kind, &choices).is_none())
            .collect();
        assert_eq!(found, read(taken), "{kind}");
    }
}

#[test]
fn objects_may_be_written_as_javascript_does() {
    for taken in [
        "{a: 1, 'b': [2, ...c], d() {}}",
        "({a: 1})",
        "{a: 1}); ({b: 2}",
    ] {
        assert!(problem(&json!(taken), "object", &[]).is_none(), "{taken}");
    }
    for refused in ["{a b}", "{{ $json.a }}", "{a: 1", "a: 1", "[1]", "{a: }"] {
        assert!(
            problem(&json!(refused), "object", &[]).is_some(),
            "{refused}"
        );
    }
}
