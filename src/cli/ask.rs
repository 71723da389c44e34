//! Questions to a person on the terminal (crate inquire). The answer is checked against the question's schema here, so
//! that a typo is asked again and never reaches the run.

use super::attended::attended;
use super::choose;
use super::error::{CliError, Exit};
use super::fit;
use super::look;
use super::streams;
use agentctl_base::question::{Question, QuestionOption};
use agentctl_base::untrusted::prose;
use agentctl_engine::run::Asked;
use inquire::error::InquireError;
use inquire::list_option::ListOption;
use serde_json::{Value, json};
use std::cell::RefCell;

/// Asks one question; `Err` when the terminal cannot be used.
pub fn ask(question: &Question) -> Result<Asked, String> {
    for line in super::questions::origin(question) {
        streams::tell(&format!("{line}\n"));
    }
    if let Some(proposal) = &question.proposal {
        streams::tell(&match look::is_look(question) {
            true => look::text(proposal, &[]),
            false => super::questions::proposal(proposal),
        });
    }
    let asked = if choose::only_lines() {
        by_lines(question)
    } else if question.options.is_empty() {
        ask_text(question, "")
    } else if takes_several(question) {
        ask_several(question)
    } else {
        ask_option(question)
    };
    came(asked)
}

/// What the terminal gave, as the run takes it.
pub fn came(asked: Result<Option<Value>, InquireError>) -> Result<Asked, String> {
    match asked {
        Ok(Some(value)) => Ok(Asked::Answer(value)),
        Ok(None) | Err(InquireError::OperationCanceled) => Ok(Asked::Later),
        Err(InquireError::OperationInterrupted) => Ok(Asked::Interrupted),
        Err(e) => Err(format!("cannot ask on this terminal: {e}")),
    }
}

/// On a terminal that takes nothing but lines: a number for an option (several with commas), or the answer itself.
fn by_lines(question: &Question) -> Result<Option<Value>, InquireError> {
    let labels = labels(question);
    choose::list(&super::questions::words(question), &labels);
    let start = match (&question.recommended, question.approves.is_some()) {
        (Some(value), _) => Some(value.clone()),
        // An Enter too many approves nothing.
        (None, true) => question.options.last().map(|option| option.value.clone()),
        (None, false) => None,
    };
    let enter = match &start {
        Some(value) => format!(" (Enter: {})", prose(&super::progress::answered(value))),
        None if question.required => String::new(),
        None => " (Enter: skip)".to_owned(),
    };
    let what = match (labels.is_empty(), takes_several(question)) {
        (true, _) => "answer",
        (false, true) => "numbers, with commas between",
        (false, false) => "a number",
    };
    loop {
        let typed = choose::line(&format!("{what}{enter}: "))?;
        if typed.trim().is_empty() {
            match &start {
                Some(value) => return Ok(Some(value.clone())),
                None if !question.required => return Ok(None),
                None => continue,
            }
        }
        match meant(&typed, &labels, question) {
            Ok(value) => return Ok(Some(value)),
            Err(why) => streams::tell(&format!("{}\n", super::plain::plain_long(&why))),
        }
    }
}

/// What a line answers.
fn meant(typed: &str, labels: &[String], question: &Question) -> Result<Value, String> {
    let option = |typed: &str| {
        let index = choose::number(typed, labels)?;
        question
            .options
            .get(index)
            .map(|option| option.value.clone())
    };
    if takes_several(question) {
        let own = |word: &str| option(word).unwrap_or_else(|| json!(word));
        let words = typed
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty());
        let answer = Value::Array(words.map(own).collect());
        return match fits(&answer, &question.schema) {
            true => Ok(answer),
            false => Err("that is none of the choices".to_owned()),
        };
    }
    match option(typed) {
        Some(value) => Ok(value),
        None => read_answer(typed, &question.schema),
    }
}

