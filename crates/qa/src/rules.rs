//! The rules about files as such, beside those about workflows: code and reason, for reports that explain their codes.

use agentctl_n8n::finding::Severity;
use agentctl_n8n::validate::{self, Rule};

macro_rules! file_rules {
    ($($name:ident $code:literal $reason:literal $fix:literal;)*) => {
        $(pub(super) const $name: &str = $code;)*
        /// Every rule about files.
        pub const FILE_RULES: &[Rule] = &[$(Rule {
            code: $code,
            severity: Severity::Error,
            half: validate::Half::Structure,
            reason: $reason,
            page: concat!("# ", $code, "\n\n", $reason, ".\n\n", $fix, "\n"),
        }),*];
    };
}

file_rules! {
    UNREADABLE "agentctl/file-unreadable" "the file cannot be read, so it is not checked" "Check that it is there and that you may read it.";
    UNWRITABLE "agentctl/file-unwritable" "the file could not be fixed, because it cannot be written" "Check that you may write the file and its folder.";
    ENCODING "agentctl/file-encoding" "the file is not plain UTF-8, so n8n's import fails on it or reads something else" "Save it as UTF-8 without a byte order mark.";
    TOO_LARGE "agentctl/file-too-large" "the file is larger than what is checked, and far larger than what n8n takes by its API" "Remove pinned data, which is the usual reason.";
    TOO_DEEP "agentctl/file-too-deep" "the JSON is nested deeper than what is checked" "No workflow needs this; look for data that went in by mistake.";
    INTERNAL "agentctl/internal-error" "a rule failed on this file, so it is not checked" "Please report it with the file: it is a bug in agentctl.";
}

/// What a person wrote for codes that no rule has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no finding has the code {code:?}; did you mean {nearest}?")]
pub struct UnknownCode {
    pub code: String,
    pub nearest: &'static str,
}

/// Every rule, about workflows and about files.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    validate::RULES.iter().chain(FILE_RULES)
}

/// The code, or the family of codes (`n8n/`), that is meant. A code may be given without its family where only one rule has the
/// name.
pub fn meant(typed: &str) -> Result<String, UnknownCode> {
    let known = |rule: &Rule| rule.code == typed || is_family_of(typed, rule.code);
    if all().any(known) {
        return Ok(typed.to_owned());
    }
    let mut short = all().filter(|rule| rule.code.rsplit('/').next() == Some(typed));
    if let (Some(rule), None) = (short.next(), short.next()) {
        return Ok(rule.code.to_owned());
    }
    let likeness = |rule: &Rule| {
        let name = rule.code.rsplit('/').next().unwrap_or_default();
        let of = |text: &str| strsim::jaro_winkler(typed, text);
        of(rule.code).max(of(name))
    };
    let nearest = all().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    Err(UnknownCode {
        code: typed.to_owned(),
        nearest: nearest.map_or("", |rule| rule.code),
    })
}

/// Whether what was typed is a family (`n8n/`) that the code belongs to.
pub(crate) fn is_family_of(typed: &str, code: &str) -> bool {
    typed.ends_with('/') && code.starts_with(typed)
}

/// The rule of a code, about files or about workflows.
pub fn rule(code: &str) -> Option<&'static Rule> {
    let of_files = FILE_RULES.iter().find(|rule| rule.code == code);
    of_files.or_else(|| validate::rule(code))
}
