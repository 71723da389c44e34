//! The name that somebody probably meant.

/// `; did you mean …?`, or nothing.
pub fn nearest<'a>(name: &str, among: impl Iterator<Item = &'a str>) -> String {
    among
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(score, _)| *score > 0.84)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(String::new, |(_, best)| format!("; did you mean {best:?}?"))
}
