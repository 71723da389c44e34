use super::*;
use proptest::prelude::*;

/// A row: line, language, text, what it says in short.
fn rows() -> Vec<(usize, &'static str, &'static str, &'static str)> {
    include_str!("cases.tsv")
        .lines()
        .enumerate()
        .filter(|(_, l)| !l.is_empty() && !l.starts_with('#'))
        .map(
            |(i, l)| match l.split('\t').collect::<Vec<_>>().as_slice() {
                [language, text, means] => (i + 1, *language, *text, *means),
                other => panic!("cases.tsv:{}: {other:?}", i + 1),
            },
        )
        .collect()
}

fn rule(rule: &ScheduleRule) -> String {
    let digits = |days: &[u8]| days.iter().map(u8::to_string).collect::<String>();
    match rule {
        ScheduleRule::Seconds { n } => format!("sec {n}"),
        ScheduleRule::Minutes { n } => format!("min {n}"),
        ScheduleRule::Hours { n, minute: 0 } => format!("hour {n}"),
        ScheduleRule::Hours { n, minute } => format!("hour {n} :{minute:02}"),
        ScheduleRule::Days { n, hour, minute } => format!("day {n} {hour}:{minute:02}"),
        ScheduleRule::Weeks {
            n,
            weekdays,
            hour,
            minute,
        } => format!("week {n} {} {hour}:{minute:02}", digits(weekdays)),
        ScheduleRule::Months {
            n,
            day,
            hour,
            minute,
        } => format!("month {n} d{day} {hour}:{minute:02}"),
        ScheduleRule::Cron { expression } => format!("cron {expression}"),
    }
}

fn clock(clock: Option<Clock>) -> String {
    clock.map_or_else(String::new, |c| format!("{}:{:02}", c.hour, c.minute))
}

fn short(means: &TimeMeaning) -> String {
    match means {
        TimeMeaning::Schedule { rules, only } => {
            let rules: Vec<String> = rules.iter().map(rule).collect();
            let only = match only {
                None => String::new(),
                Some(DayCheck::Nth { nth }) => format!(" only nth{nth}"),
                Some(other) => format!(" only {other:?}"),
            };
            format!("{}{only}", rules.join(" + "))
        }
        TimeMeaning::AtTime { hour, minute } => format!("at {hour}:{minute:02}"),
        TimeMeaning::Duration { seconds } => format!("dur {seconds}"),
        TimeMeaning::Age {
            older: true,
            seconds,
        } => format!("older {seconds}"),
        TimeMeaning::Age { seconds, .. } => format!("newer {seconds}"),
        TimeMeaning::Offset { seconds } => format!("offset {seconds}"),
        TimeMeaning::Date { year, month, day } => {
            let year = year.map_or_else(String::new, |y| format!("{y}-"));
            format!("date {year}{month}-{day}")
        }
        TimeMeaning::Today => "today".to_owned(),
        TimeMeaning::Window {
            weekdays,
            from,
            to,
            not,
        } => {
            let days: String = weekdays.iter().map(u8::to_string).collect();
            let hours = match (from, to) {
                (None, None) => String::new(),
                _ => format!(" {}-{}", clock(*from), clock(*to)),
            };
            let not = if *not { "not " } else { "" };
            format!("{not}window {days}{hours}").replace("  ", " ")
        }
        TimeMeaning::Rate { count, seconds } => format!("rate {count}/{seconds}"),
        TimeMeaning::Zone { name } => format!("zone {name}"),
    }
}

/// The best readings in short; `~` before the cost of one that is not sure.
fn best_of(text: &str, language: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut end = 0;
    for s in spans(text, language) {
        if s.from < end {
            continue;
        }
        end = s.to;
        let cost = match s.cost {
            0 => String::new(),
            n => format!("~{n}"),
        };
        out.push(format!("{}{cost}", short(&s.means)));
    }
    if out.is_empty() {
        "-".to_owned()
    } else {
        out.join(" | ")
    }
}

#[test]
fn every_row_of_the_tables_is_read() {
    assert_eq!(lexicon::problems(), Vec::<String>::new());
}

