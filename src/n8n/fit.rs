//! How well an existing workflow fits what is wanted: 0–100, computed from evidence, with its parts. No model scores.

use super::workflow::Workflow;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Wanted {
    /// Node types of the services, without the trigger.
    pub node_types: Vec<String>,
    pub trigger_types: Vec<String>,
    /// Words of the request, lower case.
    pub words: Vec<String>,
    /// Concrete values: channels, sheet names, URLs.
    pub values: Vec<String>,
}

/// One part of a score: what was compared, points reached, points there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FitPart {
    pub what: String,
    pub points: u8,
    pub of: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FitScore {
    /// 0–100: the points of the parts that could be compared, scaled.
    pub score: u8,
    pub parts: Vec<FitPart>,
}

/// Words that nearly every workflow's name has.
const COMMON: [&str; 12] = ["and", "the", "new", "workflow", "with", "from", "every", "send", "und", "der", "les", "del"];

/// Services weigh most: a workflow that acts elsewhere is no base for a change.
pub fn fit_score(wanted: &Wanted, existing: &Workflow) -> FitScore {
    let types: BTreeSet<&str> = existing.nodes.iter().filter(|n| !n.disabled()).map(|n| n.node_type()).collect();
    let named: BTreeSet<String> = words(existing.name());
    let text = serde_json::to_string(&existing.nodes).unwrap_or_default().to_lowercase();
    let wanted_words: BTreeSet<String> = wanted.words.iter().map(|w| w.to_lowercase()).filter(|w| !COMMON.contains(&w.as_str())).collect();
    let mut parts = Vec::new();
    let mut part = |what: &str, of: u8, share: Option<(usize, usize)>| {
        if let Some((met, all)) = share.filter(|(_, all)| *all > 0) {
            let points = u8::try_from((met.min(all) * usize::from(of) + all / 2) / all).unwrap_or(of);
            parts.push(FitPart { what: what.to_owned(), points, of });
        }
    };
    let services: BTreeSet<&str> = wanted.node_types.iter().map(String::as_str).collect();
    part("services", 50, Some((services.iter().filter(|t| types.contains(**t)).count(), services.len())));
    let starts = wanted.trigger_types.iter().any(|t| types.contains(t.as_str()));
    part("trigger", 20, (!wanted.trigger_types.is_empty()).then_some((usize::from(starts), 1)));
    // A name has few words: it is the request that must have them, not the other way round.
    part("name", 15, Some((named.iter().filter(|w| wanted_words.contains(*w)).count(), named.len())));
    part("values", 15, Some((wanted.values.iter().filter(|v| text.contains(&v.to_lowercase())).count(), wanted.values.len())));
    let (points, of) = parts.iter().fold((0u32, 0u32), |(p, o), part| (p + u32::from(part.points), o + u32::from(part.of)));
    let score = if of == 0 { 0 } else { u8::try_from((points * 100 + of / 2) / of).unwrap_or(100) };
    // Without a common service nothing else makes it fit.
    let none_in_common = !services.is_empty() && !services.iter().any(|t| types.contains(t));
    FitScore { score: if none_in_common { 0 } else { score }, parts }
}

fn words(name: &str) -> BTreeSet<String> {
    let split = name.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    split.filter(|w| w.chars().count() >= 3 && !COMMON.contains(&w.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn orders() -> Workflow {
        Workflow::from_value(json!({
            "name": "Orders to Slack",
            "nodes": [
                {"name": "W", "type": "n8n-nodes-base.webhook", "parameters": {}},
                {"name": "S", "type": "n8n-nodes-base.slack", "parameters": {"channelId": {"value": "#sales"}}},
            ],
            "connections": {}
        }))
        .unwrap()
    }

    fn wanted(types: &[&str], values: &[&str]) -> Wanted {
        let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        Wanted { node_types: own(types), trigger_types: own(&["n8n-nodes-base.webhook"]), words: own(&["orders", "slack", "sheet"]), values: own(values) }
    }

    #[test]
    fn everything_in_common_is_100() {
        assert_eq!(fit_score(&wanted(&["n8n-nodes-base.slack"], &["#sales"]), &orders()).score, 100);
    }

    #[test]
    fn the_parts_say_what_is_missing() {
        let fit = fit_score(&wanted(&["n8n-nodes-base.slack", "n8n-nodes-base.googleSheets"], &["#ops"]), &orders());
        let parts: Vec<(&str, u8, u8)> = fit.parts.iter().map(|p| (p.what.as_str(), p.points, p.of)).collect();
        assert_eq!(parts, [("services", 25, 50), ("trigger", 20, 20), ("name", 15, 15), ("values", 0, 15)]);
        assert_eq!(fit.score, 60);
    }

    #[test]
    fn without_a_common_service_nothing_fits() {
        assert_eq!(fit_score(&wanted(&["n8n-nodes-base.gmail"], &["#sales"]), &orders()).score, 0);
    }
}
