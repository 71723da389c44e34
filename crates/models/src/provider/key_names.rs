//! Which environment variable may hold the key of which provider, where a project's file names it: a stranger's file could name
//! any variable, and what it holds would be sent away as a key. Pure. What is not known to be a model's key is refused.

use super::Kind;

/// Beginnings of variables in which other services' secrets stand. Whatever else a name has, such a one is no model's key.
const OTHER_SERVICES: &[&str] = &[
    "ACTIONS",
    "AIRTABLE",
    "ALGOLIA",
    "APPLE",
    "ARM",
    "ASANA",
    "ATLASSIAN",
    "AUTH0",
    "AWS",
    "AZURE",
    "BITBUCKET",
    "BITWARDEN",
    "BROWSERSTACK",
    "BUILDKITE",
    "CARGO",
    "CF",
    "CI",
    "CIRCLE",
    "CIRCLECI",
    "CLICKUP",
    "CLOUDFLARE",
    "CODECOV",
    "CONFLUENCE",
    "CONSUL",
    "DATABASE",
    "DATADOG",
    "DB",
    "DD",
    "DIGITALOCEAN",
    "DISCORD",
    "DOCKER",
    "DOCKERHUB",
    "DOPPLER",
    "DROPBOX",
    "ELASTIC",
    "ETSY",
    "FACEBOOK",
    "FASTLY",
    "FIGMA",
    "FIREBASE",
    "FLY",
    "GCP",
    "GH",
    "GHCR",
    "GIT",
    "GITEA",
    "GITHUB",
    "GITLAB",
    "GMAIL",
    "GOOGLE",
    "GPG",
    "GRAFANA",
    "HCLOUD",
    "HEROKU",
    "HETZNER",
    "HUBSPOT",
    "INFISICAL",
    "INTERCOM",
    "JENKINS",
    "JIRA",
    "JWT",
    "KAFKA",
    "KUBE",
    "LINEAR",
    "LINKEDIN",
    "LINODE",
    "MAILCHIMP",
    "MAILGUN",
    "MAPBOX",
    "MONGO",
    "MONGODB",
    "MYSQL",
    "N8N",
    "NETLIFY",
    "NEWRELIC",
    "NEW_RELIC",
    "NGROK",
    "NODE",
    "NOTION",
    "NPM",
    "NUGET",
    "OCI",
    "OKTA",
    "OP",
    "OVH",
    "PAGERDUTY",
    "PAYPAL",
    "PG",
    "PGPASSWORD",
    "PINECONE",
    "PLAID",
    "POSTGRES",
    "POSTGRESQL",
    "POSTMAN",
    "PULUMI",
    "PYPI",
    "QDRANT",
    "RABBITMQ",
    "RAILWAY",
    "REDDIT",
    "REDIS",
    "RENDER",
    "RESEND",
    "ROLLBAR",
    "RUBYGEMS",
    "S3",
    "SALESFORCE",
    "SCALEWAY",
    "SEGMENT",
    "SENDGRID",
    "SENTRY",
    "SHOPIFY",
    "SIGNING",
    "SLACK",
    "SMTP",
    "SNOWFLAKE",
    "SNYK",
    "SONAR",
    "SQUARE",
    "SSH",
    "STRIPE",
    "SUPABASE",
    "TELEGRAM",
    "TERRAFORM",
    "TF",
    "TODOIST",
    "TRAVIS",
    "TRELLO",
    "TWILIO",
    "TWINE",
    "TWITTER",
    "VAULT",
    "VERCEL",
    "VSCE",
    "VULTR",
    "WAKATIME",
    "WANDB",
    "WEAVIATE",
    "YARN",
    "ZAPIER",
    "ZENDESK",
    "ZOOM",
];

/// Beginnings of the above behind which a model's key can stand all the same.
const MODELS_AMONG_THEM: &[&str] = &["AZURE_OPENAI_", "AWS_BEARER_TOKEN_BEDROCK"];

/// What a variable named after its provider may be called behind that name.
const KEY_WORDS: &[&str] = &[
    "KEY",
    "API_KEY",
    "APIKEY",
    "TOKEN",
    "API_TOKEN",
    "SECRET",
    "API_SECRET",
    "LLM_KEY",
];

