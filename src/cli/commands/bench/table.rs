//! The scores as a table for people.

use super::run::{Ran, used};
use crate::cli::layout::{table, words};
use crate::cli::plain::plain;
use agentctl_bench::{BY, Summary, Sums};

/// The least width of each column; the figures' columns with the blanks before them.
const WIDTHS: [u16; 5] = [18, 10, 7, 14, 8];
/// So many items that are not met are named for each request.
const NAMED: usize = 3;

pub fn text(model: &str, ran: &[Ran], summary: &Summary) -> String {
    let mut rows = vec![["", "requests", "whole", "items met", ""].map(str::to_owned)];
    rows.push(row("all", &summary.all));
    for by in BY {
        let Some(sums) = summary.by.get(by).filter(|sums| sums.len() > 1) else {
            continue;
        };
        rows.push([const { String::new() }; 5]);
        rows.extend(
            sums.iter()
                .map(|(value, sums)| row(&format!("{by} {}", plain(value)), sums)),
        );
    }
    let mut text = format!("model {}\n\n{}", plain(model), table(WIDTHS, rows));
    let missed: Vec<[String; 3]> = ran.iter().filter_map(missed).collect();
    if !missed.is_empty() {
        text.push_str(&format!("\nnot whole:\n{}", words(missed)));
    }
    if !summary.asked.is_empty() {
        let asked = summary.asked.join(", ");
        text.push_str(&format!("\nasked instead of building: {}\n", plain(&asked)));
    }
    let used = used(ran);
    if let Some(cost) = used.cost_usd.filter(|cost| *cost > 0.0) {
        let each = cost / ran.len().max(1) as f64;
        text.push_str(&format!("\ncost: ${cost:.4}, ${each:.4} a request\n"));
    }
    text
}

fn row(name: &str, sums: &Sums) -> [String; 5] {
    let items = format!("{} of {}", sums.items_passed, sums.items_total);
    let percent = format!("{:.1} %", sums.percent());
    let [requests, whole] = [sums.requests, sums.whole].map(|n| n.to_string());
    [name.to_owned(), requests, whole, items, percent]
}

/// A request that is not whole: its score, and what it misses.
fn missed(ran: &Ran) -> Option<[String; 3]> {
    let scored = &ran.scored;
    if scored.whole {
        return None;
    }
    let why = match &ran.trouble {
        Some(trouble) => plain(&trouble.why),
        None => {
            let open = scored.items.iter().filter(|item| !item.pass);
            let mut named: Vec<String> = open.take(NAMED).map(|i| plain(&i.item)).collect();
            let more = (scored.total - scored.passed).saturating_sub(NAMED);
            if more > 0 {
                named.push(format!("{more} more"));
            }
            named.join(", ")
        }
    };
    let count = format!("{}/{}", scored.passed, scored.total);
    Some([plain(&scored.id), count, why])
}
