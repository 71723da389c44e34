//! Files that are more than text (PDF, Word, Excel) and pages of a corpus (HTML, CSV, Markdown). The first byte says which. Refused
//! or read within the limits, and what one process tells the other reads the same there. A crate that a file breaks is caught, as in
//! the child process; what cannot be caught (an abort, a full stack, no end) is a finding.
#![no_main]

use agentctl_documents::{Answer, MAX_TEXT, answer};
use agentctl_evidence::{Corpus, Document, Format};
use libfuzzer_sys::fuzz_target;
use std::io::{Cursor, Write as _};
use zip::write::{SimpleFileOptions, ZipWriter};

fn packed(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in parts {
        zip.start_file(*name, stored).expect("a name");
        zip.write_all(bytes).expect("memory");
    }
    zip.finish().expect("memory").into_inner()
}

const BOOK: &[u8] = br#"<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets></workbook>"#;
const LINKS: &[u8] = br#"<Relationships><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#;
const SHEET: &[u8] = br#"<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row></sheetData></worksheet>"#;

fn book(sheet: &[u8], texts: &[u8]) -> Vec<u8> {
    packed(&[
        ("xl/workbook.xml", BOOK),
        ("xl/_rels/workbook.xml.rels", LINKS),
        ("xl/worksheets/sheet1.xml", sheet),
        ("xl/sharedStrings.xml", texts),
    ])
}

fn page(format: Format, bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(document) = Document::read("page", format, text) else {
        return;
    };
    assert!(!document.text.is_empty(), "read, and nothing in it");
    // Pairing sentences takes the square of their number.
    if text.len() > 4096 {
        return;
    }
    let corpus = Corpus::new(vec![document]);
    for passage in corpus.passages() {
        assert!(
            corpus.quote(&passage.id).is_some(),
            "{passage:?} has no text"
        );
    }
}

fuzz_target!(
    init: {
        // The reader's child catches panics of the crates that it reads with; a hook that aborts would not let it.
        std::panic::set_hook(Box::new(|_| {}));
    },
    |data: &[u8]| {
        let Some((kind, bytes)) = data.split_first() else {
            return;
        };
        let (form, file) = match kind % 9 {
            0 => ("pdf", bytes.to_vec()),
            1 => ("docx", bytes.to_vec()),
            2 => ("xlsx", bytes.to_vec()),
            3 => ("docx", packed(&[("word/document.xml", bytes)])),
            4 => ("xlsx", book(bytes, b"<sst><si><t>a</t></si></sst>")),
            5 => ("xlsx", book(SHEET, bytes)),
            6 => return page(Format::Html, bytes),
            7 => return page(Format::Csv, bytes),
            _ => return page(Format::Markdown, bytes),
        };
        let said = answer(form, &file);
        assert_eq!(Answer::of_json(&said.to_json()).as_ref(), Some(&said));
        if let Answer::Text(text) = said {
            assert!(text.text.len() <= MAX_TEXT, "longer than is allowed");
            assert!(text.text.chars().any(char::is_alphanumeric), "no text");
        }
    }
);
