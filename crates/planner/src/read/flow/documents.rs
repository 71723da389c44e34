//! Documents into a vector store: what is read first, the store, and what later words settle about it.

use super::*;
use crate::plan::{Role, Service};
use crate::read::ingest;

fn last_ingest(steps: &mut [Step]) -> Option<&mut Step> {
    steps.iter_mut().rev().find_map(|s| {
        if matches!(s.does, Does::Ingest { .. }) {
            return Some(s);
        }
        match &mut s.does {
            Does::If {
                then, otherwise, ..
            } => last_ingest(otherwise).or_else(|| last_ingest(then)),
            Does::Loop { body, after, .. } => last_ingest(after).or_else(|| last_ingest(body)),
            _ => None,
        }
    })
}

fn keeps_files(service: &Service) -> bool {
    crate::lexicon::services()
        .iter()
        .any(|e| e.is("files") && e.actions == service.node_types)
}

impl Flow<'_, '_> {
    /// "load the PDFs from Drive into the Pinecone index policies", and "chunks of 800 characters" behind it.
    pub(super) fn documents(&mut self, text: &str) -> bool {
        let m = self.mem.m;
        if ingest::settings(text)
            && let Some(step) = last_ingest(&mut self.tree.root)
            && ingest::filling(m, text).is_none()
            && !ingest::sources(m, text)
        {
            let (size, over) = ingest::cutting(&m.plain(text));
            let host = ingest::embeddings(m, text);
            if let Does::Ingest {
                chunk_size,
                overlap,
                embeddings,
                ..
            } = &mut step.does
            {
                *chunk_size = size.or(*chunk_size);
                *overlap = over.or(*overlap);
                *embeddings = host.or(embeddings.take());
            }
            return true;
        }
        let Some(filling) = ingest::filling(m, text) else {
            return false;
        };
        let before = self.tree.here().len();
        if ingest::sources(m, &filling.source) {
            let source = rx(r"^\S+")
                .replace(strip_lead(&filling.source), "get")
                .into_owned();
            self.act(&source);
        }
        let here = self.tree.here();
        let read = here.len() > before;
        // Files are wanted with their content.
        match here.last_mut().map(|s| &mut s.does) {
            Some(Does::Service {
                service,
                verb: verb @ (Verb::GetMany | Verb::Search | Verb::Get),
                args,
                ..
            }) if keeps_files(service) => {
                *verb = Verb::Download;
                args.retain(|a| !matches!(a.role, Role::Status));
            }
            _ => {}
        }
        let fetched = self.tree.here().iter().any(|s| {
            matches!(
                s.does,
                Does::Service {
                    verb: Verb::Download,
                    ..
                } | Does::ReadDisk { .. }
                    | Does::FromFile { .. }
            )
        });
        if !read
            && !fetched
            && let Some(host) = self
                .mem
                .trigger
                .filter(|t| t.is("files") && !t.actions.is_empty())
        {
            let get = self.mem.step(
                text,
                Does::Service {
                    service: crate::read::act::service_of(host, &host.label),
                    verb: Verb::Download,
                    object: Some("file".into()),
                    args: Vec::new(),
                    once: false,
                },
            );
            self.tree.push(get);
        }
        let step = self.mem.step(
            text,
            Does::Ingest {
                store: filling.store,
                collection: filling.collection,
                embeddings: filling.embeddings,
                chunk_size: filling.chunk_size,
                overlap: filling.overlap,
            },
        );
        self.tree.push(step);
        true
    }
}
