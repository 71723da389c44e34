//! Rules in other shapes than "if …, do …": bulleted lists ("- above 300 → …"), several arrows in a line, German questions
//! ("Ist der Betrag hoch, …"). Each is put into plain conditional sentences before clauses are cut. Knows no service.

use crate::lexicon::{has, rx};
use crate::plan::{Cond, Val};
use crate::read::act::verb_in;
use crate::read::cond;
use crate::read::heads;
use crate::read::text::Masked;
use agentctl_base::lazy_regex::Captures;

/// The masked text with its rules as conditional sentences.
pub fn plain(m: &Masked, text: &str) -> String {
    let text = asides(&notes_on_types(m, text));
    let text = questions(&opening(&text));
    let text = heads::plain(m, &text);
    lists(m, &text)
}

/// "available (true/false)" names a field, not a choice.
fn notes_on_types(m: &Masked, text: &str) -> String {
    rx(r"\s*§r\d+§")
        .replace_all(text, |c: &Captures<'_>| {
            let mark = c.get(0).map_or("", |w| w.as_str());
            let kind = m.entity(mark.trim()).is_some_and(|e| {
                has(
                    r"^(?:true/false|true or false|yes/no|boolean|bool|number|string|integer)$",
                    &e.value,
                )
            });
            if kind { String::new() } else { mark.to_owned() }
        })
        .into_owned()
}

/// "Classify new Gmail mails …" with nothing said about when: it starts with each of them.
fn opening(text: &str) -> String {
    let told = has(
        r"{if}\s|\b(?:webhook|{form}|cron|schedule|daily|hourly|weekly|monthly|nightly|every \w+|each (?:day|hour|morning|night|week|month)|täglich|stündlich|wöchentlich|jeden|jede|cada|diario|chaque|tous les|{manual}|endpoint|chat|agent|bot|sub-?workflow)\b|\bat \d",
        text.split(['.', '\n']).next().unwrap_or(text),
    );
    if told {
        return text.to_owned();
    }
    rx(r"^\s*(classify|categori[sz]e|triage|analy[sz]e|translate|label|tag|klassifiziere|clasifica|classe)\s+(?:the sentiment of\s+)?(?:(?:all|each|every|new|incoming|the|my|our|neue|nuevos|nouveaux)\s+)*(§s\d+§)\s+(e?-?mails?|messages?|tickets?|conversations?|issues?|reviews?|comments?|submissions?|responses?|leads?)\b")
        .replace(text, |c: &Captures<'_>| {
            let part = |i: usize| c.get(i).map_or("", |x| x.as_str());
            format!("When a new {} {} arrives, {} it", part(2), part(3).trim_end_matches('s'), part(1))
        })
        .into_owned()
}

