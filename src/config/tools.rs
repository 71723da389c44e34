//! `[tools]`: which addresses of this machine and of private networks the tools of a pack's files may reach. Only the user says so.

use super::{ConfigError, Lines, Origin};
use agentctl_host::reach::Addresses;
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    #[serde(default)]
    allow_addresses: Vec<Spanned<String>>,
}

pub(super) fn addresses(
    lines: &Lines<'_>,
    written: Option<Spanned<Written>>,
    origin: Origin,
) -> Result<Addresses, ConfigError> {
    let Some(section) = written else {
        return Ok(Addresses::default());
    };
    if origin == Origin::Project {
        let message = "[tools] stands in your own config.toml, not in a project's agentctl.toml: a project does not say which addresses of your network it may reach";
        return Err(lines.error(section.span().start, message));
    }
    let written = section.into_inner().allow_addresses;
    for address in &written {
        Addresses::of([address.get_ref().as_str()])
            .map_err(|e| lines.error(address.span().start, e.to_string()))?;
    }
    Addresses::of(written.iter().map(|address| address.get_ref().as_str()))
        .map_err(|e| lines.error(0, e.to_string()))
}
