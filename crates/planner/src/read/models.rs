//! Which language model a text means: its host (OpenAI, Ollama, Groq …) and the model's own name (`llama3.1`, `mistral-nemo`).
//! Written as `host` or `host:model`, the form that a plan carries.

use crate::lexicon::{has, rx};

/// Names that models carry. A name needs a digit or a known ending: "Mistral" alone is a company.
pub const NAME: &str = r"\b(?:chatgpt-4o[\w.-]*|gpt-?\d[\w.-]*|gpt-oss[\w.:-]*|o[134]-(?:mini|pro|preview)|claude-[\w.-]*\w|gemini-\d[\w.-]*|(?:code)?llama-?\d[\w.:-]*|mi[sx]tral-(?:nemo|large|small|medium|tiny|saba|\d)[\w.:-]*|mistral:\w+|ministral[\w.:-]*|codestral[\w.:-]*|mixtral[\w.:-]*|command-r[\w+.-]*|deepseek-[\w.:-]+|qwen-?\d?[\w.:-]*|gemma-?\d[\w.:-]*|phi-?\d[\w.:-]*|grok-\d[\w.-]*|nova-(?:micro|lite|pro))\b";

/// Hosts by the words for them, the surest first.
const HOSTS: &[(&str, &str)] = &[
    ("azureopenai", r"\bazure(?: ?open ?ai)?\b"),
    (
        "ollama",
        r"\bollama\b|\b(?:local|self-?hosted|lokale[snmr]?|selbst gehostete[snmr]?|local[eo]?s?|on[- ]prem\w*)\s+(?:ai\s+|language\s+|sprach-?)?(?:models?|llm|modell\w*|modelo|modèle)\b",
    ),
    ("groq", r"\bgroq\b"),
    ("openrouter", r"\bopen ?router\b"),
    ("bedrock", r"\bbedrock\b"),
    ("vertex", r"\bvertex\b"),
    ("deepseek", r"\bdeepseek\b"),
    ("cohere", r"\bcohere\b"),
    ("grok", r"\bgrok\b|\bxai\b"),
    ("anthropic", r"\banthropic\b|\bclaude\b"),
    ("gemini", r"\bgemini\b"),
    ("mistral", r"\bmistral\b"),
    ("openai", r"\bopen ?ai\b|\bchat ?-?gpt\b|\bgpt\b"),
];

/// Hosts of models that are named without one.
const FAMILIES: &[(&str, &str)] = &[
    ("openai", r"^(?:chatgpt|gpt-?\d|o[134])"),
    ("anthropic", r"^claude"),
    ("gemini", r"^gemini"),
    ("deepseek", r"^deepseek"),
    ("cohere", r"^command"),
    ("grok", r"^grok"),
    ("bedrock", r"^nova"),
    (
        "mistral",
        r"^(?:mistral-(?:large|small|medium|tiny|saba)|ministral|codestral)",
    ),
    ("ollama", r"^."),
];

/// The model that a text speaks of. Embedding models do not count.
pub fn said(text: &str) -> Option<String> {
    let text = rx(
        r"\b(?:[\w.-]+\s+){1,2}(?:embeddings?|einbettungen)\b|\b(?:embeddings?|einbettungen)\s+(?:from|by|with|via|of|von|mit|de|con|avec|:)\s+(?:[\w.-]+\s*){1,2}|\btext-embedding[\w.-]*",
    )
    .replace_all(text, " ")
    .into_owned();
    let name = rx(NAME)
        .find(&text)
        .map(|f| f.as_str().trim_end_matches(['.', ':', '-']).to_lowercase());
    let host = HOSTS
        .iter()
        .find(|(_, words)| has(words, &text))
        .map(|(h, _)| *h);
    match (host, name) {
        (Some(host), Some(name)) => Some(format!("{host}:{name}")),
        (Some(host), None) => Some(host.to_owned()),
        (None, Some(name)) => FAMILIES
            .iter()
            .find(|(_, words)| has(words, &name))
            .map(|(host, _)| format!("{host}:{name}")),
        (None, None) => None,
    }
}