/// Words that cut badly: "if found update it", "page PagerDuty", "gets a Slack message".
fn asides(text: &str) -> String {
    let mut out = text.to_owned();
    for (said, meant) in [
        (
            r"\b(?:just |simply |only )?(?:gets?|receives?) an? (§s\d+§) (message|msg|notification|alert|post|mail|e-?mail|dm)\b",
            "send a $1 $2",
        ),
        (
            r"\b(?:just |simply |only )?gets? an? (§s\d+§) (ticket|task|issue|card|deal|row|record|contact|item|lead)s?\b",
            "create a $1 $2",
        ),
        (
            r"(^|[.;,:\n]\s*(?:and\s+)?)((?:the\s+)?[^\W\d]\w*(?:\s+\w+)?)\s+(?:(?:just |simply )?(?:goes|go|geht|gehen|va|van)\s+(?:to|an|a|à)\s+(§m\d+§)(?:\s+(?:by|via|per|por|par)\s+(?:e-?mail|mail|correo))?)",
            "$1$2 → send an email to $3",
        ),
        (
            r"(^|[.;,:\n]\s*(?:and\s+)?)((?:the\s+)?[^\W\d]\w*)\s+(?:(?:becomes?|werden zu|wird zu)\s+(?:an? )?(§s\d+§) (ticket|task|issue|card|deal|row|record|contact|item|lead)s?)\b",
            "$1$2 → create a $3 $4",
        ),
        (
            r"\b(?:goes|go|geht|gehen|va|van)\s+(?:to|an|a|à)\s+(§m\d+§)(?:\s+(?:by|via|per|por|par)\s+(?:e-?mail|mail|correo))?",
            "send an email to $1",
        ),
        (
            r"\b(?:let|have|ask)\s+((?:an? |the )?(?:§s\d+§|§d\d+§|gpt[\w.-]*|ai|llm|ki|claude|gemini|mistral))\s+(?:to\s+)?(?:decide|determine|judge|tell)\s+(?:if|whether)\s+(?:(?:it|they|the \w+)(?:'s|\s+is|\s+are)\s+)?(?:an?\s+)?(\w[\w -]*?(?:,\s*[\w -]+?)*,?\s+or\s+)",
            "classify it with $1 as $2",
        ),
        (
            r"(^|[.;,]\s+)(?:and\s+)?(?:the )?rest\s*(?:→|:|,|\s)\s*(ignore|nothing|skip|drop|nada|ignorieren)\b",
            "$1otherwise do nothing",
        ),
        // a target without a verb: "if total > 1000 slack #vip"
        (
            r"\b({if}\s[^,;.\n→]*?(?:\d\S*|[^\W\d]{3,}))\s+(§s\d+§\s+§[ca]\d+§)(\s*(?:[,;.\n]|$))",
            "$1, post to $2$3",
        ),
        (
            r"\b(if|when|wenn|falls|si)\s+(found|it exists|they exist|(?:it(?:'s| is) )?there|yes|so|ja|nein|gefunden|existe|existiert|trouvée?)\s+(?:then\s+)?(update|create|add|send|post|notify|set|append|delete|reply|answer|aktualisiere|erstelle|sende|schick\w*|actualiza|crea|envía|mets|crée|envoie)\b",
            "$1 $2, $3",
        ),
        (
            r"\b(?:page|alert|call)\s+(§s\d+§)(\s*(?:[.,;]|$|and\b|else\b|otherwise\b))",
            "create an incident in $1$2",
        ),
        (
            r",\s+(?:and\s+)?(?:if|when)\s+not\s+(found|there)?\s*,?\s*",
            ", otherwise ",
        ),
    ] {
        out = rx(said).replace_all(&out, meant).into_owned();
    }
    out
}

const VERB_FIRST: &str = r"(^|[.;:!\n]\s*(?:[-*•]\s+)?|,\s+(?:und|sonst|aber)\s+|\bund\s+)((?-i:Ist|Sind|Liegt|Liegen|Hat|Haben|Beträgt|Enthält|Fehlt|Fehlen|Übersteigt|Steht|Lautet|War|Kostet)|(?:ist|sind|liegt|hat|beträgt|enthält|fehlt|übersteigt)\b)\s+((?:der|die|das|den|ein|eine|sein|seine|ihr|ihre|unser\w*)\s+(?-i:[\wÄÖÜäöüß-]+)|sie|er|es|(?-i:[A-ZÄÖÜ][\wäöüß-]+))\s*([^.;\n,]*?)\s*(,\s*(?:dann\s+)?|\s+→\s+)";

/// "Ist die Priorität hoch, …" → "Wenn die Priorität ist hoch, …"; a pronoun is the subject before it.
fn questions(text: &str) -> String {
    let mut subject: Option<String> = None;
    rx(VERB_FIRST)
        .replace_all(text, |c: &Captures<'_>| {
            let part = |i: usize| c.get(i).map_or("", |x| x.as_str());
            let whole = part(0).to_owned();
            let lead = part(1);
            // in the middle of a sentence the verb must open it with a capital, or follow "und/sonst"
            let opens = lead.is_empty()
                || lead.contains(['.', ';', ':', '!', '\n'])
                || lead.contains("und")
                || lead.contains("sonst");
            if !opens || part(3).contains('?') {
                return whole;
            }
            let name = match part(3).to_lowercase().as_str() {
                "sie" | "er" | "es" => match &subject {
                    Some(before) => before.clone(),
                    None => return whole,
                },
                _ => part(3).to_owned(),
            };
            subject = Some(name.clone());
            let verb = part(2).to_lowercase();
            if part(4).is_empty() {
                return format!("{lead}Wenn {name} {verb}, ");
            }
            format!("{lead}Wenn {name} {verb} {}, ", part(4))
        })
        .into_owned()
}

