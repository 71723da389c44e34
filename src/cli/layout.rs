//! Columns. How wide a line may be is the terminal's matter: [`fit`](super::fit).

use comfy_table::{CellAlignment, ColumnConstraint, Table, Width};

/// Rows of plain text without borders: names to the left, figures to the right. `widths`: the least of each column, with the
/// blanks before a figure; a longer cell makes its column wider.
pub fn table<const N: usize>(
    widths: [u16; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = plain(rows);
    for (index, (column, width)) in table.column_iter_mut().zip(widths).enumerate() {
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt() + "\n"
}

/// Rows of words without borders, each column as wide as its longest cell.
pub fn words<const N: usize>(rows: impl IntoIterator<Item = [String; N]>) -> String {
    plain(rows).trim_fmt() + "\n"
}

fn plain<const N: usize>(rows: impl IntoIterator<Item = [String; N]>) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.add_rows(rows);
    table.discover_columns();
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding(if index == 0 { (0, 0) } else { (2, 0) });
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_makes_its_column_wider_and_figures_stay_below_each_other() {
        let row = |name: &str, figure: &str| [name.to_owned(), figure.to_owned()];
        let rows = || [row("agent", "calls"), row("qa", "4")];
        insta::assert_snapshot!(table([10, 7], rows()), @r"
        agent       calls
        qa              4
        ");
        let long = [row("an-agent-with-a-long-name", "12")];
        insta::assert_snapshot!(table([10, 7], rows().into_iter().chain(long)), @r"
        agent                      calls
        qa                             4
        an-agent-with-a-long-name     12
        ");
    }
}
