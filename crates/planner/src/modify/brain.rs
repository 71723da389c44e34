//! What an agent or a model step thinks with: its chat model and its memory. Another model or store takes the place of the
//! one that is there, wired to the same nodes.

use serde_json::{Value, json};

use super::mention;
use crate::compile::ai::{model_name, model_type};
use crate::compile::existing::Patch;
use crate::lexicon::{has, rx};
use crate::plan::Memory;
use crate::read::models;

pub(super) fn change(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    memory(patch, clause, kept) || model(patch, clause, kept)
}

/// The node that "the answer" or "the reply" comes from.
pub(super) fn answerer(patch: &Patch<'_>, place: &str) -> Option<String> {
    if !has(
        r"\b(?:answers?|answered|answering|repl(?:y|ies|ied)|responses?|responds?|conversation|antwort\w*|geantwortet|beantwortet|respuestas?|responde|respondido|réponses?|répond\w*)\b",
        place,
    ) {
        return None;
    }
    ["agent", "chainLlm", "chainRetrievalQa", "openAi"]
        .iter()
        .find_map(|kind| mention::of_type(patch.workflow(), kind).into_iter().next())
}

const MEMORY: &str = r"\b(?:memory|memories|remember\w*|chat history|conversation history|history|gedächtnis\w*|erinner\w*|merk\w*|chatverlauf|memoria|recuerd\w*|historial|mémoire|souvien\w*|retien\w*|historique)\b";
const STORES: &[(&str, &str)] = &[
    ("redis", "memoryRedisChat"),
    ("postgres(?:ql)?", "memoryPostgresChat"),
    ("mongo ?(?:db)?", "memoryMongoDbChat"),
    ("xata", "memoryXata"),
    ("zep", "memoryZep"),
    ("motorhead", "memoryMotorhead"),
    (
        "simple|buffer|window|in-memory|n8n'?s own|built-?in|einfache\\w*|simple",
        "memoryBufferWindow",
    ),
];

/// "Keep 15 messages of memory in Redis", "use Postgres as memory", "remember the last 20 messages".
fn memory(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let there: Vec<String> = mention::of_type(patch.workflow(), "memory*");
    let agents = mention::of_type(patch.workflow(), "agent");
    if !has(MEMORY, clause)
        || (there.is_empty() && agents.is_empty())
        || has(
            r"^\W*(?:please |bitte )?(?:remove|delete|drop|get rid of|take out|throw out|no |without|entfern\w*|lösch\w*|quita|elimina|supprime|enlève|kein|ohne|sin |sans )",
            clause,
        )
    {
        return false;
    }
    // what the old one was is not what is wanted: "Redis instead of Postgres"
    let wanted = rx(r"\b(?:instead of|rather than|statt|anstatt|anstelle|en lugar de|en vez de|au lieu de)\s+(?:the |a |der |des |dem |la |el |le )?\w+(?: memory)?")
        .replace_all(clause, " ")
        .into_owned();
    let target = rx(r"\b(?:replace|swap|switch|exchange|change|move|ersetz\w*|tausch\w*|wechs\w*|reemplaza|sustituye|cambia|remplace\w*)\b.*?\b(?:by|with|for|to|against|durch|mit|gegen|zu|auf|por|a|par|à)\s+(.+)$")
        .captures(&wanted)
        .and_then(|c| c.get(1))
        .map_or_else(|| wanted.clone(), |m| m.as_str().to_owned());
    let store = STORES
        .iter()
        .find(|(words, _)| has(&format!(r"\b(?:{words})\b"), &target))
        .map(|(_, kind)| *kind);
    let number = rx(
        r"\b(?:from|von|de|desde)\s+\d+\s+(?:to|auf|a|à)\s+(\d+)|(\d+)\s*(?:instead of|statt|en lugar de|au lieu de)|(\d+)\s*(?:messages?|nachrichten|mensajes|turns?|interactions?|exchanges?|entries|einträge)|(?:last|letzten?|últim[oa]s|derniers?|dernières|window(?: length)?(?: of| to)?|to|auf)\s+(\d+)\b",
    );
    let window = number
        .captures(clause)
        .and_then(|c| (1..5).find_map(|i| c.get(i)))
        .and_then(|m| m.as_str().parse::<u32>().ok());
    if store.is_none() && window.is_none() && !there.is_empty() {
        return false;
    }
    let meant = mention::one(patch.workflow(), clause, kept).filter(|n| there.contains(n));
    let old = meant.or_else(|| there.iter().find(|n| !kept.contains(n)).cloned());
    if let (Some(old), true) = (&old, !there.is_empty()) {
        let same = patch
            .workflow()
            .node_by_name(old)
            .is_some_and(|n| store.is_none_or(|kind| n.node_type().ends_with(kind)));
        if same {
            let Some(window) = window else {
                return true;
            };
            if let Some(node) = patch.workflow_mut().node_by_name_mut(old) {
                node.edit_parameters(|p| p.insert("contextWindowLength".into(), json!(window)));
            }
            return true;
        }
    } else if !there.is_empty() {
        // only protected ones are there
        return false;
    }
    let agent = mention::one(patch.workflow(), clause, kept)
        .filter(|n| agents.contains(n))
        .or_else(|| agents.first().cloned())
        .unwrap_or_default();
    if agent.is_empty() && old.is_none() {
        return false;
    }
    patch.memory(
        old.as_deref(),
        &agent,
        &Memory {
            store: store
                .unwrap_or("simple")
                .trim_start_matches("memory")
                .to_lowercase(),
            window,
            session: None,
        },
    );
    true
}

