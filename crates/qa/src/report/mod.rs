//! The forms in which a check is read: our JSON, SARIF 2.1.0, JUnit XML, GitHub annotations. Pure.

#[cfg(test)]
mod fixture;
pub mod github;
pub mod json;
pub mod junit;
pub mod sarif;
