//! `agentctl a2a keygen`, `sign-card` and `verify`: cards that carry a signature, and who made it.

use super::card;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain_long;
use crate::cli::remote::{self, Remote};
use crate::cli::{project, session};
use agentctl_base::strict_json;
use agentctl_host::files::read_given_text;
use agentctl_host::key::random;
use serde_json::{Value, json};
use std::path::Path;

/// No card is larger.
const MAX_BYTES: u64 = 256 * 1024;
const MAX_DEPTH: u32 = 64;

pub fn keygen(root: &Path, renew: bool, out: &Output) -> Result<Exit, CliError> {
    let home = project::home_for(root, "the key has no place to be kept")?;
    let failed = |e: agentctl_host::home::HomeError| CliError::failed(e.to_string());
    let _lock = home.lock().map_err(failed)?;
    let known = match renew {
        true => None,
        false => remote::card_key(&home)?,
    };
    let is_new = known.is_none();
    let key = match known {
        Some(key) => key,
        None => {
            let seed = random().ok_or_else(|| {
                CliError::failed("a key cannot be made: the system gives no random bytes")
            })?;
            home.write(remote::CARD_KEY, &seed).map_err(failed)?;
            remote::card_key(&home)?.ok_or_else(|| CliError::failed("the key is gone again"))?
        }
    };
    if is_new {
        out.note(&format!("made the key {}", key.id()));
    }
    out.note("give this set to whoever checks your cards; `[serve] sign_cards = true` has the server sign them");
    out.answer(
        Exit::Complete,
        || format!("{:#}\n", key.public()),
        || key.public(),
    )
}

pub fn sign(root: &Path, file: &str, out: &Output) -> Result<Exit, CliError> {
    let card = read(file)?;
    let home = project::home_for(root, "there is no key")?;
    let key = remote::card_key(&home)?.ok_or_else(remote::no_card_key)?;
    let signed = key.sign(card);
    let signed = signed.map_err(|e| CliError::usage(format!("{file}: {e}")))?;
    out.answer(
        Exit::Complete,
        || format!("{signed:#}\n"),
        || signed.clone(),
    )
}

pub fn verify(remote: &Remote, out: &Output) -> Result<Exit, CliError> {
    let Some(by) = card::fetched(remote)?.signed_by else {
        return Err(CliError::usage("no keys are known to check the card with")
            .hint("name them: --keys FILE, or keys in [a2a.agents.NAME]"));
    };
    out.answer(
        Exit::Complete,
        || format!("signed by {}\n", plain_long(&by)),
        || json!({"agent": remote.name, "signed_by": by}),
    )
}

fn read(file: &str) -> Result<Value, CliError> {
    let text = match file {
        "-" => session::read_stdin()?,
        file => read_given_text(Path::new(file), MAX_BYTES)
            .map_err(|e| CliError::usage(format!("{file}: {e}")))?,
    };
    let wrong = |why: String| CliError::usage(format!("{file} is no JSON: {why}"));
    strict_json::value(&text, MAX_DEPTH).map_err(wrong)
}
