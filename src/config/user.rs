//! `[user]`: where the user lives, for times and numbers that a request leaves open. Where nothing is said, a variable `TZ` with the
//! name of a timezone counts, and without one the timezone that the machine is set to.

use super::{ConfigError, Lines};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;
use toml::Spanned;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct User {
    /// An IANA name.
    pub timezone: Option<String>,
    /// A BCP 47 tag: `de-AT`.
    pub locale: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    timezone: Option<Spanned<String>>,
    locale: Option<Spanned<String>>,
}

impl User {
    pub(super) fn of(written: Written, lines: &Lines) -> Result<User, ConfigError> {
        let timezone = match written.timezone {
            Some(name) if !is_timezone(name.get_ref()) => {
                let message = format!(
                    "{:?} is no timezone; write its IANA name, such as Europe/Vienna",
                    name.get_ref()
                );
                return Err(lines.error(name.span().start, message));
            }
            name => name.map(Spanned::into_inner),
        };
        let locale = match written.locale {
            Some(tag) if !is_tag(tag.get_ref()) => {
                let message = format!("{:?} is no locale; write it as de-AT", tag.get_ref());
                return Err(lines.error(tag.span().start, message));
            }
            tag => tag.map(Spanned::into_inner),
        };
        Ok(User { timezone, locale })
    }

    /// What this one leaves open, as another one says it.
    #[must_use]
    pub fn or(self, other: User) -> User {
        User {
            timezone: self.timezone.or(other.timezone),
            locale: self.locale.or(other.locale),
        }
    }

    /// As a flow sees it among its input. `around`: the timezone of who calls, where the settings name none.
    pub fn say(&self, around: Option<String>, input: &mut Map<String, Value>) {
        for (key, said) in [
            ("timezone", self.timezone.clone().or(around)),
            ("locale", self.locale.clone()),
        ] {
            input.extend(said.map(|said| (key.to_owned(), Value::from(said))));
        }
    }
}

/// The timezone of who calls. `tz`: the variable `TZ`; None: it is not set, and the machine's own counts, whose setting is the link
/// `localtime`. A machine that is set to UTC says nothing about who sits before it.
#[must_use]
pub fn timezone_around(tz: Option<&str>, localtime: &Path) -> Option<String> {
    if let Some(name) = tz {
        return Some(name.to_owned()).filter(|name| is_timezone(name));
    }
    let target = std::fs::read_link(localtime).ok()?;
    let (_, name) = target.to_str()?.split_once("/zoneinfo/")?;
    let is_utc = name.starts_with("Etc/") || !name.contains('/');
    (is_timezone(name) && !is_utc).then(|| name.to_owned())
}

/// Whether it is written as IANA writes names: `Europe/Vienna`, `America/Argentina/Ushuaia`, `UTC`. Which there are, n8n knows.
fn is_timezone(name: &str) -> bool {
    let part = |part: &str| {
        let mut letters = part.bytes();
        letters.next().is_some_and(|b| b.is_ascii_uppercase())
            && letters.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+'))
    };
    name == "UTC" || name.contains('/') && name.split('/').all(part)
}

fn is_tag(tag: &str) -> bool {
    let part = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let language = tag.split('-').next().unwrap_or_default();
    (2..=3).contains(&language.len()) && tag.split('-').all(part)
}
