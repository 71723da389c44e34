use super::*;
use serde_json::json;

fn call(tool: &str, changes: bool, became: Became) -> Evidence {
    Evidence {
        tool: tool.to_owned(),
        changes,
        became,
        result: json!({}),
        ..Evidence::default()
    }
}

#[test]
fn every_row_is_a_pattern() {
    assert_eq!(words::broken(), [""; 0]);
}

#[test]
fn a_reply_is_cut_into_its_sentences() {
    let reply = "I found 12.4 points. Done!\n- NH-1 “One. Two”\nSee https://a.example/b.";
    assert_eq!(sentences(reply).len(), 4, "{:?}", sentences(reply));
}

#[test]
fn what_is_promised_done_or_denied_in_four_languages() {
    use Label as L;
    let none: &[Evidence] = &[];
    let made = [call("wiki_create_page", true, Became::Ok)];
    let not_made = [call("wiki_create_page", true, Became::Unknown)];
    let looked = [call("wiki_search", false, Became::Ok)];
    let blind = [call("wiki_search", false, Became::Failed)];
    for (sentence, evidence, wanted) in [
        ("I'll have it ready in a minute.", none, L::Promise),
        ("Ich schicke Ihnen das gleich.", none, L::Promise),
        ("Je vous l'enverrai demain.", none, L::Promise),
        ("Lo revisaré mañana.", none, L::Promise),
        ("If you like, I will create it.", none, L::Fine),
        ("Wenn Sie möchten, lege ich sie an.", none, L::Fine),
        ("I created the page.", &made, L::Fine),
        ("Ich habe die Seite angelegt.", &made, L::Fine),
        ("J'ai créé la page.", &not_made, L::ContradictsFailure),
        ("He creado la página.", &looked, L::UnsupportedAct),
        ("I could not create the page.", &not_made, L::Fine),
        ("I found 3 pages.", &looked, L::Fine),
        ("I found 3 pages.", &blind, L::ContradictsFailure),
        ("The search did not work.", &blind, L::Fine),
    ] {
        assert_eq!(label(sentence, evidence), wanted, "{sentence}");
    }
}

/// A reply tells once that nobody knows what came of a call; what it says beside that passes nothing over.
#[test]
fn a_reply_that_tells_a_failure_need_not_tell_it_in_each_sentence() {
    let not_made = [call("jira_create_issue", true, Became::Unknown)];
    for reply in [
        "I do not know whether that worked: the answer of the system was lost. Please look there before you ask for it again.",
        "Es ist nicht bekannt, ob das funktioniert hat: die Antwort ging verloren. Bitte sehen Sie in dem System nach, bevor Sie es noch einmal verlangen.",
        "Je ne sais pas si cela a fonctionné : la réponse du système est perdue. Vérifiez dans le système avant de le redemander.",
        "No sé si ha funcionado: la respuesta del sistema se perdió. Compruébelo en el sistema antes de pedirlo de nuevo.",
    ] {
        assert_eq!(label(reply, &not_made), Label::Fine, "{reply}");
    }
    for reply in [
        "The system was slow. Please look there.",
        "I do not know whether the comment worked. The ticket is created.",
        "Das hat nicht funktioniert. Das Ticket ist angelegt.",
    ] {
        assert_ne!(label(reply, &not_made), Label::Fine, "{reply}");
    }
}

/// Sentences with the label that a person gave them: `{id, lang, sentence, evidence, label}`.
#[test]
fn labelled_sentences_are_judged_as_people_do() {
    let (mut right, mut wrong) = (0, Vec::new());
    for line in include_str!("sentences.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let evidence: Vec<Evidence> = (row["evidence"].as_array().unwrap().iter())
            .map(|of| {
                let became = Became::of(of["status"].as_str().unwrap());
                call(
                    of["tool"].as_str().unwrap(),
                    of["effect"] == "changes",
                    became,
                )
            })
            .collect();
        let sentence = row["sentence"].as_str().unwrap();
        let said = label(sentence, &evidence).name();
        match row["label"] == said {
            true => right += 1,
            false => wrong.push(format!("{said}: {sentence}")),
        }
    }
    assert!(
        right * 100 >= (right + wrong.len()) * 98,
        "{right} right, {wrong:#?}"
    );
}

