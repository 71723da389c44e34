//! `agentctl trust`: what a folder would override, and the user's word that it may.

use crate::cli::ask;
use crate::cli::error::{CliError, Exit};
use crate::cli::folder_trust::{self, Kept, broken, inventory, now};
use crate::cli::output::Output;
use crate::cli::streams;
use crate::trust::{
    Basis, Book, InForce, Inventory, Item, Judged, N8N_DATA, Standing, VARIABLE, Verdict, n8n_item,
};
use agentctl_base::shell;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Say that what a project folder overrides may count: its servers, agents, flow, policy, skills, catalog and settings
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl trust --show\n  agentctl trust\n  agentctl trust ~/projects/shop --yes\n  agentctl trust --revoke\n\nA folder that was never trusted works restricted: files instead of a live n8n, the built-in agents, flow, policy, skills and catalog, no server started, no variable filled in. What you approve is kept in your home by the folder's real path and a hash of each item; one that changes is asked about again. For CI: AGENTCTL_TRUST=HASH, as --show prints it. Exit code 5: an item cannot be trusted."
)]
pub struct TrustArgs {
    /// The folder; default: the project folder
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Only show what would come into force, and the hash for AGENTCTL_TRUST
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    pub show: bool,
    /// Forget what was approved of the folder: it is restricted again
    #[arg(long, conflicts_with = "yes")]
    pub revoke: bool,
    /// Do not ask, on a terminal either
    #[arg(long)]
    pub yes: bool,
}

pub fn trust(project: &Path, args: &TrustArgs, out: &Output) -> Result<Exit, CliError> {
    let root = args.path.as_deref().unwrap_or(project);
    if !root.is_dir() {
        return Err(CliError::usage(format!(
            "there is no folder {}",
            root.display()
        )));
    }
    let kept = Kept::of(root);
    if args.revoke {
        return revoke(root, &kept, out);
    }
    let before = Looked::at(root, &kept)?;
    if args.show {
        return before.answer(root, out);
    }
    if out.can_ask() && !args.yes && before.has_news() {
        streams::tell(&format!("{}\n", before.text(root)));
        let text = "Trust this folder as it is now?".to_owned();
        if !ask::sure(text, "yes, trust it", "no, change nothing")? {
            let what = "not trusted; nothing was changed";
            return Err(CliError::new(Exit::Refused, what));
        }
    }
    let (home, key) = kept.writable()?;
    Book::trust(home, key, &before.inventory, &now()).map_err(broken)?;
    if let Some(n8n) = &before.n8n {
        Book::add_n8n(home, key, &n8n.item).map_err(broken)?;
    }
    // What is told is what is kept now, of what was looked at.
    before.again(&kept)?.answer(root, out)
}

fn revoke(root: &Path, kept: &Kept, out: &Output) -> Result<Exit, CliError> {
    let (home, key) = kept.writable()?;
    let was = Book::revoke(home, key).map_err(broken)?;
    let shown = root.display().to_string();
    out.answer(
        Exit::Complete,
        || match was {
            true => format!("{shown}: not trusted any more; it works restricted\n"),
            false => format!("{shown}: was not trusted\n"),
        },
        || json!({"folder": key, "revoked": was}),
    )
}

/// A folder as it stands, with its development n8n.
struct Looked {
    inventory: Inventory,
    in_force: InForce,
    n8n: Option<Judged>,
    hash: String,
}

impl Looked {
    fn at(root: &Path, kept: &Kept) -> Result<Looked, CliError> {
        let n8n = n8n_item(root, N8N_DATA).map_err(|e| CliError::failed(e.to_string()))?;
        Looked::judged(inventory(root)?, n8n, kept)
    }

    fn again(self, kept: &Kept) -> Result<Looked, CliError> {
        Looked::judged(self.inventory, self.n8n.map(|n8n| n8n.item), kept)
    }

    fn judged(inventory: Inventory, n8n: Option<Item>, kept: &Kept) -> Result<Looked, CliError> {
        let book = kept.book()?;
        Ok(Looked {
            in_force: InForce::judge(inventory.clone(), Basis::Kept(book.folder())),
            hash: inventory.hash(),
            inventory,
            n8n: n8n.map(|item| folder_trust::judge_n8n(item, &book)),
        })
    }

    fn all(&self) -> Vec<&Judged> {
        self.in_force.items().iter().chain(&self.n8n).collect()
    }

    fn has_news(&self) -> bool {
        self.all().iter().any(|j| j.verdict != Verdict::Trusted)
    }

    /// Whether something is there that no word of the user's brings into force, and without which nothing goes on.
    fn is_hopeless(&self) -> bool {
        let hopeless = |j: &Judged| {
            matches!(j.verdict, Verdict::Impossible(_)) && !j.item.kind.may_be_left_out()
        };
        self.in_force.items().iter().any(hopeless)
    }

    fn text(&self, root: &Path) -> String {
        let standing = self.in_force.standing();
        let mut text = format!("{}: {}\n", root.display(), standing.word());
        text.push_str(&folder_trust::list(&self.all()));
        text
    }

    fn answer(&self, root: &Path, out: &Output) -> Result<Exit, CliError> {
        // Asked for and not done: an item stays out of force.
        let left = |j: &&Judged| matches!(j.verdict, Verdict::Impossible(_));
        let exit = match self.all().iter().any(left) {
            true => Exit::Refused,
            false => Exit::Complete,
        };
        let standing = self.in_force.standing();
        out.answer(
            exit,
            || {
                let mut text = self.text(root);
                if self.is_hopeless() {
                    text.push_str("mend or remove what cannot be trusted; until then there is no hash for CI\n");
                } else if !self.inventory.items.is_empty() {
                    text.push_str(&format!("for CI: {VARIABLE}={}\n", self.hash));
                }
                // Of what cannot be trusted, the user's word can only be that the rest goes on without it.
                let can_be_let = |j: &&Judged| match j.verdict {
                    Verdict::Trusted => false,
                    Verdict::Impossible(_) => {
                        j.item.kind.may_be_left_out() && j.stands_in_the_way()
                    }
                    Verdict::New | Verdict::Changed | Verdict::Gone => true,
                };
                if self.all().iter().any(can_be_let) {
                    text.push_str(&format!(
                        "let them: agentctl trust{}\n",
                        match root == Path::new(".") {
                            true => String::new(),
                            false => format!(" {}", shell::word(&root.display().to_string())),
                        }
                    ));
                }
                text
            },
            || {
                json!({
                    "folder": root.canonicalize().unwrap_or_else(|_| root.to_owned()).display().to_string(),
                    "state": match standing {
                        Standing::Nothing => "nothing",
                        other => other.word(),
                    },
                    "hash": (!self.is_hopeless()).then_some(&self.hash),
                    "items": self.all().into_iter().map(item).collect::<Vec<_>>(),
                })
            },
        )
    }
}

fn item(judged: &Judged) -> Value {
    let mut value = json!({
        "name": judged.item.name,
        "kind": judged.item.kind,
        "state": judged.verdict.word(),
        "shows": judged.item.shows,
    });
    if let (Verdict::Impossible(why), Some(map)) = (&judged.verdict, value.as_object_mut()) {
        map.insert("why".into(), why.as_str().into());
    }
    value
}
