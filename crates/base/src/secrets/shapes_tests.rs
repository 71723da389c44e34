use super::{PATTERNS, possible};
use crate::secrets::signs;
use agentctl_testkit::secrets::samples;

#[test]
fn every_pattern_is_a_regex_and_has_its_sign() {
    for pattern in &PATTERNS {
        assert!(pattern.regex().is_some(), "{}", pattern.source);
        assert!(!pattern.signs.is_empty());
    }
    for (kind, secret) in samples() {
        let mut shapes = PATTERNS.iter().enumerate();
        let may_be = possible(&secret);
        assert!(
            shapes.any(|(at, p)| p.kind == kind && may_be >> at & 1 == 1),
            "{kind}"
        );
    }
}

/// A text is looked at closely when one of these places touches it, so none may be passed over.
#[test]
fn every_sign_is_found_wherever_it_stands_and_however_it_is_written() {
    for sign in PATTERNS.iter().flat_map(|pattern| pattern.signs) {
        for written in [
            sign.to_ascii_uppercase(),
            sign.to_ascii_lowercase(),
            (*sign).to_owned(),
        ] {
            for before in 0..70 {
                let text = format!("{}{written}{}", "-".repeat(before), "x".repeat(before % 7));
                let touched = |found: &std::ops::Range<usize>| {
                    found.start < before + sign.len() && before < found.end
                };
                assert!(signs(&text).iter().any(touched), "{text}");
            }
        }
    }
}