/// Why this variable may not hold the key of this provider; None: it looks like that key. `own_address`: the file also names the
/// address that the key would be sent to.
pub fn unfit(variable: &str, provider: &str, kind: Kind, own_address: bool) -> Option<String> {
    let name = variable.to_ascii_uppercase();
    let own = kind.key_variable().is_some_and(|own| own == name);
    if own && !own_address {
        return None;
    }
    let begins = |word: &str| {
        name.strip_prefix(word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let excepted = MODELS_AMONG_THEM.iter().any(|word| name.starts_with(word));
    if let Some(service) = OTHER_SERVICES.iter().find(|word| begins(word))
        && !excepted
    {
        return Some(format!(
            "{variable} is a variable of {service}, not of a model"
        ));
    }
    if own {
        return None;
    }
    // Another provider's key is as foreign here as any other service's.
    if Kind::names()
        .into_iter()
        .filter_map(Kind::from_name)
        .any(|other| other != kind && other.key_variable() == Some(&name))
    {
        return Some(format!(
            "{variable} is the key of another provider than {kind}"
        ));
    }
    let after = |owner: &str| {
        let owner = owner.to_ascii_uppercase().replace(['-', '.'], "_");
        name.strip_prefix(&owner)
            .filter(|_| !owner.is_empty())
            .and_then(|rest| rest.strip_prefix('_'))
            .is_some_and(|rest| KEY_WORDS.contains(&rest))
    };
    let fits = after(provider) || after(&kind.to_string()) || name.ends_with("_API_KEY");
    (!fits).then(|| format!("{variable} does not look like a key of the provider {provider:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(variable: &str, provider: &str, kind: &str, own_address: bool) -> Option<String> {
        unfit(
            variable,
            provider,
            Kind::from_name(kind).unwrap(),
            own_address,
        )
    }

    #[test]
    fn a_key_that_is_named_after_a_model_fits() {
        for (variable, provider, kind, own_address) in [
            ("OPENAI_API_KEY", "openai", "openai", false),
            ("OPENAI_API_KEY", "local", "openai", true),
            ("LOCAL_KEY", "local", "openai", true),
            ("MINE_SECRET", "mine", "openai", true),
            ("my_llm_token", "my-llm", "openai", true),
            ("ACME_API_KEY", "gateway", "anthropic", true),
            ("ANTHROPIC_TOKEN", "x", "anthropic", true),
            ("AZURE_OPENAI_API_KEY", "azure", "azure", true),
            ("GITHUB_TOKEN", "github_copilot", "github_copilot", false),
        ] {
            assert_eq!(
                told(variable, provider, kind, own_address),
                None,
                "{variable}"
            );
        }
    }

    #[test]
    fn any_other_variable_is_refused_whatever_the_provider_is_called() {
        for (variable, provider, kind) in [
            ("AWS_SECRET_ACCESS_KEY", "mine", "openai"),
            ("AWS_SECRET_ACCESS_KEY", "aws-secret-access", "openai"),
            ("aws_secret_access_key", "mine", "openai"),
            ("GITHUB_TOKEN", "github", "openai"),
            ("GITHUB_TOKEN", "github_copilot", "github_copilot"),
            ("GITHUB_API_KEY", "mine", "openai"),
            ("STRIPE_API_KEY", "mine", "openai"),
            ("N8N_API_KEY", "n8n", "openai"),
            ("DATABASE_URL", "database", "openai"),
            ("HOME", "home", "openai"),
            ("ANTHROPIC_API_KEY", "mine", "openai"),
            ("OPENAI_API_KEY", "openai", "anthropic"),
            ("SECRET", "mine", "openai"),
            ("MINE_DB_PASSWORD", "mine", "openai"),
            ("MINE_", "mine", "openai"),
            ("_TOKEN", "", "openai"),
        ] {
            let refused = told(variable, provider, kind, true);
            assert!(refused.is_some(), "{variable}");
        }
        assert_eq!(
            told("GITHUB_TOKEN", "openai", "openai", false).as_deref(),
            Some("GITHUB_TOKEN is a variable of GITHUB, not of a model")
        );
    }
}
