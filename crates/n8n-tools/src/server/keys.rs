//! The address and the keys of the development n8n as shell lines. What is in the file is read back, so that keys stay the
//! same from one start to the next.

use agentctl_mcp::Secret;
use std::fmt::Write as _;

/// How to reach an n8n: the variables that agentctl, n8n-mcp and `.mcp.json` read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    pub url: String,
    pub api_key: Secret,
    pub mcp_token: Secret,
}

pub const API_URL: &str = "N8N_API_URL";
pub const API_KEY: &str = "N8N_API_KEY";
pub const MCP_URL: &str = "N8N_MCP_URL";
pub const MCP_TOKEN: &str = "N8N_MCP_TOKEN";

impl Keys {
    pub fn mcp_url(&self) -> String {
        format!("{}/mcp-server/http", self.url)
    }

    pub(super) fn to_text(&self) -> String {
        let mut text =
            String::from("# The development n8n of this project: `agentctl n8n up` wrote this.\n");
        let mcp_url = self.mcp_url();
        for (name, value) in [
            (API_URL, self.url.as_str()),
            (API_KEY, self.api_key.expose()),
            (MCP_URL, mcp_url.as_str()),
            (MCP_TOKEN, self.mcp_token.expose()),
        ] {
            let _ = writeln!(text, "export {name}='{}'", value.replace('\'', "")); // writing to a String cannot fail
        }
        text
    }

    /// None when something is missing.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let value = |name: &str| {
            let line = text.lines().find_map(|line| {
                line.strip_prefix("export ")?
                    .strip_prefix(name)?
                    .strip_prefix('=')
            })?;
            let value = line.trim().trim_matches('\'');
            (!value.is_empty()).then(|| value.to_owned())
        };
        Some(Keys {
            url: value(API_URL)?,
            api_key: Secret::new(value(API_KEY)?),
            mcp_token: Secret::new(value(MCP_TOKEN)?),
        })
    }
}
