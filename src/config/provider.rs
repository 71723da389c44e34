//! What a provider's section may say: its address, and of a project's section which variable may be its key.

use super::{Origin, ProviderSettings};
use agentctl_models::provider::{Kind, unfit};

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

/// An address as a base to join to.
pub fn base_url(text: &str) -> Result<url::Url, String> {
    let mut url = url::Url::parse(text).map_err(|e| {
        format!("`base_url` {text:?} is no address ({e}); write e.g. http://127.0.0.1:8080/v1/")
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("`base_url` must begin with http:// or https://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("`base_url` must not hold a name or a password".to_owned());
    }
    // The wire's own path is joined to it: without the slash its last part would be lost.
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}
