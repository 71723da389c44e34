use super::clauses;
use crate::chart::chart;
use crate::time::spans;

/// One line a clause: what introduces it, its verb, the phrases before and after it.
fn shown(text: &str) -> String {
    shown_in("en", text)
}

fn shown_in(language: &str, text: &str) -> String {
    let chart = chart(text, language);
    let times = spans(text, language);
    let phrase = |p: &super::Phrase| {
        let mut said = p.words(&chart, text);
        for name in &p.names {
            said = format!("{said} <{}>", chart.items[*name].text);
        }
        if let Some(service) = p.service {
            said = format!("${} {said}", service.key);
        }
        format!("{} {}", p.prep, said.trim()).trim().to_owned()
    };
    let line = |c: &super::Clause| {
        let verb = c.verb.as_ref().map_or(String::new(), |v| {
            format!("{}{}", if v.negated { "!" } else { "" }, v.sense.concept)
        });
        let list = |of: &[super::Phrase]| of.iter().map(phrase).collect::<Vec<_>>().join(" | ");
        format!(
            "{:?} {}: {} / {}",
            c.intro,
            verb,
            list(&c.before),
            list(&c.after)
        )
    };
    clauses(&chart, &times)
        .iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn clauses_have_their_verbs_and_phrases() {
    insta::assert_snapshot!(shown("When a new order comes in, add a row to the Google Sheet 'Orders' and tell #sales on Slack. If the total is over 100 euros, email boss@acme.io; otherwise do nothing."), @r"
    When arrive: new order / 
    None add:  / row | to $googleSheets  <Orders>
    None tell:  / <#sales> | on $slack
    If reach: total / euros
    None email:  / <boss@acme.io>
    Else :  / 
    ");
}

#[test]
fn other_languages_give_the_same_classes_of_clauses_and_prepositions() {
    use super::Intro;
    let read = |language: &str, text: &str| {
        let chart = chart(text, language);
        let times = spans(text, language);
        clauses(&chart, &times)
    };
    for (language, text) in [
        ("de", "Ist das Feld leer, schick die Rechnung an den Chef."),
        ("es", "Si el campo está vacío, manda la factura al jefe."),
        ("fr", "Si le champ est vide, envoie la facture au chef."),
    ] {
        let found = read(language, text);
        assert_eq!(found.len(), 2, "{text}");
        assert_eq!(found[0].intro, Intro::If, "{text}");
        let preps: Vec<&str> = found[1].after.iter().map(|p| p.prep.as_str()).collect();
        assert_eq!(preps, ["", "to"], "{text}");
    }
    let last = read(
        "de",
        "Die Rechnungen aus Xero holen und in Airtable speichern.",
    );
    let preps: Vec<&str> = last[0].after.iter().map(|p| p.prep.as_str()).collect();
    assert_eq!(preps, ["", "from"]);
    let negated = read("de", "Ändere die Mail nicht.");
    assert!(negated[0].negated());
}