/// One "head → action".
struct Rule {
    head: String,
    action: String,
    kind: Head,
}

enum Head {
    /// A condition, with the field it looks at first.
    Cond(Option<String>),
    Else,
    Open,
}

fn head_of(m: &Masked, said: &str) -> (String, Head) {
    let head = rx(r"^(?:(?:and|und|y|et|but|then)\s+)?(?:{if}|for|bei|für|para|pour|on)\s+")
        .replace(said.trim(), "")
        .trim()
        .to_owned();
    // "9-10", "NPS 0 to 6"
    let head = rx(
        r"^([^\W\d][\w ]*?\s+)?(\d[\d.,]*)\s*(?:-|–|to|bis|a|à)\s*(\d[\d.,]*)(\s*[€$%]|\s+\w+)?$",
    )
    .replace(&head, "${1}between $2 and $3$4")
    .into_owned();
    if has(r"^(?:{else}|rest)\b", said.trim()) || has(r"^(?:{else})\b", &head) {
        return (head, Head::Else);
    }
    let action = verb_in(&head).is_some_and(|(v, at)| v.role != "neutral" && at == 0);
    if head.contains("§s") || action || head.split_whitespace().count() > 16 {
        return (head, Head::Open);
    }
    let head = heads::spoken(m, &head).unwrap_or(head);
    let kind = match cond::condition(m, &head) {
        Some(c) => Head::Cond(first_field(&c)),
        None => Head::Open,
    };
    (head, kind)
}

fn first_field(c: &Cond) -> Option<String> {
    match c {
        Cond::All { of } | Cond::Any { of } => of.first().and_then(first_field),
        Cond::Not { of } => first_field(of),
        Cond::Compare {
            left: Val::Field { name, .. },
            ..
        } => Some(name.clone()),
        _ => None,
    }
}

/// Bulleted lines and lines with several arrows.
fn lists(m: &Masked, text: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut group: Vec<(String, Rule)> = Vec::new();
    for line in text.split('\n') {
        if let Some(rule) = bulleted(m, line) {
            group.push((line.to_owned(), rule));
            continue;
        }
        if line.trim().is_empty() && !group.is_empty() {
            continue;
        }
        close(&mut group, &mut out);
        out.push(arrows(m, line));
    }
    close(&mut group, &mut out);
    out.join("\n")
}

/// Writes a finished group: as sentences when it is one of rules, else as it stood.
fn close(group: &mut Vec<(String, Rule)>, out: &mut Vec<String>) {
    let (lines, rules): (Vec<String>, Vec<Rule>) = group.drain(..).unzip();
    if rules.is_empty() {
        return;
    }
    match sentences(&rules) {
        Some(said) => {
            if let Some(before) = out.last_mut() {
                *before = introduction(before);
            }
            out.extend(said);
        }
        None => out.extend(lines),
    }
}

/// What stands before a list of rules ends there; a mere heading says nothing.
fn introduction(line: &str) -> String {
    let line = line.trim_end();
    let Some(head) = line.strip_suffix([':', ',']) else {
        return line.to_owned();
    };
    let at = head.rfind(['.', ';']).map_or(0, |i| i + 1);
    let (before, last) = head.split_at(at);
    let heading = !last.contains('§')
        && (last.split_whitespace().count() <= 3
            || has(
                r"\b(?:rules?|conditions?|cases?|as follows|depending on|following|decide|route|sort(?:ed)?|regeln?|fälle?|folgt|abhängig|je nach|reglas?|casos?|según|règles?|cas|selon)\b",
                last,
            ))
        && !has(r"^\s*(?:{if})\b|\b(?:webhook|form|schedule)\b", last);
    if heading {
        format!("{before}.")
    } else {
        format!("{head}.")
    }
}

