//! One verb for several things ("create a project in Asana and an invoice in QuickBooks"), and lists of targets without a
//! verb ("tweet + linkedin post + discord #blog"): one action for each.

use super::*;

impl Flow<'_, '_> {
    /// Cuts such a clause and acts on each part; false when it holds one thing.
    pub(super) fn twins(&mut self, text: &str) -> bool {
        self.two_things(text) || self.plus_list(text)
    }

    fn two_things(&mut self, text: &str) -> bool {
        let Some(c) = rx(r"^(\S+)\s+((?:an?|one|the|ein\w*|un|una|une|new)\s+[^§,]{2,60}?\s+(?:in|on|im|en|dans|sur)\s+(?:(?:the|our|my)\s+)?§s\d+§(?:\s+(?:[\w-]+\s+)?§[qcdn]\d+§)?)\s*(?:,\s*)?(?:\b(?:and|plus|und|y|et)\b|\+|&)\s*((?:an?|one|ein\w*|un|una|une)\s+[^§]{2,60}?\s+(?:in|on|im|en|dans|sur|for|für)\s+(?:(?:the|our|my)\s+)?§s\d+§.*)$").captures(text)
        else {
            return false;
        };
        let (Some(verb), Some(one), Some(two)) = (c.get(1), c.get(2), c.get(3)) else {
            return false;
        };
        if verb_in(text).is_none_or(|(v, i)| v.role != "action" || i > 0)
            || verb_in(two.as_str()).is_some_and(|(v, i)| v.role == "action" && i < 2)
        {
            return false;
        }
        for part in [one.as_str(), two.as_str()] {
            self.act(&format!("{} {part}", verb.as_str()));
        }
        true
    }

    fn plus_list(&mut self, text: &str) -> bool {
        let m = self.mem.m;
        let parts: Vec<&str> = text.split(" + ").map(str::trim).collect();
        if parts.len() < 2
            || parts
                .iter()
                .any(|p| services_in(m, p).is_empty() && !has(r"^tweet\b", p))
        {
            return false;
        }
        for part in parts {
            let led = verb_in(part).is_some_and(|(v, i)| i == 0 && v.role != "neutral")
                && !has(r"^§", part);
            let act = if led {
                part.to_owned()
            } else {
                let talks = services_in(m, part).iter().any(|e| {
                    e.service.is_some_and(|s| {
                        s.is("chat") || s.is("mail") || s.is("sms") || s.is("social")
                    })
                });
                if talks {
                    format!("post to {part}")
                } else {
                    format!("create {part}")
                }
            };
            self.act(&act);
        }
        true
    }
}
