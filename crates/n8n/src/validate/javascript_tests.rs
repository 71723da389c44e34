use super::*;

fn expression(code: &str) -> Script {
    JavaScript::default().expression(code)
}

fn body(code: &str) -> Script {
    JavaScript::default().body(code)
}

fn named(script: &Script) -> Vec<String> {
    let line = |r: &NodeReference| {
        let property = r.property.as_deref().unwrap_or("-");
        let caught = if r.caught { " caught" } else { "" };
        format!("{} {property}{caught}", r.node)
    };
    script.references.iter().map(line).collect()
}

#[test]
fn expressions_are_read_as_n8n_reads_them() {
    let fine = [
        " $json.a ",
        " $json.a; b ",
        " f(a b) ",
        " \"a\" ",
        " 010 ",
        " {a: 1} ",
        " await x ",
        " /a+/.test($json.x) ",
        " $json.a\n ",
    ];
    for code in fine {
        assert_eq!(expression(code).problem, None, "{code}");
    }
    let broken = [
        "",
        " ",
        " // c\n ",
        " $json.a } ",
        " {a:{b:1",
        " if (a) 1 ",
        " let a = 1 ",
        " a ?? b || c ",
        " [1 2] ",
        " /(/.test('a') ",
        " a b ",
    ];
    for code in broken {
        assert!(expression(code).problem.is_some(), "{code}");
    }
}

#[test]
fn code_is_the_body_of_an_async_function() {
    let fine = [
        "return items;",
        "const a = await f();\nreturn [{json: {a}}];",
        "with (a) { b() }",
        "return 010",
        "var a; var a; function f() {} function f() {}",
        "{ let a } { let a }",
        "// only a comment",
    ];
    for code in fine {
        assert_eq!(body(code).problem, None, "{code}");
    }
    let broken = [
        "return [",
        "import fs from 'fs';",
        "const a = 1;\nconst a = 2;",
        "let a; var a;",
        "retrun items;",
        "const x: string = 'a';",
        "for (const a of b) { const c; }",
        "return {{ $json.a }};",
        "a = 'b\nc'",
    ];
    for code in broken {
        assert!(body(code).problem.is_some(), "{code}");
    }
    let problem = body("const a = 1;\nconst b = ;").problem.unwrap();
    assert_eq!(
        (problem.message.as_str(), problem.at),
        ("Unexpected token", 23)
    );
}

#[test]
fn nodes_are_named_in_code_and_not_in_texts_or_comments() {
    let script = body(
        "// $('Comment').all()\nconst t = \"$('Text')\"; const a = $('A').first().json; const b = $node[\"B\"].json;\n\
         const c = $node.C.json; const d = $items('D'); const e = $(`E`)?.item; const f = $('F')['isExecuted'];\n\
         try { $('G').all() } catch { $('H').all() } finally { $(name).all() }",
    );
    assert_eq!(script.problem, None);
    assert_eq!(
        named(&script),
        [
            "A first",
            "B json",
            "C json",
            "D -",
            "E item",
            "F isExecuted",
            "G all caught",
            "H all"
        ]
    );
    let cheerio = body("const $ = cheerio.load(html); return [{json: {t: $('h1').text()}}]");
    assert_eq!(named(&cheerio), Vec::<String>::new());
    assert!(expression(" [{a: $fromAI('x')}] ").calls_from_ai);
    assert!(!expression(" '$fromAI(' ").calls_from_ai);
}

#[test]
fn no_nesting_overflows_the_stack() {
    for (open, inside, close) in [
        ("(", "1", ")"),
        ("[", "", "]"),
        ("!", "a", ""),
        ("a=>", "1", ""),
        ("a?", "b", ":c"),
        ("`${", "1", "}`"),
        ("f(", "1", ")"),
        ("-", "a", ""),
        ("a.b+", "1", ""),
        ("a=", "1", ""),
        ("a**", "1", ""),
    ] {
        let code = format!("{}{inside}{}", open.repeat(3_000), close.repeat(3_000));
        let _ = expression(&code);
        let _ = body(&code);
    }
    let _ = body(&"if(a){}else ".repeat(3_000));
    let _ = body(&"typeof ".repeat(30_000));
    let _ = body(&"(".repeat(200_000));
}
