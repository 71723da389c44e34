//! What an offline model of any pack is made of: tokens of a text with their places, the language of a text, and the skills
//! that a pack's `agents/offline.yaml` names. Words and phrases are data (`words/`). Pure: no IO, no clock; it knows no pack.

pub mod cut;
pub mod language;
pub mod spot;
