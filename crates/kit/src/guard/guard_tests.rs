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
