//! Which of the listed tools a clause is about: what it does and what it is about, by concepts on both sides.

use super::lexicon::Lexicon;
use serde_json::Value;

/// A tool that was listed for the user.
#[derive(Debug, Clone)]
pub(crate) struct Listed<'a> {
    pub id: &'a str,
    pub description: &'a str,
    pub parameters: &'a Value,
}

impl<'a> Listed<'a> {
    pub fn all(tools: Option<&'a Value>) -> Vec<Listed<'a>> {
        let tools = tools.and_then(Value::as_array);
        let tools = tools.into_iter().flatten();
        tools.filter_map(Listed::of).collect()
    }

    pub fn of(tool: &'a Value) -> Option<Listed<'a>> {
        Some(Listed {
            id: tool.get("id")?.as_str()?,
            description: tool
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default(),
            parameters: tool.get("parameters")?,
        })
    }

    /// The words of its id.
    pub fn words(&self) -> String {
        self.id.replace(['_', '-', '.'], " ")
    }

    pub fn required(&self) -> Vec<&'a str> {
        let required = self.parameters.get("required").and_then(Value::as_array);
        required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    pub fn properties(&self) -> Vec<(&'a String, &'a Value)> {
        let properties = self.parameters.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().collect()
    }
}

/// Concepts of the words that join the parts of a request ("page *from* my sprint"): they say nothing of which tool is meant.
pub(crate) const JOINTS: [&str; 3] = ["source", "sink", "into"];

/// The concepts that are acts: what a tool does to something.
pub(crate) fn is_act(acts: &[&str], concept: &str) -> bool {
    acts.contains(&concept)
}

/// What a tool does, by the words of its id; None: it only reads.
pub(crate) fn act_of(tool: &Listed<'_>, lexicon: &Lexicon, acts: &[&str]) -> Option<String> {
    let hits = lexicon.hits(&tool.words());
    let found = hits.into_iter().find(|hit| is_act(acts, &hit.concept));
    found.map(|hit| hit.concept)
}

/// The tool that fits best what was said, concept for concept; None: none does what is wanted. `acts`: what counts as doing.
pub(crate) fn best<'t, 'a>(
    said: &[String],
    tools: &'t [Listed<'a>],
    lexicon: &Lexicon,
    (acts, weak): (&[&str], &[&str]),
    fits: impl Fn(&Listed<'a>) -> i64,
) -> Option<&'t Listed<'a>> {
    // Who begins with "show" or "list" wants a look, whatever the names behind it hold.
    let looks = said
        .first()
        .is_some_and(|first| weak.contains(&first.as_str()));
    let wanted: Vec<&String> = (said.iter().filter(|c| !looks && is_act(acts, c))).collect();
    let scored = tools.iter().enumerate().filter_map(|(at, tool)| {
        let of_id: Vec<String> =
            (lexicon.hits(&tool.words()).into_iter().map(|h| h.concept)).collect();
        let act = of_id.iter().find(|c| is_act(acts, c));
        // Who wants something done is not helped by a look, and who wants a look does not want anything done.
        match (act, wanted.is_empty()) {
            (Some(act), false) if wanted.contains(&act) => {}
            (None, true) => {}
            _ => return None,
        }
        let of_text = lexicon.hits(tool.description);
        let about = |c: &&String| !is_act(acts, c) && !JOINTS.contains(&c.as_str());
        let mut score = 0;
        let mut counted: Vec<&String> = Vec::new();
        for concept in said.iter().filter(about) {
            if counted.contains(&concept) {
                continue;
            }
            counted.push(concept);
            if weak.contains(&concept.as_str()) {
                score += i64::from(of_id.contains(concept));
            } else if of_id.contains(concept) {
                score += 4;
            } else if of_text.iter().any(|hit| hit.concept == *concept) {
                score += 1;
            }
        }
        if let (Some(act), Some(first)) = (act, wanted.first())
            && act == *first
        {
            score += 2;
        }
        Some((score + fits(tool), std::cmp::Reverse(at), tool))
    });
    scored
        .max_by_key(|(score, at, _)| (*score, *at))
        .map(|(_, _, tool)| tool)
}
