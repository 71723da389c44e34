use super::text;
use proptest::prelude::*;

fn code(written: &str) -> Result<(), String> {
    super::code(written).map(|_| ())
}

/// Which name it is shows when it runs; n8n gets the code with a look at each.
#[test]
fn a_field_by_a_computed_name_is_looked_at_when_it_runs() {
    let runs_as = |written: &str| super::code(written).map(|code| code.unwrap_or_default());
    for (written, as_what) in [
        (
            "by[r.k] = (by[r.k] || 0) + 1",
            "by[agentctlField(by, r.k)] = (by[agentctlField(by, r.k)] || 0) + 1",
        ),
        (
            "return a[b[k]][c]",
            "return a[agentctlField(a, b[agentctlField(b, k)])][agentctlField(a[agentctlField(a, b[agentctlField(b, k)])], c)]",
        ),
        (
            "return $input.first().json.body?.[k] // so",
            "return $input.first().json.body?.[agentctlField($input.first().json.body, k)] // so",
        ),
        (
            "for (const i in items) delete items[i]",
            "for (const i in items) delete items[agentctlField(items, i)]",
        ),
        (
            "return items['const' + 'ructor']",
            "return items[agentctlField(items, 'const' + 'ructor')]",
        ),
        (
            "return $('A').all()[0].json[`${k}`]",
            "return $('A').all()[0].json[agentctlField($('A').all()[0].json, `${k}`)]",
        ),
        (
            "return (a?.[c]?.d)[k]",
            "return (a?.[agentctlField(a, c)]?.d)[agentctlField((a?.[agentctlField(a, c)]?.d), k)]",
        ),
        (
            "return [a[b[k]], a[c], b[a[k] + a[c]]]",
            "return [a[agentctlField(a, b[agentctlField(b, k)])], a[agentctlField(a, c)], b[agentctlField(b, a[agentctlField(a, k)] + a[agentctlField(a, c)])]]",
        ),
    ] {
        let declared =
            format!("const by = {{}}, a = {{}}, b = {{}}, c = '', k = '', r = {{}}; {written}");
        let told = runs_as(&declared).unwrap();
        let (code, looks) = told
            .split_once("\nfunction agentctlField(of, key)")
            .unwrap();
        assert_eq!(code.split_once("; ").unwrap().1, as_what);
        assert!(
            looks.contains("Object.hasOwn") && looks.contains("\"constructor\""),
            "{looks}"
        );
    }
    for written in [
        "return items[0].json.a",
        "const n = 1; return items[n]",
        "return items['a b']",
    ] {
        assert_eq!(runs_as(written), Ok(String::new()), "{written}");
    }
    for (written, why) in [
        (
            "const k = 'a'; return items.slice()[k]",
            "reads a field by a computed name",
        ),
        (
            "const k = 'a'; return items.shift()[k]",
            "reads a field by a computed name",
        ),
        (
            "const k = 'a', agentctlField = 1; return items[k]",
            "has a name of its test, `agentctlField`",
        ),
        (
            "var agentctl\\u0046ield = (of, key) => key; const k = 'a'; return items[k]",
            "has a name of its test, `agentctlField`",
        ),
        (
            "const f = (agentctl\\u{46}ield, k) => items[k]; return f(1, 'a')",
            "has a name of its test, `agentctlField`",
        ),
        // Read twice, it would be another object.
        (
            "let i = 0; const k = 'a'; return (items?.[i++])[k]",
            "reads a field by a computed name",
        ),
        (
            "let i = 0; const k = 'a'; return (items?.[i++].json)[k]",
            "reads a field by a computed name",
        ),
        ("const k = 'a'; return Math[k]", "uses `Math`"),
        (
            "const k = 'a'; return items[k](1)",
            "calls a method by a computed name",
        ),
        (
            "const k = 'a'; return [1].map(items[k])",
            "has a function called that does not stand in it",
        ),
    ] {
        assert_eq!(runs_as(written).unwrap_err(), why, "{written}");
    }
}

