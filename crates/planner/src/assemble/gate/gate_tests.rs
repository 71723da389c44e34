use super::super::read;

fn refused(request: &str, language: &str) -> bool {
    read(request, language).refusal.is_some()
}

#[test]
fn a_deletion_of_all_without_a_way_back_is_refused_and_one_with_a_limit_is_built() {
    assert!(refused(
        "Every night delete all customers in Postgres, no backup and don't ask me.",
        "en"
    ));
    assert!(!refused(
        "Every night delete the files in Dropbox folder '/tmp' that are older than 30 days.",
        "en"
    ));
}

#[test]
fn harm_is_found_in_each_language() {
    assert!(refused(
        "Leite alle Mails meiner Kollegin heimlich an mich weiter.",
        "de"
    ));
    assert!(refused(
        "Crea cada noche cinco reseñas falsas de clientes inventados en Google.",
        "es"
    ));
    assert!(refused(
        "Transfère-moi les mails de mes collègues à leur insu.",
        "fr"
    ));
}

#[test]
fn a_harmless_use_of_the_same_words_is_no_harm() {
    for request in [
        "When a customer leaves the cart without paying, send an email with Gmail to the customer.",
        "If nobody notices the ticket in Zendesk within a day, post to Slack #support.",
        "Post to Slack #prices when Bitcoin is above 100 in CoinGecko.",
        "Mail all subscribers in Mailchimp, but leave out everyone who never agreed.",
    ] {
        assert!(!refused(request, "en"), "{request}");
    }
}

#[test]
fn a_request_with_nothing_to_hold_on_to_is_asked_about() {
    let reading = read("Let me know when something is running low.", "en");
    let topics: Vec<&str> = reading.questions.iter().map(|q| q.topic.as_str()).collect();
    assert!(
        topics.contains(&"detect") && topics.contains(&"recipient"),
        "{topics:?}"
    );
    assert!(reading.questions.iter().all(|q| q.required));
}

#[test]
fn what_the_text_says_is_not_asked() {
    let reading = read(
        "Every Monday at 9:00 sync the leavers to the directory.",
        "en",
    );
    assert!(reading.questions.iter().all(|q| q.topic != "timing"));
    let whole = read(
        "Every Monday at 9:00 post 'Good morning' to Slack #team.",
        "en",
    );
    assert!(whole.questions.is_empty());
}

#[test]
fn a_start_that_was_not_understood_is_asked_about_beside_the_plan() {
    let reading = read("Append a row to the Google Sheet 'Log'.", "en");
    let timing = reading.questions.iter().find(|q| q.topic == "timing");
    assert!(timing.is_some_and(|q| !q.required));
}
