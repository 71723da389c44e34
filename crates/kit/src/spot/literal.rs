//! The literal things of a request, told by their shape: addresses, channels, paths, figures, names of machines.

use super::Kind;

/// Endings of file names.
const ENDINGS: &[&str] = &[
    "csv", "json", "xlsx", "xls", "pdf", "txt", "xml", "html", "zip", "gz", "sql", "sh", "png",
    "jpg", "jpeg", "docx", "md", "yaml", "yml", "log", "ics", "mp3", "ogg", "wav", "tsv", "py",
    "js",
];
/// Marks of money.
const MONEY: &[char] = &['$', '\u{20ac}', '\u{a3}', '\u{a5}'];

/// Reads a literal of one kind at the start of a text: what it is, and its length in bytes.
type Reader = fn(&str) -> Option<(Kind, usize)>;

/// The literal at the start of a text, with its length; none where a plain word or a mark stands.
pub(super) fn literal(rest: &str) -> Option<(Kind, usize)> {
    let run = run(rest);
    let tries: [Reader; 8] = [url, mail, named, path, phone, clock, number, machine];
    tries.iter().find_map(|read| read(run))
}

/// A place to be filled: `{{ … }}`, `<name>`, `${…}`, `{name}`.
pub(super) fn hole(rest: &str) -> Option<usize> {
    for (open, close) in [("{{", "}}"), ("${", "}"), ("<", ">"), ("{", "}")] {
        let Some(inner) = rest.strip_prefix(open) else {
            continue;
        };
        let Some(end) = inner.find(close) else {
            continue;
        };
        let inside = &inner[..end];
        let plain = inside
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | '-' | '.' | '$' | '\''));
        let fits = match open {
            "{{" | "${" => !inside.contains('\n'),
            _ => plain && inside.starts_with(char::is_alphabetic) && inside.len() <= 40,
        };
        if fits {
            return Some(open.len() + end + close.len());
        }
    }
    None
}

/// A statement of SQL, up to the end of its sentence, or an object of JSON.
pub(super) fn code(rest: &str) -> Option<usize> {
    const BEGINS: [&str; 5] = [
        "SELECT ",
        "INSERT INTO ",
        "UPDATE ",
        "DELETE FROM ",
        "WITH ",
    ];
    const MEANS: [&str; 4] = [" FROM ", " VALUES", " SET ", "DELETE FROM "];
    if BEGINS.iter().any(|b| rest.starts_with(b)) {
        let line = rest.split(['\n', '\u{2192}']).next().unwrap_or(rest);
        let ends = [". ", " -> ", "; ", " => "];
        let end = ends
            .iter()
            .filter_map(|e| line.find(e))
            .min()
            .unwrap_or(line.len());
        let said = line[..end].trim_end_matches(['.', ' ', ';', ')']);
        if MEANS.iter().any(|m| said.contains(m)) {
            let open = said.matches('(').count() > said.matches(')').count();
            return Some(said.len() + usize::from(open));
        }
    }
    if !(rest.starts_with("{\"") || rest.starts_with("{ \"") || rest.starts_with("[{")) {
        return None;
    }
    let mut depth = 0usize;
    for (i, c) in rest.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            '\n' if i > 600 => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(i + 1);
        }
    }
    None
}

/// The run of characters up to white space, without the punctuation that ends it.
fn run(rest: &str) -> &str {
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let run = crate::cut::text(rest, 0, end);
    let cut = run
        .find(['\u{2192}', '\u{201c}', '\u{201d}', '"', '\u{2026}'])
        .unwrap_or(run.len());
    let run = &run[..cut];
    let closes = if run.contains('(') { "" } else { ")" };
    let holes = run.matches('<').count() == run.matches('>').count();
    run.trim_end_matches(|c: char| {
        ".,;:!?'\u{2019}]".contains(c) || c == '>' && !holes || closes.contains(c)
    })
}

fn url(run: &str) -> Option<(Kind, usize)> {
    let lower = run.to_ascii_lowercase();
    let known = [
        "http://", "https://", "ftp://", "sftp://", "www.", "mqtt://", "amqp://", "s3://",
    ];
    (known.iter().any(|p| lower.starts_with(p)) && run.len() > 8).then_some((Kind::Url, run.len()))
}

fn mail(run: &str) -> Option<(Kind, usize)> {
    let end = run
        .find(|c: char| !(c.is_alphanumeric() || "@._%+-".contains(c)))
        .unwrap_or(run.len());
    let run = run[..end].trim_end_matches(['.', '-']);
    let (name, host) = run.split_once('@')?;
    let fits = !name.is_empty() && host.contains('.') && !host.contains('@');
    fits.then_some((Kind::Mail, run.len()))
}

/// `#sales`, `@maria`.
fn named(run: &str) -> Option<(Kind, usize)> {
    let kind = match run.chars().next()? {
        '#' => Kind::Channel,
        '@' => Kind::Handle,
        _ => return None,
    };
    let name = &run[1..];
    let end = name
        .find(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)))
        .unwrap_or(name.len());
    let name = name[..end].trim_end_matches(['.', '-']);
    name.contains(char::is_alphanumeric)
        .then_some((kind, 1 + name.len()))
}

