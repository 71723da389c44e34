//! The words of a request, each with the class that it has here: literals, services and times set aside, forms of several
//! words joined, verbs told from nouns by what stands around them. Every later reading works on these items.

#[cfg(test)]
mod chart_tests;
mod grammar;
mod tag;

use crate::lex::{Class, Lexicon, Sense};
use crate::lexicon::{self, ServiceEntry};
use crate::spot::{Kind, Token, tokens};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What an item is.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A thing given word for word, a figure, a time of day, a sign, a mark, an end.
    Shape(Kind),
    Service(&'static ServiceEntry),
    /// A word with the sense that it has here.
    Word(Sense),
    /// A word of no table.
    Unknown,
}

/// One item of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub from: usize,
    pub to: usize,
    /// As compared: lower case, a quote without its marks.
    pub text: String,
    pub capital: bool,
    pub what: What,
    /// A typo was read as the form that it misses by one letter.
    pub spelled: bool,
}

impl Item {
    pub fn is(&self, class: &str) -> bool {
        matches!(&self.what, What::Word(s) if s.is(class))
    }
    /// Whether it is a function word that says something besides its class.
    pub fn tells(&self, more: &str) -> bool {
        matches!(&self.what, What::Word(s) if s.tells(more))
    }
    pub fn shape(&self) -> Option<Kind> {
        match self.what {
            What::Shape(kind) => Some(kind),
            _ => None,
        }
    }
    pub fn sense(&self, class: Class) -> Option<&Sense> {
        match &self.what {
            What::Word(s) if s.class == class => Some(s),
            _ => None,
        }
    }
    pub fn verb(&self) -> Option<&Sense> {
        self.sense(Class::Verb)
    }
    pub fn noun(&self) -> Option<&Sense> {
        self.sense(Class::Noun)
    }
    pub fn service(&self) -> Option<&'static ServiceEntry> {
        match self.what {
            What::Service(s) => Some(s),
            _ => None,
        }
    }
    /// Whether it is a sign of punctuation, or a line's end.
    pub fn stops(&self) -> bool {
        matches!(self.shape(), Some(Kind::Mark | Kind::End))
    }
    /// Whether a workflow must hold it: a literal thing.
    pub fn literal(&self) -> bool {
        self.shape().is_some_and(|k| {
            !matches!(
                k,
                Kind::Number
                    | Kind::Clock
                    | Kind::Sign
                    | Kind::Mark
                    | Kind::End
                    | Kind::Hole
                    | Kind::Word
            )
        })
    }
}

/// A request, cut into items.
#[derive(Debug, Clone)]
pub struct Chart {
    pub language: &'static str,
    pub items: Vec<Item>,
}

impl Chart {
    /// The item at a place; behind the last one, the end of a sentence.
    pub fn item(&self, at: usize) -> &Item {
        item_at(&self.items, at)
    }
}

/// The item at a place; behind the last one, the end of a sentence.
fn item_at(items: &[Item], at: usize) -> &Item {
    static BEHIND: Item = Item {
        from: usize::MAX,
        to: usize::MAX,
        text: String::new(),
        capital: false,
        what: What::Shape(Kind::End),
        spelled: false,
    };
    items.get(at).unwrap_or(&BEHIND)
}

/// An item before its class is chosen.
pub(crate) struct Open {
    pub from: usize,
    pub to: usize,
    pub text: String,
    pub capital: bool,
    pub shape: Kind,
    pub service: Option<&'static ServiceEntry>,
    pub senses: &'static [Sense],
    pub spelled: bool,
}

impl Open {
    fn nothing() -> Self {
        Open {
            from: 0,
            to: 0,
            text: String::new(),
            capital: false,
            shape: Kind::End,
            service: None,
            senses: &[],
            spelled: false,
        }
    }
}

/// The longest name of a service, in tokens.
const LONGEST_NAME: usize = 5;

/// Reads a request in a language.
pub fn chart(text: &str, language: &str) -> Chart {
    let lexicon = Lexicon::of(language);
    let tokens = exclaimed(tokens(text), text, lexicon);
    let tokens = slashes(owned(tokens, lexicon), lexicon);
    let tokens = owners(hyphens(tokens, lexicon), lexicon);
    let mut open = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let rest = crate::cut::from(&tokens, at);
        let (item, used) = match method(rest, text) {
            Some(method) => (method, 1),
            None => one(rest, lexicon, open.last()),
        };
        open.push(item);
        at += used;
    }
    Chart {
        language: lexicon.language,
        items: grammar::refined(tag::tagged(open, lexicon.language), lexicon.language),
    }
}

