//! Cuts masked text into sentences and clauses. A comma or an "and" cuts only where the next words start a new predicate;
//! a list ("email, name and phone") stays whole. Knows grammar, no services.

use crate::lexicon::{self, has, rx};
use agentctl_base::lazy_regex::Captures;

/// What joins a clause to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    Start,
    Comma,
    And,
    Arrow,
    Dash,
    Colon,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    pub text: String,
    pub join: Join,
    pub sentence: usize,
}

/// Sentences of masked text; list bullets and line breaks end one.
pub fn sentences(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut current = String::new();
    let pieces: Vec<&str> = text.split_inclusive(['\n', ' ']).collect();
    for (i, raw) in pieces.iter().enumerate() {
        let word = raw.trim_end();
        let next = pieces
            .iter()
            .skip(i + 1)
            .map(|p| p.trim())
            .find(|p| !p.is_empty())
            .unwrap_or_default();
        if word.is_empty() && !raw.contains('\n') {
            continue;
        }
        if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(word);
        if ends_sentence(word, next)
            || raw.contains('\n') && !current.trim_end().ends_with([',', ':'])
        {
            out.push(std::mem::take(&mut current));
        }
    }
    out.push(current);
    out.iter()
        .map(|s| {
            rx(r"^(?:[-*•–]+|\d{1,2}[.)]|step \d+[:.)])\s+")
                .replace(s.trim(), "")
                .trim_end_matches(['.', '!', '?', ';', ' '])
                .trim()
                .to_owned()
        })
        .filter(|s| s.chars().any(char::is_alphanumeric))
        .collect()
}

fn ends_sentence(word: &str, next: &str) -> bool {
    let capital = next.is_empty()
        || next
            .chars()
            .next()
            .is_some_and(|c| c.is_uppercase() || matches!(c, '§' | '-' | '*' | '¿' | '¡'));
    if word.ends_with(';') {
        return true;
    }
    if word.ends_with(['!', '?']) {
        return capital && !has(r"^[–—-]", next) || next.is_empty();
    }
    if capital && has(r"(?:^(?:min|std|hrs?|sec|etc)|\b\d+)\.$", word) && !has(r"^{month}", next) {
        return true;
    }
    word.ends_with('.')
        && !has(
            r"^\(?(?:min|std|ca|approx|e\.g|i\.e|z\.b|d\.h|bzw|etc|incl|inkl|nr|no|vs|dr|mr|mrs|sr|sra|st|p\.ej|ej|mio|abs|dept|a\.m|p\.m|\d{1,2}|[a-z])\.$",
            word,
        )
}

/// A word that may start a predicate: its letters only, lower-case.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-' && c != '§')
        .to_lowercase()
}

const DETERMINER: &str = r"^(?:a|an|the|it|its|them|him|her|us|me|my|our|your|his|their|this|that|these|those|each|every|all|any|one|only|both|everyone|everybody|someone|new|§\S*|den|die|das|dem|der|ein\w*|es|ihn|ihm|sie|mich|mir|uns|alle|jede\w*|el|la|los|las|un|una|lo|le|les|me|su|sus|l'\S*|une|des|du|mon|ma|mes|notre|nos|who|what|to|in|into|on|via|\d+)$";

