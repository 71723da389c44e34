//! In whose timezone the times of day of a plan are: the request's, the user's, or the one that the user is asked for.

use crate::plan::Plan;
use crate::time::{TimeMeaning, spans};
use agentctl_base::question::{Question, QuestionOption};
use serde_json::json;

/// The topic of the question.
pub(super) const TOPIC: &str = "timezone";
/// What stands for the user's timezone where nobody knows it and somebody may be asked.
const UNKNOWN: &str = "unknown";
/// The answer that leaves the times to n8n.
const OF_N8N: &str = "n8n";

/// Puts a plan that gives none into the user's timezone, with what there is to note of it. `answer`: to the question.
pub(super) fn settled(plan: &mut Plan, user: &str, answer: Option<&str>) -> Option<String> {
    if !plan.needs_zone() {
        return None;
    }
    let language = plan.language.clone();
    let is_open = |said: &&str| !said.is_empty() && ![OF_N8N, UNKNOWN].contains(said);
    match Some(answer.map_or(user, str::trim)).filter(is_open) {
        None => Some(in_own(&language).to_owned()),
        Some(said) => match named(said, &language) {
            Some(zone) => plan.in_zone_of(&zone),
            None => Some(unread(said, &language)),
        },
    }
}

/// Asked where a time of day needs it and nobody said it.
pub(super) fn question(plan: &Plan, user: &str, is_answered: bool) -> Option<Question> {
    if user != UNKNOWN || is_answered || !plan.needs_zone() {
        return None;
    }
    let (text, own) = words(&plan.language);
    Some(Question {
        options: vec![
            QuestionOption::new(OF_N8N, own),
            QuestionOption::new("UTC", "UTC"),
        ],
        recommended: Some(json!(OF_N8N)),
        required: false,
        ..Question::open(TOPIC, text)
    })
}

/// As IANA writes it, or as people call it.
fn named(said: &str, language: &str) -> Option<String> {
    let is_iana = said == "UTC" || said.contains('/') && !said.contains(char::is_whitespace);
    if is_iana {
        return Some(said.to_owned());
    }
    // A place alone is no time: "Vienna" is, with the word for it.
    let told = [said.to_owned(), format!("{said} time")];
    told.iter().find_map(|told| {
        let found = spans(told, language).into_iter().chain(spans(told, "en"));
        found.into_iter().find_map(|span| match span.means {
            TimeMeaning::Zone { name } => Some(name),
            _ => None,
        })
    })
}

fn words(language: &str) -> (&'static str, &'static str) {
    match language {
        "de" => (
            "In welcher Zeitzone ist die Uhrzeit gemeint? (IANA-Name, etwa Europe/Vienna)",
            "die von n8n selbst",
        ),
        "es" => (
            "¿En qué zona horaria es la hora? (nombre IANA, por ejemplo Europe/Madrid)",
            "la propia de n8n",
        ),
        "fr" => (
            "Dans quel fuseau horaire est l'heure ? (nom IANA, par exemple Europe/Paris)",
            "celui de n8n",
        ),
        _ => (
            "In which timezone is its time of day? (an IANA name, such as Europe/Vienna)",
            "n8n's own",
        ),
    }
}

fn in_own(language: &str) -> &'static str {
    match language {
        "de" => "die Uhrzeit gilt in der Zeitzone von n8n selbst",
        "es" => "la hora vale en la zona horaria del propio n8n",
        "fr" => "l'heure vaut dans le fuseau horaire de n8n lui-même",
        _ => "its time of day is in n8n's own timezone",
    }
}

fn unread(said: &str, language: &str) -> String {
    match language {
        "de" => format!("„{said}“ ist keine Zeitzone; die Uhrzeit bleibt in der von n8n"),
        "es" => format!("«{said}» no es una zona horaria; la hora queda en la de n8n"),
        "fr" => format!("« {said} » n'est pas un fuseau horaire ; l'heure reste dans celui de n8n"),
        _ => format!("\"{said}\" is no timezone; its time of day stays in n8n's own"),
    }
}

#[cfg(test)]
mod timezone_tests {
    use super::*;
    use crate::read::{ReadContext, read};

    const DAILY: &str = "Every day at 9:00 post hello to Slack channel #dev";

    fn plan(request: &str) -> Plan {
        read(request, &ReadContext::default()).plan
    }

    #[test]
    fn a_time_of_day_asks_for_a_timezone_that_nobody_said() {
        let asked = |request: &str, user: &str, answered: bool| {
            question(&plan(request), user, answered).map(|q| (q.required, q.recommended))
        };
        let it = Some((false, Some(json!("n8n"))));
        assert_eq!(asked(DAILY, "unknown", false), it);
        // Answered, nobody to ask, known, said, and none needed.
        assert_eq!(asked(DAILY, "unknown", true), None);
        assert_eq!(asked(DAILY, "", false), None);
        assert_eq!(asked(DAILY, "Europe/Vienna", false), None);
        let named = "Every day at 9:00 Europe/Berlin time post hello to Slack channel #dev";
        assert_eq!(asked(named, "unknown", false), None);
        let hourly = "Every hour post hello to Slack channel #dev";
        assert_eq!(asked(hourly, "unknown", false), None);
    }

    #[test]
    fn the_answer_is_the_plans_timezone() {
        let zone = |answer: &str| {
            let mut plan = plan(DAILY);
            let note = settled(&mut plan, "unknown", Some(answer));
            (plan.timezone, note.is_some())
        };
        let vienna = |told| (Some("Europe/Vienna".to_owned()), told);
        assert_eq!(zone("Europe/Vienna"), vienna(true));
        assert_eq!(zone("Vienna time"), vienna(true));
        assert_eq!(zone("Vienna"), vienna(true));
        assert_eq!(zone("n8n"), (None, true));
        assert_eq!(zone("my cellar"), (None, true));
        // Whose it is then is told.
        let told = |user: &str, request: &str| settled(&mut plan(request), user, None);
        let own = Some("its time of day is in n8n's own timezone".to_owned());
        assert_eq!(told("unknown", DAILY), own);
        assert_eq!(told("", DAILY), own);
        let hourly = "Every hour post hello to Slack channel #dev";
        assert_eq!(told("", hourly), None);
    }
}
