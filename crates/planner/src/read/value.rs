//! Values of arguments: fields of the data at hand, literals, lists of fields, dates relative to now.

use crate::lexicon::rx;
use crate::plan::Val;
use serde_json::Value;

pub fn lit(value: impl Into<Value>) -> Val {
    Val::Lit {
        value: value.into(),
    }
}

/// The sign of an arithmetic operation between two numbers, from its sign or its word.
pub fn operator(said: &str) -> char {
    match said.to_lowercase().as_str() {
        "+" | "plus" | "más" => '+',
        "-" | "minus" | "menos" | "moins" => '-',
        "/" | "divided by" | "geteilt durch" | "entre" | "divisé par" => '/',
        _ => '*',
    }
}

pub fn field(name: &str) -> Val {
    Val::Field {
        name: clean_field(name),
        of: None,
    }
}

/// A field's name without articles, possessives and question words.
pub fn clean_field(name: &str) -> String {
    let t = rx(r"(?:^|\s)(?:the|a|an|its|their|his|her|our|my|your|der|die|das|den|dem|des|ein|eine|einen|deren|dessen|el|la|los|las|un|una|su|sus|le|les|une|des|du|son|sa|ses|new|each)\b(?:\s|$)|^(?:of|from|with|and|und|y|et)\s|^(?:l'|d')")
        .replace_all(name.trim(), " ")
        .into_owned();
    let t = rx(r"'s\b").replace_all(&t, "").into_owned();
    t.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .trim_matches([' ', ',', '.', ':', ';', '"', '\'', '(', ')'])
        .to_owned()
}

/// Splits "a, b (c) and d" into its parts; words like "not the headers" end the list.
pub fn list(text: &str) -> Vec<String> {
    let head = rx(r"\s*(?:[–—;]|\s-\s|\bnot the\b|\bonly\b.*$|\bbut not\b|\bnicht\b).*$")
        .replace(text, "")
        .into_owned();
    rx(r"\s*(?:,|;|\n|\s/\s|\s\+\s|\band\b|\bund\b|\by\b|\bet\b|\bor\b|\boder\b|\bou\b|\bas well as\b|\bplus\b|\bsowie\b|&)\s*")
        .split(&head)
        .map(|p| rx(r"^(?:and|und|y|et|or|also|the)\s+").replace(p.trim(), "").trim().to_owned())
        .filter(|p| !p.is_empty())
        .collect()
}