#[test]
fn a_line_of_a_list_is_what_a_look_gave_and_figures_are_held_against_it() {
    let looked = Evidence {
        result: json!({"id": 9, "finished": "2026-03-18", "done": 40, "points": 52, "jobs": [{"state": "ok"}, {"state": "ok"}, {"state": "bad"}]}),
        ..call("ci_get_run", false, Became::Ok)
    };
    let evidence = [looked];
    for (line, wanted) in [
        ("- finished: 2026-03-18", Label::Fine),
        ("- published: 2026-03-18", Label::UnsupportedAct),
        ("The run has three jobs, 2 of them are ok.", Label::Fine),
        ("77 % of the points are done, 12 are left.", Label::Fine),
        ("The run has 7 jobs.", Label::UnsupportedAct),
    ] {
        assert_eq!(label_alone(line, &evidence), wanted, "{line}");
    }
}

/// Where the name of a tool says nothing, its definition does, and what it declares says it alone.
#[test]
fn what_a_tool_of_ones_own_does_stands_in_its_definition() {
    let own = |tool: &str, about: &str, acts: &[&str]| Evidence {
        about: about.to_owned(),
        acts: acts.iter().map(|act| (*act).to_owned()).collect(),
        ..call(tool, true, Became::Ok)
    };
    let stall = own(
        "stall_7",
        "Reserves a stall of the market. Use it when somebody wants to cancel nothing.",
        &[],
    );
    let dusk = own("dusk", "Does what it must.", &["announce", "mail"]);
    let nothing = own("dusk", "", &[]);
    for (sentence, evidence, wanted) in [
        ("I reserved the stall.", &stall, Label::Fine),
        ("Der Stand ist reserviert.", &stall, Label::Fine),
        ("I cancelled the stall.", &stall, Label::UnsupportedAct),
        (
            "Ich habe den Stand storniert.",
            &stall,
            Label::UnsupportedAct,
        ),
        ("I informed the traders.", &stall, Label::UnsupportedAct),
        ("I mailed the traders.", &dusk, Label::Fine),
        ("I cancelled the stall.", &dusk, Label::UnsupportedAct),
        ("I cancelled the stall.", &nothing, Label::UnsupportedAct),
    ] {
        let said = label(sentence, std::slice::from_ref(evidence));
        assert_eq!(said, wanted, "{sentence} {}", evidence.tool);
    }
}

/// A call that gave nothing is no ground for a figure, in whatever words.
#[test]
fn nothing_is_told_of_a_look_that_failed() {
    let failed = call("echo", false, Became::Failed);
    let refused = call("echo", false, Became::Refused);
    let other = Evidence {
        result: json!({"rooms": 2}),
        ..call("list_rooms", false, Became::Ok)
    };
    for evidence in [
        &[failed.clone()][..],
        &[refused],
        &[failed.clone(), other.clone()],
    ] {
        for sentence in ["It came back with the number five.", "It came back with 5."] {
            assert_ne!(label_alone(sentence, evidence), Label::Fine, "{sentence}");
        }
    }
    let said = label_alone("The echo came back with an error.", &[failed]);
    assert_eq!(said, Label::Fine);
}

/// What the program says of calls passes its own guard, in each language.
#[test]
fn the_programs_own_words_are_what_came_of_the_calls() {
    let made = Evidence {
        result: json!({"result": {"booking": "R-318", "room": "Blue"}, "effect": "changes"}),
        ..call("book_room", true, Became::Ok)
    };
    let failed = Evidence {
        result: json!({"error": "jo has no address"}),
        ..call("nudge_reader", true, Became::Failed)
    };
    let evidence = [made, failed];
    assert_eq!(
        told(&evidence, "en"),
        "The calls of this turn:\n- book_room was carried out: booking R-318, room Blue\n- nudge_reader did not work: jo has no address"
    );
    for language in ["en", "de", "fr", "es"] {
        assert!(tells_failure(&told(&evidence, language)));
        for calls in [&evidence[..1], &evidence[1..], &[]] {
            let reply = told(calls, language);
            assert!(!reply.contains('{'), "{reply}");
            assert_eq!(label(&reply, calls), Label::Fine, "{reply}");
        }
    }
}

