//! Which icon a node has. Names, rules and drawings are data: `kinds.tsv` and `icons.tsv`.

use agentctl_n8n::catalog::{NodeDescription, NodeKind};
use agentctl_n8n::short_type;
use std::sync::OnceLock;

/// A drawing on a field of 24 × 24.
#[derive(Debug, PartialEq, Eq)]
pub struct Icon {
    pub name: &'static str,
    /// A class of the style sheet.
    pub colour: &'static str,
    pub path: &'static str,
}

struct Rule {
    what: &'static str,
    icon: &'static str,
}

/// For a type that no rule names.
const ANY: &str = "box";
const ANY_TRIGGER: &str = "bolt";

/// The icon of a node's type. `known`: what the catalog says of it.
pub fn of(node_type: &str, known: Option<&NodeDescription>) -> &'static Icon {
    let short = short_type(node_type);
    // A form of an action that is a tool is still that action; a trigger is its service's.
    let bare = short.strip_suffix("Trigger").filter(|s| !s.is_empty());
    let rule = rule_of(short)
        .or_else(|| bare.and_then(rule_of))
        .or_else(|| short.strip_suffix("Tool").and_then(rule_of))
        .or_else(|| by_category(known?));
    let is_trigger = match known {
        Some(known) => matches!(known.kind, NodeKind::Trigger(_)),
        None => bare.is_some(),
    };
    named(rule.unwrap_or(if is_trigger { ANY_TRIGGER } else { ANY }))
}

fn rule_of(name: &str) -> Option<&'static str> {
    let fits = |rule: &&Rule| match rule.what.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == rule.what,
    };
    rules().iter().find(fits).map(|rule| rule.icon)
}

fn by_category(known: &NodeDescription) -> Option<&'static str> {
    let fits = |rule: &&Rule| {
        let wanted = rule.what.strip_prefix('@');
        wanted.is_some_and(|wanted| known.categories.iter().any(|c| c == wanted))
    };
    rules().iter().find(fits).map(|rule| rule.icon)
}

fn named(name: &str) -> &'static Icon {
    const NONE: Icon = Icon {
        name: "",
        colour: "n",
        path: "",
    };
    static EMPTY: Icon = NONE;
    let find = |name: &str| icons().iter().find(|icon| icon.name == name);
    find(name).or_else(|| find(ANY)).unwrap_or(&EMPTY)
}

fn rows(table: &'static str) -> impl Iterator<Item = std::str::Split<'static, char>> {
    let lines = table.lines();
    lines
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split('\t'))
}

fn rules() -> &'static [Rule] {
    static RULES: OnceLock<Vec<Rule>> = OnceLock::new();
    RULES.get_or_init(|| {
        let rows = rows(include_str!("kinds.tsv"));
        rows.filter_map(|mut row| {
            Some(Rule {
                what: row.next()?,
                icon: row.next()?,
            })
        })
        .collect()
    })
}

fn icons() -> &'static [Icon] {
    static ICONS: OnceLock<Vec<Icon>> = OnceLock::new();
    ICONS.get_or_init(|| {
        let rows = rows(include_str!("icons.tsv"));
        rows.filter_map(|mut row| {
            Some(Icon {
                name: row.next()?,
                colour: row.next()?,
                path: row.next()?,
            })
        })
        .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentctl_n8n::catalog::Catalog;

    #[test]
    fn every_rule_names_a_drawing_and_every_drawing_is_whole() {
        for rule in rules() {
            assert!(
                icons().iter().any(|icon| icon.name == rule.icon),
                "{}",
                rule.icon
            );
        }
        for icon in icons() {
            let has_rule = rules().iter().any(|rule| rule.icon == icon.name);
            assert!(
                has_rule || [ANY, ANY_TRIGGER].contains(&icon.name),
                "{}",
                icon.name
            );
            assert_eq!(icon.colour.len(), 1, "{}", icon.name);
            let is_path = |c: char| c.is_ascii_digit() || "MmLlHhVvCcSsAaZz.- ".contains(c);
            assert!(
                icon.path.starts_with('M') && icon.path.chars().all(is_path),
                "{}",
                icon.path
            );
        }
        assert!(rules().len() > 100 && icons().len() > 35);
    }

    #[test]
    fn a_node_has_the_icon_of_what_it_does() {
        let icon = |node_type: &str| {
            let known = Catalog::embedded().lookup(node_type, None).known();
            of(node_type, known.as_deref()).name
        };
        assert_eq!(icon("n8n-nodes-base.scheduleTrigger"), "clock");
        assert_eq!(icon("n8n-nodes-base.slackTrigger"), "message");
        assert_eq!(icon("n8n-nodes-base.slackTool"), "message");
        assert_eq!(icon("@n8n/n8n-nodes-langchain.lmChatOpenAi"), "chip");
        assert_eq!(icon("n8n-nodes-base.zulip"), "message"); // by its category
        assert_eq!(icon("x.whateverTrigger"), "bolt");
        assert_eq!(icon("x.whatever"), "box");
        assert_eq!(icon(""), "box");
    }
}