#[test]
fn a_bad_row_is_named_with_file_and_line() {
    let (_, bad) = lexicon::load(
        "en",
        "# note\nunit\tsecunda\tsecond\nwords\t1\tx\nday\t9\tsomeday\nnum\t1\n",
        "code\tBerlin\tCET\n",
    );
    let places: Vec<&str> = bad.iter().map(|b| b.split(": ").next().unwrap()).collect();
    assert_eq!(
        places,
        [
            "knowledge/lang/en/time.tsv:5",
            "knowledge/lang/en/time.tsv:2",
            "knowledge/lang/en/time.tsv:3",
            "knowledge/lang/en/time.tsv:4",
            "knowledge/timezones.tsv:1",
        ],
        "{bad:#?}"
    );
}

#[test]
fn each_case_means_what_its_row_says() {
    let rows = rows();
    assert!(rows.len() >= 200, "{}", rows.len());
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(line, language, text, means)| {
            let read = best_of(text, language);
            (read != *means)
                .then(|| format!("cases.tsv:{line}: {text}\n  wants {means}\n  reads {read}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// What may stand around a time without changing it.
const CARRIERS: [(&str, &str, &str); 8] = [
    ("en", "Please do it, ", "."),
    ("en", "Copy the rows ", ", then tell Ann."),
    ("de", "Bitte kopiere alles, ", "."),
    ("de", "Kopiere (", ") die Zeilen."),
    ("es", "Copia todo, ", "."),
    ("es", "Copia (", ") las filas."),
    ("fr", "Copiez tout, ", "."),
    ("fr", "Copiez (", ") les lignes."),
];

#[test]
fn a_sentence_around_a_time_changes_nothing() {
    for (line, language, text, means) in rows() {
        let all = spans(text, language);
        let Some(only) = all.first() else { continue };
        let whole = only.from == 0 && only.to == text.len() && !means.contains('~');
        if !whole || all.len() > 1 {
            continue;
        }
        for (_, before, after) in CARRIERS.iter().filter(|(l, ..)| *l == language) {
            let carried = format!("{before}{text}{after}");
            assert_eq!(
                best_of(&carried, language),
                means,
                "cases.tsv:{line}: {carried}"
            );
        }
    }
}

#[test]
fn a_span_covers_the_words_of_the_time() {
    for (language, text, said) in [
        (
            "en",
            "Post it every Monday at 9:00, please",
            "every Monday at 9:00",
        ),
        (
            "en",
            "delete files older than 30 days from it",
            "older than 30 days",
        ),
        ("en", "Wait 2 hours, then go on", "2 hours"),
        ("en", "run `0 6 * * 1-5` here", "`0 6 * * 1-5`"),
        (
            "en",
            "tickets not updated for 14 days get closed",
            "for 14 days",
        ),
        (
            "de",
            "Schicke jeden Montag um 8 Uhr 30 die Liste",
            "jeden Montag um 8 Uhr 30",
        ),
        (
            "fr",
            "tous les jours \u{e0} 8h30 envoie",
            "tous les jours \u{e0} 8h30",
        ),
    ] {
        let all = spans(text, language);
        let first = all.first().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(&text[first.from..first.to], said);
        assert!(!first.source.is_empty());
    }
}

#[test]
fn what_may_be_a_schedule_or_a_window_keeps_both() {
    let all: Vec<(String, u32)> = spans("tell me on Monday", "en")
        .iter()
        .map(|s| (short(&s.means), s.cost))
        .collect();
    assert_eq!(
        all,
        [("week 1 1 9:00".to_owned(), 1), ("window 1".to_owned(), 2)]
    );
}

fn check(text: &str, language: &str) {
    let mut from = 0;
    for s in spans(text, language) {
        assert!(
            s.from >= from && s.from < s.to && s.to <= text.len(),
            "{s:?}"
        );
        assert!(text.is_char_boundary(s.from) && text.is_char_boundary(s.to));
        from = s.from;
    }
}

proptest! {
    #[test]
    fn arbitrary_text_is_read_without_harm(text in "\\PC{0,80}", language in "en|de|es|fr|xx") {
        check(&text, &language);
    }

    #[test]
    fn shuffled_words_of_times_are_read_without_harm(
        picks in proptest::collection::vec((0usize..500, 0usize..12, ""), 1..14),
        language in "en|de|es|fr",
    ) {
        let words: Vec<&str> = rows().iter().filter(|r| r.1 == language).flat_map(|r| r.2.split(' ')).collect();
        let marks = [" ", " ", " ", " ", " ", " ", ", ", "-", "/", ":", ".", "("];
        let text: String = picks
            .iter()
            .map(|(i, mark, _)| format!("{}{}", words[i % words.len()], marks[*mark]))
            .collect();
        check(&text, &language);
    }
}
