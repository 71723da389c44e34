//! Help: packs, and conversations with them.

use super::help;

#[test]
fn chat() {
    insta::assert_snapshot!(help("chat"), @"");
}

#[test]
fn run() {
    insta::assert_snapshot!(help("run"), @"");
}

#[test]
fn sessions() {
    insta::assert_snapshot!(help("sessions"), @"");
    insta::assert_snapshot!(help("sessions list"), @"");
    insta::assert_snapshot!(help("sessions show"), @"");
    insta::assert_snapshot!(help("sessions clear"), @"");
    insta::assert_snapshot!(help("sessions delete"), @"");
    insta::assert_snapshot!(help("sessions adopt"), @"");
    insta::assert_snapshot!(help("sessions export"), @"");
    insta::assert_snapshot!(help("sessions import"), @"");
}

#[test]
fn packs() {
    insta::assert_snapshot!(help("packs"), @"");
    insta::assert_snapshot!(help("packs list"), @"");
    insta::assert_snapshot!(help("packs show"), @"");
    insta::assert_snapshot!(help("packs check"), @"");
    insta::assert_snapshot!(help("packs graph"), @"");
}
