//! One request to a receiver.

use super::{Form, Outbox, Target};
use agentctl_a2a::MEDIA_TYPE;
use agentctl_host::reach::{client, way};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use std::time::Duration;

/// So long a receiver has to say that it has taken it.
const ANSWER: Duration = Duration::from_secs(10);
/// Where the token that a client gave with its address is shown.
const TOKEN: &str = "x-a2a-notification-token";

/// Error: why it was not taken, without the address, which may hold a secret.
pub async fn post(outbox: &Outbox, target: &Target, body: String) -> Result<(), String> {
    let at = way(&target.url, &outbox.allow, true).await;
    let at = at.map_err(|no| no.to_string())?;
    let client = client(&target.url, at).timeout(ANSWER).build();
    let client = client.map_err(|e| e.without_url().to_string())?;
    let kind = match target.form {
        Form::Events => MEDIA_TYPE,
        Form::Envelope(_) => "application/json",
    };
    let mut request = client
        .post(target.url.clone())
        .header(CONTENT_TYPE, kind)
        .body(body);
    if let Some(token) = &target.token {
        request = request.header(TOKEN, hidden(token)?);
    }
    if let Some((scheme, credentials)) = &target.authentication {
        request = request.header(AUTHORIZATION, hidden(&format!("{scheme} {credentials}"))?);
    }
    let answer = request.send().await;
    let answer = answer.map_err(|e| match e.is_timeout() {
        true => format!("it did not answer within {} s", ANSWER.as_secs()),
        false => e.without_url().to_string(),
    })?;
    // What it says besides is nobody's business.
    match answer.status().is_success() {
        true => Ok(()),
        false => Err(format!(
            "it answered with status {}",
            answer.status().as_u16()
        )),
    }
}

fn hidden(text: &str) -> Result<HeaderValue, String> {
    let value = HeaderValue::from_str(text);
    let mut value = value.map_err(|_| "its secret fits no header".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}
