//! What can never be, and what only looks so.

use super::*;

fn of(kind: &str, parameters: Value) -> Ways {
    let node = json!({"id": "1", "name": "N", "type": format!("n8n-nodes-base.{kind}"), "parameters": parameters});
    let Value::Object(map) = node else {
        panic!("no object")
    };
    ways(&Node::from(map))
}

fn compared(kind: &str, left: Value, operation: &str, right: Value) -> Value {
    json!({"leftValue": left, "rightValue": right, "operator": {"type": kind, "operation": operation}})
}

fn filtered(list: &[Value], combinator: &str) -> Ways {
    of(
        "filter",
        json!({"conditions": {"options": {}, "conditions": list, "combinator": combinator}}),
    )
}

#[test]
fn a_filter_over_fixed_values_that_do_not_fit_is_shut() {
    for (condition, shut) in [
        (compared("number", json!(1), "equals", json!(2)), true),
        (compared("number", json!("1"), "equals", json!("2")), true),
        (
            compared("number", json!("={{ 1 }}"), "equals", json!("={{ 2 }}")),
            true,
        ),
        (compared("number", json!("={{ 5 }}"), "gt", json!(9)), true),
        (compared("string", json!("a"), "equals", json!("b")), true),
        (
            compared("string", json!("={{ 'a' }}"), "equals", json!("=b")),
            true,
        ),
        (
            compared("boolean", json!("={{ false }}"), "true", json!("")),
            true,
        ),
        (
            compared("boolean", json!("={{ 1 === 2 }}"), "true", json!("")),
            true,
        ),
        (
            compared("boolean", json!("={{ !true }}"), "equals", json!(true)),
            true,
        ),
        // What may be otherwise for some item.
        (compared("number", json!(1), "equals", json!(1)), false),
        (
            compared("number", json!("={{ $json.n }}"), "equals", json!(2)),
            false,
        ),
        (
            compared(
                "string",
                json!("={{ $json.a }}"),
                "equals",
                json!("={{ $json.b }}"),
            ),
            false,
        ),
        (
            compared("boolean", json!("={{ 1 === $json.n }}"), "true", json!("")),
            false,
        ),
        (
            compared(
                "string",
                json!("={{ 'a' + $json.b }}"),
                "equals",
                json!("b"),
            ),
            false,
        ),
        (
            compared("dateTime", json!("2020"), "after", json!("2021")),
            false,
        ),
        (
            compared("boolean", json!("={{ 'a' < 'b' }}"), "false", json!("")),
            false,
        ),
    ] {
        let ways = filtered(std::slice::from_ref(&condition), "and");
        assert_eq!(ways == Ways::Shut, shut, "{condition}");
    }
    let never = compared("number", json!(1), "equals", json!(2));
    let maybe = compared("number", json!("={{ $json.n }}"), "equals", json!(2));
    assert_eq!(filtered(&[maybe.clone(), never.clone()], "and"), Ways::Shut);
    assert_eq!(filtered(&[maybe, never], "or"), Ways::Open);
    assert_eq!(filtered(&[], "or"), Ways::Shut);
    assert_eq!(filtered(&[], "and"), Ways::Open);
    assert_eq!(of("filter", json!({})), Ways::Open);
}

#[test]
fn an_if_and_a_switch_over_fixed_values_lead_one_way() {
    let list = |left: i32| json!({"options": {}, "combinator": "and", "conditions": [compared("number", json!(left), "equals", json!(2))]});
    let shut = |outputs: &[u32]| Ways::Except(outputs.iter().copied().collect());
    let only = |outputs: &[u32]| Ways::Only(outputs.iter().copied().collect());
    assert_eq!(of("if", json!({"conditions": list(1)})), shut(&[0]));
    assert_eq!(of("if", json!({"conditions": list(2)})), shut(&[1]));
    let old = |left: i32| json!({"conditions": {"number": [{"value1": left, "operation": "equal", "value2": 2}]}});
    assert_eq!(of("if", old(1)), shut(&[0]));
    assert_eq!(of("if", old(2)), shut(&[1]));
    assert_eq!(of("filter", old(1)), Ways::Shut);
    let open = json!({"options": {}, "combinator": "and", "conditions": [compared("number", json!("={{ $json.n }}"), "equals", json!(2))]});
    let rules = |list: &[Value], options: Value| json!({"rules": {"values": list.iter().map(|c| json!({"conditions": c})).collect::<Vec<_>>()}, "options": options});
    assert_eq!(
        of("switch", rules(&[open.clone(), list(1)], json!({}))),
        shut(&[1])
    );
    assert_eq!(
        of(
            "switch",
            rules(&[open.clone(), list(2), open.clone()], json!({}))
        ),
        only(&[0, 1])
    );
    assert_eq!(
        of(
            "switch",
            rules(
                &[list(2), open.clone()],
                json!({"allMatchingOutputs": true})
            )
        ),
        Ways::Open
    );
    assert_eq!(of("switch", rules(&[open], json!({}))), Ways::Open);
    assert_eq!(
        of(
            "switch",
            json!({"mode": "expression", "output": "={{ 3 }}"})
        ),
        only(&[3])
    );
    assert_eq!(
        of(
            "switch",
            json!({"mode": "expression", "output": "={{ $json.n }}"})
        ),
        Ways::Open
    );
}

