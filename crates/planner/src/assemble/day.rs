//! Days that n8n's schedules cannot say: the run goes on only where the day is the one that was meant.

use super::{Reading, lit};
use crate::plan::{Cmp, Cond, Does, Step, Val};
use crate::time::DayCheck;

impl Reading<'_> {
    /// The step that lets a run pass on its day only.
    pub(super) fn day_holds(&mut self) -> Option<Step> {
        let code = code(self.day?);
        let condition = Cond::Compare {
            left: Val::Expr { code },
            op: Cmp::IsTrue,
            right: lit(true),
        };
        Some(self.step("", Does::Filter { condition }))
    }
}

/// The check as an expression over `$now`.
fn code(day: DayCheck) -> String {
    const LAST: &str = "$now.endOf('month').day";
    match day {
        DayCheck::Nth { nth } => format!("{{{{ Math.ceil($now.day / 7) === {nth} }}}}"),
        DayCheck::LastOfItsKind => format!("{{{{ $now.day > {LAST} - 7 }}}}"),
        DayCheck::LastDay => format!("{{{{ $now.day === {LAST} }}}}"),
        DayCheck::FirstWorkday => {
            "{{ $now.weekday <= 5 && ($now.day === 1 || $now.weekday === 1 && $now.day <= 3) }}"
                .to_owned()
        }
        DayCheck::LastWorkday => format!(
            "{{{{ $now.weekday <= 5 && ($now.day === {LAST} || $now.weekday === 5 && $now.day >= {LAST} - 2) }}}}"
        ),
    }
}
