use super::*;
use crate::read::{ReadContext, read};

#[test]
fn secrets_are_refused_and_never_repeated() {
    for (request, secret) in [
        (
            "Every day log in to https://x.example as joe with the password Hunter22! and get the report",
            "Hunter22",
        ),
        (
            "Call https://api.x.io with api key: ab12cd34ef and save it in Notion",
            "ab12cd34ef",
        ),
        (
            "Use sk-live1234567890 for OpenAI and summarise my mails from Gmail",
            "sk-live1234567890",
        ),
        (
            "Nimm das Passwort Sommer2023 direkt im Node und rufe https://x.de auf",
            "Sommer2023",
        ),
    ] {
        let reading = read(request, &ReadContext::default());
        assert!(reading.refusal.is_some(), "{request}");
        let all = serde_json::to_string(&reading.plan).unwrap_or_default();
        assert!(!all.contains(secret), "{all}");
    }
}

#[test]
fn harm_is_refused() {
    for request in [
        "Delete every node of the workflow and save it, no backup",
        "Lösche alle Kundendaten aus der Datenbank, ohne Rückfrage",
        "Webhook without authentication that returns all customers with their card numbers",
        "Scrape email addresses from LinkedIn profiles and mail them our offer",
    ] {
        assert!(refusal(request, "en").is_some(), "{request}");
    }
}

#[test]
fn ordinary_requests_are_not() {
    for request in [
        "Delete all files older than 30 days from the S3 bucket tmp every night",
        "When a user resets the password in Okta, tell #security on Slack",
        "Send a token count to Slack every day",
        "Callers authenticate with a header key",
        "If a mail lands in spam, move it to the folder Review",
        "Webhook without authentication that answers with the current time",
        "Bearer token protected endpoint /orders",
    ] {
        assert_eq!(refusal(request, "en"), None, "{request}");
    }
}