/// Does this text start a predicate of its own (imperative, "should …", a condition, an else)?
pub fn starts_predicate(text: &str, join: Join) -> bool {
    let text = strip_lead(text);
    if has(
        r"^(?:{if}|{else}|unless|except|but|until|while|außer|es sei denn|salvo|excepto|sauf|a menos que|à moins)\b",
        text,
    ) {
        return true;
    }
    let words: Vec<String> = text.split_whitespace().map(bare).collect();
    let Some(head) = words.first() else {
        return false;
    };
    if has(
        r"^(?:please|bitte|i|we|ich|wir|let|you|it|then|also|just|only|never|don't|do|always|por|s'il)$",
        head,
    ) && words.iter().skip(1).take(4).any(|w| {
        lexicon::verb(w).is_some()
            || has(
                r"^(?:want|need|would|should|möchte|will|quiero|veux|not)$",
                w,
            )
    }) {
        return true;
    }
    if has(
        r"^(?:for|für|bei|para|pour)\b.{0,40}\b{nothing}\b|^(?:after|at) the (?:last|end)|^(?:am ende|al final|à la fin|zum schluss)|^have (?:an?|the) |^[45]\d\d (?:if|when|for|on)\b|^protected (?:with|by)\b|^(?:for (?:each|every|those|all those|the ones) |für (?:diejenigen|alle,) |para (?:los|las) que |pour (?:ceux|celles) |für jede|para cada |pour chaque )|^(?:up to|above|below|over|under|bis zu|über|unter|hasta|más de|menos de|jusqu'à|plus de|moins de) [$€£]?\d|^with (?:an? |the )?[^,]{0,40}\b(?:by|from|using) (?:an? )?(?:ai|llm|gpt|agent)\b|^(?:nobody|no one|niemand) ",
        text,
    ) {
        return true;
    }
    if has(
        r"^§s\d+§\s+(?:msg|message|nachricht|mensaje|task|ticket|issue|deal|card|note|alert|post|mail|email)\b|^(?:bei|on|im|in case of|en caso de|en cas d')\s+(?:an? |einem )?(?:fehler|error|failure|fehlerfall|erreur)\b",
        text,
    ) {
        return true;
    }
    if head == "same" || head == "one" && words.get(1).is_some_and(|w| w == "last" || w == "final")
    {
        return true;
    }
    if lexicon::verb(head).is_some() {
        let noun_too = lexicon::noun(head).is_some()
            || has(
                r"^(?:phone|mail|e-mail|email|text|record|post|message|list|report|note|alert|set|open|closed|paid|call|order|score|rate|count|group|transfer|trigger|start|monitor|watch|file|label|draft|share|back|archive|call|queries|pause|records|posts|mails|match|review|record|comment|comments|check|checks|marked|created|updated|added|deleted|assigned|resolved|informe|registro|envío|copia|cambio|resume|e)$",
                head,
            );
        let next = words.get(1).map(String::as_str).unwrap_or_default();
        if has(
            r"^(?:post|posts|alert|message|text|share|mail|email|e-mail|archive|log|copy|forward|report)$",
            head,
        ) && has(
            r"\b(?:to|in|into|on|via|auf|an|nach|ins|en|a|sur|dans)\s+(?:\w+\s+){0,3}§[scam]",
            text,
        ) {
            return true;
        }
        return !noun_too
            || has(DETERMINER, next)
            || lexicon::verb(next).is_some_and(|v| v.role != "neutral")
            || lexicon::noun(next).is_some() && join != Join::And;
    }
    // German puts the verb last; so does a passive ("should be …").
    let tail = words.iter().rev().take(3).any(|w| {
        has(r"^(?:werden|wird|werde|soll|sollen|muss|müssen)$", w)
            || lexicon::verb(w).is_some() && has(r"^(?:ge\w+t|ge\w+en|\w+ge\w+t|\w+ge\w+en|\w+iert|\w+ieren|benachrichtigen|versenden|senden|schicken|speichern|anlegen|eintragen|anhängen|hochladen|verschieben|\w+en)$", w) && is_german(&words)
    });
    if tail && words.len() > 1 {
        return true;
    }
    // "technical becomes a Linear issue", "approved ones go to the sheet", "the template should be sent".
    matches!(
        join,
        Join::Comma | Join::Dash | Join::Arrow | Join::Colon | Join::And
    ) && words.iter().take(9).any(|w| has(SUBJECT_VERB, w))
        && !has(r"^(?:who|which|that|whose|die|der|das|que|qui)$", head)
}

/// Verbs that a subject takes ("x goes to y").
pub const SUBJECT_VERB: &str = r"^(?:go|goes|become|becomes|gets?|lands?|should|shall|must|needs?|ends|may|bekommt|bekommen|geht|gehen|landet|landen|kommt|kommen|soll|sollen|wird|werden|muss|müssen|va|van|debe|deben|recibe|doit|doivent|reçoit|vont)$";

fn is_german(words: &[String]) -> bool {
    words.len() <= 3 || words.iter().any(|w| has(r"^(?:der|die|das|den|dem|des|und|ein|eine[nrms]?|im|am|an|auf|aus|mit|von|nach|zu|zum|zur|ins|in|per|als|bei|alle|neue[nrs]?)$", w))
}

