//! Which service a clause speaks of, and which of its containers: the sheet, the table, the channel, the folder.

use super::{Reading, arg, lit, service};
use crate::clause::{Clause, Phrase};
use crate::lexicon::ServiceEntry;
use crate::plan::{Arg, Role};
use crate::spot::Kind;

impl Reading<'_> {
    /// The services that a clause names, in order.
    pub(super) fn services_of(&self, clause: &Clause) -> Vec<&'static ServiceEntry> {
        clause.phrases().filter_map(|p| p.service).collect()
    }

    /// The service that a clause acts on: one that it names, else what its literals and nouns imply.
    pub(super) fn acts_on(&self, clause: &Clause, frame: &str) -> Option<&'static ServiceEntry> {
        let named = self.services_of(clause);
        let usable = |s: &&&'static ServiceEntry| !s.actions.is_empty();
        let target = clause.after.iter().chain(&clause.before).find(|p| {
            p.service.is_some_and(|s| !s.actions.is_empty())
                && matches!(
                    p.prep.as_str(),
                    "to" | "in"
                        | "into"
                        | "on"
                        | "onto"
                        | "via"
                        | "through"
                        | "by"
                        | "with"
                        | "using"
                        | "over"
                )
        });
        // Rows are put into what keeps rows, whatever shop they are of: "append every Stripe payment to a sheet".
        let kept = || {
            let keeps = |s: &&&'static ServiceEntry| s.is_any(&["sheet", "base", "db", "files"]);
            let stores = matches!(frame, "STORE" | "ARCHIVE" | "EXPORT");
            named.iter().find(keeps).copied().filter(|_| stores)
        };
        let found = target
            .and_then(|p| p.service)
            .or_else(kept)
            .or_else(|| named.iter().find(usable).copied());
        found
            .map(|s| self.concrete(s))
            .or_else(|| self.implied(clause, frame))
            .or_else(|| self.headed(clause))
    }

    /// "Shopify: fetch all products": the service that stands alone before the colon that a clause follows.
    pub(super) fn headed(&self, clause: &Clause) -> Option<&'static ServiceEntry> {
        let before = self.clauses.iter().rev().find(|c| c.to <= clause.from);
        let head = before.filter(|h| clause.colon && self.is_head(h))?;
        let named = head.phrases().find_map(|p| p.service)?;
        Some(self.concrete(named))
    }

    /// Whether a clause holds nothing but one service.
    pub(super) fn is_head(&self, clause: &Clause) -> bool {
        let bare = |p: &Phrase| {
            p.service.is_some_and(|s| !s.actions.is_empty())
                && p.head.is_none()
                && p.names.is_empty()
                && p.prep.is_empty()
        };
        clause.verb.is_none() && clause.phrases().count() == 1 && clause.phrases().all(bare)
    }

    /// A general word for a service ("email", "spreadsheet", "calendar") as the concrete one that the request names.
    pub(super) fn concrete(&self, named: &'static ServiceEntry) -> &'static ServiceEntry {
        let general = named
            .tags
            .iter()
            .find(|t| **t == named.key || named.key == "email" || named.key == "sheet");
        general
            .and_then(|tag| self.latest(tag))
            .filter(|s| !s.actions.is_empty())
            .unwrap_or(named)
    }

    pub(super) fn implied(&self, clause: &Clause, frame: &str) -> Option<&'static ServiceEntry> {
        let has = |kind: Kind| {
            clause
                .phrases()
                .any(|p| p.literal(self.chart, kind).is_some())
        };
        let says = |concept: &str| clause.phrases().any(|p| self.concept(p) == concept);
        if has(Kind::Channel) {
            return self.latest("chat").or_else(|| service("slack"));
        }
        if has(Kind::Mail) || frame == "MAIL" || says("email") {
            return self.latest("mail").or_else(|| service("email"));
        }
        if has(Kind::Handle) {
            return self.latest("chat");
        }
        if has(Kind::Phone) {
            return self.latest("sms").or_else(|| service("twilio"));
        }
        let tags: &[(&str, &[&str])] = &[
            ("spreadsheet", &["sheet"]),
            ("tab", &["sheet"]),
            ("row", &["sheet", "db", "base"]),
            ("table", &["db", "base"]),
            ("database", &["db", "base"]),
            ("calendar", &["calendar"]),
            ("event", &["calendar"]),
            ("folder", &["files"]),
            ("file", &["files"]),
            ("contact", &["crm"]),
            ("lead", &["crm"]),
            ("deal", &["crm"]),
            ("card", &["task"]),
            ("task", &["task"]),
            ("issue", &["issue"]),
            ("ticket", &["ticket", "issue"]),
            ("message", &["chat", "sms"]),
            ("draft", &["mail"]),
        ];
        for (concept, of) in tags {
            if says(concept)
                && let Some(found) = of.iter().find_map(|t| self.latest(t))
            {
                return Some(found);
            }
        }
        None
    }

    /// The containers and parts that a clause names, as arguments for a service.
    pub(super) fn containers(&self, clause: &Clause, of: &ServiceEntry) -> Vec<Arg> {
        let mut args = Vec::new();
        let phrases: Vec<&Phrase> = clause.phrases().collect();
        for (n, phrase) in phrases.iter().enumerate() {
            let before = n.checked_sub(1).and_then(|b| phrases.get(b));
            let after_own = before
                .is_some_and(|b| b.service.is_some_and(|s| s.key == of.key) && !b.names.is_empty());
            let bare = phrase.head.is_none()
                && phrase.service.is_none()
                && phrase.prep.is_empty()
                && phrase.listed;
            if let (true, true, true, Some(name)) =
                (after_own, bare, of.is("base"), phrase.names.first())
            {
                args.push(arg(Role::Part, lit(self.name(*name))));
            } else if !clause
                .before
                .iter()
                .any(|p| p.from == phrase.from && self.is_of_another(p, of))
            {
                self.container(phrase, of, &mut args);
            }
        }
        args
    }

    /// "each file in the Drive folder Scans is put on the server": a place of another service is none of this one.
    fn is_of_another(&self, phrase: &Phrase, of: &ServiceEntry) -> bool {
        let other = phrase.service.filter(|s| !s.actions.is_empty());
        other.is_some_and(|s| self.concrete(s).key != of.key && !s.is(&s.key))
    }

    fn container(&self, phrase: &Phrase, of: &ServiceEntry, args: &mut Vec<Arg>) {
        let Some(name) = phrase.names.first().copied() else {
            return self.figured(phrase, of, args);
        };
        let shape = self
            .chart
            .items
            .get(name)
            .and_then(crate::chart::Item::shape);
        let value = || lit(self.name(name));
        let concept = self.concept(phrase);
        let own = phrase
            .service
            .is_some_and(|s| s.key == of.key || s.tags.iter().any(|t| of.is(t)));
        match shape {
            Some(Kind::Channel) => return args.push(arg(Role::Channel, value())),
            Some(Kind::Handle) => return args.push(arg(Role::Recipient, value())),
            Some(Kind::Phone) => return args.push(arg(Role::Recipient, value())),
            Some(Kind::Mail) => return,
            Some(Kind::Url) if of.is("sheet") || of.is("files") || of.is("base") => {
                return args.push(arg(Role::Container, value()));
            }
            Some(Kind::Url | Kind::File) => return,
            _ => {}
        }
        let role = match concept {
            "place" | "group" => Some(Role::Channel),
            "table" | "spreadsheet" | "tab" if of.is("db") || of.is("base") || of.is("vector") => {
                Some(Role::Part)
            }
            "tab" => Some(Role::Part),
            "spreadsheet" if of.is("sheet") => Some(Role::Container),
            "" if of.is("sheet") && matches!(phrase.prep.as_str(), "of" | "from") => {
                Some(Role::Container)
            }
            "database" | "folder" | "project" | "board" | "list" | "calendar" | "repository"
            | "container" => Some(Role::Container),
            "branch" => Some(Role::Branch),
            "label" => Some(Role::Label),
            "" if own && of.is("db") => Some(Role::Part),
            "" if own && of.is("chat") => Some(Role::Channel),
            "" if own => Some(Role::Container),
            "conversation" if of.is("chat") => Some(Role::Channel),
            _ => None,
        };
        let role = role.or_else(|| self.bare_place(phrase, of, shape));
        let Some(role) = role else {
            let told = matches!(
                concept,
                "title" | "subject" | "text" | "message" | "priority" | "status" | "description"
            ) || self.kind(phrase) == "record";
            let plain = !matches!(shape, Some(Kind::Quote))
                || self.kind(phrase) == "field"
                || self.kind(phrase) == "container";
            if let (Some(head), false, true) = (phrase.head(self.chart), told, plain) {
                let words = self.words(phrase).to_lowercase();
                args.push(arg(
                    Role::Named(if words.is_empty() {
                        singular(&head.text)
                    } else {
                        words
                    }),
                    value(),
                ));
            }
            return;
        };
        let word = phrase.head(self.chart).map(|h| h.text.clone());
        if concept == "repository"
            || role == Role::Container && concept.is_empty() && of.is("issue")
        {
            args.push(arg(Role::Field("repository".into()), value()));
        }
        args.push(arg(role, value()));
        if let Some(word) = word.filter(|w| !w.is_empty()) {
            args.push(arg(Role::Named(singular(&word)), value()));
        }
    }

    /// "in acme/shop", "of billing.orders": a path or a dotted name without a word for it, where a service keeps such things.
    fn bare_place(&self, phrase: &Phrase, of: &ServiceEntry, shape: Option<Kind>) -> Option<Role> {
        let within = matches!(
            phrase.prep.as_str(),
            "in" | "of" | "on" | "to" | "into" | "from"
        );
        let name = self.raw(*phrase.names.first()?);
        let bare = phrase.head.is_none() && phrase.service.is_none();
        let path = matches!(shape, Some(Kind::Path | Kind::Id))
            && !name.starts_with('/')
            && name.matches('/').count() == 1;
        let dotted =
            name.matches('.').count() == 1 && !name.starts_with('.') && !name.contains('/');
        match () {
            () if bare && within && shape == Some(Kind::Path) && of.is("files") => {
                Some(Role::Container)
            }
            () if bare && within && path && of.is("issue") => Some(Role::Container),
            () if bare && within && dotted && of.is("db") => Some(Role::Part),
            () => None,
        }
    }

    /// "chat 5512340", "limit 50": a figure that is the name of something.
    fn figured(&self, phrase: &Phrase, of: &ServiceEntry, args: &mut Vec<Arg>) {
        let (Some(at), Some(head)) = (phrase.numbers.first(), phrase.head(self.chart)) else {
            return;
        };
        if phrase.compared.is_some() || phrase.head.is_some_and(|h| h > *at) {
            return;
        }
        let raw = self.raw(*at);
        let place = |n: &usize| {
            let noun = self.chart.item(*n).noun();
            noun.is_some_and(|n| {
                n.kind() == "place" || matches!(n.concept.as_str(), "conversation" | "group")
            })
        };
        let talks = of.is("chat") || of.is("sms");
        let role = match self.concept(phrase) {
            _ if talks && phrase.head.iter().chain(&phrase.modifiers).any(place) => Role::Channel,
            "priority" => Role::Priority,
            _ if head.text == "limit" => Role::Limit,
            _ => Role::Named(self.words(phrase).to_lowercase()),
        };
        let value = match (&role, super::figure(raw)) {
            (Role::Channel, _) | (_, None) => lit(raw),
            (_, Some(n)) => lit(super::number(n)),
        };
        args.push(arg(role, value));
    }

    /// A name as it is given: a quote without its marks, a channel without its sign.
    pub(super) fn name(&self, at: usize) -> String {
        let item = self.chart.items.get(at);
        match item.and_then(crate::chart::Item::shape) {
            Some(Kind::Quote) => item.map_or(String::new(), |i| i.text.clone()),
            Some(Kind::Channel | Kind::Handle) => {
                self.raw(at).trim_start_matches(['#', '@']).to_owned()
            }
            None => self.text.get(self.named_range(at)).unwrap_or("").to_owned(),
            _ => self.raw(at).to_owned(),
        }
    }

    /// A name of several words with capital letters: "the database Reading List". German nouns all have them.
    fn named_range(&self, at: usize) -> std::ops::Range<usize> {
        let first = self.chart.item(at);
        let (from, mut to) = (
            first.from.min(self.text.len()),
            first.to.min(self.text.len()),
        );
        if !first.capital || self.chart.language == "de" {
            return from..to;
        }
        for next in crate::cut::from(&self.chart.items, at + 1) {
            let near = self.text.get(to..next.from) == Some(" ");
            let word = next.capital && next.shape().is_none() && next.service().is_none();
            if !(near && word) {
                break;
            }
            to = next.to;
        }
        from..to
    }
}

fn singular(word: &str) -> String {
    word.strip_suffix('s')
        .filter(|w| w.len() > 2)
        .unwrap_or(word)
        .to_owned()
}