#[test]
fn a_schedule_that_never_comes_due_is_shut() {
    let cron = |expression: &str| json!({"field": "cronExpression", "expression": expression});
    for (rules, never) in [
        (json!([cron("0 0 30 2 *")]), true),
        (json!([cron("0 0 0 31 2,4,jun,9,11 *")]), true),
        (json!([cron("0 0 31 2 ?")]), true),
        (json!([cron("61 * * * *")]), true),
        (json!([cron("*/0 * * * *")]), true),
        (json!([]), true),
        (json!([{"field": "minutes", "minutesInterval": 0}]), true),
        (json!([{"field": "days", "daysInterval": -1}]), true),
        (json!([{"triggerAtHour": 25}]), true),
        (
            json!([{"field": "months", "triggerAtDayOfMonth": 32}]),
            true,
        ),
        // These come due, some of them seldom.
        (json!([cron("0 0 29 2 *")]), false),
        (json!([cron("0 0 30 2 mon")]), false),
        (json!([cron("0 0 30 1-3 *")]), false),
        (json!([cron("0 0 L * *")]), false),
        (json!([cron("0 9 * * 1#2")]), false),
        (json!([cron("={{ $vars.cron }}")]), false),
        (json!([cron("@daily")]), false),
        (json!([cron("@weekends")]), false),
        (
            json!([cron("0 0 30 2 *"), {"field": "hours", "hoursInterval": 1}]),
            false,
        ),
        (json!([{"triggerAtHour": 9}]), false),
        (
            json!([{"field": "seconds", "secondsInterval": "={{ 0 + 30 }}"}]),
            false,
        ),
        (json!([{}]), false),
    ] {
        let ways = of("scheduleTrigger", json!({"rule": {"interval": rules}}));
        assert_eq!(ways == Ways::Shut, never, "{rules}");
    }
    assert_eq!(of("scheduleTrigger", json!({})), Ways::Open);
    assert_eq!(of("interval", json!({"interval": 0})), Ways::Shut);
    let custom =
        json!({"triggerTimes": {"item": [{"mode": "custom", "cronExpression": "0 0 30 2 *"}]}});
    assert_eq!(of("cron", custom), Ways::Shut);
}

#[test]
fn what_gives_nothing_on_is_shut() {
    assert_eq!(of("limit", json!({"maxItems": 0})), Ways::Shut);
    assert_eq!(of("limit", json!({"maxItems": 1})), Ways::Open);
    assert_eq!(of("stopAndError", json!({})), Ways::Shut);
    assert_eq!(of("code", json!({"jsCode": " return [];\n"})), Ways::Shut);
    assert_eq!(
        of(
            "code",
            json!({"jsCode": "if (!items.length) return [];\nreturn items;"})
        ),
        Ways::Open
    );
    let mut node = Node::from(
        json!({"name": "N", "type": "n8n-nodes-base.limit", "parameters": {"maxItems": 0}})
            .as_object()
            .unwrap()
            .clone(),
    );
    node.map_mut().insert("disabled".into(), json!(true));
    assert_eq!(ways(&node), Ways::Open, "it passes on what it gets");
}

fn code(text: &str) -> Node {
    let node = json!({"name": "N", "type": "n8n-nodes-base.code", "parameters": {"jsCode": text}});
    Node::from(node.as_object().unwrap().clone())
}

