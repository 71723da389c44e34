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

/// The rule of a code, about files or about workflows.
pub fn rule(code: &str) -> Option<&'static Rule> {
    let of_files = FILE_RULES.iter().find(|rule| rule.code == code);
    of_files.or_else(|| validate::rule(code))
}
