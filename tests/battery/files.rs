//! Paths that lead elsewhere: cases 61 to 66.
