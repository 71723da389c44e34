//! What of a folder counts: its inventory compared with what the user approved. Pure. Whoever reads project files is handed a
//! part of this value, whose default is always what is compiled in.

use super::book::Folder;
use super::inventory::Inventory;
use super::item::{Item, Kind};
use super::servers::item_name;
use agentctl_engine::pack::{PackFiles, Use};
use agentctl_mcp::ServersInForce;
use std::fmt;

/// How a folder stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It overrides nothing.
    Nothing,
    /// Everything in it is as it was approved.
    Trusted,
    /// It was never decided: nothing of it counts.
    Restricted,
    /// Something is new or other than it was approved; the rest counts.
    Changed,
}

impl Standing {
    pub fn word(self) -> &'static str {
        match self {
            Standing::Nothing => "nothing to trust",
            Standing::Trusted => "trusted",
            Standing::Restricted => "restricted",
            Standing::Changed => "changed",
        }
    }
}

/// How an item stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Trusted,
    New,
    Changed,
    /// It was approved and is not there any more: what is compiled in would take its place.
    Gone,
    /// It can never be trusted as it is.
    Impossible(String),
}

impl Verdict {
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Trusted => "trusted",
            Verdict::New => "new",
            Verdict::Changed => "changed",
            Verdict::Gone => "gone",
            Verdict::Impossible(_) => "cannot be trusted",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub item: Item,
    pub verdict: Verdict,
    /// The user approved something of this name.
    pub was_approved: bool,
}

impl Judged {
    fn is_trusted(&self) -> bool {
        self.verdict == Verdict::Trusted
    }
    /// Left out with a word, while the rest goes on. One that was approved is not: another would silently take its place.
    fn is_left_out(&self) -> bool {
        self.item.kind.may_be_left_out()
            && matches!(self.verdict, Verdict::Impossible(_))
            && !self.was_approved
    }
    /// Without it nothing goes on that would use it.
    pub fn stands_in_the_way(&self) -> bool {
        !self.is_trusted() && !self.is_left_out()
    }
}

/// On what the decision rests.
#[derive(Debug, Clone, Copy)]
pub enum Basis<'a> {
    /// What was approved earlier; None: the folder was never decided.
    Kept(Option<&'a Folder>),
    /// The user's word for all of it as it is now: `--trust-once`, or its hash in `AGENTCTL_TRUST`.
    Word,
}

/// What needs a folder's trust and does not have it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct NotTrusted {
    pub standing: Standing,
    pub since: Since,
    pub items: Vec<Judged>,
}

/// From when on something is new.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Since {
    /// The user approved the folder.
    #[default]
    Trusted,
    /// `agentctl init` made it.
    Made,
}

impl Since {
    pub fn words(self) -> &'static str {
        match self {
            Since::Trusted => "since this folder was trusted",
            Since::Made => "since agentctl init made this folder",
        }
    }
}

impl fmt::Display for NotTrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let since = self.since.words();
        for judged in &self.items {
            let name = judged.item.called();
            parts.push(match (&judged.verdict, self.standing) {
                (Verdict::Impossible(why), _) => format!("{name} cannot be trusted: {why}"),
                (Verdict::Changed, _) => format!("{name} was changed {since}"),
                (Verdict::Gone, _) => format!("{name} was changed {since}: it is gone"),
                // The file itself may be as old as the folder.
                (Verdict::New, Standing::Changed) if judged.item.kind == Kind::Settings => {
                    format!("what {name} sets is new {since}")
                }
                (Verdict::New, Standing::Changed) => format!("{name} is new {since}"),
                _ => name,
            });
        }
        let parts = parts.join("; ");
        match self.standing {
            Standing::Changed => f.write_str(&parts),
            _ => write!(f, "this folder is not trusted, and this needs {parts}"),
        }
    }
}

/// What was approved and is not there: what is compiled in would take its place, and nobody has approved that.
fn gone(inventory: &Inventory, folder: Option<&Folder>) -> Vec<Judged> {
    let kept = folder.into_iter().flat_map(|folder| folder.items.keys());
    let is_there = |name: &String| inventory.items.iter().any(|item| item.name == *name);
    kept.filter(|name| !is_there(name))
        .map(|name| {
            let kind = Kind::of_name(name);
            let instead = match kind {
                Kind::Server => "it is gone",
                Kind::Policy => "it is gone; only the built-in policy would hold",
                _ => "it was approved and is gone, or overrides nothing now; what is built in would hold",
            };
            Judged {
                item: Item {
                    kind,
                    name: name.clone(),
                    shows: vec![instead.to_owned()],
                    hash: Err("it is gone".to_owned()),
                },
                verdict: Verdict::Gone,
                was_approved: true,
            }
        })
        .collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    standing: Standing,
    since: Since,
    items: Vec<Judged>,
}

