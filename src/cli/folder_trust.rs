//! What of the folder counts for this command: decided once, from the inventory, the user's home and the user's word, with one
//! question on a terminal and one line elsewhere. Everything in `cli` that reads project files comes by here.

use super::choose;
use super::error::{CliError, Exit};
use super::output::Output;
use super::progress::plain_long;
use super::project;
use super::streams;

use crate::trust::{
    Basis, Book, InForce, Inventory, Item, Judged, Kind, NotTrusted, Since, Standing, TrustError,
    VARIABLE, Verdict, folder_key, n8n_item,
};
use agentctl_host::home::{Home, NoHome, resolved, variable};
use console::style;
use std::path::Path;
use std::sync::{Arc, PoisonError};

/// So many items are named in a line.
const NAMED: usize = 6;

const SHOW: &str = "agentctl trust --show lists what would come into force, and agentctl trust lets it; --trust-once for this command only";

/// What the folder would override.
pub fn inventory(root: &Path) -> Result<Inventory, CliError> {
    Inventory::of(root, &crate::pack::is_built_in).map_err(|e| CliError::failed(e.to_string()))
}

/// What counts in the project folder. Err: the user's word does not fit, or what was approved cannot be read.
pub fn in_force(root: &Path, out: &Output) -> Result<Arc<InForce>, CliError> {
    let mut decided = out.decided.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = &*decided {
        return Ok(Arc::clone(known));
    }
    let made = Arc::new(decide(root, out)?);
    // From here on nothing shows what the servers that count are given.
    out.hide(agentctl_mcp::secrets(root, &made.servers(), &variable));
    *decided = Some(Arc::clone(&made));
    Ok(made)
}

fn decide(root: &Path, out: &Output) -> Result<InForce, CliError> {
    let inventory = self::inventory(root)?;
    if out.trust_once || by_hash(&inventory)? {
        return Ok(InForce::judge(inventory, Basis::Word));
    }
    let kept = Kept::of(root);
    // Also where nothing is left to trust: what was approved may have been taken away.
    let book = kept.book()?;
    let in_force = InForce::judge(inventory.clone(), Basis::Kept(book.folder()));
    let open = matches!(
        in_force.standing(),
        Standing::Restricted | Standing::Changed
    );
    if open && out.can_ask() && !book.refuses(&inventory) {
        return ask(inventory, in_force, &kept);
    }
    tell(&in_force, &kept, out);
    Ok(in_force)
}

/// Whether `AGENTCTL_TRUST` names this inventory. One that names another is no trust, and no reason to go on without.
fn by_hash(inventory: &Inventory) -> Result<bool, CliError> {
    let said = match std::env::var(VARIABLE) {
        Ok(said) if !said.trim().is_empty() => said,
        Err(std::env::VarError::NotUnicode(_)) => "(not text)".to_owned(),
        _ => return Ok(false),
    };
    let hash = inventory.hash();
    if said.trim() == hash {
        return Ok(true);
    }
    if inventory.items.is_empty() {
        let what =
            format!("{VARIABLE} is for other files: nothing in this folder overrides anything");
        return Err(CliError::new(Exit::Refused, what).hint(format!(
            "look whether files are missing, or unset {VARIABLE}"
        )));
    }
    Err(CliError::new(
        Exit::Refused,
        format!("{VARIABLE} is for other files than stand in this folder; its hash is now {hash}"),
    )
    .hint(match agentctl_host::cache::of_user(variable) {
        Some(_) => "look at what would come into force (agentctl trust --show), then set the new hash",
        // A server then starts in the project, which is something else to approve.
        None => "no home or cache folder of yours is known here, which alone changes the hash where .mcp.json names a package runner: set HOME, or look at what would come into force (agentctl trust --show) and set the new hash",
    }))
}

