use super::*;

fn refused(url: &str, found: &[&str], allow: &[&str]) -> bool {
    let url = Url::parse(url).unwrap();
    let port = url.port_or_known_default().unwrap();
    let found: Vec<SocketAddr> = (found
        .iter()
        .map(|ip| SocketAddr::new(ip.parse().unwrap(), port)))
    .collect();
    judged(&url, &found, &Addresses::of(allow.iter().copied()).unwrap()).is_err()
}

#[test]
fn what_is_not_public_is_refused_however_it_is_written() {
    for ip in [
        "127.0.0.1",
        "127.8.8.8",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.3.4",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "fe80::1",
        "fc00::1",
        "ff02::1",
        "2001:db8::1",
    ] {
        assert!(refused("https://example.com/", &[ip], &[]), "{ip}");
    }
    for ip in ["93.184.216.34", "2606:2800:220:1::1"] {
        assert!(!refused("https://example.com/", &[ip], &[]), "{ip}");
    }
}

#[test]
fn a_name_with_one_private_address_is_refused() {
    assert!(refused(
        "https://example.com/",
        &["93.184.216.34", "127.0.0.1"],
        &[]
    ));
    assert!(refused("https://example.com/", &[], &[]));
}

#[test]
fn the_user_allows_addresses_ports_networks_and_names() {
    let url = "http://box.lan:8099/";
    assert!(!refused(url, &["10.1.2.3"], &["10.1.0.0/16"]));
    assert!(!refused(url, &["10.1.2.3"], &["10.1.2.3:8099"]));
    assert!(!refused(url, &["10.1.2.3"], &["box.lan"]));
    assert!(!refused(url, &["::ffff:10.1.2.3"], &["10.1.2.3"]));
    assert!(refused(url, &["10.1.2.3"], &["10.1.2.3:80"]));
    assert!(refused(url, &["10.2.2.3"], &["10.1.0.0/16", "other.lan"]));
    assert!(Addresses::of(["10.0.0.0/33"]).is_err());
    assert!(Addresses::of(["*"]).is_err());
}

#[tokio::test]
async fn where_the_user_goes_by_a_word_of_their_own_is_that_place_alone() {
    let url = Url::parse("http://10.1.2.3:8099/a").unwrap();
    let allow = Addresses::default().and(&url);
    assert!(way(&url, &Addresses::default(), false).await.is_err());
    assert!(way(&url, &allow, false).await.is_ok());
    let other = Url::parse("http://10.1.2.3:8100/a").unwrap();
    assert!(way(&other, &allow, false).await.is_err());
    // Anybody in that network would read the credentials.
    assert!(way(&url, &allow, true).await.is_err());
    let listed = Addresses::of(["10.1.2.3"]).unwrap();
    assert!(way(&url, &listed, true).await.is_ok());
    let own = Url::parse("http://127.0.0.1:8099/a").unwrap();
    assert!(
        way(&own, &Addresses::default().and(&own), true)
            .await
            .is_ok()
    );
    for wrong in ["ftp://93.184.216.34/", "https://me:pw@93.184.216.34/"] {
        let url = Url::parse(wrong).unwrap();
        assert!(
            matches!(way(&url, &listed, false).await, Err(NoWay::Forbidden(_))),
            "{wrong}"
        );
    }
}
