//! Canonical JSON and sha-256: one way to turn a value into a hash, for the journal's chain and for checksums.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

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
    write_value(value, &mut out);
    out
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<(&String, &Value)> = map.iter().collect();
            keys.sort_unstable_by_key(|(key, _)| key.as_bytes());
            out.push('{');
            for (i, (key, item)) in keys.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write_value(item, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Value::String(text) => write_text(text, out),
        scalar => {
            let _ = write!(out, "{scalar}"); // writing to a String cannot fail
        }
    }
}

/// As a JSON text. Most texts hold nothing that has to be escaped.
fn write_text(text: &str, out: &mut String) {
    if text.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        let _ = write!(out, "{}", Value::from(text));
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
