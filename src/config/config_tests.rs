use super::*;

fn read_project(text: &str) -> Result<Config, ConfigError> {
    read(text, "agentctl.toml", Origin::Project)
}

fn refused(text: &str) -> String {
    read_project(text).unwrap_err().to_string()
}

fn name(text: &str) -> ModelName {
    text.parse().unwrap()
}

#[test]
fn tiers_agents_and_providers_are_read() {
    let config = read_project(
        r#"
[models]
default = "offline"
opus = "anthropic::claude-opus-4-1"
[models.agents]
qa = "mine::org/small:7b"
[models.time]
idle = 5
[providers.mine]
kind = "openai"
base_url = "http://127.0.0.1:8080/v1"
api_key_env = "MINE_KEY"
[prices."mine::org/small:7b"]
input = 0.5
output = 1
"#,
    )
    .unwrap();
    let models = &config.models;
    assert_eq!(
        models.of_tier(Tier::Opus),
        Some(&name("anthropic::claude-opus-4-1"))
    );
    assert_eq!(models.of_tier(Tier::Haiku), Some(&ModelName::Offline));
    assert_eq!(models.agents["qa"], name("mine::org/small:7b"));
    assert_eq!(
        models.time,
        TimeLimits {
            idle: 5,
            ..TimeLimits::default()
        }
    );
    assert_eq!(
        config.providers["mine"],
        ProviderSettings {
            origin: Origin::Project,
            place: "agentctl.toml:9".into(),
            kind: Some("openai".into()),
            base_url: Some("http://127.0.0.1:8080/v1/".parse().unwrap()),
            api_key_env: Some("MINE_KEY".into()),
            key_command: None,
            json_schema: None,
        }
    );
    assert_eq!(config.prices["mine::org/small:7b"].output, 1.0);
}

#[test]
fn a_key_in_the_file_is_refused_with_its_line_and_not_repeated() {
    for text in [
        "[providers.a]\napi_key = \"hello\"",
        "[providers.a]\nkey = \"hello\"",
        "[providers.a]\ntoken = \"hello\"",
        "[providers.a]\napi_key_env = \"sk-abcdefghijklmnopqrstuvwx\"",
        "[providers.a]\nkey_command = [\"echo\", \"sk-abcdefghijklmnopqrstuvwx\"]",
    ] {
        let message = refused(text);
        assert!(message.starts_with("line 2: "), "{text}: {message}");
        assert!(message.contains("keys do not belong"), "{text}: {message}");
        assert!(!message.contains("abcdefgh"), "{message}");
    }
}

#[test]
fn what_is_not_known_is_refused_with_its_line() {
    for (text, expected) in [
        ("[model]\n", "line 1: unknown field `model`"),
        (
            "[models]\nopsu = \"offline\"",
            "line 2: unknown field `opsu`",
        ),
        ("[models]\n\nopus = \"gpt\"", "line 3: \"gpt\" is no model"),
        (
            "[providers.x]\nurl = \"http://a\"",
            "line 2: unknown field `url`",
        ),
        (
            "[providers.x]\nbase_url = \"ftp://a/\"",
            "line 2: `base_url` must begin with http",
        ),
        (
            "[providers.x]\nbase_url = \"http://me:pw@a/\"",
            "line 2: `base_url` must not hold a name",
        ),
        (
            "[providers.x]\napi_key_env = \"A\"\nkey_command = \"b\"",
            "line 1: give `api_key_env` or `key_command`",
        ),
        (
            "[prices.\"a::b\"]\ninput = -1\noutput = 1",
            "line 1: a price is a number of USD",
        ),
    ] {
        let message = refused(text);
        assert!(message.starts_with(expected), "{text}: {message}");
    }
}

#[test]
fn a_project_sends_no_secret_of_others_to_an_agent_of_its_choice() {
    let of = |text: &str, origin| read(text, "agentctl.toml", origin).map(|config| config.agents);
    let named = |more: &str| format!("[a2a.agents.desk]\nurl = \"https://a.example\"\n{more}");
    for more in [
        "token_env = \"GITHUB_TOKEN\"",
        "token_file = \"/home/me/key\"",
        "basic = { user = \"u\", password_env = \"PGPASSWORD\" }",
    ] {
        let message = of(&named(more), Origin::Project).unwrap_err().to_string();
        assert!(message.starts_with("line 1: a project can"), "{message}");
        assert!(of(&named(more), Origin::User).is_ok());
    }
    let agents = of(&named("token_env = \"A2A_DESK\""), Origin::Project).unwrap();
    assert_eq!(agents["desk"].url.as_str(), "https://a.example/");
    for (text, expected) in [
        (
            "[a2a.agents.desk]\nurl = \"ftp://a\"",
            "line 2: an agent's address begins with http",
        ),
        (
            "[a2a.agents.desk]\nurl = \"https://me:pw@a/\"",
            "line 2: an agent's address must not hold",
        ),
        (
            "[a2a.agents.\"a b\"]\nurl = \"https://a/\"",
            "line 1: \"a b\" is no name of an agent",
        ),
        (
            "[a2a.agents.desk]\nurl = \"https://a\"\ntoken_env = \"A2A_A\"\ntoken_file = \"b\"",
            "line 1: give one of",
        ),
    ] {
        let message = refused(text);
        assert!(message.starts_with(expected), "{text}: {message}");
    }
}

