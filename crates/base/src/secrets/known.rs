//! Values that are known to be secret, found wherever they stand in a text. There is no pattern to compile and so nothing that
//! can fail to be built, however many and however long the values are: what is known is always hidden. Pure.

use rustc_hash::FxHashMap;
use std::ops::Range;

/// Every form has at least this many bytes; by its first ones it is looked up.
pub const PREFIX: usize = 8;
/// The bytes by which a place of the text is judged: the last ones of what stands at a prefix's length.
const BLOCK: usize = 3;
/// Bits of a block's hash.
const BLOCK_BITS: u32 = 14;

/// The forms of all known values.
#[derive(Default)]
pub struct Known {
    /// Longest first among those of one prefix.
    by_prefix: FxHashMap<u64, Vec<Box<str>>>,
    /// By the hash of a block: how many bytes behind the block's own prefix the next one can begin at the earliest. 0: here.
    shifts: Vec<u8>,
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
        let most = PREFIX - BLOCK;
        known.shifts = vec![(most + 1) as u8; 1 << BLOCK_BITS];
        for (prefix, forms) in &mut known.by_prefix {
            forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
            forms.dedup();
            for at in 0..=most {
                if let Some(shift) = known.shifts.get_mut(block(*prefix >> (8 * at))) {
                    *shift = (*shift).min((most - at) as u8);
                }
            }
        }
        known
    }

    /// The first place at or after `from` where a form stands; the longest one there.
    pub fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        if self.shifts.is_empty() {
            return None;
        }
        let bytes = text.as_bytes();
        let mut at = from;
        loop {
            let here = bytes.get(at..)?;
            let prefix = u64::from_le_bytes(*here.first_chunk::<PREFIX>()?);
            let shift = *self.shifts.get(block(prefix >> (8 * (PREFIX - BLOCK))))?;
            if shift == 0 {
                let mut forms = self.by_prefix.get(&prefix).into_iter().flatten();
                if let Some(form) = forms.find(|form| here.starts_with(form.as_bytes())) {
                    return Some(at..at + form.len());
                }
            }
            at += usize::from(shift.max(1));
        }
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

/// Where the shift of the block stands that the lowest bytes are.
fn block(bytes: u64) -> usize {
    let block = bytes as u32 & 0xff_ffff;
    (block.wrapping_mul(0x9e37_79b1) >> (32 - BLOCK_BITS)) as usize
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
