//! Excel: the rows of the sheets that can be seen, each value with the head of its column, as it stands in the first row of its sheet.

use crate::packed::Parts;
use crate::{MAX_CELLS, MAX_TEXT, Text, Unread, line};
use agentctl_evidence::row;
use calamine::{DataRef, ExcelDateTime, Reader as _, SheetType, SheetVisible, Xlsx};
use std::collections::BTreeMap;
use std::io::Cursor;

const FORM: &str = "Excel";

pub(crate) fn text(bytes: &[u8]) -> Result<Text, Unread> {
    // Counted, and looked through; the crate below unpacks it again by itself.
    let parts = Parts::of(FORM, bytes)?;
    if parts.get("xl/workbook.xml").is_none() {
        return Err(Unread::Other(FORM));
    }
    let damaged = |e: calamine::XlsxError| Unread::Damaged(e.to_string());
    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(damaged)?;
    let seen = book.sheets_metadata().iter().filter(|sheet| {
        sheet.visible == SheetVisible::Visible && sheet.typ == SheetType::WorkSheet
    });
    let names: Vec<String> = seen.map(|sheet| sheet.name.clone()).collect();
    let mut told = Told::default();
    for name in &names {
        told.heads = None;
        let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
        while let Some(cell) = cells.next_cell().map_err(damaged)? {
            told.cells += 1;
            if told.cells > MAX_CELLS {
                return Err(Unread::Cells);
            }
            let (at, column) = cell.get_position();
            told.cell(at, column, &shown(cell.get_value()))?;
        }
        told.row_ends()?;
    }
    Ok(Text {
        title: String::new(),
        text: told.lines.join("\n"),
    })
}

#[derive(Default)]
struct Told {
    /// Of all sheets.
    cells: usize,
    lines: Vec<String>,
    bytes: usize,
    /// Of this sheet, by column; None: its first row is not read yet.
    heads: Option<BTreeMap<u32, String>>,
    /// The row that is read.
    at: u32,
    row: BTreeMap<u32, String>,
}

impl Told {
    fn cell(&mut self, at: u32, column: u32, text: &str) -> Result<(), Unread> {
        if at != self.at {
            self.row_ends()?;
            self.at = at;
        }
        let text = line(text);
        if !text.is_empty() {
            self.row.insert(column, text);
        }
        Ok(())
    }

    fn row_ends(&mut self) -> Result<(), Unread> {
        let row_read = std::mem::take(&mut self.row);
        if row_read.is_empty() {
            return Ok(());
        }
        let Some(heads) = &self.heads else {
            self.heads = Some(row_read);
            return Ok(());
        };
        let none = String::new();
        let pairs = row_read
            .iter()
            .map(|(column, value)| (heads.get(column).unwrap_or(&none), value));
        let told = row(pairs);
        self.bytes += told.len() + 1;
        if self.bytes > MAX_TEXT {
            return Err(Unread::Long);
        }
        self.lines.push(told);
        Ok(())
    }
}

/// A value as it is read.
fn shown(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(n) => n.to_string(),
        // Display writes a whole number without a point.
        DataRef::Float(n) => n.to_string(),
        DataRef::String(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(is) => is.to_string(),
        DataRef::DateTime(at) => of_time(at),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::Error(_) | DataRef::Empty => String::new(),
    }
}

fn of_time(at: &ExcelDateTime) -> String {
    if !at.is_datetime() {
        return at.as_f64().to_string();
    }
    let (year, month, day, hour, minute, second, _) = at.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    match (hour, minute, second) {
        (0, 0, 0) => date,
        _ => format!("{date} {hour:02}:{minute:02}:{second:02}"),
    }
}
