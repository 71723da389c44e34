//! Which words of a message are its writer's own: not what it quotes (lines with `>`), not what stands in a fenced block, and nothing
//! from the head of a forwarded or answered message on. Pure; the heads are data (`own_words.tsv`), in four languages.

use std::sync::LazyLock;

/// Lines after the first one of a mail's head in which another of its lines must stand.
const HEAD_LINES: usize = 3;

#[derive(Default)]
struct Heads {
    whole: Vec<&'static str>,
    /// Beginning, a word inside, end.
    said: Vec<(&'static str, &'static str, &'static str)>,
    from: Vec<&'static str>,
    head: Vec<&'static str>,
}

static HEADS: LazyLock<Heads> = LazyLock::new(|| {
    let mut heads = Heads::default();
    let lines = include_str!("own_words.tsv").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        match (cells.next(), cells.next(), cells.next(), cells.next()) {
            (Some("whole"), Some(text), ..) => heads.whole.push(text),
            (Some("said"), Some(begin), Some(verb), Some(end)) => {
                heads.said.push((begin, verb, end));
            }
            (Some("from"), Some(text), ..) => heads.from.push(text),
            (Some("head"), Some(text), ..) => heads.head.push(text),
            _ => {}
        }
    }
    heads
});

/// The message without what is somebody else's, line by line.
pub fn own_words(message: &str) -> String {
    let lines: Vec<&str> = message.lines().collect();
    let mut own = String::with_capacity(message.len());
    let mut fence: Option<&str> = None;
    for (at, line) in lines.iter().enumerate() {
        let bare = line.trim();
        if let Some(mark) = fence {
            if bare.starts_with(mark) {
                fence = None;
            }
            continue;
        }
        if let Some(mark) = ["```", "~~~"].into_iter().find(|m| bare.starts_with(m)) {
            fence = Some(mark);
            continue;
        }
        if bare.starts_with('>') {
            continue;
        }
        if is_head(bare, lines.get(at + 1..).unwrap_or_default()) {
            break;
        }
        own.push_str(line);
        own.push('\n');
    }
    own
}

fn is_head(line: &str, after: &[&str]) -> bool {
    let plain = |line: &str| {
        line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '_' | '*' | '='))
            .to_lowercase()
            .replace('’', "'")
    };
    let line = plain(line);
    let begins = |line: &str, heads: &[&str]| heads.iter().any(|head| line.starts_with(head));
    HEADS.whole.contains(&line.as_str())
        || HEADS.said.iter().any(|(begin, verb, end)| {
            line.starts_with(begin) && line.contains(verb) && line.ends_with(end)
        })
        || begins(&line, &HEADS.from)
            && (after.iter().take(HEAD_LINES)).any(|next| begins(&plain(next), &HEADS.head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_fenced_or_forwarded_is_somebody_elses() {
        for (message, own) in [
            ("We need a bot.", "We need a bot.\n"),
            ("> the sponsor is Ann\nyes", "yes\n"),
            ("see\n```\nsponsor: Ann\n```\nthat", "see\nthat\n"),
            ("see\n```\nsponsor: Ann", "see\n"),
            ("FYI\n-----Original Message-----\nI sponsor it", "FYI\n"),
            ("ok\nAm 3. Mai 2026 schrieb Ann:\nich", "ok\n"),
            ("ok\nOn Mon, 3 May 2026, Ann wrote:\nme", "ok\n"),
            (
                "Salut\nDe : Ann\nEnvoyé : lundi\nObjet : bot\nmoi",
                "Salut\n",
            ),
            (
                "From: the beginning it was slow",
                "From: the beginning it was slow\n",
            ),
            ("Hola\n*Mensaje reenviado*\nyo", "Hola\n"),
        ] {
            assert_eq!(own_words(message), own, "{message}");
        }
    }
}
