//! Several sources side by side: addresses and feeds that one clause names, and reads that do not depend on each other.
//! What follows them gets the items of all.

use super::*;
use crate::plan::{Role, Service};
use crate::read::value::arg;

const FEED: &str = r"\b(?:rss|atom)\b|\bfeeds?\b|\bflux\b|/feeds?\b|/rss\b|feed\.xml|rss\.xml|atom\.xml|\.rss\b|\.atom\b";
/// Words by which a read hangs on what was read before it.
const DEPENDS: &str = r"\b(?:its|their|his|her|that|this|these|those|for (?:it|them|each|every)|each|every|per|by|look\w* up|matching|corresponding|whose|dessen|deren|dazu|für jede\w*|jeweils|jede\w*|pro|cada|su|sus|correspondiente\w*|chaque|leurs?|ses|son|sa)\b";

/// An address that a feed reader takes.
fn is_feed(url: &str) -> bool {
    has(
        r"/(?:rss|feeds?|atom)(?:[/?.]|$)|\.(?:rss|atom)\b|feed\.xml",
        url,
    ) && !has(r"\.(?:json|csv|xlsx?|pdf)\b", url)
}

/// Reads of their own, with what narrows them down.
fn stretches(steps: &[Step]) -> Vec<std::ops::Range<usize>> {
    let mut out: Vec<std::ops::Range<usize>> = Vec::new();
    for (i, s) in steps.iter().enumerate() {
        let reads = match &s.does {
            Does::Service {
                verb: Verb::GetMany | Verb::Search,
                args,
                ..
            } => !args.iter().any(|a| {
                matches!(a.role, Role::MatchOn)
                    || !matches!(a.role, Role::Field(_)) && matches!(a.value, Val::Field { .. })
            }),
            Does::Http { method, url, .. } => method == "GET" && !url.contains(['{', '<']),
            _ => false,
        };
        if reads {
            out.push(i..i + 1);
            continue;
        }
        let narrows = matches!(
            s.does,
            Does::Filter { .. }
                | Does::Sort { .. }
                | Does::LimitTo { .. }
                | Does::FromFile { .. }
                | Does::Split { .. }
        ) || matches!(
            &s.does,
            Does::Service {
                verb: Verb::Download,
                ..
            }
        );
        match out.last_mut() {
            Some(last) if narrows && last.end == i => last.end = i + 1,
            _ => break,
        }
    }
    out
}

/// Reads that nothing ties together run side by side.
pub(super) fn side_by_side(mem: &mut Memory<'_>, steps: &mut Vec<Step>) {
    if mem.trigger.is_some() || mem.answers_caller {
        return;
    }
    let found = stretches(steps);
    if found.len() < 2
        || found.len() > 10
        || found.iter().skip(1).any(|r| {
            steps
                .get(r.start)
                .is_none_or(|s| has(DEPENDS, &strip_lead(&s.said).to_lowercase()))
        })
    {
        return;
    }
    let Some(end) = found.last().map(|r| r.end) else {
        return;
    };
    // The last one's narrowing may be meant for all ("… newest first, top 5"): it stays behind them.
    let mut rest = steps.split_off(end);
    let mut all = std::mem::take(steps);
    let mut branches: Vec<Vec<Step>> = Vec::new();
    for r in found.iter().rev() {
        branches.push(all.split_off(r.start));
    }
    branches.reverse();
    let kinds: Vec<String> = branches
        .iter()
        .filter_map(|b| b.first())
        .map(|s| match &s.does {
            Does::Service { service, args, .. } => format!("{}{args:?}", service.said),
            Does::Http { url, .. } => url.clone(),
            _ => String::new(),
        })
        .collect();
    let twice = kinds
        .iter()
        .enumerate()
        .any(|(i, k)| kinds.iter().skip(i + 1).any(|o| o == k));
    if twice || rest.is_empty() {
        steps.extend(branches.into_iter().flatten());
        steps.append(&mut rest);
        return;
    }
    let step = mem.step("", Does::Gather { branches });
    steps.push(step);
    steps.append(&mut rest);
}

