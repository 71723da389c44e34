//! The forms in which a check is read: our JSON, SARIF 2.1.0, JUnit XML, GitHub annotations, a page for people. Pure.

#[cfg(test)]
mod fixture;
pub mod github;
pub mod html;
pub mod json;
pub mod junit;
pub mod sarif;
