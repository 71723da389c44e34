//! What the providers of a project's file would do: which variable they would send to which address, and what they would start.
//! For whoever asks the user about it, and for the rule about variables.

use super::{Config, Origin, ProviderSettings};
use crate::model::provider::{Kind, unfit};
use std::fmt;

/// What one provider of a project's file would do. Its text form is one line for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderUse {
    pub provider: String,
    /// File and line.
    pub place: String,
    /// Without user, password and query; None: the provider's own address.
    pub address: Option<String>,
    /// The variable whose value would be sent there.
    pub variable: Option<String>,
    /// The command that would be started for the key.
    pub command: Option<Vec<String>>,
    /// Why it is refused even in a trusted project; only the user's own file may name this variable.
    pub refused: Option<String>,
}

impl fmt::Display for ProviderUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = self.address.as_deref().unwrap_or("its own address");
        write!(f, "{}: ", self.provider)?;
        match (&self.variable, &self.command) {
            (Some(variable), _) => write!(f, "sends ${variable} to {to}"),
            (None, Some(words)) => write!(
                f,
                "starts {:?} and sends what it prints to {to}",
                words.join(" ")
            ),
            (None, None) => write!(f, "sends requests to {to}"),
        }?;
        match &self.refused {
            Some(why) => write!(f, " (refused: {why})"),
            None => Ok(()),
        }
    }
}

impl ProviderSettings {
    /// Why the key cannot be taken from the variable that this section names; None where it may be, and for the user's own file.
    pub fn refused(&self, provider: &str) -> Option<String> {
        if self.origin == Origin::User {
            return None;
        }
        let variable = self.api_key_env.as_deref()?;
        let kind = Kind::from_name(self.kind.as_deref().unwrap_or(provider))?;
        unfit(variable, provider, kind, self.base_url.is_some())
    }
}

impl Config {
    /// The providers that came with the project, by their names. Read a project's file alone for what stands in it: in the
    /// joined settings a provider that the user described too is the user's.
    pub fn project_providers(&self) -> Vec<ProviderUse> {
        self.providers
            .iter()
            .filter(|(_, settings)| settings.origin == Origin::Project)
            .map(|(name, settings)| ProviderUse {
                provider: name.clone(),
                place: settings.place.clone(),
                address: settings.base_url.as_ref().map(|url| {
                    let mut url = url.clone();
                    url.set_query(None);
                    url.to_string()
                }),
                variable: settings.api_key_env.clone(),
                command: settings.key_command.clone(),
                refused: settings.refused(name),
            })
            .collect()
    }
}
