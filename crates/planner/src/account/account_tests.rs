use super::frames;
use crate::lex::{Class, Lexicon};
use agentctl_kit::language::languages;

#[test]
fn the_frames_are_read_and_every_verb_has_known_ones() {
    let read = frames::read();
    assert!(
        read.is_ok(),
        "{}",
        read.err().map_or_else(String::new, |e| e.to_string())
    );
    for language in languages() {
        for sense in Lexicon::of(language).all() {
            if sense.class == Class::Verb {
                for name in &sense.says {
                    assert!(
                        frames::frame(name).is_some(),
                        "{}: no frame {name}",
                        sense.row
                    );
                }
            }
        }
    }
}
