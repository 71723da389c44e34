//! Word: the paragraphs and tables of the document and its notes, as a reader sees them. What is struck out, moved away, hidden, or there
//! only for older programs is not part of it.

use crate::packed::Parts;
use crate::{MAX_DEPTH, MAX_TEXT, Text, Unread, line};
use agentctl_evidence::row;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

const FORM: &str = "Word";
const DOCUMENT: &str = "word/document.xml";
/// Besides the document itself.
const NOTES: [&str; 2] = ["word/footnotes.xml", "word/endnotes.xml"];
/// Elements whose content no reader sees.
const UNSEEN: [&str; 5] = ["del", "moveFrom", "Fallback", "instrText", "delText"];

pub(crate) fn text(bytes: &[u8]) -> Result<Text, Unread> {
    let parts = Parts::of(FORM, bytes)?;
    let document = parts.get(DOCUMENT).ok_or(Unread::Other(FORM))?;
    let mut page = Page::default();
    page.read(document)?;
    for notes in NOTES.iter().filter_map(|name| parts.get(name)) {
        page.read(notes)?;
    }
    Ok(Text {
        title: page.title,
        text: page.lines.join("\n"),
    })
}

#[derive(Default)]
struct Page {
    title: String,
    lines: Vec<String>,
    /// Of all lines.
    bytes: usize,
    /// The paragraph that is read.
    paragraph: String,
    is_title: bool,
    run: Run,
    /// The tables that are read, one in the other.
    tables: Vec<Table>,
}

/// A run of characters of one look.
#[derive(Default)]
struct Run {
    text: String,
    hidden: bool,
}

/// A table: its heads, and the cells of the row that is read.
#[derive(Default)]
struct Table {
    heads: Option<Vec<String>>,
    /// It has rows besides its heads.
    has_rows: bool,
    row: Vec<String>,
    cell: String,
}

impl Page {
    fn read(&mut self, xml: &str) -> Result<(), Unread> {
        let mut reader = Reader::from_str(xml);
        let (mut depth, mut unseen_from) = (0, None);
        loop {
            let event = reader.read_event();
            match event.map_err(|e| Unread::Damaged(e.to_string()))? {
                Event::Start(element) => {
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return Err(Unread::Depth);
                    }
                    match unseen_from {
                        None if UNSEEN.contains(&element.local_name().as_ref()) => {
                            unseen_from = Some(depth);
                        }
                        None => self.begins(&element),
                        Some(_) => {}
                    }
                }
                Event::Empty(element) if unseen_from.is_none() => {
                    self.begins(&element);
                    self.ends(element.local_name().as_ref())?;
                }
                Event::End(element) => {
                    if unseen_from.is_none() {
                        self.ends(element.local_name().as_ref())?;
                    }
                    if unseen_from == Some(depth) {
                        unseen_from = None;
                    }
                    depth = depth.saturating_sub(1);
                }
                Event::Text(text) if unseen_from.is_none() => self.run.text.push_str(&text),
                Event::CData(text) if unseen_from.is_none() => self.run.text.push_str(&text),
                Event::GeneralRef(named) if unseen_from.is_none() => {
                    if let Ok(Some(c)) = named.resolve_char_ref() {
                        self.run.text.push(c);
                    } else if let Some(text) = quick_xml::escape::resolve_predefined_entity(&named)
                    {
                        self.run.text.push_str(text);
                    }
                }
                Event::DocType(_) => return Err(Unread::DocumentType),
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }

    fn begins(&mut self, element: &BytesStart<'_>) {
        let value = |name: &str| {
            let mut all = element.attributes();
            let mut all = all.with_checks(false).flatten();
            let found = all.find(|attribute| attribute.key.local_name().as_ref() == name);
            found.map(|attribute| attribute.value.into_owned())
        };
        match element.local_name().as_ref() {
            "p" => self.paragraph.clear(),
            // Blanks between elements are no text.
            "r" => self.run = Run::default(),
            "t" => self.run.text.clear(),
            "tab" | "br" | "cr" => self.paragraph.push(' '),
            "noBreakHyphen" => self.paragraph.push('-'),
            "vanish" | "webHidden" => {
                self.run.hidden = !matches!(value("val").as_deref(), Some("0" | "false" | "off"));
            }
            "pStyle" => self.is_title = value("val").as_deref() == Some("Title"),
            "tbl" => self.tables.push(Table::default()),
            _ => {}
        }
    }

    fn ends(&mut self, name: &str) -> Result<(), Unread> {
        match name {
            "t" => {
                let text = std::mem::take(&mut self.run.text);
                if !self.run.hidden {
                    self.paragraph.push_str(&text);
                }
            }
            "p" => {
                let text = line(&std::mem::take(&mut self.paragraph));
                let is_title = std::mem::take(&mut self.is_title);
                match self.tables.last_mut() {
                    Some(table) => {
                        table.cell.push(' ');
                        table.cell.push_str(&text);
                    }
                    None if is_title && self.title.is_empty() => self.title = text,
                    None => self.tell(text)?,
                }
            }
            "tc" => {
                if let Some(table) = self.tables.last_mut() {
                    let cell = line(&std::mem::take(&mut table.cell));
                    table.row.push(cell);
                }
            }
            "tr" => {
                if let Some(table) = self.tables.last_mut() {
                    let cells = std::mem::take(&mut table.row);
                    table.has_rows = table.heads.is_some();
                    let told = (table.heads.as_ref()).map(|heads| row(heads.iter().zip(&cells)));
                    match told {
                        None => table.heads = Some(cells),
                        Some(told) => self.tell(told)?,
                    }
                }
            }
            "tbl" => {
                // One row has no heads over it.
                if let Some(table) = self.tables.pop()
                    && let Some(heads) = table.heads
                    && !table.has_rows
                {
                    self.tell(heads.join(", "))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn tell(&mut self, text: String) -> Result<(), Unread> {
        if text.is_empty() {
            return Ok(());
        }
        self.bytes += text.len() + 1;
        if self.bytes > MAX_TEXT {
            return Err(Unread::Long);
        }
        self.lines.push(text);
        Ok(())
    }
}