#[test]
fn code_is_shut_open_or_a_gate_by_what_its_returns_give() {
    for text in [
        "return [ ];",
        "const none = [];\nreturn none;",
        "for (const i of items) { if (i.json.a) return []; }\nthrow new Error('no');",
        "try { return []; } catch (e) { return null; }",
        "switch (items.length) { case 0: return []; default: return []; }",
        "return await [].map(i => i);",
        "return $input.all().slice(0, 0);",
        "do { return []; } while (true);",
    ] {
        assert_eq!(ways(&code(text)), Ways::Shut, "{text}");
        assert_eq!(gate(&code(text)), None, "{text}");
    }
    // As many leave as came.
    for text in [
        "return items;",
        "const all = $input.all();\nreturn all.map(i => i);",
        "return {json: {}};",
        "const f = () => { return []; };\nreturn items;",
    ] {
        assert_eq!(
            (ways(&code(text)), gate(&code(text))),
            (Ways::Open, None),
            "{text}"
        );
    }
    for text in [
        "const out = [];\nout.push({json: {}});\nreturn out;",
        "let out = [];\nout = items;\nreturn out;",
        "const none = [];\n{ const none = items; }\nreturn none;",
        "if (items.length > 5) return [];\nreturn items;",
        "items.length = 0;\nreturn items;",
        "items.splice(0, 9);\nreturn items;",
        "items = items.filter(i => i.json.a);\nreturn items;",
        "return items.map(i => { throw i; });",
        // Made of each other.
        "var a = b.map(i => i), b = a.map(i => i);\nreturn a;",
        "const items = items.map(i => i);\nreturn items;",
        "try { throw 1; } catch (e) { return items; }",
        // Written to otherwise than by `=`: counted, taken apart, the target of a loop.
        "let n = 0;\nfor (const i of items) { n++; }\nreturn n ? items : [];",
        "let none = [];\n({none} = items[0].json);\nreturn none;",
        "let none = [];\n[none] = items;\nreturn none;",
        "let none = [];\nfor (none of items) { }\nreturn none;",
        // What ends the body of a loop need not end the program.
        "do { break; throw 1; } while (true);\nreturn items.slice(1);",
        // What the node got is made shorter, under whatever name.
        "$input.all().splice(0, 9);\nreturn $input.all();",
        "const all = $input.all();\nall.length = 0;\nreturn $input.all();",
        "const all = items;\nall.pop();\nreturn items;",
        "}; return [] ; {",
        "return [",
    ] {
        let got = (ways(&code(text)), gate(&code(text)));
        assert_eq!(got, (Ways::Open, Some(Gate::Shuts)), "{text}");
    }
}

#[test]
fn ways_out_of_code_before_its_end_are_told_by_their_lines() {
    let exits = |text: &str| early_exits(&code(text));
    assert_eq!(
        exits("if (a) return [];\nconst f = () => { return 1; };\n  throw b;\nreturn items;"),
        Some(vec!["if (a) return [];".to_owned(), "throw b;".to_owned()])
    );
    assert_eq!(exits("return items;"), Some(Vec::new()));
    assert_eq!(exits("return ["), None);
}

#[test]
fn an_expression_is_reckoned_from_literals_and_from_nothing_else() {
    for (text, given, is_true) in [
        ("1 + 1", Some(json!(2.0)), Some(true)),
        ("'a' + 1", Some(json!("a1")), Some(true)),
        ("[1, 2].length * 0", Some(json!(0.0)), Some(false)),
        ("null ?? 'x'", Some(json!("x")), Some(true)),
        ("$json.a && false", None, Some(false)),
        ("$json.a || true", None, Some(true)),
        ("$json.a ? 0 : ''", None, Some(false)),
        ("!$json.a", None, None),
        ("$json.a", None, None),
        (
            "$json.items.slice(0, 0).length",
            Some(json!(0.0)),
            Some(false),
        ),
        ("$json.items.slice(0, 1).length", None, None),
        ("'1' == 1", Some(json!(true)), Some(true)),
        ("'1' === 1", Some(json!(false)), Some(false)),
        ("[] === []", None, None),
        (
            "undefined == null",
            Some(json!(null)).map(|_| json!(true)),
            Some(true),
        ),
        ("Math.random() > 2", None, None),
        // An empty text or an empty list: one counts as false, the other as true.
        ("$json.name.slice(0, 0)", None, None),
        ("!$json.name.slice(0, 0)", None, None),
        (
            "$json.name.slice(0, 0).map(i => i)",
            Some(json!([])),
            Some(true),
        ),
        ("$json.name.slice(0, 0) === ''", None, None),
        ("String(1e21)", Some(json!("1e+21")), Some(true)),
        ("+'0x10'", Some(json!(16.0)), Some(true)),
        ("+'1_0'", None, None),
        ("1; 2", None, None),
        ("", None, None),
    ] {
        assert_eq!(value::expression(text), (given, is_true), "{text}");
    }
}