/// What people write into Code nodes runs.
#[test]
fn work_on_data_is_let_through() {
    for written in [
        "return items;",
        "return $input.all();",
        "for (const item of $input.all()) {\n  item.json.myNewField = 1;\n}\nreturn $input.all();",
        "$input.item.json.myNewField = 1;\nreturn $input.item;",
        "return items.map(i => ({json: {open: i.json.status === 'open'}}))",
        "const body = $input.first().json.body; // what came\nreturn [{json: {tags: body.tags.map(t => t.trim()), n: body.tags.length}}];",
        "let sum = 0;\nfor (let i = 0; i < items.length; i++) { sum += items[i].json.total; }\nreturn [{json: {sum}}];",
        "const seen = new Map();\nfor (const {json: {id, ...rest}} of items) seen.set(id, rest);\nreturn [...seen.values()].map(json => ({json}));",
        "function tax(n) { return Math.round(n * 1.19 * 100) / 100 }\nreturn items.map(({json}) => ({json: {...json, gross: tax(json.net)}}));",
        "try { return JSON.parse($json.text) } catch (error) { throw new Error(`no JSON: ${error.message}`) }",
        "const last = items[items.length - 1]; delete last.json.secret; return [last];",
        "return items.filter(i => i.json['first name']?.startsWith('A')).sort((a, b) => a.json.n - b.json.n);",
        "return Array.from(['1'], Number).concat(['a'].map(parseFloat)).filter(isFinite);",
        "return [{json: {text: JSON.stringify($json, String)}}];",
        "const now = DateTime.now().minus({days: 1}).toISO(); return {json: {now, at: new Date(), max: Number.MAX_SAFE_INTEGER}};",
        "switch ($json.kind) { case 'a': return []; default: return items.filter(Boolean) }",
        "return $('Webhook').all()[0].json.rows.reduce((sum, r) => sum + Number(r.n), 0);",
        "'use strict'; return items.map((i) => i.json.name.replace(/a+/g, (m) => m.toUpperCase()));",
        "console.log($execution.id, $workflow.name); return items;",
        "return Object.entries($json).map(([key, value]) => ({json: {key, value}}));",
    ] {
        assert_eq!(code(written), Ok(()), "{written}");
    }
    for written in [
        "",
        "no braces",
        "={{ $json.total }}",
        "={{ $json.body.total * 1.19 }} EUR for {{ $('Webhook').item.json.body.name.toTitleCase() }}",
        "={{ {a: 1, b: $json.b ?? 'none'} }}",
        "={{ 'a text' }}",
        "={{ $now.plus({days: 1}).toFormat('yyyy-MM-dd') }}",
        "={{ (() => { const x = $json.a; return x ? 1 : 2 })() }}",
        "={{ $json.list.map(x => x.id).join(', ') }}",
        "={{ $node[\"Set\"].json[\"a b\"] }} {{ $items(\"Set\")[0].json.x }}",
        "={{ $if($json.a, 1, 2) }} {{ $json.a.isEmpty() }} {{ $json.list.first().id }}",
        "={{ $input.all().length }} {{ $itemIndex }} {{ $workflow.id }}",
        "={{ $json.body.title.toLowerCase().replace(/ /g, '-') }}",
        "={{ $json.title.replace(/[^a-z0-9]+/gi, '-').split(/,|;/) }}",
        "={{ /^\\d{4}-\\d{2}/.test($json.day) && $json.day.match(/\\d+|x/) }}",
    ] {
        assert_eq!(text(written), Ok(()), "{written}");
    }
}