/// Leading connectives that carry no meaning of their own here.
pub fn strip_lead(text: &str) -> &str {
    let mut rest = text.trim_start_matches([' ', ',', '-', '–', ':', '*', '•', '→', ';']);
    for _ in 0..3 {
        let next = rx(r"^(?:{then}|{also}|and|und|y|et|e|but|aber|pero|mais|please|bitte|por favor|s'il te plaît|s'il vous plaît|just|now|so|kindly|simply|sowie|immediately|directly|straight away|right away|at once|automatically|automatisch|automáticamente|automatiquement|i want (?:you )?to|i(?:'d| would) like (?:you )?to|we (?:want|need) to|i need to|can you|could you|must|should|it should|it must|hey,?|hi,?|hello,?|ok,?|okay,?)[\s,]+")
            .find(rest)
            .map_or(rest, |m| rest.get(m.end()..).unwrap_or(rest))
            .trim_start_matches([' ', ',']);
        if next.len() == rest.len() {
            break;
        }
        rest = next;
    }
    rest
}

/// "one of A, B or C" is one value list: its commas cut nothing.
fn listed(sentence: &str) -> String {
    let sentence = &rx(r"\b(one of|any of|in|einer? (?:von|der)|uno de|l'un de|parmi)\s+([\w§-]+(?:,\s+[\w§-]+)+)(,|\s+(?:answer|return|respond|reply|reject|then|antworte|responde|réponds|dann)\b)")
        .replace_all(sentence, |c: &Captures<'_>| {
            let part = |i: usize| c.get(i).map_or("", |x| x.as_str());
            let values: Vec<&str> = part(2).split(',').map(str::trim).collect();
            let tail = if part(3) == "," { ",".to_owned() } else { format!(",{}", part(3)) };
            format!("{} {}{tail}", part(1), values.join(" or "))
        })
        .into_owned();
    rx(r"\b(one of|any of|is|are|in|einer? (?:von|der)|ist|uno de|l'un de|parmi)\s+([\w§-]+(?:,\s+[\w§-]+)+),?\s+(or|oder|o|ou)\s+([\w§-]+)")
        .replace_all(sentence, |c: &Captures<'_>| {
            let part = |i: usize| c.get(i).map_or("", |x| x.as_str());
            let word = part(3);
            let values: Vec<&str> = part(2).split(',').map(str::trim).collect();
            format!("{} {} {word} {}", part(1), values.join(&format!(" {word} ")), part(4))
        })
        .into_owned()
}

/// Clauses of a sentence.
pub fn clauses(sentence: &str, index: usize) -> Vec<Clause> {
    let sentence = &listed(sentence);
    let cut = rx(
        r"\s*→\s*|\s+[–—-]{1,2}\s+|:\s+|\s*,\s+(?:(?:and then|and|und dann|und|y luego|y|et puis|et|then|dann|luego|puis|ensuite|plus|but|aber|pero|mais)\s+)?|\s+(?:and then|and|und dann|und|y luego|y|e|et puis|et|then|dann|luego|puis|plus|but|sowie|&|\+)\s+|!\s+[–—-]\s+|\s+(?:and|und|y|et),\s+|\s+(?:unless|except|otherwise|sonst|außer wenn|a menos que|sauf si|salvo|but only|aber nur)\s+",
    );
    let mut out: Vec<Clause> = Vec::new();
    let mut from = 0;
    let mut join = Join::Start;
    // "…, then …" keeps its word: it may close a branch.
    let mut then = false;
    let cuts: Vec<_> = cut
        .find_iter(sentence)
        .map(|m| (m.start(), m.end(), m.as_str().to_owned()))
        .collect();
    for (i, (start, end, mark)) in cuts.iter().enumerate() {
        let right_end = cuts
            .iter()
            .skip(i + 1)
            .map(|c| c.0)
            .find(|s| *s > end + 2)
            .unwrap_or(sentence.len());
        let near = sentence.get(*end..right_end).unwrap_or_default();
        let rest = sentence.get(*end..).unwrap_or_default();
        let left = sentence.get(from..*start).unwrap_or_default();
        let kind = join_of(mark);
        let keeps_mark = has(
            r"^\s+(?:unless|except|otherwise|sonst|außer|a menos|sauf|salvo|but only|aber nur)",
            mark,
        );
        let cuts_here = match kind {
            Join::Arrow => !left.trim().is_empty(),
            Join::Colon => !left.trim().is_empty(),
            Join::Dash => {
                starts_predicate(rest, kind)
                    || has(
                        r"^(?:never|no |same|not |only|nie |sin |with |mit |con |avec )",
                        rest,
                    )
            }
            _ => {
                keeps_mark
                    || has(
                        r"^(?:then|dann|danach|luego|puis|ensuite)\s+(?:also\s+)?§[sc]",
                        near,
                    )
                    || has(r"\b(?:then|dann|danach|luego|puis|ensuite)\b", mark)
                        && has(r"^§[sc]\d", near)
                    || starts_predicate(near, kind) && !lists_on(left, near)
                    || opens_condition(left)
                        && kind == Join::Comma
                        && !has_imperative(left)
                        && !lists_on(left, near)
                    || kind == Join::Comma && !left.contains(' ') && has(r"^(?:then|dann)$", left)
            }
        };
        if cuts_here && !left.trim().is_empty() {
            let left = if then {
                format!("then {}", left.trim())
            } else {
                left.trim().to_owned()
            };
            // "invoice: forward it, complaint: a ticket": labels with colons, as with arrows
            let labels =
                kind == Join::Arrow || kind == Join::Colon && sentence.matches(": ").count() > 1;
            push_with_label(
                &mut out,
                &left,
                join,
                if labels { Join::Arrow } else { kind },
                index,
            );
            from = if keeps_mark { *start } else { *end };
            join = kind;
            then = has(r"\b(?:then|dann|luego|puis|ensuite)\b", mark);
        }
    }
    let last = sentence.get(from..).unwrap_or_default().trim();
    if !last.is_empty() {
        out.push(Clause {
            text: if then {
                format!("then {last}")
            } else {
                last.to_owned()
            },
            join,
            sentence: index,
        });
    }
    out
}

