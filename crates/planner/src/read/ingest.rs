//! "Load the PDFs into the Pinecone index policies": what goes into a vector store, and how it is cut and embedded. Reading
//! the documents from where they lie is left to the ordinary reading of a source.

use crate::lexicon::{self, first, has, rx};
use crate::plan::Service;
use crate::read::models;
use crate::read::text::Masked;

const INTO: &str = r"(?:\b(?:in(?:to)?|to|onto|on|with|using|at|nach|ins|im|en|a|al|dans|sur|vers)\s+(?:(?:the|our|my|a|an|die|den|das|der|dem|unser\w*|eine?\w*|el|la|los|las|un|una|nuestr\w+|le|les|une|notre|nos)\s+)?(?:[\w§-]+\s+){0,3}?(?:(?:de|del|of|in|von|aus|du|dans|en)\s+)?)";
const VERBS: &str = r"\b(?:load|ingest|embed|index|insert|store|put|save|upsert|push|add|import|write|feed|vectori[sz]e|sync|lade|laden|einlesen|speicher\w*|indexier\w*|einbett\w*|schreib\w*|carg\w+|guard\w+|indexa\w*|inserta\w*|súbe\w*|charge\w*|indexe\w*|enregistre\w*|stocke\w*|insère\w*|ajoute\w*)\b";
const ANY_STORE: &str = r"\b(?:vector[- ]?(?:store|database|db|index|table)|vektor(?:datenbank|speicher|store)|base (?:de datos )?vectorial|base vectorielle|almacén vectorial)\b";

/// What a clause says of a store that is filled.
#[derive(Debug, Clone, PartialEq)]
pub struct Filling {
    pub store: Service,
    pub collection: Option<String>,
    pub embeddings: Option<String>,
    pub chunk_size: Option<u32>,
    pub overlap: Option<u32>,
    /// The words before the store: what is loaded, and from where.
    pub source: String,
}

/// Services that are databases and become vector stores by a word.
const BOTH: [(&str, &str); 5] = [
    ("supabase", "vectorStoreSupabase"),
    ("mongoDb", "vectorStoreMongoDBAtlas"),
    ("postgres", "vectorStorePGVector"),
    ("redis", "vectorStoreRedis"),
    ("azureStorage", "vectorStoreAzureAISearch"),
];

/// The vector store of a text, with the place of its mark.
pub fn store(m: &Masked, text: &str) -> Option<(Service, usize)> {
    let said_any = has(ANY_STORE, &m.open(text));
    for f in rx(r"§s\d+§").find_iter(text) {
        let Some(e) = m.entity(f.as_str()) else {
            continue;
        };
        let Some(entry) = e.service else { continue };
        if entry.is("vector") {
            let service = Service {
                said: entry.label.clone(),
                node_types: entry.actions.clone(),
            };
            return Some((service, f.start()));
        }
        let near = text.get(f.end()..).is_some_and(|t| {
            has(r"^[\s-]*(?:\w+\s+){0,2}?(?:vector|vektor)", t)
        }) || text
            .get(..f.start())
            .is_some_and(|t| has(r"\b(?:vector|vektor)\w*[- ]?\w*\s+(?:in|on|of|von|auf|de|en|dans|sur)\s+(?:\w+\s+)?$", t));
        if said_any
            && near
            && let Some((_, node)) = BOTH.iter().find(|(k, _)| *k == entry.key)
        {
            let service = Service {
                said: entry.label.clone(),
                node_types: vec![format!("@n8n/n8n-nodes-langchain.{node}")],
            };
            return Some((service, f.start()));
        }
    }
    let any = rx(ANY_STORE).find(text)?;
    Some((
        Service {
            said: "vector store".into(),
            node_types: vec!["@n8n/n8n-nodes-langchain.vectorStoreInMemory".into()],
        },
        any.start(),
    ))
}

/// The name of the collection, index, namespace or table.
pub fn collection(m: &Masked, text: &str) -> Option<String> {
    const WORDS: &str =
        r"(?:collection|index|sammlung|colección|índice|class|table|tabelle|tabla|namespace)";
    m.after(
        &format!(r"\b{WORDS}\s+(?:named |called |namens |llamad[oa] |appelée? )?(§[qdkf]\d+§)"),
        text,
    )
    .map(|e| e.value.clone())
    .or_else(|| {
        first(
            &format!(r"\b{WORDS}\s+(?:named |called |namens |llamad[oa] |appelée? )?([\w-]+)"),
            text,
        )
        .filter(|w| {
            !has(
                r"^(?:and|und|y|et|with|using|via|for|so|that|which|in|of|from|mit|con|avec|§\w*|named|called|every|each)$",
                w,
            )
        })
        .map(str::to_owned)
    })
    .or_else(|| {
        first(
            r"\b(?:the|our|my|die|der|el|la|le)\s+([\w-]{3,})\s+(?:collection|index|namespace)\b",
            text,
        )
        .filter(|w| !w.contains('§') && !has(r"^(?:same|right|vector|new)$", w))
        .map(str::to_owned)
    })
}

