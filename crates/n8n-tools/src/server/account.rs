//! The development n8n's owner and keys, made through the same requests as n8n's own editor makes. Only for an n8n that was
//! started here: its owner is a made-up person with a password that nobody needs to know.

use super::folder::{Folder, write_private};
use super::keys::Keys;
use super::{ServerError, Step, Tell};
use agentctl_mcp::Secret;
use reqwest::{Method, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Serialize, Deserialize)]
struct Owner {
    email: String,
    password: String,
}

/// A client for an n8n on this machine; no proxy stands between.
pub fn client() -> Result<reqwest::Client, ServerError> {
    agentctl_host::http::client()
        .no_proxy()
        .timeout(PATIENCE)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|e| ServerError::Account {
            doing: "a connection",
            why: e.to_string(),
        })
}

/// Of the small files that this folder keeps: no pipe in their place is waited for.
const MAX_BYTES: u64 = 64 * 1024;

/// The keys that are there when they still open this n8n, else new ones.
pub async fn keys(folder: &Folder, url: &str, tell: Tell<'_>) -> Result<Keys, ServerError> {
    let client = client()?;
    let known = agentctl_host::files::read_regular_text(&folder.env_file(), MAX_BYTES)
        .ok()
        .as_deref()
        .and_then(Keys::from_text);
    if let Some(known) = known {
        let asked = client
            .get(format!("{url}/api/v1/workflows?limit=1"))
            .header("X-N8N-API-KEY", known.api_key.expose());
        if asked
            .send()
            .await
            .is_ok_and(|answer| answer.status().is_success())
        {
            return Ok(Keys {
                url: url.to_owned(),
                ..known
            });
        }
    }
    tell(Step::Keys);
    let editor = Editor::open(client, folder, url).await?;
    let scopes = editor
        .ask(
            "the list of scopes",
            Method::GET,
            "rest/api-keys/scopes",
            None,
        )
        .await?;
    let label = format!("agentctl-{}", uuid::Uuid::new_v4().simple());
    let wanted = json!({"label": label, "expiresAt": null, "scopes": scopes});
    let made = editor
        .ask("a new API key", Method::POST, "rest/api-keys", Some(wanted))
        .await?;
    let api_key = text(&made, "rawApiKey", "a new API key")?;
    let wanted = json!({"mcpAccessEnabled": true});
    editor
        .ask(
            "to open its MCP server",
            Method::PATCH,
            "rest/mcp/settings",
            Some(wanted),
        )
        .await?;
    let made = editor
        .ask(
            "a new MCP key",
            Method::POST,
            "rest/mcp/api-key/rotate",
            None,
        )
        .await?;
    Ok(Keys {
        url: url.to_owned(),
        api_key: Secret::new(api_key),
        mcp_token: Secret::new(text(&made, "apiKey", "a new MCP key")?),
    })
}

/// A line that opens what only the signed-in owner may read, such as the list of node types.
pub async fn session_cookie(folder: &Folder, url: &str) -> Result<Secret, ServerError> {
    Ok(Editor::open(client()?, folder, url).await?.cookie)
}

fn text(answer: &Value, key: &str, doing: &'static str) -> Result<String, ServerError> {
    let value = answer
        .get(key)
        .and_then(Value::as_str)
        .filter(|v| !v.is_empty());
    value.map(str::to_owned).ok_or(ServerError::Account {
        doing,
        why: format!("its answer has no {key}"),
    })
}

/// A session as the owner.
struct Editor<'a> {
    client: reqwest::Client,
    url: &'a str,
    cookie: Secret,
}

impl<'a> Editor<'a> {
    /// Signs in as the owner, who is made first when there is none.
    async fn open(
        client: reqwest::Client,
        folder: &Folder,
        url: &'a str,
    ) -> Result<Editor<'a>, ServerError> {
        let owner = owner(folder)?;
        let setup = json!({"email": owner.email, "firstName": "Development", "lastName": "Owner", "password": owner.password});
        let login = json!({"emailOrLdapLoginId": owner.email, "password": owner.password});
        let mut why = String::new();
        // A second setup is refused: then the owner is there already.
        for (path, body) in [("rest/owner/setup", setup), ("rest/login", login)] {
            let answer = client
                .post(format!("{url}/{path}"))
                .json(&body)
                .send()
                .await
                .map_err(|e| unreachable("the owner's login", &e))?;
            let (status, cookie) = (answer.status(), cookie(&answer));
            match cookie {
                Some(cookie) if status.is_success() => {
                    return Ok(Editor {
                        client,
                        url,
                        cookie,
                    });
                }
                _ => why = refusal(status, &answer.text().await.unwrap_or_default()),
            }
        }
        Err(ServerError::Account {
            doing: "the owner's login",
            why,
        })
    }

    async fn ask(
        &self,
        doing: &'static str,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, ServerError> {
        let mut request = self
            .client
            .request(method, format!("{}/{path}", self.url))
            .header(header::COOKIE, self.cookie.expose());
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.map_err(|e| unreachable(doing, &e))?;
        let status = answer.status();
        let text = answer.text().await.map_err(|e| unreachable(doing, &e))?;
        if !status.is_success() {
            return Err(ServerError::Account {
                doing,
                why: refusal(status, &text),
            });
        }
        let mut answer: Value = serde_json::from_str(&text).map_err(|e| ServerError::Account {
            doing,
            why: format!("its answer is not JSON: {e}"),
        })?;
        Ok(answer
            .get_mut("data")
            .map(Value::take)
            .unwrap_or(Value::Null))
    }
}

/// The owner that this folder's n8n has, or is going to have: written down before n8n hears of it.
fn owner(folder: &Folder) -> Result<Owner, ServerError> {
    let file = folder.owner_file();
    match agentctl_host::files::read_regular_text(&file, MAX_BYTES) {
        Ok(text) => serde_json::from_str(&text).map_err(|e| ServerError::Broken {
            path: file,
            reason: e.to_string(),
        }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let owner = Owner {
                email: "owner@example.com".to_owned(),
                // n8n wants a capital and a digit.
                password: format!("A1-{}", uuid::Uuid::new_v4().simple()),
            };
            write_private(&file, &json!(owner).to_string())?;
            Ok(owner)
        }
        Err(e) => Err(ServerError::io("read", file)(e)),
    }
}

fn cookie(answer: &reqwest::Response) -> Option<Secret> {
    let lines = answer.headers().get_all(header::SET_COOKIE);
    let mut pairs = lines
        .iter()
        .filter_map(|line| line.to_str().ok()?.split(';').next());
    pairs
        .find(|pair| pair.starts_with("n8n-auth="))
        .map(Secret::new)
}

fn unreachable(doing: &'static str, error: &reqwest::Error) -> ServerError {
    let why = if error.is_timeout() {
        "no answer"
    } else {
        "no connection"
    };
    ServerError::Account {
        doing,
        why: why.to_owned(),
    }
}

/// What n8n says of a request that it refused.
fn refusal(status: StatusCode, body: &str) -> String {
    let said = serde_json::from_str::<Value>(body).ok();
    let said = said.as_ref().and_then(|body| body.get("message")?.as_str());
    match said {
        Some(said) => format!(
            "HTTP {}, {}",
            status.as_u16(),
            agentctl_base::untrusted::line(said)
        ),
        None => format!("HTTP {}", status.as_u16()),
    }
}
