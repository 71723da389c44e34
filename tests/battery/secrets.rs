//! Keys and tokens: cases 78 to 82.
