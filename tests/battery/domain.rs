//! What may be done to a workflow: cases 25 to 39.