fn bulleted(m: &Masked, line: &str) -> Option<Rule> {
    let c =
        rx(r"^\s*(?:[-*•–]|\d{1,2}[.)]|[a-z]\))\s+(.+?)\s*(?:→|:\s|,\s+(?:dann|then)\s)\s*(.+)$")
            .captures(line)?;
    rule(m, c.get(1)?.as_str(), c.get(2)?.as_str())
}

fn rule(m: &Masked, head: &str, action: &str) -> Option<Rule> {
    let (head, kind) = head_of(m, head);
    let action = action.trim().trim_end_matches(['.', ';', ',']).to_owned();
    (!action.is_empty() && !head.is_empty()).then_some(Rule { head, action, kind })
}

/// Sentences for rules; none when they are no conditions ("sales → …" after a classification, a list of steps).
fn sentences(rules: &[Rule]) -> Option<Vec<String>> {
    let conds: Vec<&Option<String>> = rules
        .iter()
        .filter_map(|r| match &r.kind {
            Head::Cond(f) => Some(f),
            _ => None,
        })
        .collect();
    let closed = rules.iter().any(|r| matches!(r.kind, Head::Else));
    let open = rules
        .iter()
        .filter(|r| matches!(r.kind, Head::Open))
        .count();
    if conds.is_empty() || rules.len() < 2 || open > conds.len() {
        return None;
    }
    let first = conds.first().copied().cloned().flatten();
    let same = conds.iter().all(|f| {
        f.as_deref()
            .is_none_or(|f| f == "value" || Some(f) == first.as_deref())
    });
    let chain = closed || same;
    Some(
        rules
            .iter()
            .enumerate()
            .map(|(i, r)| match r.kind {
                Head::Else => format!("Otherwise, {}.", acted(&r.action)),
                _ if chain && i > 0 => format!("Otherwise if {}, {}.", r.head, acted(&r.action)),
                _ => format!("If {}, {}.", r.head, acted(&r.action)),
            })
            .collect(),
    )
}

fn acted(action: &str) -> &str {
    if has(
        r"^(?:nothing|nichts|nada|rien|ignore|skip|drop|ignorieren|ignorar|ignorer|-|–)$",
        action,
    ) {
        "do nothing"
    } else {
        action
    }
}

/// "…; negative → A, positive → B": a line with several rules, each with its arrow.
fn arrows(m: &Masked, line: &str) -> String {
    if line.matches('→').count() < 2 {
        return line.to_owned();
    }
    let cut = rx(r"(?:^|[.;:,]\s+|\s+(?:and|und|y|et)\s+)((?:[^→.;:,]|\d[.,]\d){1,80}?)\s*→\s*");
    let heads: Vec<(usize, usize, usize, String)> = cut
        .captures_iter(line)
        .filter_map(|c| {
            let (whole, head) = (c.get(0)?, c.get(1)?);
            Some((
                whole.start(),
                head.start(),
                whole.end(),
                head.as_str().to_owned(),
            ))
        })
        .collect();
    let mut rules = Vec::new();
    let mut from = None;
    for (i, (_, start, end, head)) in heads.iter().enumerate() {
        let stop = heads.get(i + 1).map_or(line.len(), |h| h.0);
        let Some(found) = rule(m, head, line.get(*end..stop).unwrap_or_default()) else {
            return line.to_owned();
        };
        // what leads up to the rules may have an arrow too
        if rules.is_empty() && matches!(found.kind, Head::Open) {
            continue;
        }
        from.get_or_insert(*start);
        rules.push(found);
    }
    // an arrow inside an action is a pipeline of its own
    if rules.iter().any(|r| r.action.contains('→')) {
        return line.to_owned();
    }
    let Some((from, said)) = from.zip(sentences(&rules)) else {
        return line.to_owned();
    };
    let before = line.get(..from).unwrap_or_default().trim_end();
    let before = if before.ends_with([':', ',']) {
        introduction(before)
    } else {
        before.to_owned()
    };
    format!("{before}\n{}", said.join("\n"))
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod rules_tests;
