use super::super::cond::condition;
use crate::read::text::Masked;

fn read(text: &str) -> String {
    let m = Masked::of(text);
    condition(&m, &m.text).map_or_else(|| "-".into(), |c| show(&c))
}

fn show(c: &crate::plan::Cond) -> String {
    use crate::plan::{Cond, Val};
    let val = |v: &Val| match v {
        Val::Lit { value } => value.to_string(),
        Val::Field { name, .. } => name.clone(),
        Val::Now { offset_seconds, .. } => format!("now{offset_seconds:+}"),
        other => format!("{other:?}"),
    };
    match c {
        Cond::All { of } => format!("({})", of.iter().map(show).collect::<Vec<_>>().join(" & ")),
        Cond::Any { of } => format!("({})", of.iter().map(show).collect::<Vec<_>>().join(" | ")),
        Cond::Not { of } => format!("!{}", show(of)),
        Cond::Compare { left, op, right } => format!("{} {op:?} {}", val(left), val(right)),
        Cond::Age {
            field,
            older,
            seconds,
        } => format!(
            "{} {} {seconds}",
            val(field),
            if *older { "older" } else { "newer" }
        ),
    }
}

#[test]
fn comparisons_name_their_field() {
    let mut wrong = Vec::new();
    for (text, want) in [
        (
            "if amount is between 50 and 300",
            "(amount Ge 50 & amount Le 300)",
        ),
        (
            "if the order total is more than 1.000 €",
            "order total Gt 1000",
        ),
        (
            "if country is DE or AT",
            "(country Eq \"DE\" | country Eq \"AT\")",
        ),
        (
            "when the country is one of DE, AT or CH",
            "(country Eq \"DE\" | country Eq \"AT\" | country Eq \"CH\")",
        ),
        (
            "if the value exceeds 80 or falls below 5",
            "(value Gt 80 | value Lt 5)",
        ),
        (
            "si la température dépasse 80 ou descend sous 5",
            "(température Gt 80 | température Lt 5)",
        ),
        (
            "wenn der Betrag mindestens 500 Euro beträgt",
            "Betrag Ge 500",
        ),
        ("si el importe es mayor que 200", "importe Gt 200"),
        ("above 300, whatever the country", "value Gt 300"),
        ("amount above 300, whatever the country", "amount Gt 300"),
        (
            "if status is open and priority is at least 3",
            "(status Eq \"open\" & priority Ge 3)",
        ),
        (
            "if the email is missing or the name is empty",
            "(email Missing true | name Missing true)",
        ),
        (
            "if the subject contains \"invoice\" or \"bill\"",
            "(subject Contains \"invoice\" | subject Contains \"bill\")",
        ),
        ("if the sku starts with \"AB-\"", "sku StartsWith \"AB-\""),
        ("if free_seats >= seats", "free_seats Ge seats"),
        (
            "if stock is below the reorder level",
            "stock Lt reorder level",
        ),
        ("if paid is true", "paid IsTrue true"),
        ("if the due date is today", "due date Eq now+0"),
        (
            "if the contract end date lies within the next 30 days",
            "(contract end date Ge now+0 & contract end date Le now+2592000)",
        ),
        ("if country is not DE", "country Ne \"DE\""),
        ("if rating is 4 or higher", "rating Ge 4"),
        (
            "wenn Land DE oder AT ist",
            "(Land Eq \"DE\" | Land Eq \"AT\")",
        ),
    ] {
        let got = read(text);
        if got != want {
            wrong.push(format!("{text}: {got}, not {want}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
