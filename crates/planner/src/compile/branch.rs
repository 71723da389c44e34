//! Ways through the flow: If, Switch, Filter, Loop Over Items, siblings, joins. Owns outputs and where branches meet.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Case, Cmp, Cond, Does, Role, Step, Val};
use super::data::Origin;
use super::draft::{At, Draft, End};
use super::expr::expression;
use super::place::object;
use super::words::{self, capital};

const IF: &str = "n8n-nodes-base.if";
const SWITCH: &str = "n8n-nodes-base.switch";
const FILTER: &str = "n8n-nodes-base.filter";
const MERGE: &str = "n8n-nodes-base.merge";

fn short_val(val: &Val) -> String {
    match val {
        Val::Lit {
            value: Value::String(s),
        } => s.clone(),
        Val::Lit { value } => value.to_string(),
        Val::Field { name, .. } => name.clone(),
        Val::Template { parts } => parts.iter().map(short_val).collect(),
        Val::Now { .. } => "now".to_owned(),
        Val::Math { left, sign, right } => {
            format!("{} {sign} {}", short_val(left), short_val(right))
        }
        Val::Expr { .. } => "value".to_owned(),
    }
}

/// A condition in a few words, for a node's name.
pub(super) fn short_cond(cond: &Cond) -> String {
    match cond {
        Cond::All { of } => of.iter().map(short_cond).collect::<Vec<_>>().join(" & "),
        Cond::Any { of } => of.iter().map(short_cond).collect::<Vec<_>>().join(" / "),
        Cond::Not { of } => format!("not {}", short_cond(of)),
        Cond::Age {
            field,
            older,
            seconds,
        } => {
            let size = if seconds % 86_400 == 0 {
                format!("{} d", seconds / 86_400)
            } else if seconds % 3_600 == 0 {
                format!("{} h", seconds / 3_600)
            } else {
                format!("{} min", seconds / 60)
            };
            format!(
                "{} {} {size}",
                short_val(field),
                if *older { "older than" } else { "newer than" }
            )
        }
        Cond::Compare { left, op, right } => {
            let (l, r) = (short_val(left), short_val(right));
            match op {
                Cmp::Eq => format!("{l} = {r}"),
                Cmp::Ne => format!("{l} ≠ {r}"),
                Cmp::Gt => format!("{l} > {r}"),
                Cmp::Ge => format!("{l} ≥ {r}"),
                Cmp::Lt => format!("{l} < {r}"),
                Cmp::Le => format!("{l} ≤ {r}"),
                Cmp::Contains => format!("{l} contains {r}"),
                Cmp::NotContains => format!("{l} without {r}"),
                Cmp::StartsWith => format!("{l} starts with {r}"),
                Cmp::EndsWith => format!("{l} ends with {r}"),
                Cmp::Matches => format!("{l} matches {r}"),
                Cmp::Exists | Cmp::IsTrue => l,
                Cmp::Missing => format!("no {l}"),
                Cmp::IsFalse => format!("not {l}"),
                Cmp::OneOf => format!("{l} in list"),
            }
        }
    }
}

fn question(cond: &Cond) -> String {
    let text = capital(&short_cond(cond));
    let text: String = text.chars().take(40).collect();
    format!("{}?", text.trim())
}

fn tests_presence(cond: &Cond) -> bool {
    match cond {
        Cond::Compare { op, .. } => matches!(op, Cmp::Exists | Cmp::Missing),
        Cond::All { of } | Cond::Any { of } => of.iter().any(tests_presence),
        Cond::Not { of } => tests_presence(of),
        Cond::Age { .. } => false,
    }
}