#[test]
fn a_project_cannot_take_the_place_of_the_users_provider() {
    let dir = tempfile::tempdir().unwrap();
    let user = dir.path().join("user.toml");
    std::fs::write(
        &user,
        "[models]\nopus = \"a::x\"\nhaiku = \"a::y\"\n[providers.a]\nbase_url = \"https://mine.example/v1/\"",
    )
    .unwrap();
    std::fs::write(
        dir.path().join("agentctl.toml"),
        "[models]\nopus = \"a::z\"\n[providers.a]\nbase_url = \"https://other.example/\"\n[providers.b]\nkind = \"openai\"",
    )
    .unwrap();
    let config = load(dir.path(), Some(&user), agentctl_engine::pack::Use::Project).unwrap();
    assert_eq!(config.models.opus, Some(name("a::z")));
    assert_eq!(config.models.haiku, Some(name("a::y")));
    let of = |name: &str| config.providers[name].origin;
    assert_eq!((of("a"), of("b")), (Origin::User, Origin::Project));
}

#[test]
fn files_that_the_users_own_settings_name_lie_beside_them() {
    let dir = tempfile::tempdir().unwrap();
    let (own, project) = (dir.path().join("own"), dir.path().join("project"));
    std::fs::create_dir_all(&own).unwrap();
    std::fs::create_dir_all(&project).unwrap();
    let user = own.join("config.toml");
    std::fs::write(
        &user,
        "[serve.clients.a]\nbearer_file = \"/run/token\"\nsignature = {keys_file = \"keys.json\"}\n",
    )
    .unwrap();
    std::fs::write(
        project.join("agentctl.toml"),
        "[serve.clients.b]\nbearer_env = \"B\"\nsignature = {keys_file = \"keys.json\"}\n",
    )
    .unwrap();
    let config = load(&project, Some(&user), agentctl_engine::pack::Use::Project).unwrap();
    let client = |name: &str| config.serve.clients[name].get_ref().clone();
    let keys = |name: &str| client(name).signature.unwrap().keys_file;
    assert_eq!(keys("a"), own.join("keys.json"));
    assert_eq!(
        client("a").bearer_file.unwrap(),
        std::path::Path::new("/run/token")
    );
    // A project's are its own.
    assert_eq!(keys("b"), std::path::Path::new("keys.json"));
}

#[test]
fn a_mistake_is_told_with_the_page_of_its_section() {
    for (text, line, page) in [
        ("[serve]\npages = true\n", 2, Some("serve.md")),
        ("[qa]\n[serve.clients.a]\ntoken = 1\n", 3, Some("serve.md")),
        ("serve.page = 1\n", 1, Some("serve.md")),
        ("[[qa.waiver]]\ncode = 7\n", 2, Some("qa.md")),
        ("[a2a]\nv0_3 = 1\n", 2, Some("a2a.md")),
        ("[sevre]\n", 1, None),
    ] {
        assert!(
            read(text, "f", Origin::User).is_err_and(|e| e.line == line),
            "{text}"
        );
        assert_eq!(page_of(text, line), page, "{text}");
    }
}

#[test]
fn clients_are_read_in_every_form_of_a_table() {
    for text in [
        "serve.clients.a.bearer_env = \"A\"\nserve.clients.a.origins = [\"https://A.example/\"]\n",
        "[serve.clients]\na = {bearer_env = \"A\", origins = [\"https://a.example\"]}\n",
        "[serve.clients.a.signature]\nkeys_file = \"k\"\n[serve.clients.a]\norigins = [\"https://a.example:443\"]\n",
    ] {
        let serve = read(text, "f", Origin::User).unwrap().serve;
        let client = serve.clients["a"].get_ref();
        assert!(client.place.starts_with("f:"), "{}", client.place);
        let origins: Vec<&str> = client
            .origins
            .iter()
            .map(|o| o.get_ref().as_str())
            .collect();
        assert_eq!(origins, ["https://a.example"], "{text}");
    }
}

#[cfg(unix)]
#[test]
fn the_machines_timezone_counts_where_no_variable_does() {
    use super::user::timezone_around;
    let dir = tempfile::tempdir().unwrap();
    let zone = |tz: Option<&str>, set_to: &str| {
        let link = dir.path().join("localtime");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(format!("/usr/share/zoneinfo/{set_to}"), &link).unwrap();
        timezone_around(tz, &link)
    };
    let vienna = Some("Europe/Vienna".to_owned());
    assert_eq!(zone(None, "Europe/Vienna"), vienna);
    assert_eq!(zone(Some("Europe/Vienna"), "America/Lima"), vienna);
    assert_eq!(zone(Some("UTC"), "Europe/Vienna"), Some("UTC".to_owned()));
    // It is set, and names none.
    assert_eq!(zone(Some(""), "Europe/Vienna"), None);
    assert_eq!(zone(Some(":/etc/localtime"), "Europe/Vienna"), None);
    // What servers are set to says nothing about who sits before one.
    assert_eq!(zone(None, "Etc/UTC"), None);
    assert_eq!(zone(None, "UTC"), None);
    assert_eq!(
        timezone_around(None, &dir.path().join("no-such-link")),
        None
    );
}
