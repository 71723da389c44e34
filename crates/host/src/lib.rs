//! What the machine gives: files as others may have put them there, the user's own folder and key, processes and their
//! groups, the cache folder. Knows nothing of runs, n8n and agents.

pub mod cache;
pub mod confined;
pub mod family;
pub mod files;
pub mod home;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "http")]
#[cfg(test)]
mod http_tests;
pub mod key;
pub mod machine;
pub mod process;
#[cfg(feature = "http")]
pub mod reach;