/// "…, declined ones → tell them": the words before an arrow are a label of their own.
fn push_with_label(out: &mut Vec<Clause>, left: &str, join: Join, next: Join, sentence: usize) {
    if next == Join::Arrow
        && let Some((head, label)) = left.rsplit_once(", ")
        && label.split_whitespace().count() <= 4
        && (starts_predicate(head, Join::Comma) || has(r"^\d+$|^\S+$|^§s\d+§", head))
    {
        out.push(Clause {
            text: head.trim().to_owned(),
            join,
            sentence,
        });
        out.push(Clause {
            text: label.trim().to_owned(),
            join: Join::Comma,
            sentence,
        });
        return;
    }
    out.push(Clause {
        text: left.to_owned(),
        join,
        sentence,
    });
}

/// "with name, email and message": a word of a list, though it could be a verb.
fn lists_on(left: &str, near: &str) -> bool {
    let words: Vec<String> = near.split_whitespace().map(bare).collect();
    let one_noun = words.len() == 1 && words.iter().all(|w| lexicon::noun(w).is_some());
    let plain = words.len() <= 3
        && !words.iter().any(|w| w.starts_with('§'))
        && words.first().is_some_and(|w| {
            lexicon::verb(w).is_none() && !has(r"^{if}$|^{else}$|^(?:then|dann|but|only)$", w)
        });
    (one_noun || plain)
        && has(
            r"\b(?:with|including|fields?|columns?|mit|con|avec|felder|campos|champs)\b[^§:→]*$",
            left,
        )
}

/// "For each order append a row": the consequence is there already.
fn has_imperative(text: &str) -> bool {
    crate::read::flow::split_at_action(text).1.is_some()
}

/// A clause that opens with a condition and waits for its consequence.
fn opens_condition(left: &str) -> bool {
    has(
        r"^(?:(?:and|und|y|et|but|aber|then|dann|{also}|{else})\s+)?(?:{if}|unless|for (?:each|every|all|any)|on (?:every|each|new)|after|before|bei|nach|hat|ist|sind|para cada|pour chaque|für jede\w*|with|every|each)\b",
        left.trim(),
    )
}

fn join_of(mark: &str) -> Join {
    let m = mark.trim();
    if m.contains('→') {
        Join::Arrow
    } else if m.starts_with(':') {
        Join::Colon
    } else if m.starts_with(',') {
        Join::Comma
    } else if has(r"^!?\s*[–—-]{1,2}$", m) {
        Join::Dash
    } else {
        Join::And
    }
}

/// All clauses of a masked text.
pub fn all(text: &str) -> Vec<Clause> {
    sentences(text)
        .iter()
        .enumerate()
        .flat_map(|(i, s)| clauses(s, i))
        .collect()
}

#[cfg(test)]
#[path = "clause_tests.rs"]
mod clause_tests;
