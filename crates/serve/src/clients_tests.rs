use super::*;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn client(name: &str, how: How) -> Client {
    Client {
        name: name.to_owned(),
        how,
        packs: None,
        tenants: None,
        may: BTreeSet::from([May::Turn]),
        origins: Vec::new(),
        keys: None,
        rate: Rate::new(600),
        reads: Reads::default(),
    }
}

fn clients() -> Clients {
    Clients::new(vec![
        client("n8n", How::basic("demo", "dé:mo")),
        client("script", How::bearer(TOKEN)),
    ])
}

fn admitted(values: &[&[u8]]) -> Option<String> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(
            AUTHORIZATION,
            hyper::header::HeaderValue::from_bytes(value).unwrap(),
        );
    }
    clients().admit(&headers).map(|client| client.name.clone())
}

fn basic(text: &[u8]) -> String {
    format!("Basic {}", STANDARD.encode(text))
}

#[test]
fn a_client_is_known_by_its_secret_and_by_nothing_near_it() {
    let right = basic("demo:dé:mo".as_bytes());
    let bearer = format!("bearer {TOKEN}");
    assert_eq!(admitted(&[right.as_bytes()]).as_deref(), Some("n8n"));
    assert_eq!(admitted(&[bearer.as_bytes()]).as_deref(), Some("script"));
    let wrong = [
        basic(b"demo:"),
        basic(b"demo"),
        basic(b""),
        basic("demo:dé:mo\0".as_bytes()),
        basic("demo\0:dé:mo".as_bytes()),
        basic(b"demo:d\xe9:mo"),
        basic("Demo:dé:mo".as_bytes()),
        format!("Basic {TOKEN}"),
        format!("Bearer {}", STANDARD.encode("demo:dé:mo")),
        format!("Bearer {}", &TOKEN[1..]),
        format!("Bearer {TOKEN} {TOKEN}"),
        format!("{right}, {bearer}"),
        format!("{bearer}, {right}"),
        "Bearer".to_owned(),
        "Negotiate x".to_owned(),
        String::new(),
    ];
    for header in wrong {
        assert_eq!(admitted(&[header.as_bytes()]), None, "{header}");
    }
    assert_eq!(admitted(&[]), None);
    assert_eq!(admitted(&[b"Bearer \xff\xfe"]), None);
}

#[test]
fn two_headers_are_none() {
    let (right, bearer) = (basic("demo:dé:mo".as_bytes()), format!("Bearer {TOKEN}"));
    for pair in [[&right, &bearer], [&bearer, &right], [&right, &right]] {
        assert_eq!(admitted(&pair.map(|v| v.as_bytes())), None);
    }
}

#[test]
fn a_client_speaks_for_itself_or_for_the_tenants_it_was_given() {
    let alone = client("n8n", How::bearer(TOKEN));
    assert_eq!(alone.tenant(None).as_deref(), Some("client:n8n"));
    assert_eq!(alone.tenant(Some("t-1")).as_deref(), Some("client:n8n:t-1"));
    assert!(alone.owns("client:n8n:t-1") && alone.owns("client:n8n"));
    assert!(!alone.owns("client:n8n2") && !alone.owns("t-1"));

    let mut given = client("teams", How::bearer(TOKEN));
    given.tenants = Some(vec!["t-1".to_owned()]);
    assert_eq!(given.tenant(None).as_deref(), Some("t-1"));
    assert_eq!(given.tenant(Some("t-2")), None);
    assert_eq!(given.tenant(Some("client:n8n")), None);
    assert!(given.owns("t-1") && !given.owns("t-2"));

    given.tenants = Some(vec!["*".to_owned()]);
    assert_eq!(given.tenant(Some("t-2")).as_deref(), Some("t-2"));
    assert_eq!(
        (given.tenant(None), given.tenant(Some("client:n8n"))),
        (None, None)
    );
    assert!(!given.owns("client:n8n"));
}

#[test]
fn a_challenge_names_only_what_is_there() {
    assert_eq!(clients().challenges().len(), 2);
    let one = Clients::new(vec![client("script", How::bearer(TOKEN))]);
    assert_eq!(one.challenges(), ["Bearer realm=\"agentctl\""]);
    assert!(!format!("{one:?}").contains("0123"));
}

#[test]
fn a_subject_is_a_caller_of_its_own_unless_a_tenant_is_spoken_for() {
    let subject = |name: &str, tenant: Option<&str>| Subject {
        name: name.to_owned(),
        tenant: tenant.map(str::to_owned),
    };
    let issuer = client("web", How::bearer(TOKEN));
    let [one, two] = ["a:b", "a"].map(|name| issuer.of_subject(&subject(name, None)).unwrap());
    assert_eq!((one.name.as_str(), one.settings()), ("web/a%3Ab", "web"));
    let tenant = one.tenant(Some("c")).unwrap();
    assert_ne!(Some(&tenant), two.tenant(Some("b:c")).as_ref());
    assert!(one.owns(&tenant) && !two.owns(&tenant) && !issuer.owns(&tenant));
    // One limit of requests for all of them.
    assert!((0..600).all(|_| one.rate.take(std::time::Duration::ZERO).is_ok()));
    assert!(two.rate.take(std::time::Duration::ZERO).is_err());

    let mut narrow = client("web", How::bearer(TOKEN));
    narrow.tenants = Some(vec!["acme".to_owned()]);
    let of = |client: &Client, tenant| client.of_subject(&subject("a", Some(tenant)));
    assert_eq!(
        of(&narrow, "acme").unwrap().tenant(None).as_deref(),
        Some("acme")
    );
    assert_eq!(of(&narrow, "acme").unwrap().tenant(Some("other")), None);
    assert!(of(&narrow, "other").is_none());
    for any in ["*", "client:n8n"] {
        assert!(of(&issuer, any).is_none(), "{any}");
    }
    assert!(of(&issuer, "other").unwrap().owns("other"));
}

#[test]
fn what_restate_hands_out_is_told_from_what_every_other_client_has() {
    let tenant = |name: &str, named| client(name, How::bearer(TOKEN)).tenant(named).unwrap();
    assert!(is_handed_out(&tenant(RESTATE, None)));
    for other in [
        tenant("restates", None),
        tenant("n8n", None),
        tenant("n8n", Some(RESTATE)),
        RESTATE.to_owned(),
    ] {
        assert!(!is_handed_out(&other), "{other}");
    }
}
