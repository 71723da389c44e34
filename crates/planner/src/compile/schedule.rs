//! Schedules: a plan's rules as the Schedule Trigger's parameter. Where its rules cannot say it, a cron expression does.

use serde_json::{Value, json};

use super::super::plan::ScheduleRule;

/// The value of the `rule` parameter.
pub(crate) fn rule(rules: &[ScheduleRule]) -> Value {
    let interval: Vec<Value> = rules.iter().map(one).collect();
    json!({"interval": interval})
}

fn cron(expression: String) -> Value {
    json!({"field": "cronExpression", "expression": expression})
}

fn one(rule: &ScheduleRule) -> Value {
    match rule {
        ScheduleRule::Seconds { n } => json!({"field": "seconds", "secondsInterval": n}),
        ScheduleRule::Minutes { n } if *n < 60 => json!({"field": "minutes", "minutesInterval": n}),
        ScheduleRule::Minutes { n } => {
            json!({"field": "hours", "hoursInterval": n / 60, "triggerAtMinute": 0})
        }
        ScheduleRule::Hours { n, minute } => {
            json!({"field": "hours", "hoursInterval": n, "triggerAtMinute": minute})
        }
        ScheduleRule::Days { n, hour, minute } => {
            json!({"field": "days", "daysInterval": n, "triggerAtHour": hour, "triggerAtMinute": minute})
        }
        ScheduleRule::Weeks {
            n,
            weekdays,
            hour,
            minute,
        } => {
            let mut days = weekdays.clone();
            days.sort_unstable();
            days.dedup();
            json!({"field": "weeks", "weeksInterval": n, "triggerAtDay": days, "triggerAtHour": hour, "triggerAtMinute": minute})
        }
        // n8n's cron library knows no "last day": the days that can be it, behind a check of the date
        ScheduleRule::Months {
            n,
            day: 0,
            hour,
            minute,
        } => cron(format!("{minute} {hour} 28-31 */{n} *").replace("*/1 ", "* ")),
        ScheduleRule::Months {
            n,
            day,
            hour,
            minute,
        } => {
            json!({"field": "months", "monthsInterval": n, "triggerAtDayOfMonth": day, "triggerAtHour": hour, "triggerAtMinute": minute})
        }
        ScheduleRule::Cron { expression } => cron(expression.clone()),
    }
}
