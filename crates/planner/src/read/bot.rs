//! Bots that obey instead of talk: "/weather <city>" is answered by a service, a voice message is written down. Puts their
//! sentences into plain steps, so that no agent is built for them. Knows the words of chats, no node.

use crate::lexicon::{has, rx};
use crate::plan::{Cmp, Cond, Does, Role, Step, Val, Verb};
use crate::read::act::Memory;
use crate::read::clause::{Clause, Join, strip_lead};
use crate::read::value::{arg, lit};

/// Words that ask for a model.
const THINKS: &str = r"\b(?:agent\w*|assistant|assistent\w*|asistente|llm|ai|ki|ia|chat ?gpt|gpt[-\w.]*|claude|gemini|system ?prompt|memory|gedächtnis|memoria|mémoire|questions?|fragen|preguntas|tools?)\b";
const VOICE: &str = r"\b(?:voice|audio)[- ]?(?:messages?|notes?|memos?)?\b|\bsprachnachricht\w*|\b(?:mensaje|nota)s? de (?:voz|audio)\b|\b(?:message|note)s? (?:vocale?s?|vocaux|audio)\b";
const HEARS: &str = r"\b(?:transcr[ií]\w+|transkri\w+|write (?:it|them) down|speech[- ]to[- ]text|verschriftlich\w*|retranscri\w*)\b";

/// What the trigger's own text is called on this service.
fn text_of(key: &str) -> &'static str {
    match key {
        "slack" => "$json.text",
        "telegram" => "$json.message.text",
        _ => "($json.text ?? $json.message?.text)",
    }
}

/// True: the bot obeys. Its clauses are plain steps now and `first` holds what lets a message through.
pub fn obeys(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>, first: &mut Vec<Step>) -> bool {
    let m = mem.m;
    let Some(host) = mem.trigger.filter(|t| t.is("chat")) else {
        return false;
    };
    let whole = m.open(
        &clauses
            .iter()
            .map(|c| c.text.as_str())
            .collect::<Vec<_>>()
            .join(". "),
    );
    let plain = m.plain(&rx(r"§[sq]\d+§").replace_all(&whole, " "));
    let command = m
        .entities
        .iter()
        .enumerate()
        .find(|(_, e)| {
            "qhk".contains(e.kind.letter())
                && has(r"^/[a-z_äöü]{2,20}(?:\s|$)", e.value.trim())
                && !has(r"/.*/", &e.value)
        })
        .map(|(i, e)| {
            (
                format!("§{}{i}§", e.kind.letter()),
                e.value.trim().to_owned(),
            )
        });
    let request = m.plain(&m.open(&m.text));
    let voice = has(VOICE, &request) && has(HEARS, &request);
    if has(THINKS, &plain)
        && !(voice
            && !has(
                r"\b(?:agent\w*|assistant|assistent\w*|asistente|memory|answers? (?:my|the|our|customer) questions?)\b",
                &plain,
            ))
    {
        return false;
    }
    if let Some((mark, said)) = command {
        let mut words = said.split_whitespace();
        let word = words.next().unwrap_or_default().to_owned();
        let what = words
            .next()
            .map(|w| w.trim_matches(['<', '>', '{', '}', '[', ']']).to_owned());
        let condition = Cond::Compare {
            left: Val::Expr {
                code: text_of(&host.key).to_owned(),
            },
            op: Cmp::StartsWith,
            right: lit(word.clone()),
        };
        first.push(mem.step(&word, Does::Filter { condition }));
        if let Some(what) = what {
            mem.ordered = Some((
                what,
                format!("{}.split(' ').slice(1).join(' ')", text_of(&host.key)),
            ));
        }
        ordered(clauses, &mark);
        return true;
    }
    if voice {
        let condition = Cond::Compare {
            left: Val::Field {
                name: "voice".into(),
                of: Some("trigger".into()),
            },
            op: Cmp::Exists,
            right: lit(true),
        };
        first.push(mem.step("voice message", Does::Filter { condition }));
        for c in clauses.iter_mut() {
            c.text = rx(&format!(r"^(?:{{if}})\s[^,]*?(?:{VOICE})[^,]*(?:,\s*|$)"))
                .replace(&c.text, "")
                .into_owned();
        }
        reply(clauses);
        clauses.retain(|c| c.text.chars().any(char::is_alphanumeric));
        return true;
    }
    false
}

