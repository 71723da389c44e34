//! What other agents send: messages, tasks, events, cards, requests and faults of A2A, messages of the envelope, and signatures of
//! cards, messages and tokens. What is read is written the same again, and nothing that was not signed by the key counts as signed.
#![no_main]

use agentctl_a2a::{
    AgentCard, CancelTask, CardKey, CardKeys, Fault, GetTask, ListTasks, Message, PushConfig,
    PushOf, SendMessage, StreamResponse, Task, claimed,
};
use agentctl_serve::{Envelope, Jwt, MessageKeys};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::sync::LazyLock;

struct Keys {
    cards: CardKeys,
    tokens: Jwt,
    messages: MessageKeys,
}

static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let set = CardKey::of(&[7; 32]).expect("a seed").public().to_string();
    Keys {
        cards: CardKeys::read(&set).expect("keys"),
        tokens: Jwt::new(&set, "https://issuer.test", "agentctl", Some("tenant")).expect("keys"),
        messages: MessageKeys::new(&set, true).expect("keys"),
    }
});

fn again<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(value: &Value) {
    let Ok(read) = serde_json::from_value::<T>(value.clone()) else {
        return;
    };
    let written = serde_json::to_value(&read).expect("what was read is written");
    let twice: T = serde_json::from_value(written).expect("what was written is read");
    assert_eq!(twice, read);
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    // Without the key nobody makes a signature: not of a token, not of a body, not of a card.
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    assert_eq!(KEYS.tokens.subject(first), None, "a token nobody signed");
    let checked = KEYS.messages.check(first, rest.as_bytes(), 1_800_000_000);
    assert!(checked.is_err(), "a body nobody signed");
    let _ = (CardKeys::read(text), MessageKeys::new(text, false));
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return;
    };
    assert!(KEYS.cards.signer(&value).is_err(), "a card nobody signed");
    let _ = claimed(&value);
    again::<AgentCard>(&value);
    again::<Message>(&value);
    again::<Task>(&value);
    again::<StreamResponse>(&value);
    again::<SendMessage>(&value);
    again::<GetTask>(&value);
    again::<ListTasks>(&value);
    again::<CancelTask>(&value);
    again::<PushConfig>(&value);
    again::<PushOf>(&value);
    let fault = Fault::of_rpc(&value);
    let told = fault.as_rpc();
    assert_eq!(Fault::of_rpc(&told).kind, fault.kind, "{told}");
    let _ = Fault::of_status(500, &value).as_status();
    match Envelope::read(value, "http://127.0.0.1:8080/a2a/someone") {
        Ok(envelope) => {
            assert!(!envelope.id.is_empty(), "an envelope without an id");
            assert!(!envelope.metadata.contains_key("callback_url"));
            let _ = (envelope.query(), envelope.dependencies());
        }
        Err(reason) => assert!(!reason.message.is_empty(), "refused without a word"),
    }
});
