//! Ids as parts of file names.

use agentctl_base::canonical::sha256_hex;

/// Whether an id can be a file name as it stands.
pub fn is_plain(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 128
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// Any text as a part of a file name. Different ids stay different, also where the file system takes `A` for `a`: what had to
/// be replaced, and what has capitals, gets the id's hash behind it.
pub fn file_part(id: &str) -> String {
    if is_plain(id) && !id.bytes().any(|b| b.is_ascii_uppercase()) {
        return id.to_owned();
    }
    let kept: String = id
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
                c
            } else {
                '_'
            }
        })
        .take(64)
        .collect();
    let hash = sha256_hex(id.as_bytes());
    format!("{kept}-{}", hash.get(..8).unwrap_or_default())
}
