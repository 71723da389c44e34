//! What was said so far, and in which languages the user's last message is read.

use crate::language::{counted, languages};
use crate::phrases::covered;
use crate::words::Text;
use agentctl_base::own_words::own_words;

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub by_user: bool,
    pub text: String,
}

/// A conversation that ends with the message to be read.
#[derive(Debug)]
pub(crate) struct Talk<'a> {
    said: &'a [Said],
    /// The user's own words of the last message.
    pub own: String,
    /// Of the reply.
    pub language: &'static str,
    /// In which the message is read.
    pub languages: Vec<&'static str>,
}

impl<'a> Talk<'a> {
    pub fn new(said: &'a [Said]) -> Talk<'a> {
        let own = said
            .iter()
            .rev()
            .find(|s| s.by_user)
            .map_or(String::new(), |s| own_words(&s.text));
        let language = language(said, &own);
        let own_counts = counted(&own);
        let most = own_counts.iter().map(|(n, _)| *n).max().unwrap_or(0);
        let mut read = vec![language];
        for (n, name) in own_counts {
            if n > 0 && n == most && name != language {
                read.push(name);
            }
        }
        Talk {
            said,
            own,
            language,
            languages: read,
        }
    }

    /// The user's messages before the last one, the latest first.
    pub fn earlier(&self) -> impl Iterator<Item = &'a str> {
        let users = self.said.iter().rev().filter(|s| s.by_user).skip(1);
        users.map(|s| s.text.as_str())
    }

    /// What was said to the user since the message before the last one, joined.
    pub fn last_reply(&self) -> String {
        let before = self.said.iter().rev().skip_while(|s| !s.by_user).skip(1);
        let mut parts: Vec<&str> = before
            .take_while(|s| !s.by_user)
            .map(|s| s.text.as_str())
            .collect();
        parts.reverse();
        parts.join("\n")
    }

    /// What was said to the user just before that.
    pub fn reply_before(&self) -> String {
        let last = self.said.iter().rev().skip_while(|s| !s.by_user).skip(1);
        let before = last.skip_while(|s| !s.by_user).skip_while(|s| s.by_user);
        let mut parts: Vec<&str> = before
            .take_while(|s| !s.by_user)
            .map(|s| s.text.as_str())
            .collect();
        parts.reverse();
        parts.join("\n")
    }
}

/// Whether a message has words of somebody else.
pub(crate) fn has_others(message: &str) -> bool {
    own_words(message).lines().count() < message.lines().count()
}

/// Two small words of a language more than of any other tell it by the message alone; else what the user wrote before counts too.
fn language(said: &[Said], own: &str) -> &'static str {
    const TELLS: usize = 2;
    let clear = |counts: &[(usize, &'static str)], least: usize| {
        let best = counts.iter().map(|(n, _)| *n).max().unwrap_or(0);
        let mut at_best = counts.iter().filter(|(n, _)| *n == best);
        let first = at_best.next().map(|(_, name)| *name);
        first.filter(|_| best >= least && at_best.next().is_none())
    };
    let own = counted(own);
    if let Some(language) = clear(&own, TELLS) {
        return language;
    }
    let mut sums: Vec<(usize, &'static str)> = languages().map(|name| (0, name)).collect();
    for message in said.iter().filter(|s| s.by_user) {
        for (sum, (n, _)) in sums.iter_mut().zip(counted(&own_words(&message.text))) {
            sum.0 += n;
        }
    }
    let most = sums.iter().map(|(n, _)| *n).max().unwrap_or(0);
    let first = sums.iter().find(|(n, _)| *n == most && *n > 0);
    first.map_or_else(|| by_phrases(said), |(_, name)| name)
}

/// The language in which most of what was said is a greeting, a yes, a thank you; English in doubt. For texts without small words.
fn by_phrases(said: &[Said]) -> &'static str {
    const TELLING: [&str; 8] = [
        "greet", "thanks", "bye", "yes", "no", "abandon", "unknown", "help",
    ];
    let own = said.iter().rev().find(|s| s.by_user);
    let own = own.map_or(String::new(), |s| own_words(&s.text));
    let text = Text::new(&own);
    let open = |name: &'static str| {
        let (open, used) = covered(&text, 0..text.words.len(), &TELLING, &[name]);
        if used.is_empty() { usize::MAX } else { open }
    };
    languages().min_by_key(|name| open(name)).unwrap_or("en")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_tells_its_language_and_a_name_none() {
        for (text, language) in [
            ("Guten Tag", "de"),
            ("Bonjour !", "fr"),
            ("Buenas tardes", "es"),
            ("Good morning", "en"),
            ("Grace Mbeki", "en"),
        ] {
            let text = text.to_owned();
            let said = [Said {
                by_user: true,
                text,
            }];
            assert_eq!(Talk::new(&said).language, language, "{said:?}");
        }
    }
}
