//! Servers that lie, flood, hang and die: cases 67 to 77.
