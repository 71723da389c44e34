//! `agentctl a2a card` and `approve`: what an agent says of itself, and the user's word for it.

use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::{plain, plain_long};
use crate::cli::remote::{self, Remote};
use crate::cli::{project, runtime};
use agentctl_a2a::{AgentCard, claimed};
use agentctl_a2a_client::{CardChange, CardPin, Fetched};
use agentctl_base::untrusted;
use console::style;
use serde_json::json;
use std::path::Path;

pub fn fetched(remote: &Remote) -> Result<Fetched, CliError> {
    let fetched = runtime::block_on(remote.agent.card())?;
    fetched.map_err(|e| remote::failed(&e, &remote.name))
}

fn state(change: &CardChange) -> &'static str {
    match change {
        CardChange::Approved => "approved",
        CardChange::New => "not approved",
        CardChange::Changed { .. } => "changed since it was approved",
    }
}

/// Who signed a card, and whether that was checked.
fn signatures(fetched: &Fetched) -> Vec<String> {
    if let Some(by) = &fetched.signed_by {
        return vec![format!("of the key {by}, one of those that you know")];
    }
    let claimed = claimed(&fetched.whole).into_iter();
    claimed
        .map(|by| format!("of a key that is called {by}, not checked (--keys FILE)"))
        .collect()
}

fn signed(all: &[String]) -> String {
    let lines = all.iter();
    lines
        .map(|by| format!("signature: {}\n", plain_long(by)))
        .collect()
}

pub fn show(remote: &Remote, out: &Output) -> Result<Exit, CliError> {
    let fetched = fetched(remote)?;
    let by = signatures(&fetched);
    let change = CardPin::compare(remote.pin.as_ref(), &fetched.whole);
    out.answer(
        Exit::Complete,
        || {
            let mut text = told(&fetched.card);
            text.push_str(&signed(&by));
            text.push_str(&format!("card: {}\n", state(&change)));
            if let CardChange::Changed { diff } = &change {
                text.push_str(&indented(diff));
            }
            text
        },
        || {
            json!({
                "agent": remote.name, "state": state(&change), "signatures": by,
                "card": untrusted::value(fetched.whole.clone())
            })
        },
    )
}

/// The card for those that are let in. What is approved is the public one.
pub fn extended(remote: &Remote, out: &Output) -> Result<Exit, CliError> {
    let pin = remote.pin.as_ref();
    let fetched = runtime::block_on(async {
        let client = remote.agent.connect(pin).await?;
        client.extended_card().await
    })?;
    let fetched = fetched.map_err(|e| remote::failed(&e, &remote.name))?;
    let by = signatures(&fetched);
    out.answer(
        Exit::Complete,
        || format!("{}{}", told(&fetched.card), signed(&by)),
        || {
            json!({
                "agent": remote.name, "signatures": by,
                "card": untrusted::value(fetched.whole.clone())
            })
        },
    )
}

pub fn approve(root: &Path, remote: &Remote, out: &Output) -> Result<Exit, CliError> {
    let home = project::home_for(root, "what you approve cannot be kept")?;
    let fetched = fetched(remote)?;
    let by = signatures(&fetched);
    // Another approval may have been written while the agent was asked.
    let _lock = home.lock().map_err(|e| CliError::failed(e.to_string()))?;
    let before = remote::read_pin(&home, &remote.agent)?;
    let change = CardPin::compare(before.as_ref(), &fetched.whole);
    let url = remote.agent.card_url();
    let url = url.map_err(|e| remote::failed(&e, &remote.name))?;
    if change != CardChange::Approved {
        let now = jiff::Timestamp::now().to_string();
        let pin = CardPin::new(&url, fetched.whole.clone(), &now);
        pin.write(&home).map_err(|e| remote::no_pin(&e))?;
    }
    out.answer(
        Exit::Complete,
        || match &change {
            CardChange::Approved => {
                "nothing to approve: the card is as it was approved\n".to_owned()
            }
            CardChange::New => {
                let told = format!("{}{}", told(&fetched.card), signed(&by));
                format!("approved\n{}", indented(&told))
            }
            CardChange::Changed { diff } => format!("approved\n{}", indented(diff)),
        },
        || {
            json!({
                "agent": remote.name, "url": url.as_str(), "was": state(&change), "signatures": by,
                "card": untrusted::value(fetched.whole.clone())
            })
        },
    )
}

fn indented(text: &str) -> String {
    let text = untrusted::text(text);
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// A card for people.
fn told(card: &AgentCard) -> String {
    let mut text = format!(
        "{} {}\n",
        style(plain(&card.name)).bold(),
        plain(&card.version)
    );
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("{name}: {}\n", plain_long(value)));
        }
    };
    line("description", &card.description);
    for way in &card.supported_interfaces {
        let tenant = match way.tenant.as_str() {
            "" => String::new(),
            tenant => format!(", tenant {tenant}"),
        };
        let way = format!(
            "{} {} at {}{tenant}",
            way.protocol_binding, way.protocol_version, way.url
        );
        line("interface", &way);
    }
    let can = [
        (card.capabilities.streaming, "streams"),
        (card.capabilities.push_notifications, "pushes"),
        (
            card.capabilities.extended_agent_card,
            "has an extended card",
        ),
    ];
    let can: Vec<&str> = can.iter().filter(|(does, _)| *does).map(|c| c.1).collect();
    line("capabilities", &can.join(", "));
    let schemes: Vec<&str> = card.security_schemes.keys().map(String::as_str).collect();
    line("comes in by", &schemes.join(", "));
    for extension in &card.capabilities.extensions {
        let required = if extension.required { ", required" } else { "" };
        line("extension", &format!("{}{required}", extension.uri));
    }
    for skill in &card.skills {
        line(
            "skill",
            &format!("{} – {}: {}", skill.id, skill.name, skill.description),
        );
    }
    text
}
