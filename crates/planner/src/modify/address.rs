//! Which workflow a change is of, where the request says it: "change the workflow X: …", "… to the workflow X".

use super::words;
use std::ops::Range;

/// The same request without the words that say so: they are no part of what is to be changed.
pub(crate) fn unaddressed(request: &str, name: &str, language: &str) -> String {
    let mut found: Vec<Range<usize>> = words::places(request, language, "address")
        .into_iter()
        .filter_map(|place| with_name(request, place, name))
        .collect();
    // Of forms within one another the longest.
    found.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
    let mut free = 0;
    found.retain(|place| {
        let apart = place.start >= free;
        free = if apart { place.end } else { free };
        apart
    });
    let mut plain = request.to_owned();
    for place in found.into_iter().rev() {
        plain.replace_range(place, " ");
    }
    let plain = plain.trim();
    match words::words(plain).is_empty() {
        true => request.to_owned(),
        false => plain.to_owned(),
    }
}

/// With the workflow's name within these words or right behind them, and what parts it from the rest; None: it is another one's.
fn with_name(request: &str, place: Range<usize>, name: &str) -> Option<Range<usize>> {
    let of_name: Vec<String> = words::words(name).into_iter().map(|(_, w)| w).collect();
    let is_name = |said: &[(Range<usize>, String)]| {
        !of_name.is_empty() && said.iter().map(|(_, w)| w).eq(of_name.iter())
    };
    let within = words::words(request.get(place.clone())?);
    let mut to = place.end;
    if !within.windows(of_name.len().max(1)).any(is_name) {
        let behind = words::words(request.get(place.end..)?);
        let said = behind.get(..of_name.len()).filter(|said| is_name(said))?;
        let (last, _) = said.last()?;
        to += last.end;
        let first = said.first()?.0.start;
        // "The workflow runs, and so do Orders": the name stands right behind.
        let between = request.get(place.end..place.end + first)?;
        if between.contains([',', '.', ';', '\n']) {
            return None;
        }
    }
    let rest = request.get(to..)?;
    let parted =
        rest.trim_start_matches(['"', '\'', '“', '”', '»', '`', '’', ' ', ':', ',', '–', '-']);
    to += rest.len() - parted.len();
    Some(place.start..to)
}