fn node(kind: &str, parameters: Value) -> Node {
    let node =
        json!({"name": "N", "type": format!("n8n-nodes-base.{kind}"), "parameters": parameters});
    Node::from(node.as_object().unwrap().clone())
}

#[test]
fn the_code_that_runs_is_told_by_the_type_of_the_node() {
    let (none, all) = ("return [];", "return items;");
    for (kind, parameters, shut) in [
        (
            "function",
            json!({"functionCode": none, "jsCode": all}),
            true,
        ),
        (
            "function",
            json!({"functionCode": all, "jsCode": none}),
            false,
        ),
        ("code", json!({"jsCode": none, "functionCode": all}), true),
        ("code", json!({"jsCode": all, "functionCode": none}), false),
        (
            "code",
            json!({"language": "python", "pythonCode": "return []", "jsCode": all}),
            true,
        ),
        (
            "code",
            json!({"pythonCode": "return []", "jsCode": all}),
            false,
        ),
        // The type has one language only.
        (
            "function",
            json!({"language": "python", "functionCode": none, "pythonCode": "return items"}),
            true,
        ),
    ] {
        let ways = of(kind, parameters.clone());
        assert_eq!(ways == Ways::Shut, shut, "{kind} {parameters}");
    }
    assert!(code::of(&node("noOp", json!({"jsCode": none}))).is_none());
}

#[test]
fn what_a_condition_is_about_is_told_by_its_operation() {
    let of = |kind: &str, parameters: Value| about(&node(kind, parameters));
    let values = |list: &[Value]| Some(About::Values(list.to_vec()));
    let filter = |condition: Value| json!({"conditions": {"conditions": [condition]}});
    let alone = |operation: &str| {
        let operator = json!({"type": "number", "operation": operation, "singleValue": true});
        json!({"leftValue": "={{ $json.total }}", "rightValue": 7, "operator": operator})
    };
    assert_eq!(of("if", filter(alone("gt"))), values(&[json!(7)]));
    assert_eq!(of("if", filter(alone("exists"))), values(&[json!("total")]));
    let left = |text: &str| {
        let condition = compared("string", json!(text), "exists", json!(""));
        of("filter", filter(condition))
    };
    assert_eq!(left("={{ $json.a.email }}"), values(&[json!("email")]));
    for text in [
        "={{ $json.never && $json.email }}",
        "={{ $json.email }} {{ $json.email }}",
        "={{ f($json.a).email }}",
        "email",
    ] {
        assert_eq!(left(text), None, "{text}");
    }
    // A parameter that the type does not have, and the types that do ask a person.
    let stray = json!({"operation": "sendAndWait"});
    assert_eq!(of("if", stray.clone()), None);
    assert_eq!(of("slack", stray), Some(About::Answer));
    let form = json!({"operation": "sendAndWaitForm"});
    assert_eq!(of("gmail", form), Some(About::Answer));
    // Rules of a Switch that goes by an expression.
    let rules = json!({"values": [filter(alone("gt"))]});
    let mut switch = json!({"rules": rules, "options": {"fallbackOutput": "extra"}});
    assert_eq!(of("switch", switch.clone()), values(&[json!(7)]));
    let one_of = Some(Gate::OneOf(vec![0, 1]));
    assert_eq!(gate(&node("switch", switch.clone())), one_of);
    switch["mode"] = json!("expression");
    assert_eq!(of("switch", switch.clone()), None);
    assert_eq!(gate(&node("switch", switch)), Some(Gate::Shuts));
}