#[test]
fn an_id_on_a_line_of_its_own_is_known() {
    let mut known = Figures::default();
    known.add_value(&json!({"task": "Set it to Done\nDEMO-131"}));
    assert_eq!(made_up("I moved DEMO-131.", &known), [""; 0]);
    assert_eq!(made_up("I moved DEMO-132.", &known), ["DEMO-132"]);
}

/// That one thing is as it was excuses no other that is told as done, where a removal, an update or a move failed.
#[test]
fn what_stays_as_it_was_excuses_no_failure_beside_it() {
    use Label as L;
    let cancelled = [call("booking_cancel", true, Became::Failed)];
    let updated = [call("price_update", true, Became::Failed)];
    for (sentence, evidence, wanted) in [
        (
            "The booking is cancelled; the invoice stays as it was.",
            &cancelled,
            L::ContradictsFailure,
        ),
        (
            "Die Buchung ist storniert, der Rest bleibt.",
            &cancelled,
            L::ContradictsFailure,
        ),
        (
            "The price is now 40 euros, all else remains.",
            &updated,
            L::ContradictsFailure,
        ),
        (
            "The booking is still there, and the invoice stays as it was.",
            &cancelled,
            L::Fine,
        ),
        (
            "Die Buchung bleibt, die Rechnung auch.",
            &cancelled,
            L::Fine,
        ),
        ("The price remains as it was.", &updated, L::Fine),
    ] {
        assert_eq!(label(sentence, evidence), wanted, "{sentence}");
    }
}

/// That nobody confirmed an act denies it as little as it tells it.
#[test]
fn that_no_answer_came_contradicts_no_unknown_outcome() {
    let mail = [call("mail_send", true, Became::Unknown)];
    let refund = [call("refund_order", true, Became::Unknown)];
    for (sentence, evidence) in [
        (
            "I have not received any confirmation that the mail was sent.",
            &mail,
        ),
        ("It is not confirmed that the mail was sent.", &mail),
        (
            "No answer came back for the refund that was ordered.",
            &refund,
        ),
        (
            "Ich habe keine Bestätigung, dass die Mail versendet wurde.",
            &mail,
        ),
        ("Es kam keine Antwort auf die versendete Mail.", &mail),
        (
            "Je n'ai reçu aucune confirmation que le courriel a été envoyé.",
            &mail,
        ),
        (
            "No he recibido ninguna confirmación de que el correo fue enviado.",
            &mail,
        ),
    ] {
        assert_eq!(label(sentence, evidence), Label::Fine, "{sentence}");
    }
    for sentence in [
        "The mail was not sent.",
        "No confirmation was sent.",
        "The confirmation was not sent.",
        "The mail was not sent, and no answer came back.",
        "Die Mail wurde nicht versendet.",
        "Es wurde keine Bestätigung versendet.",
        "Le courriel n'a pas été envoyé.",
        "Aucune confirmation n'a été envoyée.",
        "El correo no fue enviado.",
        "No se envió ninguna confirmación.",
        "I have confirmation that the mail was sent.",
    ] {
        assert_eq!(
            label(sentence, &mail),
            Label::ContradictsFailure,
            "{sentence}"
        );
    }
}

