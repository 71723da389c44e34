//! (tests)
