//! Kills, full disks, two processes, wrong clocks: cases 83 to 93.
