//! Stand-in until the module of times is merged.
use crate::plan::ScheduleRule;
#[derive(Debug, Clone, PartialEq)]
pub struct TimeSpan {
    pub from: usize,
    pub to: usize,
    pub means: TimeMeaning,
    pub cost: u32,
    pub source: String,
}
#[derive(Debug, Clone, PartialEq)]
pub enum TimeMeaning {
    Schedule {
        rules: Vec<ScheduleRule>,
    },
    AtTime {
        hour: u32,
        minute: u32,
    },
    Duration {
        seconds: u64,
    },
    Age {
        older: bool,
        seconds: u64,
    },
    Offset {
        seconds: i64,
    },
    Date {
        year: Option<i32>,
        month: u32,
        day: u32,
    },
    Today,
    Window {
        not: bool,
        weekdays: Vec<u8>,
        from_hour: Option<u32>,
        to_hour: Option<u32>,
    },
    Rate {
        count: u32,
        seconds: u64,
    },
    Zone {
        name: String,
    },
}
pub fn spans(_text: &str, _language: &str) -> Vec<TimeSpan> {
    Vec::new()
}
