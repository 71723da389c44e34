//! Files that real programs wrote, and files that mean harm (`files/make.py` makes them).

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use agentctl_documents::{Answer, Form, Text, answer};
use std::path::Path;

fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    std::fs::read(path.join(name)).unwrap()
}

fn read(name: &str) -> Answer {
    answer(Form::of_name(name).unwrap().name(), &bytes(name))
}

fn text(name: &str) -> Text {
    match read(name) {
        Answer::Text(text) => text,
        Answer::Refused(why) => panic!("{name}: {why}"),
    }
}

fn refused(form: &str, bytes: &[u8]) -> String {
    match answer(form, bytes) {
        Answer::Refused(why) => why,
        Answer::Text(text) => panic!("{text:?}"),
    }
}

#[test]
fn a_word_document_is_read_as_a_reader_sees_it() {
    let read = text("bridge.docx");
    assert_eq!(read.title, "The Vell bridge");
    assert_eq!(
        read.text,
        "Source: City works, yearbook\n\
         The Vell bridge is 310 metres long & 12 metres wide.\n\
         year: 2021, cars: 4100, cyclists: 900\n\
         year: 2022, cyclists: 1250"
    );
}

#[test]
fn rows_of_a_sheet_are_told_with_the_heads_of_their_columns() {
    assert_eq!(
        text("salt.xlsx").text,
        "day: 2021-03-04, tonnes: 40, open: true\n\
         day: 2021-03-05 14:30:00, tonnes: 12.5, open: false, note: rain <heavy>\n\
         far away"
    );
}

#[test]
fn lines_of_a_page_are_paragraphs() {
    assert_eq!(
        text("bridge.pdf").text,
        "The bridge\n\
         The Vell bridge is 310 metres long and carries two lanes of traffic, a cycle path and the heating pipes of the eastern town. \
         It was opened on 4 May 2004 after three years of work, and cost 41.5 million euros.\n\
         In 2022 an average of 1,250 cyclists a day crossed it – ›half as many again‹ as in the year before.\n\
         The second page."
    );
}

#[test]
fn a_bomb_is_refused_by_its_name() {
    assert_eq!(
        read("bomb.docx"),
        Answer::Refused("it unpacks to more than 64 MiB".to_owned())
    );
    let entities = "it declares a document type in its XML, by which it could define entities";
    for name in ["laughs.docx", "laughs.xlsx"] {
        assert_eq!(read(name), Answer::Refused(entities.to_owned()), "{name}");
    }
    assert_eq!(
        read("deep.docx"),
        Answer::Refused("its elements stand in one another more than 200 deep".to_owned())
    );
}

#[test]
fn what_is_no_such_file_says_so() {
    assert_eq!(
        read("locked.pdf"),
        Answer::Refused("it is locked with a password".to_owned())
    );
    let locked = [&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1][..], &[0; 600]].concat();
    assert_eq!(refused("docx", &locked), "it is locked with a password");
    for (form, name) in [("pdf", "PDF"), ("docx", "Word"), ("xlsx", "Excel")] {
        let why = format!("it is no {name} file, whatever its name says");
        assert_eq!(refused(form, b"<html>hello</html>"), why);
    }
    // One form under the name of another one.
    assert_eq!(
        refused("docx", &bytes("salt.xlsx")),
        "it is no Word file, whatever its name says"
    );
    assert!(Form::of_name("a.doc").is_none() && Form::of_name("pdf").is_none());
}

#[test]
fn a_damaged_file_is_refused_wherever_it_is_cut() {
    for name in ["bridge.docx", "salt.xlsx", "bridge.pdf"] {
        let whole = bytes(name);
        let form = Form::of_name(name).unwrap().name();
        for part in 1..12 {
            let cut = whole.get(..whole.len() * part / 12).unwrap();
            // Whatever comes, it is an answer; of a packed file without its end there is none.
            let answered = answer(form, cut);
            let damaged =
                matches!(&answered, Answer::Refused(why) if why.starts_with("it is damaged"));
            assert!(damaged || form == "pdf", "{name} {part}: {answered:?}");
        }
    }
}
