//! PDF: the text of its pages in the order in which they show it, its lines joined to paragraphs.

use crate::{MAX_TEXT, Text, Unread, line};
use pdf_extract::OutputError;

/// Within so many bytes from its beginning a file says that it is one.
const HEAD: usize = 1024;

pub(crate) fn text(bytes: &[u8]) -> Result<Text, Unread> {
    let head = bytes.get(..HEAD.min(bytes.len())).unwrap_or_default();
    if !head.windows(5).any(|five| five == b"%PDF-") {
        return Err(Unread::Other("PDF"));
    }
    let shown = pdf_extract::extract_text_from_mem(bytes).map_err(|e| unread(&e))?;
    if shown.len() > MAX_TEXT {
        return Err(Unread::Long);
    }
    Ok(Text {
        title: String::new(),
        text: paragraphs(&shown),
    })
}

fn unread(error: &OutputError) -> Unread {
    match error {
        OutputError::PdfError(pdf_extract::Error::Decryption(_)) => Unread::Locked,
        error => Unread::Damaged(error.to_string()),
    }
}

/// A paragraph a line. An empty line ends one; a word that a line cuts is whole again.
fn paragraphs(shown: &str) -> String {
    let mut told: Vec<String> = Vec::new();
    let mut open = String::new();
    for text in shown.lines().map(line) {
        if text.is_empty() {
            told.extend((!open.is_empty()).then(|| std::mem::take(&mut open)));
            continue;
        }
        let goes_on = text.starts_with(char::is_lowercase);
        let cut = open
            .strip_suffix('-')
            .filter(|cut| cut.ends_with(char::is_alphabetic));
        match cut.map(str::len) {
            Some(length) if goes_on => open.truncate(length),
            Some(_) => {}
            None if open.is_empty() => {}
            None => open.push(' '),
        }
        open.push_str(&text);
    }
    told.extend((!open.is_empty()).then_some(open));
    told.join("\n")
}

#[cfg(test)]
mod tests {
    use super::paragraphs;

    #[test]
    fn lines_of_a_page_are_joined_to_paragraphs() {
        let shown = "The bridge\nis 310 metres long and cross-\nes the Vell.\n\n\nIt was opened in\n2004 by the North-\nSouth company.\n";
        assert_eq!(
            paragraphs(shown),
            "The bridge is 310 metres long and crosses the Vell.\nIt was opened in 2004 by the North-South company."
        );
    }
}