/// `begun`: what was typed already.
fn ask_text(question: &Question, begun: &str) -> Result<Option<Value>, InquireError> {
    let recommended = question
        .recommended
        .as_ref()
        .map(|value| prose(&super::progress::shown(value)));
    let text = fit::question(&super::questions::words(question));
    let shown = |said: &str| fit::answer(&text, said);
    let mut prompt = inquire::Text::new(&text)
        .with_initial_value(begun)
        .with_formatter(&shown);
    if let Some(text) = &recommended {
        prompt = prompt.with_default(text);
    }
    if !question.required {
        prompt = prompt.with_help_message("optional: leave empty to skip");
    }
    let schema = question.schema.clone();
    let required = question.required;
    prompt = prompt.with_validator(move |text: &str| {
        use inquire::validator::Validation;
        if text.trim().is_empty() && !required {
            return Ok(Validation::Valid);
        }
        Ok(match read_answer(text, &schema) {
            Ok(_) => Validation::Valid,
            Err(why) => Validation::Invalid(why.into()),
        })
    });
    let text = attended(|| prompt.prompt())?;
    if text.trim().is_empty() && !question.required {
        return Ok(None);
    }
    Ok(read_answer(&text, &question.schema).ok())
}

/// What stands in the list for each option.
fn labels(question: &Question) -> Vec<String> {
    let label = |o: &QuestionOption| {
        let mut label = o.label.clone();
        if let Some(score) = o.fit_score {
            label.push_str(&format!(" (fit {score})"));
        }
        if let Some(detail) = super::questions::detail(o) {
            label.push_str(" – ");
            label.push_str(detail);
        }
        if question.recommended.as_ref() == Some(&o.value) {
            label.push_str("  [recommended]");
        }
        prose(&label)
    };
    question.options.iter().map(label).collect()
}

fn ask_option(question: &Question) -> Result<Option<Value>, InquireError> {
    let mut labels = labels(question);
    let start = question
        .options
        .iter()
        .position(|o| Some(&o.value) == question.recommended.as_ref())
        // An Enter too many approves nothing: what leaves everything as it is stands last.
        .unwrap_or(match question.approves {
            Some(_) => question.options.len().saturating_sub(1),
            None => 0,
        });
    let text = fit::question(&super::questions::words(question));
    if takes_other(question) {
        labels.push(OTHER.to_owned());
    }
    let typed = RefCell::new(String::new());
    let scorer = scorer(&typed, question.options.len());
    let shown = |chosen: ListOption<&String>| fit::answer(&text, chosen.value);
    let choice = inquire::Select::new(&text, labels)
        .with_formatter(&shown)
        .with_starting_cursor(start)
        .with_scorer(&scorer);
    let choice = attended(|| choice.raw_prompt())?;
    match question.options.get(choice.index) {
        Some(option) => Ok(Some(option.value.clone())),
        None => ask_text(question, &typed.borrow()),
    }
}

/// Whether the answer may be a list of options.
fn takes_several(question: &Question) -> bool {
    let fits = |value: &Value| self::fits(value, &question.schema);
    // What takes anything asks for one.
    let lists = match question.schema.get("type") {
        Some(Value::Array(types)) => types.contains(&json!("array")),
        other => other.and_then(Value::as_str) == Some("array"),
    };
    let first = question.options.first();
    first.is_some_and(|o| (lists || !fits(&o.value)) && fits(&json!([o.value])))
}

fn fits(value: &Value, schema: &Value) -> bool {
    jsonschema::validator_for(schema).is_ok_and(|schema| schema.is_valid(value))
}

