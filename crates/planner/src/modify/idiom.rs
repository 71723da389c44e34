//! "Drop a copy in Dropbox", "shoot an email to X": what people say for a plain order, with the plain words in its place
//! (`knowledge/lang/*/idioms.tsv`).

use super::words::{parts, words};
use crate::lex::{Table, by_language};
use std::ops::Range;

pub(super) const TABLES: [(&str, Table); 4] = by_language!("idioms.tsv", 2, "../../");

/// The same text in plain words; what stands at the kept places is left as it is.
pub(super) fn plainly(text: &str, language: &str, kept: &[Range<usize>]) -> String {
    let own = TABLES.iter().find(|(of, _)| *of == language);
    let rows = own.into_iter().flat_map(|(_, table)| table.rows());
    let said = words(text);
    let mut found: Vec<(Range<usize>, &str)> = Vec::new();
    for cells in rows {
        let [plain, forms, ..] = cells.as_slice() else {
            continue;
        };
        for form in forms.split('|').map(parts) {
            let same = said.windows(form.len().max(1)).filter(|window| {
                let mut pairs = window.iter().zip(&form);
                !form.is_empty() && pairs.all(|((_, word), part)| word == part)
            });
            found.extend(same.filter_map(|window| {
                let place = window.first()?.0.start..window.last()?.0.end;
                Some((place, *plain))
            }));
        }
    }
    found.retain(|(place, _)| {
        { kept.iter() }.all(|kept| place.end <= kept.start || kept.end <= place.start)
    });
    found.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let mut plainly = text.to_owned();
    let mut free = text.len();
    for (place, plain) in found {
        if place.end <= free {
            free = place.start;
            plainly.replace_range(place, plain);
        }
    }
    plainly
}