/// One line, so that nobody wonders why a file has no effect.
fn tell(in_force: &InForce, kept: &Kept, out: &Output) {
    let names = names(in_force.untrusted());
    let why = match &kept.home {
        Err(why) => format!(" ({why})"),
        Ok(_) => String::new(),
    };
    match in_force.standing() {
        Standing::Restricted => out.note(&format!(
            "restricted: this folder is not trusted{why}, so these do not count: {names}; agentctl trust shows them and lets them"
        )),
        Standing::Changed => out.note(&match in_force.since() {
            Since::Trusted => format!(
                "new or changed since this folder was trusted: {names}; agentctl trust shows them and lets them"
            ),
            Since::Made => format!(
                "new or changed since agentctl init: {names}; if that was you, run agentctl trust"
            ),
        }),
        Standing::Trusted if !names.is_empty() => {
            out.note(&format!("left out, since it cannot be trusted: {names}"));
        }
        Standing::Trusted | Standing::Nothing => {}
    }
}

/// The items' names, the first few of them.
pub fn names(judged: Vec<&Judged>) -> String {
    let mut named: Vec<String> = judged
        .iter()
        .take(NAMED)
        .map(|j| match j.verdict {
            Verdict::Gone => format!("{} (gone)", plain_long(&j.item.called())),
            _ => plain_long(&j.item.called()),
        })
        .collect();
    if judged.len() > NAMED {
        named.push(format!("{} more", judged.len() - NAMED));
    }
    named.join(", ")
}

/// Exit code 5, with what is missing and what to do.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub fn refused(error: NotTrusted) -> CliError {
    let hint = match error.since {
        Since::Trusted => SHOW.to_owned(),
        Since::Made => "if that was you, run agentctl trust (agentctl trust --show lists what would come into force); --trust-once for this command only".to_owned(),
    };
    CliError::new(Exit::Refused, plain_long(&error.to_string())).hint(hint)
}

/// The project's own pack is what is asked for; the built-in one would be the answer to another question.
pub fn needs_pack(root: &Path, out: &Output) -> Result<(), CliError> {
    in_force(root, out)?
        .needs(Kind::is_of_pack)
        .map_err(refused)
}

/// Where no n8n is connected: perhaps the folder names one and does not count.
pub fn could_be_connected(in_force: &InForce) -> Result<(), CliError> {
    in_force.needs(Kind::names_an_n8n).map_err(refused)
}

pub fn needs_n8n(root: &Path, out: &Output) -> Result<(), CliError> {
    could_be_connected(in_force(root, out)?.as_ref())
}

/// What the user's home says of a folder.
pub struct Kept {
    pub home: Result<Home, NoHome>,
    key: Result<String, String>,
}

impl Kept {
    pub fn of(root: &Path) -> Kept {
        Kept {
            home: project::home(root),
            key: folder_key(root).map_err(|e| e.to_string()),
        }
    }

    /// What was said of the folder; where there is no home to keep it in, nothing.
    pub fn book(&self) -> Result<Book, CliError> {
        match (&self.home, &self.key) {
            (Ok(home), Ok(key)) => Book::read(home, key).map_err(broken),
            // Nobody knows what was said of the folder: that it is not trusted is not said either.
            (Err(fault @ NoHome::Fault { .. }), _) => Err(CliError::failed(fault.to_string())),
            _ => Ok(Book::default()),
        }
    }

