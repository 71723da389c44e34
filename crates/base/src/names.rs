//! Names that a file brings and the program then knows like its own: each is kept once, as long as the program runs.

use std::collections::BTreeSet;
use std::sync::Mutex;

/// The name, kept for good. For names of tools and what else a pack's files declare: few, and the same at each load.
pub fn kept(name: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    // A lock that a panic left behind guards names alone: they are whole.
    let mut kept = KEPT.lock().unwrap_or_else(|e| e.into_inner());
    match kept.get(name) {
        Some(known) => known,
        None => {
            let known: &'static str = Box::leak(name.to_owned().into_boxed_str());
            kept.insert(known);
            known
        }
    }
}