/// "Replace the OpenAI model by Anthropic", "use Claude instead of GPT", "swap OpenAI for a local Ollama model (mistral-nemo)".
fn model(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let models: Vec<String> = mention::of_type(patch.workflow(), "lmChat*")
        .into_iter()
        .filter(|n| !kept.contains(n))
        .collect();
    if models.is_empty() || models::said(clause).is_none() {
        return false;
    }
    let shapes = [
        r"\b(?:instead of|rather than|in place of|statt|anstatt|anstelle von|en lugar de|en vez de|au lieu de)\s+(?:\S+\s+){1,4}?(?:use|take|nimm|nutze|verwende|usa|utilise)\s+(.+)$",
        r"^(.+?)\s+(?:instead of|rather than|in place of|statt|anstatt|anstelle von|en lugar de|en vez de|au lieu de)\b",
        r"\b(?:replace|swap|switch|exchange|change|move|migrate|upgrade|downgrade|ersetz\w*|tausch\w*|wechs\w*|stell\w*|änder\w*|reemplaza\w*|sustituye\w*|cambia\w*|pasa\w*|remplace\w*|passe\w*|change\w*)\b.*?\b(?:by|with|for|to|against|onto|durch|mit|gegen|zu|auf|por|con|a|par|avec|à|vers)\s+(.+)$",
        r"\b(?:use|take|run on|nimm|nutze|verwende|usa|utilise|set|setz\w*|let)\b\s+(.+)$",
        r"^(.+?)\s+(?:instead|statt|stattdessen|en su lugar|à la place)",
    ];
    let provider = shapes.iter().find_map(|p| {
        rx(p)
            .captures(clause)
            .and_then(|c| c.get(1))
            .and_then(|m| models::said(m.as_str()))
    });
    let Some(provider) = provider else {
        return false;
    };
    // a model of one's own name may be meant: "the model of the summary"
    let meant = mention::one(patch.workflow(), clause, kept).filter(|n| models.contains(n));
    let several = models.len() > 1;
    let wanted = model_type(Some(&provider));
    let mut changed = false;
    for name in models {
        if several
            && meant.as_ref().is_some_and(|m| *m != name)
            && !has(r"\b(?:all|every|both|alle|todos|tous)\b", clause)
        {
            continue;
        }
        let same = patch
            .workflow()
            .node_by_name(&name)
            .is_some_and(|n| n.node_type().ends_with(wanted));
        if !same {
            patch.model(&name, &provider);
            changed = true;
            continue;
        }
        // the same host: only the model's name changes
        if let Some(model) = model_name(&provider)
            && let Some(node) = patch.workflow_mut().node_by_name_mut(&name)
        {
            node.edit_parameters(|p| {
                let key = if p.contains_key("modelName") {
                    "modelName"
                } else {
                    "model"
                };
                let value = if p.get(key).is_some_and(Value::is_object) {
                    json!({"__rl": true, "mode": "id", "value": model})
                } else {
                    json!(model)
                };
                p.insert(key.to_owned(), value);
            });
            changed = true;
        }
    }
    changed
}