fn path(run: &str) -> Option<(Kind, usize)> {
    let inner = run.strip_prefix('/')?;
    let first = inner.chars().next()?;
    let end = run.find([',', ';', '(', ')']).unwrap_or(run.len());
    (first.is_alphanumeric() || matches!(first, '{' | ':' | '_' | '*')).then_some((Kind::Path, end))
}

fn phone(run: &str) -> Option<(Kind, usize)> {
    let inner = run.strip_prefix('+')?;
    let end = inner
        .find(|c: char| !(c.is_ascii_digit() || "-/()".contains(c)))
        .unwrap_or(inner.len());
    let digits = inner[..end].chars().filter(char::is_ascii_digit).count();
    (digits >= 6).then_some((Kind::Phone, 1 + end))
}

/// `9:00`, `7pm`, `18h30`, `7.30am`.
fn clock(run: &str) -> Option<(Kind, usize)> {
    let digits = leading_digits(run);
    if digits == 0 || digits > 2 {
        return None;
    }
    let after = &run[digits..];
    let minutes = after
        .strip_prefix([':', 'h', '.'])
        .map_or(0, leading_digits);
    let mut end = digits;
    if minutes == 2 {
        end += 3;
    }
    let suffix = run[end..].to_ascii_lowercase();
    let half = ["am", "pm", "a.m", "p.m"]
        .iter()
        .find(|h| suffix.starts_with(**h));
    if let Some(half) = half {
        return boundary(&run[end + half.len()..]).then_some((Kind::Clock, end + half.len()));
    }
    let colon = minutes == 2 && !after.starts_with('.');
    if colon {
        return boundary(&run[end..]).then_some((Kind::Clock, end));
    }
    let bare = after.starts_with(['h', 'H']) && boundary(&after[1..]);
    bare.then_some((Kind::Clock, digits + 1))
}

/// A figure with its sign of money or per cent, its separators, its `k`, its ordinal ending.
fn number(run: &str) -> Option<(Kind, usize)> {
    let money = run
        .chars()
        .next()
        .filter(|c| MONEY.contains(c))
        .map_or(0, char::len_utf8);
    let minus = usize::from(run[money..].starts_with('-') && money == 0);
    let start = money + minus;
    let digits = leading_digits(&run[start..]);
    if digits == 0 {
        return None;
    }
    let mut end = start + digits;
    loop {
        let mut chars = run[end..].chars();
        let separates = chars
            .next()
            .is_some_and(|c| matches!(c, '.' | ',' | '\'' | '_'));
        let more = leading_digits(run.get(end + 1..).unwrap_or(""));
        if !separates || more == 0 {
            break;
        }
        end += 1 + more;
    }
    let tail = run[end..].to_lowercase();
    let known = [
        "%",
        "k",
        "m",
        "st",
        "nd",
        "rd",
        "th",
        "x",
        "eur",
        "usd",
        "\u{20ac}",
        "$",
        "\u{a3}",
        "s",
        "sec",
        "ms",
        "min",
        "mins",
        "h",
        "hrs",
        "d",
        "kb",
        "mb",
        "gb",
        ".",
        "er",
        "e",
        "\u{ba}",
        "\u{aa}",
        "k\u{20ac}",
    ];
    let best = known
        .iter()
        .filter(|t| tail.starts_with(**t) && boundary(&tail[t.len()..]))
        .max_by_key(|t| t.len());
    match best {
        Some(t) if *t != "." => Some((Kind::Number, end + t.len())),
        _ => boundary(&run[end..]).then_some((Kind::Number, end)),
    }
}

/// A name of a machine: letters with digits or underscores, parts joined by full stops or colons, capitals inside.
fn machine(run: &str) -> Option<(Kind, usize)> {
    let end = run
        .find(|c: char| !(c.is_alphanumeric() || "_-.:*/+#".contains(c)))
        .unwrap_or(run.len());
    let name = run[..end].trim_end_matches(['.', ':', '-', '/']);
    if name.contains("//") || !name.contains(char::is_alphabetic) && !name.contains('-') {
        return None;
    }
    let ending = name.rsplit_once('.').map(|(_, e)| e.to_lowercase());
    if ending.is_some_and(|e| ENDINGS.contains(&e.as_str())) && !name.ends_with('/') {
        return Some((Kind::File, name.len()));
    }
    let digits = name.chars().filter(char::is_ascii_digit).count();
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    let underscore = name.contains('_');
    let dotted = name.split('.').filter(|p| p.len() > 1).count() > 1
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_' || c == '-');
    let camel = name
        .chars()
        .zip(name.chars().skip(1))
        .any(|(a, b)| a.is_lowercase() && b.is_uppercase())
        && name.chars().all(char::is_alphanumeric)
        && name.starts_with(char::is_lowercase);
    let mixed = digits > 1 && letters > 1 && name.len() >= 5;
    // a topic of a broker with a wildcard, a mailbox below the inbox
    let placed = name.contains("/+") || name.ends_with("/#") || name.starts_with("INBOX/");
    let slashed = placed || name.contains('/') && (underscore || name.contains('-') || mixed);
    let long = digits >= 2 && letters == 0 && name.contains('-');
    (underscore || dotted || camel || mixed || slashed || long).then_some((Kind::Id, name.len()))
}

fn leading_digits(text: &str) -> usize {
    text.chars().take_while(char::is_ascii_digit).count()
}

/// Whether a figure may end before this.
fn boundary(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}
