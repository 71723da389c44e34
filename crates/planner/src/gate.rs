//! What becomes of a request by its account: it is built, built as a draft that names what was not understood, or asked about.
//! Owns the limit below which nothing is built, and the question that is asked instead.

use super::account::{Account, But, Fate, account_but};
use super::compile::Made;
use super::read::{set_aside, with_answers};
use agentctl_base::question::Question;
use agentctl_n8n::Workflow;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Hundredths of the request's weight that must be explained; with less, what would be built is a guess.
const LEAST: u32 = 60;
/// The topic of the question about what was not understood.
const STEPS: &str = "steps";
/// How many phrases a question quotes.
const MOST_QUOTED: usize = 5;
/// The weight from which on a word says something to a person who is told what was understood: verbs and above.
const TELLING: u32 = 2;

/// The account of a request, `change` where it changed a workflow, with the answers to its questions. What the question about the steps quoted is said by its answer.
pub(super) fn judge(
    request: &str,
    answers: &IndexMap<String, String>,
    language: &str,
    workflows: &[&Workflow],
    change: bool,
    made: &[Made],
) -> Account {
    let asked = with_answers(request, answers);
    let stands = asked.find(request.trim());
    let answered = match stands.filter(|_| answers.contains_key(STEPS)) {
        Some(at) => at..at + request.trim().len(),
        None => 0..0,
    };
    let change = change.then(|| super::modify::words_of_changes(&asked, language, workflows));
    let but = But {
        answered,
        change,
        made,
    };
    let mut account = account_but(&asked, language, workflows, &but);
    if !answers.contains_key(STEPS) {
        account.sets_aside(set_aside(request));
    }
    account
}

/// Whether too little of it is understood for anything to be built.
pub(super) fn too_little(account: &Account) -> bool {
    let missing = || !account.complete() && (account.percent() < LEAST || is_foreign(account));
    account.judged && (account.parts == 0 || missing())
}

/// Whether no part of it is whole, and a third of its words stands in no table: services and channels are called the same in
/// languages that are not read.
fn is_foreign(account: &Account) -> bool {
    const SHARE: usize = 3;
    let strange = |w: &&super::account::Word| !w.known && w.fate == Fate::Missing;
    let lost = account.words.iter().filter(strange).count();
    account.built == 0 && lost * SHARE >= account.words.len()
}

/// Whether a word is missing that nobody told the planner about. Where all are known, the reader's own questions ask better.
pub(super) fn strange(account: &Account) -> bool {
    let unbuilt = |fate: &Fate| !matches!(fate, Fate::Built { .. });
    account.words.iter().any(|w| !w.known && unbuilt(&w.fate))
}

/// The builder's `workflow`, with what was not understood where something was not.
pub(super) fn verdict(mut workflow: Map<String, Value>, account: &Account) -> Map<String, Value> {
    if !account.missing.is_empty() {
        workflow.insert("not_understood".into(), json!(account.missing));
        if account.judged {
            let parts = json!({"built": account.built, "of": account.parts});
            workflow.insert("parts".into(), parts);
        }
    }
    workflow
}

/// Asked where nothing, or too little, was understood: it quotes what was not, and says what was.
pub(super) fn question(request: &str, account: &Account, language: &str) -> Question {
    let [not_understood, understood, ask] = words(language);
    let mut text = String::new();
    let all = [shortened(request)];
    let missing = match account.judged && account.parts == 0 {
        true => all.as_slice(),
        false => account.missing.as_slice(),
    };
    for (head, said) in [
        (not_understood, quoted(missing)),
        (understood, quoted(&understood_in(request, account))),
    ] {
        if let Some(said) = said {
            text.push_str(&format!("{head}: {said}. "));
        }
    }
    text.push_str(ask);
    Question::open(STEPS, text)
}

/// Why nothing is built, where the answers did not help.
pub(super) fn refusal(account: &Account, language: &str) -> super::plan::Refusal {
    let [not_understood, ..] = words(language);
    let said = quoted(&account.missing).unwrap_or_default();
    super::plan::Refusal {
        reason: format!("{not_understood}: {said}"),
        alternatives: words(language)
            .last()
            .map(|ask| (*ask).to_owned())
            .into_iter()
            .collect(),
    }
}

fn words(language: &str) -> [&'static str; 3] {
    match language {
        "de" => [
            "Nicht verstanden",
            "Verstanden",
            "Was soll der Workflow tun? Bitte die Schritte nennen: woher die Daten kommen, was damit geschieht, wohin das Ergebnis geht.",
        ],
        "es" => [
            "No se entendió",
            "Se entendió",
            "¿Qué debe hacer el flujo? Indica los pasos: de dónde vienen los datos, qué se hace con ellos y adónde va el resultado.",
        ],
        "fr" => [
            "Pas compris",
            "Compris",
            "Que doit faire le workflow ? Indiquez les étapes : d'où viennent les données, ce qu'on en fait, où va le résultat.",
        ],
        _ => [
            "Not understood",
            "Understood",
            "What should the workflow do? Name the steps: where the data comes from, what happens to it, where the result goes.",
        ],
    }
}

/// A text as one line of a question.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.chars().count() > LONGEST {
        true => line.chars().take(LONGEST).chain(['…']).collect(),
        false => line,
    }
}

/// The first of the phrases, in quotes; none where there is none.
fn quoted(phrases: &[String]) -> Option<String> {
    let mut said: Vec<String> = phrases
        .iter()
        .take(MOST_QUOTED)
        .map(|p| format!("'{p}'"))
        .collect();
    if phrases.len() > MOST_QUOTED {
        said.push("…".to_owned());
    }
    (!said.is_empty()).then(|| said.join(", "))
}

/// What was understood, as it stands in the request; only words that say something by themselves.
fn understood_in(request: &str, account: &Account) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in &account.words {
        let telling = word.weight >= TELLING && matches!(word.fate, Fate::Built { .. });
        let Some(said) = request.trim().get(word.from..word.to).filter(|_| telling) else {
            continue;
        };
        if !found.iter().any(|known| known.eq_ignore_ascii_case(said)) {
            found.push(said.to_owned());
        }
    }
    found
}
