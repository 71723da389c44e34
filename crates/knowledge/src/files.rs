//! Where a project's learnings lie.

pub const FOLDER: &str = "docs/learning";
pub const ENTRIES: &str = "LEARNINGS.md";
pub const INDEX: &str = "LEARNINGS-INDEX.md";
pub const PATTERNS: &str = "PATTERNS.md";
/// The pages of an index of two levels.
pub const PAGES: &str = "index";
