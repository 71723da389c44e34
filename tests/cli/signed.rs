//! Cards that carry a signature: the key made, the card served and checked. One that was changed: case 101 of the battery.

use crate::serving::Served;
use crate::support::{Project, Ran};
use serde_json::Value;

fn own(project: &Project, args: &[&str]) -> Ran {
    let own = "[tools]\nallow_addresses = [\"127.0.0.1\"]\n";
    std::fs::write(project.home().join("config.toml"), own).unwrap();
    let mut command = project.command(args);
    command.env("AGENTCTL_CONFIG", project.home().join("config.toml"));
    command.output().unwrap().into()
}

/// The public half of the key, in a file.
fn keys(project: &Project, name: &str, args: &[&str]) -> Value {
    let ran = own(project, &[&["a2a", "keygen"], args].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    project.write(name, &ran.stdout);
    ran.json()
}

#[test]
fn a_served_card_is_signed_with_the_key_that_was_made() {
    let project = Project::new();
    let first = keys(&project, "keys.json", &[]);
    assert_eq!(keys(&project, "keys.json", &[]), first);
    assert_eq!(first["keys"][0]["alg"], "EdDSA");
    assert!(first["keys"][0].get("d").is_none());
    project.write("agentctl.toml", "[serve]\nsign_cards = true\n");
    let served = Served::start(&project);
    let at = format!("http://{}/agents/research", served.address);
    let verified = own(&project, &["a2a", "verify", &at, "--keys", "keys.json"]);
    let id = first["keys"][0]["kid"].as_str().unwrap();
    assert_eq!(
        (verified.code, verified.stdout.as_str()),
        (0, format!("signed by {id}\n").as_str()),
        "{}",
        verified.stderr
    );
    let card = own(&project, &["a2a", "card", &at]);
    assert!(
        card.stdout.contains(&format!("called {id}, not checked")),
        "{}",
        card.stdout
    );
    let other = keys(&project, "other.json", &["--renew"]);
    assert_ne!(other, first);
    let refused = own(&project, &["a2a", "approve", &at, "--keys", "other.json"]);
    assert_eq!(refused.code, 5, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("none of the card's signatures"),
        "{}",
        refused.stderr
    );
    let card = own(&project, &["a2a", "card", &at, "--keys", "keys.json"]);
    assert!(
        card.stdout.contains("card: not approved"),
        "{}",
        card.stdout
    );
    assert!(
        card.stdout.contains("one of those that you know"),
        "{}",
        card.stdout
    );
    // An agent of the settings that names keys is reached with a card that one of them signed, and with no other.
    for (keys, code, why) in [
        ("keys.json", 0, "signed by"),
        ("other.json", 5, "none of the card's signatures"),
        ("none.json", 2, "none.json"),
    ] {
        let settings = format!("[a2a.agents.desk]\nurl = {at:?}\nkeys = {keys:?}\n");
        project.write("agentctl.toml", &settings);
        for words in [&["verify"][..], &["send", "x"]] {
            let words = [&["a2a", words[0], "desk"], &words[1..]].concat();
            let ran = own(&project, &words);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            // The message itself is not let in, since it brings no token.
            let expected = if words[1] == "send" && code == 0 {
                1
            } else {
                code
            };
            assert_eq!(ran.code, expected, "{words:?} {keys}: {said}");
            assert!(words[1] == "send" || said.contains(why), "{keys}: {said}");
        }
    }
    let unnamed = own(&project, &["a2a", "verify", &at]);
    assert_eq!(unnamed.code, 2, "{}", unnamed.stderr);
    assert!(unnamed.stderr.contains("--keys FILE"), "{}", unnamed.stderr);
    assert_eq!(served.stop().0, Some(143));
}

#[test]
fn without_a_key_no_card_is_signed() {
    let project = Project::new();
    project.write("agentctl.toml", "[serve]\nsign_cards = true\n");
    project.write("card.json", "{}");
    for args in [
        &["a2a", "sign-card", "card.json"][..],
        &["serve", "--listen", "127.0.0.1:0"],
    ] {
        let ran = project.run(args);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains("agentctl a2a keygen"), "{}", ran.stderr);
    }
}
