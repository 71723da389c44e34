//! The name that somebody probably meant.

/// The one that is most like the name, if any is.
pub fn meant<'a>(name: &str, among: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    among
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(score, _)| *score > 0.84)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, best)| best)
}

/// `; did you mean …?`, or nothing.
pub fn nearest<'a>(name: &str, among: impl Iterator<Item = &'a str>) -> String {
    meant(name, among).map_or_else(String::new, |best| format!("; did you mean {best:?}?"))
}
