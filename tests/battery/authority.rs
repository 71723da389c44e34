//! Who may do what: cases 1 to 24.
