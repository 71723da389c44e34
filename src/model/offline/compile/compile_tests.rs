//! Compiled workflows, checked whole.