impl Flow<'_, '_> {
    /// "fetch https://a/feed and https://b/feed": one read for each address.
    pub(super) fn several_addresses(&mut self, text: &str) -> bool {
        let m = self.mem.m;
        let urls: Vec<String> = rx(r"§u\d+§")
            .find_iter(text)
            .map(|f| f.as_str().to_owned())
            .collect();
        let said = m.plain(&rx(r"§u\d+§").replace_all(text, " "));
        let alone = urls.len() == 1
            && (has(r"\b(?:rss|atom)\b", &said)
                || urls
                    .iter()
                    .any(|u| m.entity(u).is_some_and(|e| is_feed(&e.value))));
        if urls.is_empty()
            || urls.len() < 2 && !alone
            || verb_in(text).is_none_or(|(v, _)| v.role != "read")
            || services_in(m, text)
                .iter()
                .any(|e| e.service.is_some_and(|s| s.key != "rssFeedRead"))
        {
            return false;
        }
        let feeds = has(FEED, &said);
        let mut branches = Vec::new();
        for mark in &urls {
            let Some(url) = m.entity(mark).map(|e| e.value.clone()) else {
                continue;
            };
            if feeds && !has(r"\.(?:json|csv|xlsx?|pdf)\b", &url) || is_feed(&url) {
                branches.push(vec![self.feed(text, &url)]);
            } else if let Some(steps) = special::steps(self.mem, &format!("get {mark}")) {
                branches.push(steps);
            }
        }
        match branches.len() {
            0 => return false,
            1 => {
                for s in branches.into_iter().flatten() {
                    self.tree.push(s);
                }
            }
            _ => {
                let step = self.mem.step(text, Does::Gather { branches });
                self.tree.push(step);
            }
        }
        let shaped = special_shape(self.mem, text);
        for s in shaped {
            self.tree.push(s);
        }
        true
    }

    fn feed(&mut self, text: &str, url: &str) -> Step {
        let service = crate::lexicon::service("rssFeedRead").map_or_else(Service::default, |e| {
            crate::read::act::service_of(e, &e.label)
        });
        self.mem.step(
            text,
            Does::Service {
                service,
                verb: Verb::GetMany,
                object: None,
                args: vec![arg(Role::Url, lit(url))],
                once: false,
            },
        )
    }

    /// "merge them", "combine both by email": what was read side by side.
    pub(super) fn put_together(&mut self, text: &str) -> bool {
        let m = self.mem.m;
        if !has(
            r"^(?:join|merge|match|combine|put|throw|append|stack|mix|bring|führe?|werfe?|kombinier\w*|fass\w*|verknüpf\w*|verbinde|leg\w*|une|unir|combina\w*|junta\w*|fusionne\w*|mets|regroupe\w*|rassemble\w*|concat\w*)\b",
            text,
        ) || !has(
            r"\b(?:them|both|together|the (?:two|three|results?|lists?|feeds?|answers?|responses?|items?|data)|all|into one|sie|beide\w*|zusammen|alle\w*|ambos|ambas|todos|juntos|los dos|les deux|tous|ensemble|entre eux|résultats|everything|alles|todo|tout)\b",
            text,
        ) || !services_in(m, text).is_empty()
        {
            return false;
        }
        let on = first(
            r"\b(?:on|by|über|anhand|nach|por|par|sur|via|using|key)\s+(?:the |their |das |die |den |el |la |le |same |matching |field |column |feld |spalte |campo )*(§[qdk]\d+§|[\w-]+(?: id)?)",
            text,
        )
        .map(|w| m.entity(w).map_or_else(|| w.to_owned(), |e| e.value.clone()));
        let Some(Does::Gather { branches }) = self.tree.here().last().map(|s| s.does.clone())
        else {
            return false;
        };
        if let ([left, right], Some(on)) = (branches.as_slice(), on) {
            let does = Does::Join {
                left: left.clone(),
                right: right.clone(),
                on,
                keep: keep_of(text),
            };
            if let Some(last) = self.tree.here().last_mut() {
                last.does = does;
            }
        }
        for s in special_shape(self.mem, text) {
            self.tree.push(s);
        }
        true
    }
}
