//! Why an operation is not applied.

/// What is wrong and what to do about it; `apply` adds the place in the list.
pub(super) type Refusal = String;
