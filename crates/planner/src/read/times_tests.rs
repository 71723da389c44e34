use super::canonical;
use crate::plan::ScheduleRule;
use crate::read::when::schedules;

fn crons(text: &str) -> Vec<String> {
    schedules(&canonical(text).text)
        .into_iter()
        .flat_map(|t| t.rules)
        .map(|r| match r {
            ScheduleRule::Cron { expression } => expression,
            other => format!("{other:?}"),
        })
        .collect()
}

#[test]
fn windows_become_cron() {
    for (text, cron) in [
        (
            "every 10 minutes between 8 and 18 on weekdays, get it",
            "*/10 8-17 * * 1-5",
        ),
        (
            "alle 15 Minuten zwischen 8 und 18 Uhr von Montag bis Freitag",
            "*/15 8-17 * * 1-5",
        ),
        (
            "cada 30 minutos de 9 a 17 de lunes a viernes",
            "*/30 9-16 * * 1-5",
        ),
        (
            "toutes les 5 minutes entre 8h et 19h du lundi au vendredi",
            "*/5 8-18 * * 1-5",
        ),
        ("every hour from 9am to 5pm", "0 9-17 * * *"),
        ("at ten past every hour", "10 * * * *"),
        ("jede Stunde zur Minute 15", "15 * * * *"),
        ("every year on 3 March at 8:00", "0 8 3 3 *"),
        ("jedes Jahr am 24. Dezember um 18 Uhr", "0 18 24 12 *"),
        ("cada año el 6 de enero", "0 9 6 1 *"),
        ("on the last day of every month at 22:00", "0 22 28-31 * *"),
        ("Monday to Saturday at 7:30", "30 7 * * 1-6"),
    ] {
        assert_eq!(
            crons(text),
            [cron.to_owned()],
            "{text}: {:?}",
            canonical(text).text
        );
    }
}

#[test]
fn fractions_and_counts_become_plain() {
    let minutes = |n| vec![format!("{:?}", ScheduleRule::Minutes { n })];
    for text in [
        "every quarter of an hour",
        "alle Viertelstunde",
        "cada cuarto de hora",
        "tous les quarts d'heure",
    ] {
        let text = text.replace("alle Viertelstunde", "jede Viertelstunde");
        assert_eq!(crons(&text), minutes(15), "{text}");
    }
    let day = |hour, minute| format!("{:?}", ScheduleRule::Days { n: 1, hour, minute });
    for text in [
        "twice a day at 6:50 and 18:20",
        "zweimal am Tag, um 6:50 und 18:20 Uhr",
        "dos veces al día a las 6:50 y 18:20",
        "deux fois par jour à 6h50 et 18h20",
    ] {
        assert_eq!(
            crons(text),
            [day(6, 50), day(18, 20)],
            "{text}: {}",
            canonical(text).text
        );
    }
    assert_eq!(crons("every day at half past eight"), [day(8, 30)]);
    assert_eq!(crons("jeden Tag um halb neun"), [day(8, 30)]);
    assert_eq!(crons("cada día a las ocho y media"), [day(8, 30)]);
}

#[test]
fn the_first_monday_is_a_monday_with_a_check() {
    let c = canonical("on the first Monday of every month at 9:00");
    assert!(c.only.is_some());
    assert!(c.text.contains("every Monday"), "{}", c.text);
}
