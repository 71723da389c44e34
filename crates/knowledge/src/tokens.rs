//! How many tokens a text costs a model, estimated: the same rule for every model, a little above what their tokenizers count
//! for English and for node names. Figures in docs and the limits of the index are in these tokens.

/// A run of letters costs one token for each six begun, a run of digits one for each three, any other visible character one,
/// a run of line ends one; spaces cost nothing.
pub fn tokens(text: &str) -> usize {
    let mut total = 0;
    let mut run = Run::None;
    for c in text.chars() {
        run = match (c, run) {
            ('\n', Run::Lines) => Run::Lines,
            ('\n', _) => {
                total += 1;
                Run::Lines
            }
            (c, _) if c.is_whitespace() => Run::None,
            (c, Run::Letters(n)) if c.is_alphabetic() => {
                total += usize::from(n % 6 == 0);
                Run::Letters(n + 1)
            }
            (c, Run::Digits(n)) if c.is_numeric() => {
                total += usize::from(n % 3 == 0);
                Run::Digits(n + 1)
            }
            (c, _) => {
                total += 1;
                if c.is_alphabetic() {
                    Run::Letters(1)
                } else if c.is_numeric() {
                    Run::Digits(1)
                } else {
                    Run::None
                }
            }
        };
    }
    total
}

#[derive(Clone, Copy)]
enum Run {
    None,
    Letters(usize),
    Digits(usize),
    Lines,
}

/// The beginning of the text that costs at most this many tokens, cut between words; `…` stands for the rest.
pub fn cut(text: &str, most: usize) -> String {
    if tokens(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for word in text.split_whitespace() {
        let longer = if kept.is_empty() {
            word.to_owned()
        } else {
            format!("{kept} {word}")
        };
        if tokens(&longer) + 1 > most {
            break;
        }
        kept = longer;
    }
    if kept.is_empty() {
        // One long word: its beginning says more than nothing.
        kept = text.chars().take(most.saturating_sub(1) * 4).collect();
    }
    format!("{kept}…")
}
