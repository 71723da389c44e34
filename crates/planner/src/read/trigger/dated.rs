//! Requests that start from a date of the data, or some time after an event: "two weeks after a deal is won …", "3 days
//! before the due date of each Asana task …".

use super::*;
use crate::read::act::read_step;
use crate::read::flow::dates;

/// "Two weeks after a deal is won in Pipedrive …": the event, then a wait.
fn after_event(m: &Masked, clauses: &mut [Clause]) -> Option<(u64, String)> {
    let c = clauses.first_mut()?;
    let caps = rx(r"^((?:exactly |genau )?{num}\s+(?:{minute}|{hour}|{day}|{week}|{month}))\s+(?:after|nachdem|nach|después de que|después de|tras|après que|après)\s+(.+)$").captures(&c.text)?;
    let (span, event) = (
        caps.get(1)?.as_str().to_owned(),
        caps.get(2)?.as_str().to_owned(),
    );
    let seconds = when::duration(&span)?;
    let triggers = services_in(m, &event)
        .iter()
        .any(|e| e.service.is_some_and(|s| !s.triggers.is_empty()));
    if !triggers {
        return None;
    }
    let said = c.text.clone();
    c.text = format!("when {event}");
    Some((seconds, said))
}

/// Such a trigger with its first steps; nothing when the request starts otherwise.
pub(super) fn find(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>) -> Option<Found> {
    let m = mem.m;
    let planned = clauses
        .iter()
        .any(|c| !when::schedules(&m.open(&c.text)).is_empty());
    if !planned {
        let mut trial = clauses.clone();
        if let Some((seconds, said)) = after_event(m, &mut trial) {
            let mut found = super::find_one(mem, &mut trial);
            if !found.guessed && matches!(found.triggers.as_slice(), [Trigger::Service { .. }]) {
                *clauses = trial;
                let wait = mem.step(&said, Does::Wait { seconds });
                found.first_steps.push(wait);
                return Some(found);
            }
        }
    }
    let first = clauses.first()?.text.clone();
    let dated = dates::from_date(m, &first)?;
    let e = m.entity(&dated.mark)?;
    let mut found = Found::default();
    if dated.entry.actions.is_empty() {
        if planned || dated.entry.triggers.is_empty() {
            return None;
        }
        let event = format!("new {}", dated.things);
        push_event(mem, &mut found, dated.entry, Some(e), &event, &first);
        let wait = mem.step(
            &first,
            Does::WaitUntil {
                at: dated.field(),
                offset_seconds: dated.seconds,
            },
        );
        found.first_steps.push(wait);
    } else {
        if planned {
            take_schedules(m, clauses, &mut found);
        } else {
            found.triggers.push(Trigger::Schedule {
                rules: vec![ScheduleRule::Days {
                    n: 1,
                    hour: 8,
                    minute: 0,
                }],
            });
        }
        let mut read = read_step(mem, &format!("get all {}", dated.things), e);
        if let Does::Service { args, .. } = &mut read.does {
            dates::without_dates(args);
        }
        found.first_steps.push(read);
        let condition = dates::on_day(dated.field(), -dated.seconds, false);
        let only = mem.step(&first, Does::Filter { condition });
        found.first_steps.push(only);
    }
    if let Some(c) = clauses.first_mut() {
        c.text = dated.rest;
        c.join = Join::Start;
    }
    clauses.retain(|c| c.text.chars().any(char::is_alphanumeric));
    Some(found)
}