/// Who did something is a person's name under a key for that, and not a station, a firm or a means of payment.
#[test]
fn what_is_nobody_did_nothing() {
    let look = |tool: &str, result: Value| Evidence {
        result,
        ..call(tool, false, Became::Ok)
    };
    for (sentence, evidence, wanted) in [
        (
            "Ticket Berlin-Hamburg booked.",
            look(
                "trains_search",
                json!({"from": "Berlin Hbf", "to": "Hamburg Hbf"}),
            ),
            Label::UnsupportedAct,
        ),
        (
            "Hotel booked.",
            look(
                "mail_read",
                json!({"from": "Hotel Adler GmbH", "text": "Your room"}),
            ),
            Label::UnsupportedAct,
        ),
        (
            "Card charged.",
            look("payment_get", json!({"by": "Credit Card", "amount": 40})),
            Label::UnsupportedAct,
        ),
        (
            "Server restarted.",
            look("mail_get", json!({"host": "Mail Server"})),
            Label::UnsupportedAct,
        ),
        (
            "Server restarted.",
            look(
                "notes_get",
                json!({"author": "Whoever runs the Server in Bonn"}),
            ),
            Label::UnsupportedAct,
        ),
        (
            "In the lobby Nele fixed the lamp.",
            look(
                "jobs_get",
                json!({"assigned_to": "Nele Brandt", "what": "lamp"}),
            ),
            Label::Fine,
        ),
        (
            "In the lobby Nele fixed the lamp.",
            look(
                "jobs_get",
                json!({"sender": "Nele Brandt <nele@house.example>", "what": "lamp"}),
            ),
            Label::Fine,
        ),
    ] {
        let said = label(sentence, std::slice::from_ref(&evidence));
        assert_eq!(said, wanted, "{sentence}");
    }
}

#[test]
fn moments_are_known_in_each_form_and_are_no_amounts() {
    let mut known = Figures::default();
    for at in [
        "2026-12-09T08:20:00Z",
        "2026-12-10T09:45:00+01:00",
        "2026-12-11T10:35:00.000Z",
    ] {
        known.add_value(&json!({"starts": at}));
    }
    let said = "They are at 08:20, 09:45 and 10:35 (2026-12-09T08:20:00Z).";
    assert_eq!(made_up(said, &known), [""; 0]);
    assert_eq!(made_up("It is at 08:25.", &known), ["08:25"]);

    let times = (0..40).map(|n| json!({"from": format!("2026-12-{:02}T{:02}:00:00", n / 2 + 1, 8 + n % 2), "until": format!("2026-12-{:02}T{:02}:30:00", n / 2 + 1, 8 + n % 2)}));
    let mut known = Figures::default();
    known.add_value(
        &json!({"places": 450, "taken": 120, "appointments": times.collect::<Vec<Value>>()}),
    );
    assert_eq!(made_up("330 remain.", &known), [""; 0]);
}

/// Many systems give amounts as texts.
#[test]
fn a_number_written_as_a_text_counts_something_under_a_key_for_amounts() {
    let made_up = |value: Value| {
        let mut known = Figures::default();
        known.add_value(&value);
        made_up("330 are open.", &known)
    };
    assert_eq!(
        made_up(json!({"total": "450", "amount_paid": "120"})),
        [""; 0]
    );
    assert_eq!(made_up(json!({"room": "450", "parcel": "120"})), ["330"]);
}

/// What is to be seen or was got is a reading; that somebody is on it, or was made to do it, is none.
#[test]
fn what_is_got_or_seen_is_no_promise_and_no_act() {
    let looked = [call("rooms_search", false, Became::Ok)];
    for (sentence, wanted) in [
        ("We see two arrivals today.", Label::Fine),
        ("The team gets a delivery tomorrow.", Label::Fine),
        ("We get three new guests later.", Label::Fine),
        ("I got confirmation that room 12 is free.", Label::Fine),
        ("I had checked that before.", Label::Fine),
        ("I got four hits.", Label::Fine),
        ("I got word that room 12 is free.", Label::Fine),
        ("We're looking into it today.", Label::Promise),
        ("Someone gets back to you within the hour.", Label::Promise),
        ("The team looks into it later.", Label::Promise),
        ("Someone will see to it tonight.", Label::Promise),
        ("I had Ben restart the router.", Label::UnsupportedAct),
        ("I got Maria to approve the trip.", Label::UnsupportedAct),
    ] {
        assert_eq!(label(sentence, &looked), wanted, "{sentence}");
    }
}