/// "POST /orders": a method in capitals before an address is no verb.
fn method(tokens: &[Token], text: &str) -> Option<Open> {
    let [first, second, ..] = tokens else {
        return None;
    };
    let said = text.get(first.from..first.to)?;
    let shouted = matches!(said, "GET" | "POST" | "PUT" | "PATCH" | "DELETE");
    let addressed = matches!(second.kind, Kind::Path | Kind::Url);
    (shouted && addressed).then(|| Open {
        from: first.from,
        to: first.to,
        text: first.text.clone(),
        capital: true,
        shape: first.kind,
        ..Open::nothing()
    })
}

/// The words of a name, whether it counts only with a capital letter, and whose it is.
type Name = (Vec<String>, bool, &'static ServiceEntry);

/// Services by the first word of each name, longest names first.
static NAMES: LazyLock<HashMap<String, Vec<Name>>> = LazyLock::new(|| {
    let mut names: HashMap<String, Vec<Name>> = HashMap::new();
    for service in lexicon::services() {
        for alias in &service.aliases {
            let words: Vec<String> = tokens(&alias.text.to_lowercase())
                .into_iter()
                .map(|t| t.text)
                .collect();
            if let Some(first) = words.first() {
                let of = names.entry(first.clone()).or_default();
                of.push((words.clone(), alias.capitalised, service));
            }
        }
    }
    for of in names.values_mut() {
        of.sort_by_key(|(words, _, _)| std::cmp::Reverse(words.len()));
    }
    names
});

/// The item that begins with the first token, and how many tokens it takes.
fn one(tokens: &[Token], lexicon: &'static Lexicon, before: Option<&Open>) -> (Open, usize) {
    let Some(first) = tokens.first() else {
        return (Open::nothing(), 1);
    };
    let item = |used: usize, text: String| {
        let last = tokens.get(used - 1).unwrap_or(first);
        Open {
            from: first.from,
            to: last.to,
            text,
            capital: first.capital,
            shape: first.kind,
            service: None,
            senses: &[],
            spelled: false,
        }
    };
    if let Some((service, used)) = service(tokens, before) {
        let text = joined(crate::cut::before(tokens, used));
        return (
            Open {
                service: Some(service),
                shape: Kind::Word,
                ..item(used, text)
            },
            used,
        );
    }
    if first.kind != Kind::Word {
        return (item(1, first.text.clone()), 1);
    }
    let reach = lexicon.reach(&first.text).min(tokens.len());
    for used in (1..=reach).rev() {
        if crate::cut::before(tokens, used)
            .iter()
            .any(|t| !matches!(t.kind, Kind::Word | Kind::Id | Kind::Mark))
        {
            continue;
        }
        let text = joined(crate::cut::before(tokens, used));
        let senses = lexicon.senses(&text);
        if !senses.is_empty() {
            return (
                Open {
                    senses,
                    ..item(used, text)
                },
                used,
            );
        }
    }
    if let Some(senses) = compound(&first.text, lexicon) {
        return (
            Open {
                senses,
                ..item(1, first.text.clone())
            },
            1,
        );
    }
    if let Some(form) = (!first.capital)
        .then(|| lexicon.spelled(&first.text))
        .flatten()
    {
        let senses = lexicon.senses(form);
        return (
            Open {
                senses,
                spelled: true,
                ..item(1, form.to_owned())
            },
            1,
        );
    }
    (item(1, first.text.clone()), 1)
}

/// The senses of the noun that a German compound ends with: "Rechnungsbetrag" is an amount.
fn compound(word: &str, lexicon: &'static Lexicon) -> Option<&'static [Sense]> {
    const SHORTEST: usize = 4;
    const SHORTEST_BEFORE: usize = 3;
    if lexicon.language != "de" {
        return None;
    }
    let last = word.rsplit('-').next().filter(|l| l.len() < word.len());
    let begins = word
        .char_indices()
        .skip(SHORTEST_BEFORE)
        .map(|(i, _)| &word[i..]);
    last.into_iter()
        .chain(begins)
        .take_while(|end| end.chars().count() >= SHORTEST)
        .find_map(|end| {
            let senses = lexicon.senses(end);
            let noun = senses.iter().position(|s| s.class == Class::Noun)?;
            (!end.contains('-'))
                .then(|| senses.get(noun..=noun))
                .flatten()
        })
}

/// "the mail's subject", "Stripe's balance": an owner is what it is without the ending, and stands before what it owns.
fn owners(mut tokens: Vec<Token>, lexicon: &Lexicon) -> Vec<Token> {
    for token in &mut tokens {
        let owner = ["'s", "\u{2019}s"].iter().find_map(|end| {
            token
                .text
                .strip_suffix(end)
                .map(|o| (o.to_owned(), end.len()))
        });
        let Some((owner, ending)) = owner.filter(|_| token.kind == Kind::Word) else {
            continue;
        };
        let known = !lexicon.senses(&owner).is_empty() || NAMES.contains_key(&owner);
        if lexicon.senses(&token.text).is_empty()
            && known
            && token.text.len() == token.to - token.from
        {
            token.text = owner;
            token.to -= ending;
        }
    }
    tokens
}

/// "post Well done! to Slack": what stands between the verb of a message and an exclamation mark that ends no sentence is said word
/// for word.
fn exclaimed(mut tokens: Vec<Token>, text: &str, lexicon: &Lexicon) -> Vec<Token> {
    const TELLS: [&str; 5] = ["SEND", "NOTIFY", "PUBLISH", "REPLY", "SAY"];
    let goes_on = |next: &Token, mark: &Token| {
        let near = text.get(mark.to..next.from) == Some(" ");
        near && !next.capital && lexicon.can_be(&next.text, "prep")
    };
    let ends = |t: &Token| t.kind == Kind::End || t.kind == Kind::Mark && t.text == ":";
    let tells = |t: &Token| {
        let frame = |s: &Sense| {
            TELLS
                .iter()
                .any(|frame| s.says.first().is_some_and(|f| f == frame))
        };
        lexicon.senses(&t.text).iter().any(frame)
    };
    let mut at = 0;
    while at + 1 < tokens.len() {
        let (before, rest) = tokens.split_at(at);
        let [mark, next, ..] = rest else { break };
        at += 1;
        if mark.text != "!" || !goes_on(next, mark) {
            continue;
        }
        let sentence = before.iter().rposition(ends).map_or(0, |end| end + 1);
        let said = crate::cut::from(before, sentence);
        let Some(first) = said.iter().rposition(tells).map(|verb| sentence + verb + 1) else {
            continue;
        };
        let plain = |t: &Token| matches!(t.kind, Kind::Word | Kind::Number | Kind::Id | Kind::Mark);
        let said = crate::cut::from(before, first);
        // "post it! in Slack" says it of something else.
        let named = said.first().filter(|t| t.capital);
        let Some((from, to)) = named.map(|t| (t.from, mark.to)) else {
            continue;
        };
        if !said.iter().all(plain) {
            continue;
        }
        let quote = Token {
            from,
            to,
            kind: Kind::Quote,
            text: text.get(from..to).unwrap_or("").to_owned(),
            capital: false,
        };
        tokens.splice(first..at, [quote]);
        at = first + 1;
    }
    tokens
}

/// Splits "Slack-Kanal" and "Google-Drive-Ordner" into the service and the noun after it.
/// "acme/app": a word of no table with a path right behind it names something and its owner.
fn owned(tokens: Vec<Token>, lexicon: &Lexicon) -> Vec<Token> {
    let mut done: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let owner = done.last_mut().filter(|last| {
            let strange = lexicon.senses(&last.text).is_empty();
            last.kind == Kind::Word && last.to == token.from && strange
        });
        match owner {
            Some(owner) if token.kind == Kind::Path => {
                owner.to = token.to;
                owner.text += &token.text;
                owner.kind = Kind::Id;
            }
            _ => done.push(token),
        }
    }
    done
}

/// "octo/parser" is one name where one of its words is in no table; "name/email" are two words.
fn slashes(tokens: Vec<Token>, lexicon: &Lexicon) -> Vec<Token> {
    let mut done: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let inner = token.text.strip_prefix('/').unwrap_or("");
        let plain = !inner.is_empty() && inner.chars().all(char::is_alphanumeric);
        let joins = |last: &Token| {
            let strange = [last.text.as_str(), inner]
                .iter()
                .any(|word| lexicon.senses(word).is_empty());
            last.kind == Kind::Word && last.to == token.from && strange
        };
        match done.last_mut().filter(|last| plain && joins(last)) {
            Some(last) => {
                last.to = token.to;
                last.kind = Kind::Id;
                last.text.push_str(&token.text);
            }
            None => done.push(token),
        }
    }
    done
}

