//! A secret in another coat: Base64, hexadecimal, percent-encoded, escaped as JSON or XML. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Shorter pieces of Base64 or hexadecimal stand in ordinary texts too.
const MIN_CODED: usize = 8;
/// Longer values are looked for as they are and as JSON only.
const MAX_CODED: usize = 512;

/// The value and every way in which it is commonly written, without repeats.
pub fn forms(value: &str) -> Vec<String> {
    let mut all = vec![value.to_owned()];
    let escaped = json_escaped(value);
    all.push(json_escaped(&escaped));
    all.push(escaped);
    if value.len() <= MAX_CODED {
        all.extend(base64_forms(value.as_bytes()));
        let hex: String = value.bytes().map(|b| format!("{b:02x}")).collect();
        all.push(hex.to_uppercase());
        all.push(hex);
        for every_byte in [false, true] {
            let coded = percent(value, every_byte);
            all.push(coded.replace("%20", "+"));
            all.push(lower_percent(&coded));
            all.push(coded);
        }
        all.push(
            value
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;")
                .replace('"', "&quot;")
                .replace('\'', "&apos;"),
        );
    }
    all.retain(|form| form.len() >= MIN_CODED);
    all.sort();
    all.dedup();
    all
}

fn json_escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted
        .get(1..quoted.len().saturating_sub(1))
        .unwrap_or_default()
        .to_owned()
}

/// The part of the value's Base64 that does not depend on what stands before and behind it, for each of the three places
/// that it can have in a longer text.
fn base64_forms(bytes: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    for offset in 0..3usize {
        let mut padded = vec![0; offset];
        padded.extend_from_slice(bytes);
        let foreign = [0, 2, 3].get(offset).copied().unwrap_or(0);
        let loose = usize::from(!padded.len().is_multiple_of(3));
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let coded = engine.encode(&padded);
            let own = coded.get(foreign..coded.len().saturating_sub(loose));
            all.push(own.unwrap_or_default().to_owned());
        }
    }
    all
}

fn percent(text: &str, every_byte: bool) -> String {
    text.bytes()
        .map(|b| {
            if !every_byte && (b.is_ascii_alphanumeric() || b"-_.~".contains(&b)) {
                char::from(b).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect()
}

fn lower_percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut left = 0u8;
    for c in text.chars() {
        out.push(if left > 0 { c.to_ascii_lowercase() } else { c });
        left = if c == '%' { 2 } else { left.saturating_sub(1) };
    }
    out
}

/// Shorter texts are too short to hold a code, and shorter runs of code characters to be one.
const MIN_TEXT: usize = 16;
const MIN_RUN: usize = 24;

static CODED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[A-Za-z0-9+/_-]{24,}={0,2}|[^\s\x22'<>]*(?:%[0-9A-Fa-f]{2}){1}[^\s\x22'<>]*").ok()
});

/// False for a text of which `coded` finds nothing, without looking closely.
pub fn may_be_coded(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= MIN_TEXT
        && (memchr::memchr(b'%', bytes).is_some() || (holds_run(bytes) && !is_uuid(text)))
}

/// Whether so many code characters stand in a row: then one of them stands at one of these places.
fn holds_run(bytes: &[u8]) -> bool {
    let is_code = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'_' | b'-');
    (MIN_RUN - 1..bytes.len()).step_by(MIN_RUN).any(|at| {
        let (before, after) = bytes.split_at(at);
        let after = after.iter().take_while(is_code).count();
        after > 0 && before.iter().rev().take_while(is_code).count() + after >= MIN_RUN
    })
}

/// The usual form of an identifier: to decode to a known value it would have to be that value's code by chance.
fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// The places of a text that say something secret once they are decoded.
pub fn coded(text: &str, is_secret: &dyn Fn(&str) -> bool) -> Vec<Range<usize>> {
    if !may_be_coded(text) {
        return Vec::new();
    }
    let Some(regex) = CODED.as_ref() else {
        return Vec::new();
    };
    regex
        .find_iter(text)
        .filter(|found| {
            readings(found.as_str())
                .iter()
                .any(|plain| is_secret(plain))
        })
        .map(|found| found.range())
        .collect()
}

