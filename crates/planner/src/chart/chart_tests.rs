use super::{What, chart};
use crate::lex::Class;

/// Verbs `+`, nouns `=`, adjectives `~`, services `$`, unknown words `?`.
fn tags(text: &str) -> String {
    tags_in("en", text)
}

fn tags_in(language: &str, text: &str) -> String {
    let chart = chart(text, language);
    let mark = |i: &super::Item| match &i.what {
        What::Service(s) => Some(format!("${}", s.key)),
        What::Word(s) if s.class == Class::Verb => Some(format!("+{}", s.concept)),
        What::Word(s) if s.class == Class::Noun => Some(format!("={}", s.concept)),
        What::Word(s) if s.class == Class::Adjective => Some(format!("~{}", s.concept)),
        What::Unknown => Some(format!("?{}", i.text)),
        _ => None,
    };
    chart
        .items
        .iter()
        .filter_map(mark)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn verbs_are_told_from_nouns_by_what_stands_around() {
    for (text, wanted) in [
        ("post the report to #ops", "+post =report"),
        (
            "When a new order comes in, log it",
            "~new =order +arrive +log",
        ),
        ("the post gets 3 comments", "=message +get =comment"),
        ("email the log file to the boss", "+email =log =manager"),
        (
            "Orders above 100 should be approved by the manager",
            "=order +approve =manager",
        ),
        (
            "list all files and file a ticket",
            "+list =file +file =ticket",
        ),
        ("Notify me on Slak", "+notify ?slak"),
        ("Notify me on Telegran", "+notify $telegram"),
        ("sum up the totals per customer", "+sum =total =customer"),
        (
            "Every morning, a summary of unread emails is sent to the team",
            "=time =report ~unread =email +send =team",
        ),
    ] {
        assert_eq!(tags(text), wanted, "{text}");
    }
}

#[test]
fn each_language_has_its_grammar() {
    for (language, text, wanted) in [
        (
            "de",
            "Lege eine Zeile im Google Sheet an.",
            "+anlegen =row $googleSheets",
        ),
        (
            "de",
            "Poste es in den Slack-Kanal.",
            "+posten $slack =channel",
        ),
        (
            "de",
            "Ist der Lieferbetrag leer, ignoriere ihn.",
            "+sein =price ~missing +ignorieren",
        ),
        (
            "es",
            "Quiero enviar el correo a la lista.",
            "+querer +enviar =email =list",
        ),
        ("fr", "N'envoie que les factures.", "+envoyer =invoice"),
        (
            "fr",
            "Si le montant est vide, crée une tâche.",
            "=price +être ~missing +créer =task",
        ),
    ] {
        assert_eq!(tags_in(language, text), wanted, "{text}");
    }
}