fn ask_several(question: &Question) -> Result<Option<Value>, InquireError> {
    use inquire::validator::Validation;
    let value = |index: usize| question.options.get(index).map(|o| o.value.clone());
    let recommended = question.recommended.as_ref().and_then(Value::as_array);
    let is_recommended = |o: &QuestionOption| recommended.is_some_and(|r| r.contains(&o.value));
    let all = question.options.iter().enumerate();
    let start: Vec<usize> = all
        .filter(|(_, o)| is_recommended(o))
        .map(|(index, _)| index)
        .collect();
    let values: Vec<Value> = question.options.iter().map(|o| o.value.clone()).collect();
    let (schema, required) = (question.schema.clone(), question.required);
    let text = fit::question(&super::questions::words(question));
    let mut labels = labels(question);
    if fits(&json!(["some other words"]), &question.schema) {
        labels.push(OTHER.to_owned());
    }
    let other = question.options.len();
    let typed = RefCell::new(String::new());
    let scorer = scorer(&typed, other);
    let shown = |chosen: &[ListOption<&String>]| {
        let all: Vec<&str> = chosen.iter().map(|one| one.value.as_str()).collect();
        fit::answer(&text, &all.join(", "))
    };
    let chosen = inquire::MultiSelect::new(&text, labels)
        .with_formatter(&shown)
        .with_default(&start)
        .with_help_message("several may be chosen with the space bar, then Enter")
        .with_scorer(&scorer)
        .with_validator(move |chosen: &[ListOption<&String>]| {
            let picked = chosen.iter().filter_map(|c| values.get(c.index)).cloned();
            // What is typed next is none of the options.
            if chosen.iter().any(|c| c.index >= values.len()) {
                return Ok(Validation::Valid);
            }
            let answer = Value::Array(picked.collect());
            let is_good = fits(&answer, &schema) && (!required || !chosen.is_empty());
            Ok(match is_good {
                true => Validation::Valid,
                false => Validation::Invalid("pick at least one, with the space bar".into()),
            })
        });
    let chosen = attended(|| chosen.raw_prompt())?;
    if chosen.is_empty() && !question.required {
        return Ok(None);
    }
    let mut picked: Vec<Value> = chosen.iter().filter_map(|c| value(c.index)).collect();
    if chosen.iter().any(|c| c.index >= other) {
        let begun = typed.borrow().clone();
        let words = inquire::Text::new("In your own words (several with commas):")
            .with_initial_value(&begun);
        let words = attended(|| words.prompt())?;
        let own = words.split(',').map(str::trim).filter(|w| !w.is_empty());
        for own in own.map(|word| json!(word)) {
            if !picked.contains(&own) {
                picked.push(own);
            }
        }
    }
    Ok(Some(Value::Array(picked)))
}

/// What was typed to filter a list is where an answer in own words begins, and the way to it, behind the `options`, is never filtered
/// away.
fn scorer(
    typed: &RefCell<String>,
    options: usize,
) -> impl Fn(&str, &String, &str, usize) -> Option<i64> {
    move |filter: &str, label: &String, shown: &str, index: usize| {
        typed.replace(filter.to_owned());
        match index < options {
            true => choose::score(filter, label, shown, index),
            false => Some(i64::MIN),
        }
    }
}

/// Stands behind the options of a question that takes an answer in the user's own words.
const OTHER: &str = "Other… (in your own words)";

/// Whether a text that is none of the options would be taken.
fn takes_other(question: &Question) -> bool {
    question.approves.is_none() && read_answer("some other words", &question.schema).is_ok()
}

/// A yes or a no of the person at the terminal to a question of agentctl's own; no stands first. Err: the person interrupted, or
/// the terminal cannot be asked.
pub fn sure(text: String, yes: &str, no: &str) -> Result<bool, CliError> {
    let question = Question {
        id: "sure".to_owned(),
        topic: "sure".to_owned(),
        text,
        options: vec![
            QuestionOption::new("no", no),
            QuestionOption::new("yes", yes),
        ],
        recommended: None,
        required: true,
        schema: json!({"enum": ["no", "yes"]}),
        approves: None,
        proposal: None,
        asked_by: None,
        asks_secret: false,
    };
    match ask(&question).map_err(CliError::failed)? {
        Asked::Answer(value) => Ok(value == "yes"),
        Asked::Later => Ok(false),
        Asked::Interrupted => Err(CliError::new(
            Exit::Interrupted,
            "interrupted; nothing was changed",
        )),
    }
}

/// Reads typed text as the schema wants it: as JSON when that fits, else as a string.
pub fn read_answer(text: &str, schema: &Value) -> Result<Value, String> {
    let as_text = Value::String(text.trim().to_owned());
    let candidates = [
        serde_json::from_str::<Value>(text.trim()).ok(),
        Some(as_text),
    ];
    let validator = jsonschema::validator_for(schema)
        .map_err(|e| format!("the question's schema is broken: {e}"))?;
    let wants_text = schema.get("type").and_then(Value::as_str) == Some("string");
    let mut ordered: Vec<Value> = candidates.into_iter().flatten().collect();
    if wants_text {
        ordered.reverse();
    }
    match ordered.iter().find(|v| validator.is_valid(v)) {
        Some(value) => Ok(value.clone()),
        None => {
            let why = ordered
                .first()
                .and_then(|v| validator.iter_errors(v).next().map(|e| e.to_string()));
            Err(why.unwrap_or_else(|| "this answer does not fit the question".to_owned()))
        }
    }
}
