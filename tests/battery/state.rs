//! What may be written into a run's state: cases 40 to 51.