/// "chunks of about 800 characters with an overlap of 100": size and overlap.
pub fn cutting(text: &str) -> (Option<u32>, Option<u32>) {
    const CHUNK: &str =
        r"(?:chunk\w*|abschnitt\w*|stück\w*|häppchen|fragment\w*|trozos?|morceaux?|splitter|split)";
    let number = |t: Option<&str>| t.and_then(|n| n.replace(['.', ','], "").parse().ok());
    let overlap = number(
        first(
            r"\b(?:overlap\w*|überlapp\w*|solap\w*|chevauch\w*)\b\D{0,24}(\d[\d.,]*\d|\d+)",
            text,
        )
        .or(first(
            r"\b(\d+)[\s-]*(?:characters?|chars?|tokens?|zeichen|caracteres|caractères)?[\s-]*(?:of |de )?(?:overlap|überlapp\w*|solap\w*|chevauch\w*)",
            text,
        )),
    );
    let rest = rx(r"\b(?:overlap\w*|überlapp\w*|solap\w*|chevauch\w*)\b\D{0,24}\d+|\b\d+[\s-]*(?:characters?|chars?|tokens?|zeichen|caracteres|caractères)?[\s-]*(?:of |de )?(?:overlap|überlapp\w*|solap\w*|chevauch\w*)").replace_all(text, "").into_owned();
    let size = number(
        first(&format!(r"\b{CHUNK}\b\D{{0,30}}(\d[\d.,]*\d|\d+)"), &rest).or(first(
            &format!(r"\b(\d[\d.,]*\d|\d+)[\s-]*(?:characters?|chars?|tokens?|zeichen|caracteres|caractères)?[\s-]*{CHUNK}"),
            &rest,
        )),
    );
    (size, overlap)
}

/// How documents are cut and embedded, and nothing else.
pub fn settings(text: &str) -> bool {
    has(
        r"\b(?:chunk\w*|overlap\w*|embeddings?|einbettungen|splitter|überlapp\w*|solap\w*|chevauch\w*)\b",
        text,
    )
}

/// The host that embeds: "Mistral embeddings", "embed it with Cohere".
pub fn embeddings(m: &Masked, text: &str) -> Option<String> {
    let plain = rx(r"-(embeddings?|einbettungen)\b")
        .replace_all(&m.plain(text), " $1")
        .into_owned();
    models::embeddings(&plain).or_else(|| {
        m.after(
            r"\b(?:embed\w*|vectori[sz]e\w*|einbett\w*|eingebettet|vektorisier\w*)\b[^§]{0,40}\b(?:with|using|via|by|mit|con|avec|per|durch)\s+(?:\w+\s+)?(§s\d+§)",
            text,
        )
        .filter(|e| e.service.is_some_and(|s| s.is("llm")))
        .and_then(|e| models::said(&e.value))
    })
}

/// A clause that fills a vector store.
pub fn filling(m: &Masked, text: &str) -> Option<Filling> {
    let opened = m.open(text);
    if !has(VERBS, &opened)
        || has(
            r"\b(?:agent\w*|chat\w*|answer\w*|retriev\w*|tool)\b",
            &opened,
        )
    {
        return None;
    }
    let (store, at) = store(m, text)?;
    let head = text.get(..at).unwrap_or_default();
    let into = rx(&format!("{INTO}$")).find(head).map(|f| f.start())?;
    let (chunk_size, overlap) = cutting(&m.plain(text));
    Some(Filling {
        store,
        collection: collection(m, &opened),
        embeddings: embeddings(m, text),
        chunk_size,
        overlap,
        source: rx(r"\s*(?:,\s*)?(?:\b(?:and|then|und|y|et)\s+)?\b(?:with|using|via|mit|con|avec)\s+§s\d+§(?:[\s-]+(?:embeddings?|einbettungen))?\s*$")
            .replace(head.get(..into).unwrap_or_default(), "")
            .trim()
            .to_owned(),
    })
}

/// Services that documents come from: everything that is no model.
pub fn sources(m: &Masked, text: &str) -> bool {
    m.all(text, "s").iter().any(|e| {
        e.service
            .is_some_and(|s| !s.is("llm") && !s.is("tool") && !s.is("vector"))
    }) || m.one(text, "u").is_some()
        || lexicon::has(r"§h\d+§", text)
}
