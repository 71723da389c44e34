//! "Follow the pages until there are no more", "all pages (100 per page)": said of the call before or beside it.

use super::*;
use crate::plan::Role;
use crate::read::value::arg;
use serde_json::json;

const PAGES: &str = r"\bpaginat\w*|\bpaginier\w*|\bpaginaci\w*|\bpaging\b|\b(?:all|every|each|follow|through|more) (?:the |of the |of its |its )?(?:next |result |remaining )*pages?\b|\bpage (?:by|after) page\b|\bnext[- ]page\b|\buntil (?:there (?:are|is) no (?:more|further)|no more|the last page|the (?:page|answer|response|result) is empty|an empty)|\balle (?:\w+ )?seiten\b|\bseitenweise\b|\bseite (?:für|um|nach) seite\b|\btodas las páginas\b|\bpágina (?:a|por) página\b|\btoutes les pages\b|\bpage par page\b|\bnext[_ ]?(?:url|link)\b";

/// How the pages are asked for.
fn wish(m: &Masked, text: &str, url: &str) -> serde_json::Value {
    let plain = m.plain(&m.open(text));
    let next = first(r"\b(?:field|in|under|as|feld|campo|champ)\s+[`'\x22]?((?:[\w]+\.)*next\w*(?:\.\w+)*)[`'\x22]?", &plain)
        .or(first(r"[`'\x22]((?:\w+\.)*next\w*)[`'\x22]", &plain))
        .map(str::to_owned)
        .or_else(|| has(r"\bnext[_ -]?(?:page )?(?:url|link)\b", &plain).then(|| "next".to_owned()));
    let name = first(r"\b(?:parameter|param|parámetro|paramètre)\s+(?:called |named )?[`'\x22]?(\w+)", &plain)
        .or(first(r"\b[`'\x22]?(page|offset|skip|start|startAt|from|page_number|pageNumber|seite|p)[`'\x22]?[\s-]*(?:query )?(?:parameter|param|parámetro|paramètre)\b", &plain))
        .or(first(r"[?&](page|offset|skip|start|startAt|from|p|page_number|pageNumber)=", url))
        .or(first(r"\?(page|offset|skip|p)=", &plain))
        .or(first(r"\b(offset|skip)\b", &plain))
        .unwrap_or("page")
        .to_owned();
    let size = first(
        r"\b(\d+)\s+(?:\w+\s+)?(?:per|a|each|pro|por|par) (?:page|seite|página)\b",
        &plain,
    )
    .or(first(
        r"\b(?:limit|per_page|page_size|pageSize)\s*=\s*(\d+)",
        &plain,
    ))
    .or(first(r"(?:limit|per_page|page_size|pageSize)=(\d+)", url))
    .and_then(|n| n.parse::<u64>().ok());
    match next {
        Some(next) => json!({ "next": next }),
        None => match size {
            Some(size) => json!({ "name": name, "size": size }),
            None => json!({ "name": name }),
        },
    }
}

impl Flow<'_, '_> {
    /// A clause that only speaks of the pages of the last call.
    pub(super) fn pages_of_last(&mut self, text: &str) -> bool {
        if !has(PAGES, text) || self.mem.m.one(text, "u").is_some() {
            return false;
        }
        let acts = services_in(self.mem.m, text)
            .iter()
            .any(|e| e.service.is_some());
        self.page(text) && !acts
    }

    /// Puts the wish on the last call.
    pub(super) fn page(&mut self, text: &str) -> bool {
        let m = self.mem.m;
        if !has(PAGES, &m.open(text)) {
            return false;
        }
        let Some(Does::Http { url, query, .. }) = last_http(self.tree.here()).map(|s| &mut s.does)
        else {
            return false;
        };
        if query
            .iter()
            .any(|a| matches!(&a.role, Role::Named(k) if k == "pages"))
        {
            return true;
        }
        let wish = wish(m, text, url);
        query.push(arg(Role::Named("pages".into()), lit(wish)));
        true
    }
}
