//! Canonical JSON and sha-256: one way to turn a value into a hash, for the journal's chain and for checksums.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Lower-case hex of the sha-256.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |n: u8| {
        DIGITS
            .get(usize::from(n & 15))
            .map_or('0', |d| char::from(*d))
    };
    bytes
        .iter()
        .flat_map(|b| [digit(b >> 4), digit(*b)])
        .collect()
}

/// JSON without spaces and with every object's keys sorted by their bytes: the same value always gives the same text.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<(&String, &Value)> = map.iter().collect();
            keys.sort_by_key(|(key, _)| key.as_bytes());
            out.push('{');
            for (i, (key, item)) in keys.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(&Value::String(key.clone()), out);
                out.push(':');
                write(item, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// Hash of one journal record: each part ends with a newline, which no part can contain (the event is JSON).
pub(super) fn chain(prev: &str, seq: u64, at: &str, event: &Value) -> String {
    let mut hasher = Sha256::new();
    for part in [prev, &seq.to_string(), at, &canonical(event)] {
        hasher.update(part.as_bytes());
        hasher.update(b"\n");
    }
    hex(&hasher.finalize())
}