impl Draft<'_> {
    pub(super) fn condition_params(
        &mut self,
        at: &At,
        node_type: &str,
        cond: &Cond,
    ) -> Map<String, Value> {
        let version = self.facts(node_type).map_or(2, |f| f.filter_version());
        let conditions = self.filter(at, cond, version);
        object(&[
            ("conditions", conditions),
            ("looseTypeValidation", Value::Bool(true)),
            ("options", json!({"ignoreCase": true})),
        ])
    }

    pub(super) fn if_step(
        &mut self,
        step: &Step,
        cond: &Cond,
        then: &[Step],
        otherwise: &[Step],
        at: At,
    ) -> At {
        if let Some((yes, no)) = self.classified_if(cond, &at) {
            let yes = self.steps(then, yes);
            let no = self.steps(otherwise, no);
            return self.close(at, yes, no, then.is_empty(), otherwise.is_empty());
        }
        self.survive_nothing(&at, cond);
        let params = self.condition_params(&at, IF, cond);
        let wish = self.wish(step, question(cond));
        let node = self.node(&at, &wish, IF, params);
        let yes = self.steps(then, at.from(&node, 0));
        let no = self.steps(otherwise, at.from(&node, 1));
        // a branch without steps ends at the If: what follows belongs to the other one, unless both are empty
        self.close(at, yes, no, then.is_empty(), otherwise.is_empty())
    }

    /// A lookup that finds nothing must still reach the check of what it found.
    fn survive_nothing(&mut self, at: &At, cond: &Cond) {
        if !tests_presence(cond) {
            return;
        }
        let lookups: Vec<String> = at
            .ends
            .iter()
            .filter_map(|e| self.workflow.node_by_name(&e.node))
            .filter(|n| {
                let read = n
                    .parameters()
                    .and_then(|p| p.get("operation"))
                    .and_then(Value::as_str)
                    .is_some_and(|o| {
                        let o = o.to_lowercase();
                        ["select", "get", "search", "read", "find", "query", "lookup"]
                            .iter()
                            .any(|w| o.contains(w))
                    });
                read && !n.node_type().ends_with("Trigger")
            })
            .map(|n| n.name().to_owned())
            .collect();
        for name in lookups {
            self.set(&name, "alwaysOutputData", Value::Bool(true));
        }
    }

    /// Where two branches meet again. A branch that acted and one that only passed by have different items.
    fn close(&mut self, before: At, yes: At, no: At, yes_empty: bool, no_empty: bool) -> At {
        if yes.is_dead() && no.is_dead() {
            return At {
                ends: Vec::new(),
                ..before
            };
        }
        let json = match (yes_empty, no_empty) {
            (true, true) => before.json,
            _ if yes.is_dead() => no.json,
            _ if no.is_dead() => yes.json,
            _ => None,
        };
        let mut met = self.meet(vec![yes, no]);
        if met.json.is_none() {
            met.json = json;
        }
        met
    }

    pub(super) fn filter_step(&mut self, step: &Step, cond: &Cond, at: At) -> At {
        if let Some((yes, _)) = self.classified_if(cond, &at) {
            return yes;
        }
        let params = self.condition_params(&at, FILTER, cond);
        let wish = self.wish(step, format!("Only {}", short_cond(cond)));
        let node = self.node(&at, &wish, FILTER, params);
        at.from(&node, 0)
    }

    pub(super) fn switch_step(
        &mut self,
        step: &Step,
        on: &Val,
        cases: &[Case],
        fallback: Option<&[Step]>,
        at: At,
    ) -> At {
        // the switch reads a model's label: its node has one output for each
        if let Some(at) = self.classified(on, cases, fallback, &at) {
            return at;
        }
        let version = self.facts(SWITCH).map_or(2, |f| f.filter_version());
        let rules: Vec<Value> = cases
            .iter()
            .map(|case| {
                let cond = case.condition.clone().unwrap_or_else(|| Cond::Compare {
                    left: on.clone(),
                    op: Cmp::Eq,
                    right: Val::Lit {
                        value: json!(case.label),
                    },
                });
                let conditions = self.filter(&at, &cond, version);
                json!({"conditions": conditions, "renameOutput": true, "outputKey": case.label})
            })
            .collect();
        let options = if fallback.is_some() {
            json!({"fallbackOutput": "extra", "ignoreCase": true})
        } else {
            json!({"ignoreCase": true})
        };
        let params = object(&[
            ("rules", json!({"values": rules})),
            ("looseTypeValidation", Value::Bool(true)),
            ("options", options),
        ]);
        let wish = self.wish(step, format!("By {}", short_val(on)));
        let node = self.node(&at, &wish, SWITCH, params);
        let mut ends = Vec::new();
        for (i, case) in cases.iter().enumerate() {
            let place = at.from(&node, u32::try_from(i).unwrap_or(0));
            ends.push(self.steps(&case.steps, place));
        }
        if let Some(fallback) = fallback {
            let place = at.from(&node, u32::try_from(cases.len()).unwrap_or(0));
            ends.push(self.steps(fallback, place));
        }
        self.meet_or_end(at, ends)
    }

    pub(super) fn meet_or_end(&mut self, before: At, places: Vec<At>) -> At {
        if places.iter().all(At::is_dead) {
            return At {
                ends: Vec::new(),
                ..before
            };
        }
        self.meet(places)
    }

    pub(super) fn loop_step(
        &mut self,
        step: &Step,
        batch_size: u32,
        body: &[Step],
        after: &[Step],
        at: At,
    ) -> At {
        let params = object(&[
            ("batchSize", json!(batch_size.max(1))),
            ("options", json!({})),
        ]);
        let wish = self.wish(step, "Loop over items");
        let node = self.node(&at, &wish, "n8n-nodes-base.splitInBatches", params);
        // output 0 is "done", output 1 is the next batch
        let inside = At {
            many: batch_size != 1,
            ..at.from(&node, 1)
        };
        let end = self.steps(body, inside);
        let mut back = end.clone();
        if back.is_dead() {
            back.ends = vec![End {
                node: node.clone(),
                output: 1,
            }];
        }
        self.link(&back, &node, 0);
        self.close_loop_gaps(&node, body);
        let done = At {
            paired: false,
            many: true,
            json: end.json.or(at.json),
            seen: end.seen.clone(),
            ..at.from(&node, 0)
        };
        self.steps(after, done)
    }

    /// A body branch that ends inside the loop leads back too: else its items stop the loop.
    fn close_loop_gaps(&mut self, loop_node: &str, body: &[Step]) {
        if body.is_empty() {
            return;
        }
        let inside = self.reachable_from_loop(loop_node);
        let mut loose = Vec::new();
        for name in &inside {
            let Some(node) = self.workflow.node_by_name(name) else {
                continue;
            };
            let outputs = match node.node_type() {
                IF => 2,
                SWITCH => continue,
                "n8n-nodes-base.respondToWebhook" => continue,
                _ => 1,
            };
            let from = self
                .workflow
                .connections
                .get(name)
                .and_then(|c| c.get("main"));
            for output in 0..outputs {
                let linked = from
                    .and_then(|b| b.get(output as usize))
                    .and_then(Option::as_ref)
                    .is_some_and(|l| !l.is_empty());
                if !linked {
                    loose.push(End {
                        node: name.clone(),
                        output,
                    });
                }
            }
        }
        for end in loose {
            self.workflow
                .connect(&end.node, "main", end.output, loop_node, 0);
        }
    }

    fn reachable_from_loop(&self, loop_node: &str) -> Vec<String> {
        let targets = |name: &str, output: Option<u32>| -> Vec<String> {
            self.workflow
                .edges()
                .filter(|(from, kind, out, _)| {
                    *from == name && *kind == "main" && output.is_none_or(|o| o == *out)
                })
                .map(|(_, _, _, link)| link.node.clone())
                .collect()
        };
        let mut seen: Vec<String> = Vec::new();
        let mut open = targets(loop_node, Some(1));
        while let Some(name) = open.pop() {
            if name == loop_node || seen.contains(&name) {
                continue;
            }
            open.extend(targets(&name, None));
            seen.push(name);
        }
        seen
    }

    pub(super) fn wait_step(&mut self, step: &Step, seconds: u64, at: At) -> At {
        let (amount, unit) = match seconds {
            s if s >= 86_400 && s % 86_400 == 0 => (s / 86_400, "days"),
            s if s >= 3_600 && s % 3_600 == 0 => (s / 3_600, "hours"),
            s if s >= 60 && s % 60 == 0 => (s / 60, "minutes"),
            s => (s, "seconds"),
        };
        let params = object(&[
            ("resume", json!("timeInterval")),
            ("amount", json!(amount)),
            ("unit", json!(unit)),
        ]);
        let singular = if amount == 1 {
            unit.trim_end_matches('s')
        } else {
            unit
        };
        let wish = self.wish(step, format!("Wait {amount} {singular}"));
        let node = self.node(&at, &wish, "n8n-nodes-base.wait", params);
        self.set_webhook_id(&node);
        at.from(&node, 0)
    }

    /// Until a date of the data, moved by some seconds.
    pub(super) fn wait_until_step(&mut self, step: &Step, date: &Val, offset: i64, at: At) -> At {
        let js = self.js(&at, date);
        let moved = match offset {
            0 => js.clone(),
            o => {
                let (way, seconds) = if o < 0 { ("minus", -o) } else { ("plus", o) };
                let (amount, unit) = match seconds {
                    s if s % 86_400 == 0 => (s / 86_400, "days"),
                    s if s % 3_600 == 0 => (s / 3_600, "hours"),
                    s => (s / 60, "minutes"),
                };
                format!("DateTime.fromISO({js}).{way}({{ {unit}: {amount} }}).toISO()")
            }
        };
        let params = object(&[
            ("resume", json!("specificTime")),
            ("dateTime", json!(format!("={{{{ {moved} }}}}"))),
        ]);
        let wish = self.wish(step, "Wait until the date");
        let node = self.node(&at, &wish, "n8n-nodes-base.wait", params);
        self.set_webhook_id(&node);
        at.from(&node, 0)
    }

    /// Siblings that all get the data at hand.
    pub(super) fn each_step(&mut self, branches: &[Vec<Step>], at: At) -> At {
        let places: Vec<At> = branches
            .iter()
            .map(|branch| self.steps(branch, at.clone()))
            .collect();
        // what follows belongs to the last sibling that goes on: one chain, so that it runs once
        let last = places.into_iter().rev().find(|p| !p.is_dead());
        last.unwrap_or_else(|| At {
            ends: Vec::new(),
            ..at.clone()
        })
    }

    /// Sources side by side, appended.
    pub(super) fn gather_step(&mut self, step: &Step, branches: &[Vec<Step>], at: At) -> At {
        let count = branches.len().clamp(2, 10);
        let mut places = Vec::new();
        for branch in branches {
            places.push(self.steps(branch, at.clone()));
        }
        if places.len() < 2 {
            return places.pop().unwrap_or(at);
        }
        let mut params = object(&[("mode", json!("append"))]);
        if count > 2 {
            params.insert("numberInputs".into(), json!(count));
        }
        let wish = self.wish(step, "Merge");
        let node = self.lone(&wish, MERGE, params);
        let mut seen = at.seen.clone();
        let mut origin = Origin::default();
        for (i, place) in places.iter().take(count).enumerate() {
            self.link(place, &node, u32::try_from(i).unwrap_or(0));
            for index in &place.seen {
                if !seen.contains(index) {
                    seen.push(*index);
                }
            }
            if let Some(from) = place.json.and_then(|j| self.origins.get(j)) {
                origin.about.extend(from.about.iter().cloned());
                origin.spelling = from.spelling;
            }
        }
        let base = At {
            seen,
            paired: false,
            many: true,
            ..at
        };
        self.produce(&base, &node, Some(&step.id), origin)
    }

    /// Two sources joined by a field.
    pub(super) fn join_step(
        &mut self,
        step: &Step,
        left: &[Step],
        right: &[Step],
        on: &str,
        keep: &str,
        at: At,
    ) -> At {
        let a = self.steps(left, at.clone());
        let b = self.steps(right, at.clone());
        let spell = |d: &Self, place: &At| -> String {
            match d.locate(place, on, None) {
                Some((_, path, true)) => path,
                _ if words::is_key(on) => on.to_owned(),
                _ => words::snake(on),
            }
        };
        let (on_left, on_right) = (spell(self, &a), spell(self, &b));
        let mode = match keep {
            "left_only" | "only_left" | "anti" => "keepNonMatches",
            "enrich" | "left" => "enrichInput1",
            "all" | "outer" => "keepEverything",
            _ => "keepMatches",
        };
        let mut params = object(&[
            ("mode", json!("combine")),
            ("combineBy", json!("combineByFields")),
        ]);
        if on_left == on_right {
            params.insert("fieldsToMatchString".into(), json!(on_left));
        } else {
            params.insert("advanced".into(), Value::Bool(true));
            params.insert(
                "mergeByFields".into(),
                json!({"values": [{"field1": on_left, "field2": on_right}]}),
            );
        }
        params.insert("joinMode".into(), json!(mode));
        if mode == "keepNonMatches" {
            params.insert("outputDataFrom".into(), json!("input1"));
        }
        params.insert("options".into(), json!({}));
        let wish = self.wish(step, format!("Join on {on}"));
        let node = self.lone(&wish, MERGE, params);
        self.link(&a, &node, 0);
        self.link(&b, &node, 1);
        let mut origin = a
            .json
            .and_then(|i| self.origins.get(i))
            .cloned()
            .unwrap_or_default();
        if mode != "keepNonMatches"
            && let Some(more) = b.json.and_then(|i| self.origins.get(i)).cloned()
        {
            origin.fields.extend(more.fields);
            origin.about.extend(more.about);
        }
        let mut base = a.clone();
        for index in &b.seen {
            if !base.seen.contains(index) {
                base.seen.push(*index);
            }
        }
        base.many = true;
        base.list = None;
        self.produce(&base, &node, Some(&step.id), origin)
    }

    /// Drops items that a store knows already: a lookup for each item, then only those without a hit.
    pub(super) fn not_in_step(&mut self, step: &Step, lookup: &Step, key: &Val, at: At) -> At {
        let before = at.clone();
        let lookup = with_key(lookup, key);
        let mut looked = self.step(&lookup, at);
        let Some(End { node, .. }) = looked.ends.first().cloned() else {
            return before;
        };
        // no hit must still give an item, or nothing would go on
        self.set(&node, "alwaysOutputData", Value::Bool(true));
        let one_hit = self.limit_lookup(&node);
        let cond = "Object.keys($json).length === 0".to_owned();
        let version = self.facts(FILTER).map_or(2, |f| f.filter_version());
        let id = self.part_id();
        let conditions = json!({
            "options": {"caseSensitive": true, "leftValue": "", "typeValidation": "loose", "version": version},
            "conditions": [{"id": id, "leftValue": expression(&cond), "rightValue": "", "operator": {"type": "boolean", "operation": "true", "singleValue": true}}],
            "combinator": "and",
        });
        let params = object(&[
            ("conditions", conditions),
            ("looseTypeValidation", Value::Bool(true)),
            ("options", json!({})),
        ]);
        let wish = self.wish(step, format!("Only new {}", short_val(key)));
        let filter = self.node(&looked, &wish, FILTER, params);
        if !one_hit {
            self.note(format!("{node}: looks up one item after the other"));
        }
        looked = looked.from(&filter, 0);
        // the empty item is not the data: that still lies before the lookup
        let mut next = At {
            ends: looked.ends,
            json: None,
            ..before
        };
        next.list = None;
        next
    }

    fn limit_lookup(&mut self, node: &str) -> bool {
        let Some(found) = self.workflow.node_by_name_mut(node) else {
            return false;
        };
        found.edit_parameters(|params| {
            let lists = params.contains_key("returnAll")
                && params.get("operation").is_some_and(|o| o != "executeQuery");
            if lists {
                params.insert("returnAll".into(), Value::Bool(false));
                params.insert("limit".into(), json!(1));
            }
            lists
        })
    }
}

/// A lookup that asks for the key, when it does not yet.
fn with_key(lookup: &Step, key: &Val) -> Step {
    let mut lookup = lookup.clone();
    if let Does::Service { args, .. } = &mut lookup.does {
        let asks = args.iter().any(|a| {
            a.value == *key
                || matches!(
                    a.role,
                    Role::Query | Role::MatchOn | Role::Id | Role::Command
                )
        });
        if !asks {
            let role = match key {
                Val::Field { name, .. } => Role::Field(name.clone()),
                _ => Role::Field("id".to_owned()),
            };
            args.push(Arg {
                role,
                value: key.clone(),
            });
        }
    }
    lookup
}