    /// Home and key, to write; Err says why nothing can be kept.
    pub fn writable(&self) -> Result<(&Home, &str), CliError> {
        let home = self.home.as_ref();
        let home =
            home.map_err(|none| CliError::new(project::exit_without(none), none.to_string()))?;
        let key = self.key.as_ref();
        let key = key.map_err(|why| CliError::usage(why.clone()))?;
        Ok((home, key))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub fn broken(error: TrustError) -> CliError {
    let exit = match error.is_io() {
        true => Exit::Failed,
        false => Exit::Refused,
    };
    CliError::new(exit, error.to_string())
}

/// When something is approved.
pub fn now() -> String {
    jiff::Timestamp::now().to_string()
}

/// How a folder stood before a command of the user changed files of it, so that what agentctl itself wrote needs no second word.
pub struct Before {
    root: std::path::PathBuf,
    inventory: Inventory,
    /// None: what is written now has to be approved like anything else.
    kept: Option<Kept>,
}

impl Before {
    /// Err: the files could not be looked at, which says nothing of how they stand.
    pub fn of(root: &Path, out: &Output) -> Result<Before, CliError> {
        let inventory = self::inventory(root)?;
        let kept = Kept::of(root);
        let clean = match kept.book() {
            Ok(book) => {
                let in_force = InForce::judge(inventory.clone(), Basis::Kept(book.folder()));
                matches!(in_force.standing(), Standing::Nothing | Standing::Trusted)
            }
            Err(error) if error.exit == Exit::Failed => return Err(error),
            Err(_) => false,
        };
        let usable = clean && !out.trust_once && kept.home.is_ok();
        Ok(Before {
            root: root.to_owned(),
            inventory,
            kept: usable.then_some(kept),
        })
    }

    /// The same for all that `init` made.
    pub fn keep_made(self) -> Result<bool, CliError> {
        self.keep_as(|_| true, true)
    }

    /// Approves what is new, gone or other than before, of these kinds; false: the folder was not clean before, so nothing is.
    pub fn keep(self, kinds: impl Fn(Kind) -> bool) -> Result<bool, CliError> {
        self.keep_as(kinds, false)
    }

    fn keep_as(self, kinds: impl Fn(Kind) -> bool, made: bool) -> Result<bool, CliError> {
        let Some(kept) = &self.kept else {
            return Ok(false);
        };
        // The folder may be there only now.
        let kept = match &kept.key {
            Ok(_) => kept,
            Err(_) => &Kept::of(&self.root),
        };
        let Ok((home, key)) = kept.writable() else {
            return Ok(false);
        };
        let (before, after) = (self.inventory.items, inventory(&self.root)?.items);
        let gone: Vec<Item> = (before.iter())
            .filter(|item| kinds(item.kind) && !after.iter().any(|a| a.name == item.name))
            .cloned()
            .collect();
        let new: Vec<Item> = (after.into_iter())
            .filter(|item| kinds(item.kind) && !before.contains(item))
            .collect();
        Book::add(home, key, &new, &gone, made, &now()).map_err(broken)?;
        Ok(true)
    }
}

/// The data of a development n8n that is about to be started. None: outside of the project, where the user named it.
pub struct N8nData(Option<(std::path::PathBuf, String)>);

/// Err: data of an n8n lies in the project that this user neither made nor approved; what is in it would run.
pub fn n8n_data(root: &Path, data: &Path, out: &Output) -> Result<N8nData, CliError> {
    let Some(named) = below(root, data)? else {
        return Ok(N8nData(None));
    };
    let item = n8n_item(root, &named).map_err(|e| CliError::failed(e.to_string()))?;
    let mine = N8nData(Some((root.to_owned(), named)));
    let Some(item) = item else {
        return Ok(mine);
    };
    let judged = judge_n8n(item, &Kept::of(root).book()?);
    let standing = match judged.verdict {
        Verdict::Trusted => return Ok(mine),
        Verdict::New | Verdict::Changed if out.trust_once => return Ok(mine),
        Verdict::New => Standing::Restricted,
        Verdict::Changed | Verdict::Gone | Verdict::Impossible(_) => Standing::Changed,
    };
    let items = vec![judged];
    let since = Since::default();
    Err(refused(NotTrusted {
        standing,
        since,
        items,
    }))
}

/// The path below the project, when it lies there; links that are there already are followed.
fn below(root: &Path, data: &Path) -> Result<Option<String>, CliError> {
    let place = |path: &Path| {
        resolved(path).ok_or_else(|| {
            CliError::new(
                Exit::Refused,
                format!(
                    "where {} lies cannot be told: `..` follows a folder that is not there",
                    path.display()
                ),
            )
        })
    };
    let (there, root) = (place(data)?, place(root)?);
    let inside = there.strip_prefix(&root).ok();
    Ok(inside.map(|inside| inside.to_string_lossy().into_owned()))
}

/// How the data of an n8n stands, by what was made or approved of it.
pub fn judge_n8n(item: Item, book: &Book) -> Judged {
    let known = book.n8n(&item.name);
    let verdict = match (&item.hash, known) {
        (Err(why), _) => Verdict::Impossible(why.clone()),
        (Ok(hash), Some(known)) if hash == known => Verdict::Trusted,
        (Ok(_), Some(_)) => Verdict::Changed,
        (Ok(_), None) => Verdict::New,
    };
    Judged {
        was_approved: known.is_some(),
        item,
        verdict,
    }
}

impl N8nData {
    /// It was made, or approved, and runs now.
    pub fn keep(self) -> Result<(), CliError> {
        let Some((root, named)) = self.0 else {
            return Ok(());
        };
        let item = n8n_item(&root, &named).map_err(|e| CliError::failed(e.to_string()))?;
        let Some(item) = item else {
            return Ok(());
        };
        match Kept::of(&root).writable() {
            Ok((home, key)) => Book::add_n8n(home, key, &item).map_err(broken),
            // Nowhere to keep it: the next start asks.
            Err(_) => Ok(()),
        }
    }
}

/// The one question on a terminal.
fn ask(inventory: Inventory, in_force: InForce, kept: &Kept) -> Result<InForce, CliError> {
    const TRUST: &str = "trust it: keep this, until one of them changes";
    const ONCE: &str = "only this time";
    const NO: &str =
        "no: go on without them, until one of them changes (agentctl trust asks again)";
    let shown = match in_force.standing() {
        Standing::Changed if in_force.since() == Since::Made => {
            "new or changed since agentctl init:"
        }
        Standing::Changed => "new or changed since you trusted this folder:",
        _ => "this folder is not trusted; it would bring into force:",
    };
    streams::tell(&format!("{shown}\n{}\n", list(&in_force.untrusted())));
    let mut choices = vec![TRUST, ONCE, NO];
    if kept.writable().is_err() {
        choices.remove(0);
    }
    let start = choices.len() - 1;
    let asked = choose::one("Let it?", &choices, start);
    match asked.map(|index| choices.get(index).copied().unwrap_or(NO)) {
        Ok(TRUST) => {
            let (home, key) = kept.writable()?;
            Book::trust(home, key, &inventory, &now()).map_err(broken)?;
            let book = kept.book()?;
            Ok(InForce::judge(inventory, Basis::Kept(book.folder())))
        }
        Ok(NO) => {
            // Where nothing can be kept the next command asks again.
            if let Ok((home, key)) = kept.writable() {
                Book::refuse(home, key, &inventory).map_err(broken)?;
            }
            Ok(in_force)
        }
        Ok(ONCE) => Ok(InForce::judge(inventory, Basis::Word)),
        Ok(_) | Err(inquire::InquireError::OperationCanceled) => Ok(in_force),
        Err(inquire::InquireError::OperationInterrupted) => Err(CliError::new(
            Exit::Interrupted,
            "interrupted; nothing was changed",
        )),
        Err(e) => Err(CliError::failed(format!(
            "cannot ask on this terminal: {e}"
        ))),
    }
}

/// Item by item what would come into force.
pub fn list(judged: &[&Judged]) -> String {
    let mut text = String::new();
    for one in judged {
        let state = match &one.verdict {
            Verdict::Impossible(why) => format!("cannot be trusted: {}", plain_long(why)),
            other => other.word().to_owned(),
        };
        text.push_str(&format!(
            "  {} ({}) {}\n",
            style(plain_long(&one.item.called())).bold(),
            one.item.kind.word(),
            style(state).dim()
        ));
        for line in &one.item.shows {
            text.push_str(&format!("    {}\n", plain_long(line)));
        }
    }
    text
}
