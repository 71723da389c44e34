use super::*;

fn rules(text: &str) -> Vec<ScheduleRule> {
    schedules(text).into_iter().flat_map(|t| t.rules).collect()
}
fn days(n: u32, hour: u32, minute: u32) -> Vec<ScheduleRule> {
    vec![ScheduleRule::Days { n, hour, minute }]
}
fn weeks(weekdays: &[u8], hour: u32, minute: u32) -> Vec<ScheduleRule> {
    vec![ScheduleRule::Weeks {
        n: 1,
        weekdays: weekdays.to_vec(),
        hour,
        minute,
    }]
}

#[test]
fn schedule_phrases_in_four_languages() {
    let cases: Vec<(&str, Vec<ScheduleRule>)> = vec![
        ("Nightly at 02:15: run it", days(1, 2, 15)),
        ("Every day at 06:00 get all users", days(1, 6, 0)),
        ("Every day at 7: log in", days(1, 7, 0)),
        ("daily at 03:30 UTC run", days(1, 3, 30)),
        ("Add a task every 3 days at 18:00.", days(3, 18, 0)),
        ("Schick mir morgens um 7 den Bericht", days(1, 7, 0)),
        ("jeden Tag um 8 Uhr 15", days(1, 8, 15)),
        ("tous les jours à 7h30", days(1, 7, 30)),
        ("todos los días a las 9", days(1, 9, 0)),
        ("every morning, send me", days(1, 8, 0)),
        ("every day at 5pm", days(1, 17, 0)),
        ("at 6:30 every day", days(1, 6, 30)),
        ("each friday 16:00 pull", weeks(&[5], 16, 0)),
        (
            "Jeden Werktag um 9 Uhr prüfen",
            weeks(&[1, 2, 3, 4, 5], 9, 0),
        ),
        ("Jeden Montag um 8:30 Uhr sollen", weeks(&[1], 8, 30)),
        ("Tous les lundis à 7h, récupère", weeks(&[1], 7, 0)),
        ("cada lunes a las 8", weeks(&[1], 8, 0)),
        (
            "Mondays and Thursdays at 10:00: take",
            weeks(&[1, 4], 10, 0),
        ),
        ("every sunday 20:00 take all", weeks(&[0], 20, 0)),
        ("weekdays at 6:45", weeks(&[1, 2, 3, 4, 5], 6, 45)),
        ("Monday to Friday at 8am", weeks(&[1, 2, 3, 4, 5], 8, 0)),
        (
            "every 5 min. Anything",
            vec![ScheduleRule::Minutes { n: 5 }],
        ),
        ("alle 15 Minuten", vec![ScheduleRule::Minutes { n: 15 }]),
        (
            "Every 4 hours fetch",
            vec![ScheduleRule::Hours { n: 4, minute: 0 }],
        ),
        ("every hour", vec![ScheduleRule::Hours { n: 1, minute: 0 }]),
        ("cada 30 minutos", vec![ScheduleRule::Minutes { n: 30 }]),
        (
            "on the first day of the month at 6:00",
            vec![ScheduleRule::Months {
                n: 1,
                day: 1,
                hour: 6,
                minute: 0,
            }],
        ),
        (
            "am letzten Tag des Monats um 18 Uhr",
            vec![ScheduleRule::Months {
                n: 1,
                day: 0,
                hour: 18,
                minute: 0,
            }],
        ),
        (
            "On the 15th of each month at 10",
            vec![ScheduleRule::Months {
                n: 1,
                day: 15,
                hour: 10,
                minute: 0,
            }],
        ),
        (
            "every quarter",
            vec![ScheduleRule::Months {
                n: 3,
                day: 1,
                hour: 9,
                minute: 0,
            }],
        ),
        (
            "cron 5 4 * * 1-5 do it",
            vec![ScheduleRule::Cron {
                expression: "5 4 * * 1-5".into(),
            }],
        ),
        ("pull the last 7 days", vec![]),
        ("older than 24 hours", vec![]),
        ("every new order", vec![]),
    ];
    for (text, expected) in cases {
        assert_eq!(rules(text), expected, "{text}");
    }
}

#[test]
fn two_times_a_day_are_two_rules() {
    assert_eq!(
        rules("every day at 9:00 and 17:00 post"),
        vec![
            ScheduleRule::Days {
                n: 1,
                hour: 9,
                minute: 0
            },
            ScheduleRule::Days {
                n: 1,
                hour: 17,
                minute: 0
            },
        ]
    );
}

#[test]
fn durations_and_zones() {
    assert_eq!(duration("Wait 4 hours, check"), Some(14_400));
    assert_eq!(duration("Two days later"), Some(172_800));
    assert_eq!(duration("warte 20 Sekunden"), Some(20));
    assert_eq!(zone("daily at 03:30 UTC"), Some("UTC".into()));
    assert_eq!(zone("at 9 Berlin time"), Some("Europe/Berlin".into()));
    assert_eq!(zone("9:00 Europe/Madrid"), Some("Europe/Madrid".into()));
    assert_eq!(zone("la liste et le total"), None);
}
