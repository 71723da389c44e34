//! The text of files that are more than text: PDF, Word, Excel. What is read is hostile: a small file can unpack to more than a machine
//! has, nest for ever, or break the crate that reads it. So this runs in a child process of its own with nothing to lose (`answer`), and
//! what can be counted beforehand is counted and refused by name. Does no IO of its own, and starts nothing.

mod answer;
mod docx;
mod packed;
mod pdf;
mod xlsx;

pub use answer::{Answer, answer};

/// The forms that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Pdf,
    Docx,
    Xlsx,
}

impl Form {
    const ALL: [Form; 3] = [Form::Pdf, Form::Docx, Form::Xlsx];

    /// What a file's name ends with, and how the form is named between processes.
    pub fn name(self) -> &'static str {
        match self {
            Form::Pdf => "pdf",
            Form::Docx => "docx",
            Form::Xlsx => "xlsx",
        }
    }

    pub fn named(name: &str) -> Option<Form> {
        Form::ALL.into_iter().find(|form| form.name() == name)
    }

    /// By the ending of a file's name; None: it is no form that is read here.
    pub fn of_name(name: &str) -> Option<Form> {
        let (_, ending) = name.rsplit_once('.')?;
        Form::named(&ending.to_ascii_lowercase())
    }
}

/// What a file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// As the file marks it; empty: it marks none.
    pub title: String,
    /// A paragraph a line; a row of a table is a line, each value with the name of its column.
    pub text: String,
}

/// Entries of a packed file, bytes that all of them unpack to, depth of its elements, cells of its sheets, bytes of text.
pub const MAX_ENTRIES: usize = 2000;
pub const MAX_UNPACKED: u64 = 64 * 1024 * 1024;
pub const MAX_DEPTH: usize = 200;
pub const MAX_CELLS: usize = 200_000;
pub const MAX_TEXT: usize = 4 * 1024 * 1024;

/// Why a file has no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    #[error("it is no {0} file, whatever its name says")]
    Other(&'static str),
    #[error("it is locked with a password")]
    Locked,
    #[error("it packs more than {MAX_ENTRIES} files")]
    Entries,
    #[error("it unpacks to more than {} MiB", MAX_UNPACKED / 1024 / 1024)]
    Unpacks,
    #[error("it declares a document type in its XML, by which it could define entities")]
    DocumentType,
    #[error("its elements stand in one another more than {MAX_DEPTH} deep")]
    Depth,
    #[error("its sheets have more than {MAX_CELLS} cells")]
    Cells,
    #[error("it holds more than {} MiB of text", MAX_TEXT / 1024 / 1024)]
    Long,
    #[error("it holds no text; pages that are pictures are not read")]
    Empty,
    #[error("it is damaged: {0}")]
    Damaged(String),
}

/// # Errors
/// Why there is no text.
pub fn text(form: Form, bytes: &[u8]) -> Result<Text, Unread> {
    let text = match form {
        Form::Pdf => pdf::text(bytes)?,
        Form::Docx => docx::text(bytes)?,
        Form::Xlsx => xlsx::text(bytes)?,
    };
    if text.text.len() > MAX_TEXT {
        return Err(Unread::Long);
    }
    if !text.text.chars().any(char::is_alphanumeric) {
        return Err(Unread::Empty);
    }
    Ok(text)
}

/// Words on one line: control characters and runs of blanks are one blank.
fn line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
