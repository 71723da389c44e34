//! A document of a corpus: what it is called, who published it, what it says; read out of Markdown, HTML, CSV or plain text.

/// The forms that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Markdown,
    Html,
    Csv,
    Text,
}

impl Format {
    /// By the ending of a file's name; None: it is no form that is read.
    pub fn of_name(name: &str) -> Option<Format> {
        let (_, ending) = name.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            "md" | "markdown" => Some(Format::Markdown),
            "html" | "htm" => Some(Format::Html),
            "csv" => Some(Format::Csv),
            "txt" | "text" => Some(Format::Text),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDocument {
    #[error("it holds no text")]
    Empty,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// Its name: that of the file without its ending, or an address.
    pub doc: String,
    pub title: String,
    /// As the document says; empty: it does not say.
    pub source: String,
    pub date: String,
    /// What it says, a paragraph a line.
    pub text: String,
}

impl Document {
    /// Reads a document. Its first lines may be a title (`# …`, `<title>`) and lines `Source: …` and `Date: …`.
    ///
    /// # Errors
    /// When nothing is left to read.
    pub fn read(doc: &str, format: Format, content: &str) -> Result<Document, BadDocument> {
        let (title, text) = match format {
            Format::Html => of_html(content),
            Format::Csv => (String::new(), of_csv(content)),
            Format::Markdown | Format::Text => (String::new(), content.to_owned()),
        };
        let mut document = Document {
            doc: doc.to_owned(),
            title,
            ..Document::default()
        };
        let mut body = Vec::new();
        for line in text.lines().map(str::trim) {
            document.line(line, &mut body);
        }
        document.text = body.join("\n").trim().to_owned();
        if document.text.is_empty() {
            return Err(BadDocument::Empty);
        }
        if document.title.is_empty() {
            document.title = doc.to_owned();
        }
        Ok(document)
    }

    fn line(&mut self, line: &str, body: &mut Vec<String>) {
        let head = body.iter().all(String::is_empty);
        if head
            && self.title.is_empty()
            && let Some(title) = line.strip_prefix("# ")
        {
            self.title = title.trim().to_owned();
        } else if head
            && self.source.is_empty()
            && let Some(source) = line.strip_prefix("Source:")
        {
            self.source = source.trim().to_owned();
        } else if head
            && self.date.is_empty()
            && let Some(date) = line.strip_prefix("Date:")
        {
            self.date = date.trim().to_owned();
        } else {
            body.push(line.to_owned());
        }
    }

    /// What it is cited as: its source, or its name where it does not say one.
    pub fn cited(&self) -> &str {
        match self.source.as_str() {
            "" => &self.doc,
            source => source,
        }
    }

    /// Who stands behind it: the source up to its first comma. A document that names none stands for itself.
    pub fn publisher(&self) -> String {
        let named = self.source.split(',').next().unwrap_or_default().trim();
        match named.is_empty() {
            true => self.doc.to_lowercase(),
            false => named.to_lowercase(),
        }
    }
}

/// The rows of a table as sentences: each value with the name of its column.
fn of_csv(content: &str) -> String {
    let mut rows = content
        .lines()
        .map(cells)
        .filter(|row| row.iter().any(|cell| !cell.is_empty()));
    let heads = rows.next().unwrap_or_default();
    let told = rows.map(|cells| row(heads.iter().zip(&cells)));
    told.collect::<Vec<_>>().join("\n")
}

/// A row of a table as a sentence: each value with the head of its column.
pub fn row<'r>(pairs: impl IntoIterator<Item = (&'r String, &'r String)>) -> String {
    let pairs = pairs.into_iter().filter(|(_, value)| !value.is_empty());
    let told = pairs.map(|(head, value)| match head.is_empty() {
        true => value.clone(),
        false => format!("{head}: {value}"),
    });
    told.collect::<Vec<_>>().join(", ")
}

/// The cells of a line, with quotation marks off.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cells.last_mut().into_iter().for_each(|cell| cell.push('"'));
            }
            '"' => quoted = !quoted,
            ',' | ';' | '\t' if !quoted => cells.push(String::new()),
            c => cells.last_mut().into_iter().for_each(|cell| cell.push(c)),
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Title and text of a page: scripts, styles and comments are left out, blocks end a line.
fn of_html(content: &str) -> (String, String) {
    let mut title = String::new();
    let mut text = String::new();
    let mut rest = content;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        if let Some(comment) = after.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
            continue;
        }
        let (tag, behind) = after.split_once('>').unwrap_or((after, ""));
        rest = behind;
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        let name = name.to_ascii_lowercase();
        if !tag.starts_with('/')
            && matches!(
                name.as_str(),
                "script" | "style" | "title" | "template" | "noscript"
            )
        {
            let (inside, behind) = until_close(rest, &name);
            if name == "title" {
                title = entities(inside).trim().to_owned();
            }
            rest = behind;
        } else if !matches!(
            name.as_str(),
            "a" | "b"
                | "i"
                | "em"
                | "strong"
                | "span"
                | "code"
                | "u"
                | "small"
                | "abbr"
                | "sub"
                | "sup"
        ) {
            text.push('\n');
        }
    }
    text.push_str(rest);
    let lines = text
        .lines()
        .map(|line| entities(&line.split_whitespace().collect::<Vec<_>>().join(" ")));
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    (title, lines.join("\n"))
}

/// What stands before `</name`, and what behind it.
fn until_close<'a>(rest: &'a str, name: &str) -> (&'a str, &'a str) {
    let mut from = 0;
    while let Some(at) = rest
        .get(from..)
        .and_then(|r| r.find("</"))
        .map(|at| from + at)
    {
        let tag = rest.get(at + 2..).unwrap_or_default();
        let is_it = tag
            .get(..name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name));
        if is_it {
            let behind = tag.split_once('>').map_or("", |(_, behind)| behind);
            return (rest.get(..at).unwrap_or_default(), behind);
        }
        from = at + 2;
    }
    (rest, "")
}

fn entities(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    const NAMED: [(&str, &str); 9] = [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&euro;", "€"),
        ("&ndash;", "–"),
        ("&amp;", "&"),
    ];
    NAMED.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(name, value)
    })
}