fn hyphens(tokens: Vec<Token>, lexicon: &Lexicon) -> Vec<Token> {
    let mut done = Vec::with_capacity(tokens.len());
    for token in tokens {
        match parted(&token, lexicon) {
            Some(parts) => done.extend(parts),
            None => done.push(token),
        }
    }
    done
}

fn parted(token: &Token, lexicon: &Lexicon) -> Option<Vec<Token>> {
    if token.kind != Kind::Word
        || !token.text.contains('-')
        || token.text.len() != token.to - token.from
    {
        return None;
    }
    let named = |words: &[&str]| {
        let of = NAMES.get(*words.first()?)?;
        of.iter().find(|(name, _, _)| {
            name.len() == words.len() && name.iter().zip(words).all(|(a, b)| a == b)
        })
    };
    if named(&[&token.text]).is_some() {
        return None;
    }
    let parts: Vec<&str> = token.text.split('-').collect();
    let known = |noun: &str| {
        let noun = Some(noun).filter(|n| n.len() > 2)?;
        let own = lexicon.senses(noun).iter().any(|s| s.class == Class::Noun);
        (own || compound(noun, Lexicon::of(lexicon.language)).is_some()).then_some(())
    };
    let cut = (1..parts.len())
        .rev()
        .find(|cut| named(crate::cut::before(&parts, *cut)).is_some())?;
    known(&crate::cut::from(&parts, cut).join("-"))?;
    let mut at = token.from;
    let pieces = parts.iter().enumerate();
    let mut out: Vec<Token> = Vec::new();
    for (n, part) in pieces {
        if n > cut {
            if let Some(last) = out.last_mut() {
                last.text = format!("{}-{part}", last.text);
                last.to = at + part.len();
            }
        } else {
            out.push(Token {
                from: at,
                to: at + part.len(),
                text: (*part).to_owned(),
                ..token.clone()
            });
        }
        at += part.len() + 1;
    }
    Some(out)
}

