//! Values that are known to be secret, found wherever they stand in a text. There is no pattern to compile and so nothing that
//! can fail to be built, however many and however long the values are: what is known is always hidden. Pure.

use rustc_hash::FxHashMap;
use std::ops::Range;

/// Every form has at least this many bytes; by its first ones it is looked up.
pub const PREFIX: usize = 8;
/// Bits of the filter: one look at most places of a text.
const FILTER_BITS: u32 = 16;

/// The forms of all known values.
#[derive(Default)]
pub struct Known {
    /// Longest first among those of one prefix.
    by_prefix: FxHashMap<u64, Vec<Box<str>>>,
    /// One bit for the hash of each prefix.
    filter: Vec<u64>,
}

impl Known {
    /// Forms that are shorter than a prefix are left out: they would blot out ordinary words.
    pub fn new(forms: impl IntoIterator<Item = String>) -> Self {
        let mut known = Known::default();
        for form in forms {
            let Some(prefix) = form.as_bytes().first_chunk::<PREFIX>() else {
                continue;
            };
            let prefix = u64::from_le_bytes(*prefix);
            known.by_prefix.entry(prefix).or_default().push(form.into());
        }
        if known.by_prefix.is_empty() {
            return known;
        }
        known.filter = vec![0; 1 << (FILTER_BITS - 6)];
        for (prefix, forms) in &mut known.by_prefix {
            forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
            forms.dedup();
            let (word, bit) = place(*prefix);
            if let Some(word) = known.filter.get_mut(word) {
                *word |= bit;
            }
        }
        known
    }

    /// The first place at or after `from` where a form stands; the longest one there.
    pub fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        if self.filter.is_empty() {
            return None;
        }
        let rest = text.as_bytes().get(from..)?;
        rest.windows(PREFIX).enumerate().find_map(|(at, window)| {
            let prefix = u64::from_le_bytes(*window.first_chunk()?);
            let (word, bit) = place(prefix);
            if self.filter.get(word)? & bit == 0 {
                return None;
            }
            let here = rest.get(at..)?;
            let forms = self.by_prefix.get(&prefix)?;
            let form = forms.iter().find(|f| here.starts_with(f.as_bytes()))?;
            let start = from + at;
            Some(start..start + form.len())
        })
    }

    /// Every place, from left to right, none over another.
    pub fn find_iter<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.find(text, from)?;
            from = found.end;
            Some(found)
        })
    }

    pub fn is_in(&self, text: &str) -> bool {
        self.find(text, 0).is_some()
    }
}

/// The word and the bit of the filter.
fn place(prefix: u64) -> (usize, u64) {
    let hash = prefix.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - FILTER_BITS);
    ((hash >> 6) as usize, 1 << (hash & 63))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known(forms: &[&str]) -> Known {
        Known::new(forms.iter().map(|form| (*form).to_owned()))
    }

    #[test]
    fn the_longest_form_at_the_first_place_is_found() {
        let known = known(&["secret-1", "secret-1-long", "short", "ürlaub-in-köln"]);
        let text = "a secret-1-lon secret-1-long, ürlaub-in-köln short";
        let found: Vec<&str> = known.find_iter(text).map(|at| &text[at]).collect();
        assert_eq!(found, ["secret-1", "secret-1-long", "ürlaub-in-köln"]);
        assert!(!Known::default().is_in(text));
    }

    proptest! {
        #[test]
        fn it_finds_what_a_search_for_each_form_finds(
            forms in prop::collection::vec("[ab]{8,12}", 0..6),
            text in "[ab]{0,60}",
        ) {
            let known = Known::new(forms.clone());
            let at = forms.iter().filter_map(|form| text.find(form.as_str())).min();
            prop_assert_eq!(known.find(&text, 0).map(|found| found.start), at);
            for found in known.find_iter(&text) {
                prop_assert!(forms.iter().any(|form| *form == text[found.clone()]));
            }
        }
    }
}
