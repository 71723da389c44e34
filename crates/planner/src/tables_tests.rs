//! Each table that is compiled in and read row by row: a row without its columns would be passed over in silence.

use crate::lex::Table;
use crate::{acceptance, assemble, modify, read};

#[test]
fn each_row_has_its_columns() {
    let mut tables: Vec<&Table> = vec![&read::ANSWERS, &acceptance::WORDS];
    tables.extend(assemble::tables());
    tables.extend(modify::tables());
    for table in tables {
        assert!(table.rows().next().is_some(), "{} is empty", table.file);
        assert_eq!(table.check(), Ok(()), "{}", table.file);
    }
}
