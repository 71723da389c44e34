//! Vector stores: documents go in (loader, splitter, embeddings), agents look things up. Owns what hangs below a store;
//! knows nothing of agents.

use serde_json::{Map, Value, json};

use super::super::plan::{Does, Service, Step};
use super::ai::{AI, embeddings_type};
use super::data::Origin;
use super::draft::{At, Draft};
use super::facts::shown;
use super::fill::Target;
use super::place::object;
use super::words::fold;
use agentctl_n8n::catalog::PropertyKind;

/// What the names of services without a store of their own stand for.
const STORES: &[(&str, &str)] = &[
    ("qdrant", "Qdrant"),
    ("pinecone", "Pinecone"),
    ("supabase", "Supabase"),
    ("postgres", "PGVector"),
    ("pgvector", "PGVector"),
    ("weaviate", "Weaviate"),
    ("milvus", "Milvus"),
    ("mongo", "MongoDBAtlas"),
    ("redis", "Redis"),
    ("chroma", "ChromaDB"),
    ("zep", "Zep"),
    ("azure", "AzureAISearch"),
];

/// Names that stores have for the place of their documents.
const PLACES: &[&str] = &["collection", "index", "tablename", "memorykey", "table"];

impl Draft<'_> {
    /// The node type of a vector store.
    pub(super) fn vector_store(&self, store: &Service) -> String {
        store
            .node_types
            .iter()
            .find(|t| t.contains("vectorStore") && self.exists(t))
            .cloned()
            .unwrap_or_else(|| {
                let said = fold(&store.said);
                let kind = STORES
                    .iter()
                    .find(|(w, _)| said.contains(w))
                    .map_or("InMemory", |(_, k)| k);
                format!("{AI}vectorStore{kind}")
            })
    }

    /// The collection, index or table into the parameter that asks for it; what else is missing becomes a placeholder.
    pub(super) fn name_collection(
        &mut self,
        node_type: &str,
        params: &mut Map<String, Value>,
        collection: &str,
    ) {
        let Some(facts) = self.facts(node_type) else {
            return;
        };
        let slot = shown(&facts, params)
            .into_iter()
            .find(|p| {
                let name = fold(&p.name);
                PLACES.iter().any(|w| name.contains(w)) && !params.contains_key(&p.name)
            })
            .cloned();
        if let Some(slot) = slot {
            let value = if slot.kind == PropertyKind::ResourceLocator {
                let mode = if slot.modes.iter().any(|m| m.name == "id") {
                    "id"
                } else {
                    "list"
                };
                json!({"__rl": true, "mode": mode, "value": collection, "cachedResultName": collection})
            } else {
                json!(collection)
            };
            params.insert(slot.name.clone(), value);
        }
        self.fill_required(
            &At::start(),
            &facts,
            params,
            Target {
                node_type: "",
                name: "Knowledge",
            },
        );
    }

    /// An embedding model below a store.
    pub(super) fn hang_embeddings(&mut self, provider: Option<&str>, store: &str) {
        let node_type = format!("{AI}{}", embeddings_type(provider));
        let label = self.label(&node_type);
        let sub = self.lone(&label, &node_type, object(&[("options", json!({}))]));
        self.attach(&sub, "ai_embedding", store);
    }

    /// Writes what is at hand into a vector store.
    pub(super) fn ingest_step(&mut self, step: &Step, at: At) -> At {
        let Does::Ingest {
            store,
            collection,
            embeddings,
            chunk_size,
            overlap,
        } = &step.does
        else {
            return at;
        };
        let at = if at.binary == "attachment_0" {
            self.one_file_each(at)
        } else {
            at
        };
        let node_type = self.vector_store(store);
        let mut params = object(&[("mode", json!("insert"))]);
        let named = collection.clone().unwrap_or_else(|| "documents".to_owned());
        self.name_collection(&node_type, &mut params, &named);
        let wish = self.wish(step, format!("Index in {}", self.label(&node_type)));
        let node = self.node(&at, &wish, &node_type, params);
        if collection.is_none() && !node_type.ends_with("InMemory") {
            self.todo(
                "value",
                &node,
                "set the collection that takes the documents",
            );
        }
        self.hang_embeddings(embeddings.as_deref(), &node);
        self.hang_loader(&at, &node, *chunk_size, *overlap);
        self.produce(&at, &node, Some(&step.id), Origin::default())
    }

    /// How documents are read (file or fields) and cut.
    fn hang_loader(&mut self, at: &At, store: &str, size: Option<u32>, overlap: Option<u32>) {
        let node_type = format!("{AI}documentDefaultDataLoader");
        let mut params = Map::new();
        if at.file {
            params.insert("dataType".into(), json!("binary"));
        }
        let cut = size.is_some() || overlap.is_some();
        if cut {
            params.insert("textSplittingMode".into(), json!("custom"));
        }
        params.insert("options".into(), json!({}));
        let label = self.label(&node_type);
        let loader = self.lone(&label, &node_type, params);
        self.attach(&loader, "ai_document", store);
        if cut {
            let node_type = format!("{AI}textSplitterRecursiveCharacterTextSplitter");
            let mut params = Map::new();
            if let Some(size) = size {
                params.insert("chunkSize".into(), json!(size));
            }
            if let Some(overlap) = overlap {
                params.insert("chunkOverlap".into(), json!(overlap));
            }
            params.insert("options".into(), json!({}));
            let label = self.label(&node_type);
            let splitter = self.lone(&label, &node_type, params);
            self.attach(&splitter, "ai_textSplitter", &loader);
        }
    }
}
