//! Which wire a server speaks, where its key is looked for, and how the key is shown to it.

use super::Key;
use agentctl_base::plain_http::PlainHttp;
use genai::{Headers, adapter::AdapterKind, resolver::AuthData};
use std::fmt;

/// A wire. `azure` is OpenAI's with the key in a header of its own; all others are genai's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Azure,
    Genai(AdapterKind),
}

/// Names that people write and genai calls otherwise.
const ALIASES: &[(&str, AdapterKind)] = &[
    ("bedrock", AdapterKind::BedrockApi),
    ("openrouter", AdapterKind::OpenRouter),
    ("google", AdapterKind::Gemini),
];

impl Kind {
    pub fn from_name(name: &str) -> Option<Kind> {
        if name == "azure" {
            return Some(Kind::Azure);
        }
        if let Some((_, kind)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
            return Some(Kind::Genai(*kind));
        }
        AdapterKind::from_lower_str(name).map(Kind::Genai)
    }

    /// The names of all kinds, sorted.
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<&str> = AdapterKind::all()
            .iter()
            .map(|k| k.as_lower_str())
            .collect();
        names.extend(ALIASES.iter().map(|(alias, _)| *alias));
        names.push("azure");
        names.sort_unstable();
        names.dedup();
        names
    }

    pub fn adapter(self) -> AdapterKind {
        match self {
            Kind::Azure => AdapterKind::OpenAI,
            Kind::Genai(kind) => kind,
        }
    }

    /// The variable in which the provider's own key is looked for; None: it wants no key.
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Kind::Azure => Some("AZURE_OPENAI_API_KEY"),
            Kind::Genai(AdapterKind::Ollama) => None,
            Kind::Genai(kind) => kind.default_key_env_name(),
        }
    }

    /// The list of prices in which this provider's models stand.
    pub fn listed_as(self) -> Option<&'static str> {
        match self {
            Kind::Genai(AdapterKind::OpenAI | AdapterKind::OpenAIResp) => Some("openai"),
            Kind::Genai(AdapterKind::Anthropic) => Some("anthropic"),
            Kind::Genai(AdapterKind::Gemini) => Some("gemini"),
            _ => None,
        }
    }

    pub fn speaks_openai_chat(self) -> bool {
        match self {
            Kind::Azure => true,
            Kind::Genai(kind) => matches!(
                kind,
                AdapterKind::OpenAI
                    | AdapterKind::Groq
                    | AdapterKind::Mistral
                    | AdapterKind::DeepSeek
                    | AdapterKind::Xai
                    | AdapterKind::Together
                    | AdapterKind::Fireworks
                    | AdapterKind::OpenRouter
            ),
        }
    }

    /// True for OpenAI's own wires: requests with the same key are led to the same cache.
    pub fn takes_cache_key(self) -> bool {
        matches!(
            self,
            Kind::Genai(AdapterKind::OpenAI | AdapterKind::OpenAIResp)
        )
    }

    pub fn speaks_anthropic(self) -> bool {
        self == Kind::Genai(AdapterKind::Anthropic)
    }

    /// How the key is shown. None: as genai does it by itself, from the provider's own variable.
    pub(super) fn auth(
        self,
        base_url: Option<&url::Url>,
        key: Option<&Key>,
        plain_http: &PlainHttp,
    ) -> Result<Option<AuthData>, String> {
        if let (Some(url), Some(_)) = (base_url, key) {
            plain_http
                .check("a key", url)
                .map_err(|e| format!("{e}; {}", e.hint()))?;
        }
        match (self, base_url, key) {
            (Kind::Azure, None, _) => Err(
                "azure needs a `base_url` like https://NAME.openai.azure.com/openai/v1/".to_owned(),
            ),
            (Kind::Azure, Some(url), key) => {
                let key = key.map(|key| ("api-key".to_owned(), key.expose().to_owned()));
                Ok(Some(AuthData::RequestOverride {
                    url: chat_url(url)?,
                    headers: Headers::from(key.into_iter().collect::<Vec<_>>()),
                }))
            }
            (_, _, Some(key)) => Ok(Some(AuthData::Key(key.expose().to_owned()))),
            (_, Some(url), None) if self.speaks_openai_chat() => {
                Ok(Some(AuthData::RequestOverride {
                    url: chat_url(url)?,
                    headers: Headers::default(),
                }))
            }
            (Kind::Genai(AdapterKind::Ollama), _, None) => Ok(None),
            (_, _, None) => Ok(Some(AuthData::Key(String::new()))),
        }
    }
}

/// The address of the chat call; a query (Azure's `api-version`) stays.
fn chat_url(base: &url::Url) -> Result<String, String> {
    let mut url = base
        .join("chat/completions")
        .map_err(|e| format!("{base} is no base of an address: {e}"))?;
    url.set_query(base.query());
    Ok(url.to_string())
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Azure => "azure",
            Kind::Genai(kind) => kind.as_lower_str(),
        })
    }
}
