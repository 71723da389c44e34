//! What comes in over the network: cases 94 to 104.
