//! What a sentence of its own says of where the steps work: "Our GitHub repository is acme/shop." "The repository is called acme/shop."
//! Nothing is done in it, so it is no step; the steps and triggers that work in a repository and name none, work in this one.

use super::{Reading, arg, lit};
use crate::chart::{Chart, Item, What};
use crate::clause::{Clause, Intro};
use crate::plan::{Arg, Does, Plan, Role, Service, Step, Trigger};
use crate::spot::Kind;

/// The services whose work is done in a repository, `OWNER/NAME`.
const HOSTS: [&str; 2] = ["github", "gitlab"];

/// A repository, and the service that keeps it, where the sentence names one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Defined {
    name: String,
    host: Option<&'static str>,
}

/// Finds the sentences that only say which repository it is about, and takes them out of the clauses. Where they speak of two, they say
/// nothing certain.
pub(super) fn taken(text: &str, chart: &Chart, clauses: &mut Vec<Clause>) -> Option<Defined> {
    let mut sentences: Vec<usize> = clauses.iter().map(|c| c.sentence).collect();
    sentences.dedup();
    let said = |sentence: usize| {
        let of = clauses.iter().filter(|c| c.sentence == sentence);
        let of: Vec<&Clause> = of.collect();
        let plain = of
            .iter()
            .all(|c| c.intro == Intro::None && c.times.is_empty());
        let (first, last) = (of.first()?, of.last()?);
        let items = chart.items.get(first.from..last.to)?;
        plain
            .then(|| defined(text, items))?
            .map(|said| (sentence, said))
    };
    let found: Vec<(usize, Defined)> = sentences.into_iter().filter_map(said).collect();
    let (_, first) = found.first()?;
    if found.iter().any(|(_, other)| other != first) {
        return None;
    }
    let says_it = |c: &Clause| found.iter().any(|(s, _)| *s == c.sentence);
    let names = |c: &Clause| {
        let mut services = c.phrases().filter_map(|p| p.service);
        services.any(|s| HOSTS.contains(&s.key.as_str()))
    };
    // Where nothing else names the service, the sentence is how the others know of it.
    if clauses.iter().any(|c| !says_it(c) && names(c)) {
        clauses.retain(|c| !says_it(c));
    }
    Some(first.clone())
}

/// A sentence that holds a repository's name, a word for it, a word that says that the one is the other, and nothing else to do or to speak of.
fn defined(text: &str, items: &[Item]) -> Option<Defined> {
    let (mut name, mut noun, mut says, mut host) = (None, false, false, None);
    for item in items {
        let raw = text.get(item.from..item.to).unwrap_or_default();
        let of_host = HOSTS.into_iter().find(|h| item.text.contains(h));
        if item.service().is_some() {
            host = Some(of_host?);
        } else if item.literal() {
            let slug = slug(raw).filter(|_| name.is_none())?;
            name = Some(slug.to_owned());
        } else if item.noun().is_some() {
            noun |= item.noun()?.concept == "repository";
            host = host.or(of_host);
            if !noun {
                return None;
            }
        } else if let Some(verb) = item.verb() {
            if !verb.calls("NAME") && !verb.calls("CALL") {
                return None;
            }
            says = true;
        } else if item.is("neg") || item.what == What::Unknown {
            return None;
        } else {
            let colon = item.shape() == Some(Kind::Mark) && raw == ":";
            says |= colon || item.tells("be");
        }
    }
    let name = name.filter(|_| noun && says)?;
    Some(Defined { name, host })
}

/// `OWNER/NAME`, in quotation marks or not.
fn slug(raw: &str) -> Option<&str> {
    let bare = raw.trim_matches(['"', '\'', '`', '“', '”', '„', '‘', '’', '«', '»']);
    let (owner, name) = bare.split_once('/')?;
    let plain = |part: &str| {
        let word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !part.is_empty() && part.chars().all(word)
    };
    (plain(owner) && plain(name)).then_some(bare)
}

impl Reading<'_> {
    /// Gives the repository to whoever works in one and has none.
    pub(super) fn works_in(&mut self, defined: &Defined) {
        let give = |service: &Service, args: &mut Vec<Arg>| {
            let types = || service.node_types.iter().map(|t| t.to_lowercase());
            let host = HOSTS.into_iter().find(|h| types().any(|t| t.contains(h)));
            let fits = host.is_some_and(|h| defined.host.is_none_or(|wanted| wanted == h));
            let named = args.iter().any(|a| a.role == Role::Container);
            if fits && !named {
                args.push(arg(Role::Container, lit(defined.name.clone())));
            }
        };
        each(&mut self.plan, &give);
    }
}

type Give<'g> = &'g dyn Fn(&Service, &mut Vec<Arg>);

fn each(plan: &mut Plan, give: Give<'_>) {
    for trigger in &mut plan.triggers {
        match trigger {
            Trigger::Service { service, args, .. } => give(service, args),
            Trigger::Poll { step, .. } => each_of(std::slice::from_mut(&mut **step), give),
            _ => {}
        }
    }
    each_of(&mut plan.steps, give);
}

fn each_of(steps: &mut [Step], give: Give<'_>) {
    for step in steps {
        if let Does::Service { service, args, .. } = &mut step.does {
            give(service, args);
        }
        for way in step.ways_mut() {
            each_of(way, give);
        }
    }
}