impl InForce {
    pub fn judge(inventory: Inventory, basis: Basis<'_>) -> InForce {
        let folder = match basis {
            Basis::Kept(folder) => folder,
            Basis::Word => None,
        };
        let made_here = folder.is_some_and(|folder| folder.made);
        let gone = gone(&inventory, folder);
        let mut items: Vec<Judged> = inventory
            .items
            .into_iter()
            .map(|item| {
                let kept = folder.and_then(|folder| folder.items.get(&item.name));
                let verdict = match (&item.hash, basis) {
                    (Err(why), _) => Verdict::Impossible(why.clone()),
                    (Ok(_), Basis::Word) => Verdict::Trusted,
                    (Ok(hash), Basis::Kept(_)) => match kept {
                        Some(kept) if kept == hash => Verdict::Trusted,
                        Some(_) => Verdict::Changed,
                        None if made_here && item.kind.is_plain_data() => Verdict::Trusted,
                        None => Verdict::New,
                    },
                };
                Judged {
                    item,
                    verdict,
                    was_approved: kept.is_some(),
                }
            })
            .chain(gone)
            .collect();
        items.sort_by(|a, b| a.item.name.cmp(&b.item.name));
        let standing = match basis {
            _ if items.is_empty() => Standing::Nothing,
            Basis::Kept(None) => Standing::Restricted,
            _ if items.iter().any(Judged::stands_in_the_way) => Standing::Changed,
            _ => Standing::Trusted,
        };
        let since = match folder {
            Some(folder) if folder.made => Since::Made,
            _ => Since::Trusted,
        };
        InForce {
            standing,
            since,
            items,
        }
    }

    /// What "new or changed" is counted from.
    pub fn since(&self) -> Since {
        self.since
    }

    pub fn standing(&self) -> Standing {
        self.standing
    }

    pub fn items(&self) -> &[Judged] {
        &self.items
    }

    /// What does not count, left out items too.
    pub fn untrusted(&self) -> Vec<&Judged> {
        self.items.iter().filter(|j| !j.is_trusted()).collect()
    }

    /// Err: items of these kinds stand in the way, whether the folder was decided or not.
    pub fn needs(&self, kinds: impl Fn(Kind) -> bool) -> Result<(), NotTrusted> {
        self.needs_these(|item| kinds(item.kind))
    }

    fn needs_these(&self, which: impl Fn(&Item) -> bool) -> Result<(), NotTrusted> {
        let in_the_way = (self.items.iter()).filter(|j| which(&j.item) && j.stands_in_the_way());
        let items: Vec<Judged> = in_the_way.cloned().collect();
        match items.is_empty() {
            true => Ok(()),
            false => Err(NotTrusted {
                standing: self.standing,
                since: self.since,
                items,
            }),
        }
    }

    /// The rule for what is read silently: nothing of a folder that was never decided; all of it, or an error, where it was.
    fn counts(&self, kinds: impl Fn(Kind) -> bool) -> Result<Use, NotTrusted> {
        if self.standing == Standing::Restricted {
            return Ok(Use::BuiltIn);
        }
        self.needs(&kinds)?;
        let some = self
            .items
            .iter()
            .any(|j| kinds(j.item.kind) && j.is_trusted());
        Ok(match some {
            true => Use::Project,
            false => Use::BuiltIn,
        })
    }

    /// Agents, flow, policy and skills.
    pub fn pack(&self) -> Result<PackFiles, NotTrusted> {
        let left_out = self.items.iter().filter(|j| j.is_left_out());
        Ok(PackFiles {
            own: self.counts(Kind::is_of_pack)?,
            left_out: left_out.map(|j| j.item.name.clone()).collect(),
        })
    }

    /// `agentctl.toml`, but for what is always in force.
    pub fn settings(&self) -> Result<Use, NotTrusted> {
        self.counts(|kind| kind == Kind::Settings)
    }

    /// `n8n-catalog.bin`.
    pub fn catalog(&self) -> Result<Use, NotTrusted> {
        self.counts(|kind| kind == Kind::Catalog)
    }

    /// The servers that may be started.
    pub fn servers(&self) -> ServersInForce {
        let trusted = self
            .items
            .iter()
            .filter(|j| j.item.kind == Kind::Server && j.is_trusted());
        ServersInForce::only(
            trusted
                .filter_map(|j| j.item.name.strip_prefix(".mcp.json/"))
                .map(str::to_owned)
                .collect(),
        )
    }

    /// The same for who would pick one of them silently.
    pub fn servers_or_none(&self) -> Result<ServersInForce, NotTrusted> {
        self.counts(|kind| kind == Kind::Server)?;
        Ok(self.servers())
    }

    /// One server, asked for by its name; one that the file does not have is told by its reader.
    pub fn server(&self, name: &str) -> Result<(), NotTrusted> {
        let wanted = item_name(name);
        self.needs_these(|item| {
            item.kind == Kind::Server && (item.name == wanted || !item.name.contains('/'))
        })
    }

    /// A live n8n that the user asks for is not for a folder that was never decided.
    pub fn live(&self) -> Result<(), NotTrusted> {
        match self.standing {
            // Told by what would say which n8n that is, where the folder has such a thing.
            Standing::Restricted => self
                .needs(Kind::names_an_n8n)
                .and_then(|()| self.needs(|_| true)),
            _ => Ok(()),
        }
    }
}
