//! Keys: from the environment or from a command's output, never from a file of the project. A key shows itself to nobody:
//! it has no `Display`, and its `Debug` hides it.

use agentctl_host::family::Family;
use std::{fmt, process::Stdio, time::Duration};
use tokio::{io::AsyncReadExt, process::Command, time::timeout};

/// A command that a person has to unlock (a keychain) needs a while; one that hangs must not.
const COMMAND_TIME: Duration = Duration::from_secs(60);
const MAX_KEY: usize = 16 << 10;

#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    pub fn new(text: &str) -> Option<Key> {
        let text = text.trim();
        // A header cannot hold anything else.
        let sound = text.chars().all(|c| c.is_ascii_graphic());
        (!text.is_empty() && sound).then(|| Key(text.to_owned()))
    }

    /// The key itself: for the wire, and for those who must hide it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key([hidden])")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    Variable(String),
    Command(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("the environment variable {0} is not set")]
    Unset(String),
    #[error("what {0} holds is no key: it is empty, has spaces inside, or is no plain ASCII")]
    NoKey(String),
    #[error("`key_command` {command:?} {why}")]
    Command { command: String, why: String },
}

impl KeySource {
    /// `variable` looks into the environment.
    pub async fn key(
        &self,
        variable: &(dyn Fn(&str) -> Option<String> + Send + Sync),
    ) -> Result<Key, KeyError> {
        match self {
            KeySource::Variable(name) => {
                let value = variable(name).ok_or_else(|| KeyError::Unset(name.clone()))?;
                Key::new(&value).ok_or_else(|| KeyError::NoKey(format!("the variable {name}")))
            }
            KeySource::Command(words) => run(words).await,
        }
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySource::Variable(name) => write!(f, "${name}"),
            KeySource::Command(words) => write!(f, "the output of {:?}", shown(words)),
        }
    }
}

fn shown(words: &[String]) -> String {
    words.first().cloned().unwrap_or_default()
}

async fn run(words: &[String]) -> Result<Key, KeyError> {
    let command = shown(words);
    let fault = |why: String| KeyError::Command {
        command: command.clone(),
        why,
    };
    let Some((program, arguments)) = words.split_first() else {
        return Err(fault("is empty".to_owned()));
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // Its own words go to the terminal: a keychain may have something to say.
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(|e| fault(format!("cannot be started: {e}")))?;
    // In our own group: it may ask at the terminal. Given up, it ends with what it started.
    let family = child.id().map(Family::of);
    let Some(stdout) = child.stdout.take() else {
        return Err(fault("has no output".to_owned()));
    };
    let work = async {
        let mut out = Vec::new();
        stdout
            .take(MAX_KEY as u64 + 1)
            .read_to_end(&mut out)
            .await
            .map_err(|e| fault(format!("cannot be read: {e}")))?;
        if out.len() > MAX_KEY {
            return Err(fault("prints more than a key".to_owned()));
        }
        let status = child
            .wait()
            .await
            .map_err(|e| fault(format!("cannot be waited for: {e}")))?;
        // An agent that it left running keeps the user's keys.
        family.into_iter().for_each(Family::let_go);
        if !status.success() {
            return Err(fault(format!("failed ({status})")));
        }
        Ok(out)
    };
    let out = timeout(COMMAND_TIME, work)
        .await
        .map_err(|_| fault(format!("did not end within {} s", COMMAND_TIME.as_secs())))??;
    let text = String::from_utf8_lossy(&out);
    Key::new(&text).ok_or_else(|| KeyError::NoKey(format!("the output of {command:?}")))
}