/// Each with what is said of it. Many get somewhere in some engine; none is run.
#[test]
fn ways_out_of_code_are_not_run() {
    let mut wrong = Vec::new();
    for (written, why) in [
        ("await fetch('https://x')", "waits for something (`await`)"),
        ("fetch('https://x')", "calls `fetch`"),
        ("this.helpers.httpRequest({})", "uses `this`"),
        ("this.\\u0068elpers.httpRequest({})", "uses `this`"),
        ("const t = this; return t['help' + 'ers']", "uses `this`"),
        ("return (this)['h' + 'elpers']", "uses `this`"),
        ("return Reflect.get($input, 'x')", "uses `Reflect`"),
        ("require('fs')", "calls `require`"),
        (
            "return [].constructor.constructor('return this')()",
            "calls something that is no method",
        ),
        ("return items.constructor", "uses `constructor`"),
        ("return items.\\u0063onstructor", "uses `constructor`"),
        ("return items?.['constructor']", "uses `constructor`"),
        ("return items?.constructor", "uses `constructor`"),
        (
            "const {constructor: c} = items; return c",
            "uses `constructor`",
        ),
        (
            "const {['constructor']: c} = items; return c",
            "uses `constructor`",
        ),
        (
            "const {['con' + 'structor']: c} = items; return c",
            "names a field by something computed",
        ),
        (
            "({constructor: globalThis.c} = items)",
            "assigns to a pattern",
        ),
        (
            "Object.defineProperty(items, 'x', {get() { return 1 }})",
            "calls `Object.defineProperty`",
        ),
        (
            "const O = Object; return O.getPrototypeOf(items)",
            "uses `Object`",
        ),
        (
            "return {get a() { return 1 }}",
            "declares a getter or a setter",
        ),
        ("return items.__proto__", "uses `__proto__`"),
        ("return {__proto__: items}", "uses `__proto__`"),
        ("return {toString: items.x} + ''", "uses `toString`"),
        (
            "return [1, 2].sort({valueOf: 1})",
            "has a function called that does not stand in it",
        ),
        (
            "return [1, 2].sort($json.f)",
            "has a function called that does not stand in it",
        ),
        (
            "return ['x'].map($input.first)",
            "has a function called that does not stand in it",
        ),
        ("const f = $json.f; return f('x')", "calls `f`"),
        ("let f = () => 1; f = $json.f; return f('x')", "calls `f`"),
        (
            "const f = () => 1; return items.map((f) => f('x'))",
            "calls `f`",
        ),
        (
            "return JSON.parse('{}', function () { return this })",
            "has each value of a text handed on",
        ),
        (
            "return 'a'.replace(/a/, function () { return this })",
            "uses `this`",
        ),
        (
            "return (function* () { yield 1 })()",
            "waits for something (`async`) or yields",
        ),
        ("return (async () => 1)()", "waits for something (`async`)"),
        ("return `${this}`", "uses `this`"),
        ("return String.raw`x`", "calls a function by a template"),
        (
            "return (0, items.map)(x => x)",
            "calls something that is no method",
        ),
        (
            "return items['map'](x => x)",
            "calls a method by a computed name",
        ),
        ("return items.map.call(items, x => x)", "uses `call`"),
        ("a: for (;;) break a", "uses a label"),
        ("class A {}", "declares a class"),
        (
            "return new Function('return 1')()",
            "calls something that is no method",
        ),
        (
            "return new items.x()",
            "makes an object (`new`) that is not on the list",
        ),
        ("return eval('1')", "calls `eval`"),
        ("return import('fs')", "uses `import`"),
        (
            "with (items) {}",
            "holds a statement that is not on the list",
        ),
        ("debugger", "holds a statement that is not on the list"),
        (
            "return $getWorkflowStaticData('global')",
            "calls `$getWorkflowStaticData`",
        ),
        ("return $env.KEY", "uses `$env`"),
        ("return process.env", "uses `process`"),
        ("return globalThis", "uses `globalThis`"),
        ("setTimeout('x', 1)", "calls `setTimeout`"),
        ("Math.max = 1", "changes `Math`, which is not its own"),
        (
            "$('Webhook').first().json.x = 1",
            "changes `$`, which is not its own",
        ),
        (
            "undeclared = 1",
            "changes `undeclared`, which is not its own",
        ),
        (
            "const Object = items; return Object.x",
            "gives `Object` a meaning of its own",
        ),
        ("const $json = items", "gives `$json` a meaning of its own"),
        ("return arguments", "uses `arguments`"),
        (
            "return items instanceof items.x",
            "asks for a class of its own",
        ),
        ("return $input", "uses `$input`"),
        ("return $input.context", "uses `$input.context`"),
        ("return $execution.resumeUrl", "uses `$execution.resumeUrl`"),
        (
            "} fetch('https://x'); {",
            "ends the function that it stands in",
        ),
        (
            "}; fetch('https://x'); async function x() {",
            "ends the function that it stands in",
        ),
        (
            "return 1 <!-- 2\n",
            "holds a mark that is read differently by different programs",
        ),
        (
            "// x\u{2028}fetch('https://x')",
            "holds a mark that is read differently by different programs",
        ),
        (
            "const F = Array.from(['constructor'], $now.get, () => 1)[0]; return F",
            "hands on what a function is called on",
        ),
        (
            "const get = $now.get; return get('x')",
            "reads `get` without calling it",
        ),
        (
            "const {get} = $now; return []",
            "reads `get` without calling it",
        ),
        (
            "return Array.from(['x'], $json.f)",
            "has a function called that does not stand in it",
        ),
        // A harmless function by its name, at another place than the one that was looked at.
        ("return ['a'].includes(Number)", "uses `Number`"),
        ("return [parseInt].concat(isNaN)", "uses `parseInt`"),
        ("return [].concat(parseInt)", "uses `parseInt`"),
        ("return [1, 2].reduce((a, b) => a, String)", "uses `String`"),
        ("return new Map([]).set('k', Boolean)", "uses `Boolean`"),
        (
            "function f(g) { return g } return f(Number)",
            "uses `Number`",
        ),
        ("return Object.assign({}, parseFloat)", "uses `parseFloat`"),
        ("return JSON.stringify(String, Number)", "uses `String`"),
        ("return Array.from(Number, Number)", "uses `Number`"),
        (
            "return Array.from(...[items], Number)",
            "hands on what a function is called on",
        ),
        (
            "return ['x'].map(x => x, $json)",
            "hands on what a function is called on",
        ),
        ("return $now.get('constructor')", "uses `constructor`"),
        (
            "return $now.get($json.x)",
            "calls `get` with a computed name",
        ),
        (
            "return $now.extract('map')",
            "reads `map` without calling it",
        ),
        (
            "const p = [{a: 'k'}].smartJoin('a', '__proto__').k; p.x = 1; return []",
            "calls `smartJoin`",
        ),
        (
            "const z = $now.zone; z.offset = () => 777; return []",
            "sets fields, and uses dates, which n8n may share",
        ),
        (
            "Object.assign(DateTime.DATE_FULL, {month: 1}); return []",
            "sets the fields of an object that is not a new one",
        ),
        ("return 1 +", "cannot be read as JavaScript"),
        ("import os", "cannot be read as JavaScript"),
    ] {
        let said = code(written);
        if said != Err(why.to_owned()) {
            wrong.push(format!("{written}: {said:?}, not {why:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn ways_out_of_expressions_are_not_run() {
    let mut wrong = Vec::new();
    for (written, why) in [
        ("={{ $json.constructor }}", "uses `constructor`"),
        (
            "={{ $json['con' + 'structor'] }}",
            "reads a field by a computed name",
        ),
        (
            "={{ $json[String.fromCharCode(99)] }}",
            "reads a field by a computed name",
        ),
        (
            "={{ Array.from([''], $json.f) }}",
            "makes a list of any length",
        ),
        (
            "={{ (() => { const p = $json.a; p.x = 1; return 1 })() }}",
            "sets something",
        ),
        ("={{ /^(a+)+$/.test($json.a) }}", "searches by a pattern"),
        ("={{ $json.a.replace(/-+$/, '') }}", "searches by a pattern"),
        (
            "={{ $json.a.replace(/<[^>]*>/g, '') }}",
            "searches by a pattern",
        ),
        ("={{ $json.a.split(/a?a?a?b/) }}", "searches by a pattern"),
        (
            "={{ $json.a.split(/(a|a)(a|a)b/) }}",
            "searches by a pattern",
        ),
        ("={{ $json.a.split(/(?=a)/) }}", "searches by a pattern"),
        (
            "={{ $json.a.split(/a{90}b{90}c{90}d{90}/) }}",
            "searches by a pattern",
        ),
        (
            "={{ $json.a.match($json.pattern) }}",
            "calls `match`, which may take n8n as long as it likes",
        ),
        (
            "={{ $json.pattern.test('a') }}",
            "calls `test`, which may take n8n as long as it likes",
        ),
        (
            "={{ $json.a.match('^(a+)+$') }}",
            "calls `match`, which may take n8n as long as it likes",
        ),
        (
            "={{ 'a'.repeat(1000000000) }}",
            "calls `repeat`, which may take n8n as long as it likes",
        ),
        (
            "={{ $jmespath($json, 'constructor') }}",
            "calls `$jmespath`",
        ),
        ("={{ $env.KEY }}", "uses `$env`"),
        ("={{ $secrets.vault.key }}", "uses `$secrets`"),
        ("={{ $vars.x }}", "uses `$vars`"),
        (
            "={{ $evaluateExpression('{{ $env }}') }}",
            "cannot be read as JavaScript",
        ),
        (
            "={{ $evaluateExpression('1') }}",
            "calls `$evaluateExpression`",
        ),
        ("={{ $fromAI('x') }}", "calls `$fromAI`"),
        ("={{ $parameter.url }}", "uses `$parameter`"),
        ("={{ $http.get('x') }}", "uses `$http`"),
        ("={{ this.process }}", "uses `this`"),
        ("={{ (function () { return this })() }}", "uses `this`"),
        ("={{ (() => { for (;;) {} })() }}", "loops"),
        (
            "={{ (() => { const f = n => f(n - 1) + f(n - 2); return f(90) })() }}",
            "calls `f`",
        ),
        ("={{ 1; $env }}", "is more than one expression"),
        ("={{ 1, 2 }}", "puts several expressions into one"),
        ("={{ }}", "is more than one expression"),
        ("=&#123;&#123; x }} {{ 1", "has `{{` without `}}`"),
        (
            "={{ '\\}}' }} {{ $env.X }}",
            "has a backslash before its braces",
        ),
        ("=\\{{ $env.X }}", "has a backslash before its braces"),
        ("={{ {a: {b: 1}} }}", "cannot be read as JavaScript"),
        ("={{ `${$env.X}` }}", "uses `$env`"),
    ] {
        let said = text(written);
        if said != Err(why.to_owned()) {
            wrong.push(format!("{written}: {said:?}, not {why:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Deep or long code is no way through either.
#[test]
fn depth_and_length_are_no_way_through() {
    assert_eq!(
        code(&format!(
            "return {}1{}",
            "(".repeat(2_000),
            ")".repeat(2_000)
        )),
        Ok(())
    );
    for written in ["(".repeat(60_000), "x".repeat(300_000)] {
        assert!(code(&written).is_err());
    }
}

/// On a thread as small as those of a server.
#[test]
fn names_within_names_are_looked_at_to_a_depth() {
    let said = |depth: usize| {
        let written = format!(
            "const a = $json, k = 'x'; return {}k{}",
            "a[".repeat(depth),
            "]".repeat(depth)
        );
        let small = std::thread::Builder::new().stack_size(1 << 20);
        small.spawn(move || code(&written)).unwrap().join().unwrap()
    };
    assert_eq!(said(40), Ok(()));
    assert_eq!(said(16_000), Err("is too long to be looked at".to_owned()));
}

proptest! {
    /// Whatever the code: with a name in it that leads out, it is not run.
    #[test]
    fn a_name_that_leads_out_is_never_let_through(
        before in prop::sample::select(vec!["", "return ", "items.map(x => ", "({a: ", "[", "const x = ", "if (", "`${"]),
        out in prop::sample::select(vec!["this", "fetch('x')", "eval('x')", "items.constructor", "x.__proto__", "process.env", "Function('x')", "import('x')", "$env", "globalThis"]),
        after in prop::sample::select(vec!["", ";", ")", "})", "]", "}`", ") {}", "\n"]),
    ) {
        let written = format!("{before}{out}{after}");
        prop_assert!(code(&written).is_err());
    }

    #[test]
    fn any_text_is_read_without_a_panic(written in "\\PC{0,200}") {
        let _read = (code(&written), text(&written));
    }
}