/// What a run of code characters can mean.
fn readings(run: &str) -> Vec<String> {
    if run.contains('%') {
        return vec![unpercent(run)];
    }
    let run = run.trim_end_matches('=');
    let mut plain = Vec::new();
    if run.len().is_multiple_of(2) && run.bytes().all(|b| b.is_ascii_hexdigit()) {
        let bytes = run.as_bytes().chunks(2).filter_map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        });
        plain.extend(readable(bytes.collect()));
    }
    let usual: String = run
        .chars()
        .map(|c| match c {
            '-' => '+',
            '_' => '/',
            c => c,
        })
        .collect();
    // What stands before the code may look like code too.
    for start in 0..4 {
        let rest = usual.get(start..).unwrap_or_default();
        let whole = rest.get(..rest.len() - rest.len() % 4).unwrap_or_default();
        if let Ok(bytes) = STANDARD_NO_PAD.decode(whole) {
            let mut bytes = bytes;
            let tail = rest.get(whole.len()..).unwrap_or_default();
            bytes.extend(STANDARD_NO_PAD.decode(tail).unwrap_or_default());
            plain.extend(readable(bytes));
        }
    }
    plain
}

/// Noise is no text: most decoded runs are none.
fn readable(bytes: Vec<u8>) -> Option<String> {
    let printable = bytes
        .iter()
        .filter(|b| b.is_ascii_graphic() || b.is_ascii_whitespace())
        .count();
    (printable * 10 >= bytes.len() * 8).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

fn unpercent(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = (*first == b'%')
            .then(|| tail.get(..2))
            .flatten()
            .and_then(|pair| std::str::from_utf8(pair).ok())
            .and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match code {
            Some(byte) => {
                out.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_known_in_each_of_its_coats() {
        let value = "pa\"ss/wörd+42 long";
        let all = forms(value);
        for coat in [
            "pa\\\"ss/wörd+42 long",
            "pa\\\\\\\"ss/wörd+42 long",
            "pa%22ss%2Fw%C3%B6rd%2B42%20long",
            "pa%22ss%2fw%c3%b6rd%2b42%20long",
            "pa%22ss%2Fw%C3%B6rd%2B42+long",
            "pa&quot;ss/wörd+42 long",
            "706122",
        ] {
            assert!(all.iter().any(|form| form.starts_with(coat)), "{coat}");
        }
        for around in ["", "x", "xy", "user:"] {
            let whole =
                base64::engine::general_purpose::STANDARD.encode(format!("{around}{value}|"));
            assert!(
                all.iter().any(|form| whole.contains(form.as_str())),
                "{whole}"
            );
        }
    }

    #[test]
    fn codes_are_read_and_noise_is_left_alone() {
        let is_secret = |text: &str| text.contains("sk-ant-secret");
        let base = STANDARD_NO_PAD.encode("the key is sk-ant-secret, keep it");
        let hex: String = "xx sk-ant-secret"
            .bytes()
            .map(|b| format!("{b:02x}"))
            .collect();
        let led = format!("abc{base}");
        for code in [
            base.as_str(),
            &led,
            &hex,
            "https://x.test/?k=%73k%2Dant-secret",
        ] {
            let text = format!("before {code} after");
            let found = coded(&text, &is_secret);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(&text[found[0].clone()], code, "{text}");
        }
        assert!(
            coded(
                "0f8c1e2a-5b7d-4c3e-9a1b-2c3d4e5f6a7b 9f86d081884c7d659a2feaa0c55ad015",
                &|_| true
            )
            .is_empty()
        );
    }

    proptest::proptest! {
        /// A longer text that holds anything code-like is never passed over.
        #[test]
        fn a_run_is_seen_wherever_it_stands(text in "[a-f0-9A-Z+/_-]{0,30}[ .%=]{0,1}[a-z0-9+/_-]{0,60}[ .%=]{0,1}[a-z0-9]{0,40}") {
            let mut runs = text.split(|c: char| !c.is_ascii_alphanumeric() && !"+/_-".contains(c));
            let code_like = text.contains('%') || runs.any(|run| run.len() >= MIN_RUN);
            let looked_at = text.len() >= MIN_TEXT && !is_uuid(&text) && code_like;
            proptest::prop_assert_eq!(may_be_coded(&text), looked_at);
        }
    }
}