/// "when I send §q0§ it answers in the same chat with X from §s1§" → "get X from §s1§", "reply in the same chat".
fn ordered(clauses: &mut Vec<Clause>, mark: &str) {
    let mark = regex::escape(mark);
    let mut out: Vec<Clause> = Vec::new();
    for c in clauses.drain(..) {
        let mut text = strip_lead(&c.text).trim().to_owned();
        text = rx(&format!(r"^(?:.*?\bbot\b\s*[,:]?\s*)?(?:(?:{{if}}|on|upon|bei|auf|for|with|mit|al|à|para|con)\s+)?(?:[^§,]{{0,50}}?)?{mark}(?:\s+(?:command|befehl|comando|commande|is sent|comes in|kommt|geschickt wird|schick\w*|schreib\w*|sende\w*|eingeh\w*))*\s*[,:→]?\s*"))
            .replace(&text, "")
            .into_owned();
        text = rx(r"^(?:(?:it|the bot|er|der bot|es|el bot|le bot|then|dann)\s+)+")
            .replace(&text, "")
            .into_owned();
        text = rx(r"^(antwortet|antworte|schickt|sendet)\s+(?:er|der bot|es|sie)\s+")
            .replace(&text, "$1 ")
            .into_owned();
        if !text.chars().any(char::is_alphanumeric) || has(r"^(?:an?\s+)?§?s?\d*§?\s*-?bot$", &text)
        {
            continue;
        }
        let with = rx(
            r"^(?:answers?|repl(?:y|ies)|responds?|responde|contesta|antworte?t?|répond\w*|returns?|sends? back|comes back)\s+(?:(?:in|into|im|in den|en|dans)\s+(?:the |el |le |dem |den )?(?:same |selben |gleichen |mismo |même )?chat\s+|there\s+|me\s+|mir\s+|back\s+)*(?:with|mit|con|avec)\s+(.*§[su]\d+§.*)$",
        );
        let sends = rx(
            r"^(?:posts?|sends?|shares?|shows?|returns?|gives?|postet|schickt|sendet|publica|envía|publie|envoie)\s+(?:me\s+)?(.*?§[su]\d+§.*?)(?:\s+(?:to|in|into|an|auf|a|en|dans|sur)\s+((?:the )?(?:channel )?§c\d+§.*))?$",
        );
        let base = |text: String, join: Join| Clause {
            text,
            join,
            sentence: c.sentence,
        };
        if let Some(found) = with.captures(&text).and_then(|x| x.get(1)) {
            out.push(base(format!("get {}", found.as_str()), Join::Start));
            out.push(base(
                "reply in the same chat with the result".into(),
                Join::Comma,
            ));
        } else if let Some(x) = sends.captures(&text) {
            out.push(base(
                format!("get {}", x.get(1).map_or("", |f| f.as_str())),
                Join::Start,
            ));
            match x.get(2) {
                Some(to) => out.push(base(format!("post it to {}", to.as_str()), Join::Comma)),
                None => out.push(base(
                    "reply in the same chat with the result".into(),
                    Join::Comma,
                )),
            }
        } else {
            out.push(Clause { text, ..c });
        }
    }
    *clauses = out;
    reply(clauses);
}

/// "answer with the text", "contéstame en el mismo chat": the chat is meant.
fn reply(clauses: &mut [Clause]) {
    for c in clauses.iter_mut() {
        if c.text.contains("§s") {
            continue;
        }
        if let Some(f) = rx(r"^(?:(?:and|und|y|et|then|dann)\s+)?(?:it\s+)?(?:answers?|repl(?:y|ies)|responds?|responde(?:me)?|contésta(?:me|le)?|contesta|antworte?t?|réponds?(?:-moi)?)\b(?:\s+(?:me|mir))?").find(&c.text) {
            let rest = c.text.get(f.end()..).unwrap_or_default().trim().to_owned();
            let there = has(r"\b(?:same|selben|gleichen|mismo|même)\s+chat\b", &rest);
            let what = if there {
                rx(r"^.*?\bchat\b\s*").replace(&rest, "").into_owned()
            } else {
                rest
            };
            let what = rx(r"^(?:con|mit|avec)\s+").replace(&what, "with ").into_owned();
            c.text = format!("reply in the same chat {what}").trim_end().to_owned();
        }
    }
}

/// What stands behind the command goes to the first step that reads something.
pub fn hand_over(steps: &mut [Step], ordered: Option<(String, String)>) {
    let Some((name, code)) = ordered else { return };
    let reads = steps.iter_mut().find_map(|s| match &mut s.does {
        Does::Service {
            args,
            verb: Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Run | Verb::Other,
            ..
        } => Some(args),
        Does::Http { query, .. } => Some(query),
        _ => None,
    });
    if let Some(args) = reads {
        args.push(arg(Role::Field(name), Val::Expr { code }));
    }
}
