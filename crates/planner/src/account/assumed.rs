//! What was taken for granted in a finished workflow: a field of somebody's own records, or of an answer, that is read by a name which
//! the request does not say. It may be right, and only who knows the records can tell.

use super::unsound::{Finished, holds_a_whole_item};
use crate::compile::Compiled;
use crate::lex::{Class, Lexicon};
use agentctl_n8n::{Node, short_type};

/// Nodes whose items have the fields that whoever uses them gave them.
const OWN_FIELDS: &[&str] = &[
    "airtable",
    "baserow",
    "dataTable",
    "executeWorkflowTrigger",
    "googleSheets",
    "googleSheetsTrigger",
    "httpRequest",
    "microsoftExcel",
    "microsoftSql",
    "mySql",
    "nocoDb",
    "postgres",
    "postgresTrigger",
    "seaTable",
    "supabase",
    "webhook",
];
/// Fields that each of them has, or that an expression speaks of without reading them.
const COMMON: &[&str] = &[
    "id", "body", "headers", "query", "params", "data", "error", "json", "row", "number",
];

/// One sentence for each field that a node reads and the request does not name.
pub fn assumptions(request: &str, language: &str, built: &Compiled) -> Vec<String> {
    let finished = Finished::of(request, language, built);
    let lexicons = [Lexicon::of("en"), Lexicon::of(language)];
    let concepts = |word: &str| -> Vec<&str> {
        let senses = lexicons.iter().flat_map(|l| l.senses(word));
        let nouns = senses.filter(|s| s.class != Class::Function);
        nouns.map(|s| s.concept.as_str()).collect()
    };
    let chart = &finished.whole().chart;
    let said: Vec<String> = chart
        .items
        .iter()
        .flat_map(|i| crate::compile::words::plain(&i.text))
        .collect();
    let meant: Vec<&str> = said.iter().flat_map(|w| concepts(w)).collect();
    let named = |field: &str| {
        crate::compile::words::plain(field).iter().all(|word| {
            let near = |s: &String| is_near(s, word);
            COMMON.contains(&word.as_str())
                || said.iter().any(near)
                || concepts(word).iter().any(|c| meant.contains(c))
        })
    };
    let mut told = Vec::new();
    for node in finished.nodes() {
        if holds_a_whole_item(node) {
            let name = node.name();
            told.push(format!(
                "{name}: nobody said what its title is, so it holds the whole item"
            ));
        }
        for (source, field) in finished.fields_read(node) {
            let own = OWN_FIELDS.contains(&short_type(source.node_type()));
            let sentence = sentence(node, source, &field);
            if own && !named(&field) && !told.contains(&sentence) {
                told.push(sentence);
            }
        }
    }
    told
}

/// Whether two words are one, or one begins with the other.
pub(super) fn is_near(one: &str, other: &str) -> bool {
    const SHORTEST: usize = 4;
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    one == other || short.len() >= SHORTEST && long.starts_with(short)
}

fn sentence(node: &Node, source: &Node, field: &str) -> String {
    format!(
        "{}: taken for granted that {} gives \"{field}\", which the request does not name",
        node.name(),
        source.name()
    )
}
