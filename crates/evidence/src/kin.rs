//! How alike two figures look: a report that is wrong often has the digits of the right one.

use crate::values::{Value, What};

/// Of 1: the same digits in another order or place, one digit another, a date with one part another.
pub(crate) fn kin(a: &Value, b: &Value) -> f64 {
    match (&a.what, &b.what) {
        (What::Quantity { amount: x, .. }, What::Quantity { amount: y, .. }) => {
            of_digits(&digits(*x), &digits(*y))
        }
        (
            What::Date {
                year: a,
                month: b,
                day: c,
            },
            What::Date {
                year: x,
                month: y,
                day: z,
            },
        ) => {
            let whole = c.is_some() && z.is_some();
            let same = [c == z, b.is_some() && b == y, a.is_some() && a == x];
            if whole && same.iter().filter(|same| **same).count() >= 2 {
                return 1.0;
            }
            match (a, x) {
                (Some(a), Some(x)) if a != x => of_digits(&a.to_string(), &x.to_string()).min(1.0),
                _ => 0.0,
            }
        }
        _ => 0.0,
    }
}

fn of_digits(a: &str, b: &str) -> f64 {
    let sorted = |text: &str| {
        let mut digits: Vec<char> = text.chars().collect();
        digits.sort_unstable();
        digits
    };
    let differ = a.chars().zip(b.chars()).filter(|(x, y)| x != y).count();
    match (a.len(), b.len()) {
        (0..2, 0..2) => 0.0,
        _ if sorted(a) == sorted(b) => 1.0,
        (n, m) if n == m && differ == 1 => {
            if n >= 3 {
                0.8
            } else {
                0.3
            }
        }
        (n, m) if n.abs_diff(m) == 1 && n.min(m) >= 2 && is_inserted(a, b) => 0.8,
        _ => 0.0,
    }
}

/// Whether one has a digit more than the other, and the same ones otherwise.
fn is_inserted(a: &str, b: &str) -> bool {
    let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
    let without = |nth: usize| {
        let left = long.char_indices().filter(|(at, _)| *at != nth);
        left.map(|(_, digit)| digit).eq(short.chars())
    };
    (0..long.len()).any(without)
}

/// The digits of an amount, without zeros at either end.
fn digits(amount: f64) -> String {
    let text = format!("{amount:.6}");
    let text = text.trim_end_matches('0').replace('.', "");
    text.trim_matches('0').to_owned()
}

/// How far two amounts lie from one another, in powers of ten; years, in tens.
pub(crate) fn far(a: &Value, b: &Value) -> f64 {
    match (&a.what, &b.what) {
        (What::Quantity { amount: x, .. }, What::Quantity { amount: y, .. }) => {
            let of = x.abs().max(1e-12) / y.abs().max(1e-12);
            of.log10().abs().min(3.0)
        }
        (What::Date { year: Some(a), .. }, What::Date { year: Some(b), .. }) => {
            f64::from((a - b).abs()).min(30.0) / 10.0
        }
        _ => 0.0,
    }
}