fn joined(tokens: &[Token]) -> String {
    let words: Vec<&str> = tokens.iter().map(|t| t.text.as_str()).collect();
    words.join(" ")
}

/// The service whose name begins here, with its length in tokens. A name that is an ordinary word counts only with a capital
/// letter within a sentence.
fn service(tokens: &[Token], before: Option<&Open>) -> Option<(&'static ServiceEntry, usize)> {
    let starts = before.is_none_or(|b| b.shape == Kind::End);
    let first = tokens.first()?;
    if !matches!(first.kind, Kind::Word | Kind::Id | Kind::File) {
        return None;
    }
    let fits = |(words, capitalised, _): &&Name| {
        words.len() <= tokens.len().min(LONGEST_NAME)
            && words
                .iter()
                .zip(tokens)
                .all(|(w, t)| t.kind != Kind::Quote && *w == t.text)
            && (!capitalised || first.capital && !starts)
    };
    if let Some((words, _, service)) = NAMES.get(&first.text).and_then(|of| of.iter().find(fits)) {
        return Some((service, words.len()));
    }
    misspelled(first).map(|service| (service, 1))
}

/// The service of a name of one word, at least six letters long, that is missed by one letter.
fn misspelled(token: &Token) -> Option<&'static ServiceEntry> {
    const SHORTEST: usize = 6;
    if token.kind != Kind::Word || token.text.chars().count() < SHORTEST {
        return None;
    }
    let known = ["en"]
        .iter()
        .any(|l| !Lexicon::of(l).senses(&token.text).is_empty());
    let near = |name: &&String| {
        name.chars().count() >= SHORTEST
            && name.chars().next() == token.text.chars().next()
            && strsim::osa_distance(name, &token.text) == 1
    };
    let of = |name: &String| {
        let of = NAMES.get(name)?;
        of.iter()
            .find(|(words, wordy, _)| words.len() == 1 && !wordy)
            .map(|(_, _, s)| *s)
    };
    if known {
        return None;
    }
    let mut found: Vec<&String> = NAMES.keys().filter(near).collect();
    found.sort();
    found.into_iter().find_map(of)
}
