use super::choice::{BackendName, Offered, Target, choose};
use agentctl_mcp::parse;
use std::path::Path;

const N8N_MCP: &str = r#""n8n-mcp": {"command": "npx", "args": ["-y", "n8n-mcp"], "env": {"N8N_API_URL": "${N8N_API_URL:-http://localhost:5678}", "N8N_API_KEY": "${N8N_API_KEY}"}}"#;
const OWN: &str = r#""own": {"type": "http", "url": "http://localhost:5678/mcp-server/http", "headers": {"Authorization": "Bearer t"}}"#;
const OTHER: &str = r#""docs": {"command": "docs-server"}"#;

/// What is chosen: the backend's word and whether REST goes along, or the error.
fn chosen(
    flag: Option<BackendName>,
    settings: Option<BackendName>,
    servers: Option<&[&str]>,
    environment: &[(&str, &str)],
) -> Result<(&'static str, Option<String>), String> {
    let variable = |name: &str| {
        let found = environment.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let config = servers.map(|servers| {
        let file = format!("{{\"mcpServers\": {{{}}}}}", servers.join(","));
        parse(&file, Path::new(".mcp.json"), &variable).unwrap()
    });
    let offered = Offered {
        flag,
        settings,
        servers: config.as_ref(),
        variable: &variable,
        plain_http: &Default::default(),
    };
    let choice = choose(&offered).map_err(|e| e.message)?;
    let rest = match &choice.target {
        Target::Embedded => None,
        Target::N8nMcp { rest, .. } | Target::Rest(rest) => Some(rest.url.clone()),
        Target::InstanceMcp { rest, .. } => rest.as_ref().map(|rest| rest.url.clone()),
    };
    Ok((choice.target.name().word(), rest))
}

const KEY: (&str, &str) = ("N8N_API_KEY", "k");
const URL: (&str, &str) = ("N8N_API_URL", "http://localhost:5678");

#[test]
fn nothing_that_is_asked_for_is_files() {
    assert_eq!(
        chosen(None, None, None, &[KEY, URL]),
        Ok(("embedded", None))
    );
    assert_eq!(
        chosen(None, None, Some(&[OTHER]), &[KEY, URL]),
        Ok(("embedded", None))
    );
    let off = r#""n8n-mcp": {"command": "npx", "args": ["n8n-mcp"], "disabled": true}"#;
    assert_eq!(
        chosen(None, None, Some(&[off]), &[]),
        Ok(("embedded", None))
    );
}

#[test]
fn an_enabled_n8n_of_the_file_is_taken_first_come() {
    let local = Some("http://localhost:5678".to_owned());
    assert_eq!(
        chosen(None, None, Some(&[OTHER, N8N_MCP, OWN]), &[KEY]),
        Ok(("n8n-mcp", local.clone()))
    );
    assert_eq!(
        chosen(None, None, Some(&[OWN, N8N_MCP]), &[KEY]),
        Ok(("instance-mcp", local))
    );
    assert_eq!(
        chosen(None, None, Some(&[OWN]), &[]),
        Ok(("instance-mcp", None))
    );
}

#[test]
fn the_flag_is_before_the_settings_and_those_before_the_file() {
    let servers = [N8N_MCP];
    let servers = Some(servers.as_slice());
    let (embedded, rest) = (Some(BackendName::Embedded), Some(BackendName::Rest));
    assert_eq!(
        chosen(embedded, rest, servers, &[KEY]),
        Ok(("embedded", None))
    );
    assert_eq!(
        chosen(None, embedded, servers, &[KEY]),
        Ok(("embedded", None))
    );
    assert_eq!(
        chosen(None, rest, None, &[KEY, URL]),
        Ok(("rest", Some(URL.1.to_owned())))
    );
}

#[test]
fn an_n8n_that_cannot_be_had_is_never_silently_files() {
    let error = chosen(None, None, Some(&[N8N_MCP]), &[]).unwrap_err();
    assert!(error.contains("N8N_API_KEY is not set"), "{error}");
    for name in [
        BackendName::Rest,
        BackendName::N8nMcp,
        BackendName::InstanceMcp,
    ] {
        assert!(chosen(Some(name), None, None, &[]).is_err());
    }
}

#[test]
fn a_key_goes_to_the_n8n_that_it_belongs_to() {
    let elsewhere = ("N8N_API_URL", "http://other.example");
    assert_eq!(
        chosen(None, None, Some(&[OWN]), &[KEY, elsewhere]),
        Ok(("instance-mcp", None))
    );
    let own = [
        ("N8N_MCP_URL", "http://localhost:5678/mcp-server/http"),
        ("N8N_MCP_TOKEN", "t"),
        KEY,
        URL,
    ];
    assert_eq!(
        chosen(Some(BackendName::InstanceMcp), None, None, &own),
        Ok(("instance-mcp", Some(URL.1.to_owned())))
    );
}

#[test]
fn no_key_goes_over_plain_http_to_another_machine() {
    let far = ("N8N_API_URL", "http://n8n.example:5678");
    let refused = |of: Result<_, String>| of.unwrap_err();
    let says = "is not sent to n8n.example:5678 over plain http";
    for error in [
        refused(chosen(Some(BackendName::Rest), None, None, &[KEY, far])),
        refused(chosen(None, None, Some(&[N8N_MCP]), &[KEY, far])),
        refused(chosen(
            Some(BackendName::InstanceMcp),
            None,
            None,
            &[
                ("N8N_MCP_URL", "http://n8n.example:5678/mcp-server/http"),
                ("N8N_MCP_TOKEN", "t"),
            ],
        )),
    ] {
        assert!(error.contains(says), "{error}");
    }
    let safe = ("N8N_API_URL", "https://n8n.example:5678");
    assert!(chosen(Some(BackendName::Rest), None, None, &[KEY, safe]).is_ok());
}

#[test]
fn another_services_variable_is_no_key_of_n8n() {
    let stolen = N8N_MCP.replace("${N8N_API_KEY}", "${AWS_SECRET_ACCESS_KEY}");
    let error = chosen(
        None,
        None,
        Some(&[&stolen]),
        &[("AWS_SECRET_ACCESS_KEY", "very-secret"), URL],
    )
    .unwrap_err();
    assert!(
        error.contains(".mcp.json:1: server \"n8n-mcp\": N8N_API_KEY is a key of n8n, and the variable AWS_SECRET_ACCESS_KEY is not"),
        "{error}"
    );
}
