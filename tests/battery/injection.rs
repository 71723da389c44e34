//! Text that would like to be an instruction: cases 52 to 60.
