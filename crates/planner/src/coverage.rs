//! Which nodes answer for which requirement, as QA is asked for it: those that were made of the words of a step, what starts the
//! workflow for its trigger. It claims no more than the compiler knows; what was not understood is missing here too.

use serde_json::{Map, Value, json};

/// What stands for the workflow as a whole: a step that became a part of other nodes has none of its own.
const WHOLE: &str = "$workflow";

/// One row for each of `requirements`, by their numbers from 1.
pub(super) fn of(input: &Map<String, Value>) -> Vec<Value> {
    let list = |key: &str| input.get(key).and_then(Value::as_array);
    let requirements = list("requirements").into_iter().flatten();
    let not_understood: Vec<&str> = list("not_understood")
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let reviewed = Reviewed::of(input);
    (1..)
        .zip(requirements)
        .map(|(number, requirement)| {
            let said = requirement.as_str();
            // Of a step the phrase that was not understood, and of one phrase the steps that were cut out of it.
            let missing = said.and_then(|said| {
                let of_it = |phrase: &&&str| said.contains(**phrase) || phrase.contains(said);
                not_understood.iter().find(of_it)
            });
            match missing {
                Some(phrase) => json!({"requirement": number, "nodes": [], "missing": phrase}),
                None => {
                    let mut nodes = match said {
                        Some(said) => reviewed.made_of(said, list("made")),
                        None => reviewed.starts.clone(),
                    };
                    if nodes.is_empty() {
                        nodes.push(WHOLE.to_owned());
                    }
                    json!({"requirement": number, "nodes": nodes})
                }
            }
        })
        .collect()
}

/// The workflow as QA is shown it.
struct Reviewed {
    names: Vec<String>,
    /// The nodes that no other node leads to.
    starts: Vec<String>,
}

impl Reviewed {
    fn of(input: &Map<String, Value>) -> Reviewed {
        let list = |key: &str| {
            let workflow = input.get("workflow")?;
            workflow.get(key)?.as_array()
        };
        let names: Vec<String> = list("nodes")
            .into_iter()
            .flatten()
            .filter_map(|node| Some(node.get("name")?.as_str()?.to_owned()))
            .collect();
        let lines: Vec<&str> = list("connections")
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let leads_to = |name: &&String| {
            let (bare, at_port) = (format!(" -> {name}"), format!(" -> {name}["));
            let into = |line: &&&str| line.ends_with(&bare) || line.contains(&at_port);
            lines.iter().any(|line| into(&line))
        };
        let starts = names.iter().filter(|name| !leads_to(name));
        Reviewed {
            starts: starts.cloned().collect(),
            names: names.clone(),
        }
    }

    /// The nodes that were made of a step and are still there.
    fn made_of(&self, said: &str, made: Option<&Vec<Value>>) -> Vec<String> {
        let parts = made.into_iter().flatten();
        let of_step = parts.filter(|part| part.get("said").and_then(Value::as_str) == Some(said));
        let mut nodes: Vec<String> = Vec::new();
        for name in of_step
            .filter_map(|part| part.get("nodes")?.as_array())
            .flatten()
            .filter_map(Value::as_str)
        {
            let known = nodes.iter().any(|node| node == name);
            if !known && self.names.iter().any(|node| node == name) {
                nodes.push(name.to_owned());
            }
        }
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::of;
    use serde_json::{Map, Value, json};

    fn input() -> Map<String, Value> {
        let Value::Object(map) = json!({
            "requirements": [{"kind": "webhook"}, "post it to Slack", "frob it", "keep it short"],
            "workflow": {
                "nodes": [{"name": "Webhook"}, {"name": "Slack"}],
                "connections": ["Webhook -> Slack"],
            },
            "made": [{"said": "post it to Slack", "nodes": ["Slack", "Gone"]}],
            "not_understood": ["frob"],
        }) else {
            unreachable!()
        };
        map
    }

    #[test]
    fn each_requirement_has_the_nodes_that_were_made_of_it_or_says_what_is_missing() {
        assert_eq!(
            Value::from(of(&input())),
            json!([
                {"requirement": 1, "nodes": ["Webhook"]},
                {"requirement": 2, "nodes": ["Slack"]},
                {"requirement": 3, "nodes": [], "missing": "frob"},
                {"requirement": 4, "nodes": ["$workflow"]},
            ])
        );
    }
}
