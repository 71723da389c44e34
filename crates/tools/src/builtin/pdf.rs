//! A text as a PDF of plain pages: one font of fixed width that every reader has, so that nothing is embedded and the width of every
//! line is known. It knows the letters of western Europe (WinAnsi); others become a question mark.

use pdf_writer::{Content, Finish as _, Name, Pdf, Rect, Ref, Str, TextStr};

/// A4 in points.
const PAGE: (f32, f32) = (595.0, 842.0);
const MARGIN: f32 = 56.0;
const SIZE: f32 = 10.0;
const LINE: f32 = 14.0;
/// Every letter of Courier is 600 thousandths of its size wide: (595 − 2 × 56) / 6.
const COLUMNS: usize = 80;
/// (842 − 2 × 56) / 14.
const ROWS: usize = 52;
const FONT: Name<'static> = Name(b"F1");

pub(super) fn of(text: &str, title: &str) -> Vec<u8> {
    let lines: Vec<Vec<u8>> = text.lines().flat_map(wrapped).collect();
    let pages: Vec<&[Vec<u8>]> = lines.chunks(ROWS).collect();
    let mut next = 0;
    let mut id = || {
        next += 1;
        Ref::new(next)
    };
    let (catalog, tree, font, info) = (id(), id(), id(), id());
    let ids: Vec<(Ref, Ref)> = pages.iter().map(|_| (id(), id())).collect();
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(tree);
    pdf.document_info(info).title(TextStr(title));
    let count = i32::try_from(ids.len()).unwrap_or(i32::MAX);
    pdf.pages(tree)
        .kids(ids.iter().map(|(page, _)| *page))
        .count(count);
    pdf.type1_font(font)
        .base_font(Name(b"Courier"))
        .encoding_predefined(Name(b"WinAnsiEncoding"));
    for ((page, stream), lines) in ids.iter().zip(pages) {
        let mut of = pdf.page(*page);
        of.media_box(Rect::new(0.0, 0.0, PAGE.0, PAGE.1))
            .parent(tree)
            .contents(*stream);
        of.resources().fonts().pair(FONT, font);
        of.finish();
        let mut content = Content::new();
        content.begin_text();
        content.set_font(FONT, SIZE);
        content.set_leading(LINE);
        content.next_line(MARGIN, PAGE.1 - MARGIN - SIZE);
        for line in lines {
            content.show(Str(line));
            content.next_line_using_leading();
        }
        content.end_text();
        pdf.stream(*stream, &content.finish());
    }
    pdf.finish()
}

/// A line as lines that fit, cut between words where there is room for that.
fn wrapped(line: &str) -> Vec<Vec<u8>> {
    let letters: Vec<u8> = line.replace('\t', "    ").chars().map(letter).collect();
    let mut rest = letters.as_slice();
    let mut lines = Vec::new();
    while rest.len() > COLUMNS {
        let head = rest.get(..=COLUMNS).unwrap_or(rest);
        let cut = head
            .iter()
            .rposition(|b| *b == b' ')
            .filter(|at| *at > 0)
            .unwrap_or(COLUMNS);
        let (now, later) = rest.split_at(cut);
        lines.push(now.to_vec());
        rest = later.strip_prefix(b" ").unwrap_or(later);
    }
    lines.push(rest.to_vec());
    lines
}

/// A letter in WinAnsi (PDF 32000-1, annex D.2).
fn letter(c: char) -> u8 {
    match c {
        ' '..='~' | '\u{a0}'..='\u{ff}' => u8::try_from(u32::from(c)).unwrap_or(b'?'),
        '€' => 0x80,
        '‚' => 0x82,
        '„' => 0x84,
        '…' => 0x85,
        'Š' => 0x8a,
        'Œ' => 0x8c,
        'Ž' => 0x8e,
        '‘' => 0x91,
        '’' => 0x92,
        '“' => 0x93,
        '”' => 0x94,
        '•' => 0x95,
        '–' => 0x96,
        '—' => 0x97,
        '™' => 0x99,
        'š' => 0x9a,
        'œ' => 0x9c,
        'ž' => 0x9e,
        'Ÿ' => 0x9f,
        _ => b'?',
    }
}
