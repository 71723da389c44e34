use super::*;
use serde_json::json;

fn call(tool: &str, changes: bool, became: Became) -> Evidence {
    Evidence {
        tool: tool.to_owned(),
        changes,
        became,
        result: json!({}),
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
