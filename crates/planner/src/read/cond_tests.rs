use super::*;

fn read(text: &str) -> Option<Cond> {
    let m = Masked::of(text);
    condition(&m, &m.text)
}
fn cmp(name: &str, op: Cmp, right: impl Into<serde_json::Value>) -> Option<Cond> {
    compare(field(name), op, lit(right))
}

#[test]
fn conditions_in_plain_words() {
    let cases = [
        ("With 200 employees or more", cmp("employees", Cmp::Ge, 200)),
        ("Anything but a 200", cmp("status code", Cmp::Ne, 200)),
        ("Up to 100 EUR", cmp("amount", Cmp::Le, 100)),
        ("Anything above 5000 EUR", cmp("amount", Cmp::Gt, 5000)),
        (
            "if the order total is over 1,500",
            cmp("total", Cmp::Gt, 1500),
        ),
        (
            "if the temperature drops below 5 degrees",
            cmp("temperature", Cmp::Lt, 5),
        ),
        ("Bei mehr als 10 Tagen", cmp("days", Cmp::Gt, 10)),
        ("mails from a@b.io", cmp("from", Cmp::Contains, "a@b.io")),
        (
            "whose status is SUSPENDED",
            cmp("status", Cmp::Eq, "SUSPENDED"),
        ),
        (
            "if the subject contains \"invoice\"",
            cmp("subject", Cmp::Contains, "invoice"),
        ),
        ("the cart is still open", cmp("status", Cmp::Eq, "open")),
        ("Negative ones", cmp("sentiment", Cmp::Eq, "negative")),
        ("if the phone is missing", cmp("phone", Cmp::Missing, true)),
        (
            "Older than 4 hours without an answer",
            Some(Cond::Age {
                field: field("created at"),
                older: true,
                seconds: 14_400,
            }),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), expected, "{text}");
    }
}
