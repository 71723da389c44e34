//! The user's folder for what can be fetched or made again.

use std::path::PathBuf;

/// `agentctl` in the cache folder of the system; None when neither `XDG_CACHE_HOME` nor `HOME` is an absolute path.
pub fn of_user(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(variable(name)?);
        path.is_absolute().then_some(path)
    };
    let base = match absolute("XDG_CACHE_HOME") {
        Some(base) => base,
        None if cfg!(target_os = "macos") => absolute("HOME")?.join("Library/Caches"),
        None => absolute("HOME")?.join(".cache"),
    };
    Some(base.join("agentctl"))
}
