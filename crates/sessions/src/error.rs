//! Why a session cannot be had or written.

use crate::{Foreign, MOST_WAITING};
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("the sessions in {place} cannot be reached: {why}")]
    Unreachable { place: String, why: String },
    #[error(
        "{place} was written by a newer agentctl (its migration {version} is unknown here); use that version or newer"
    )]
    Newer { place: String, version: i64 },
    #[error(
        "{place} was made by an older agentctl (its tables are of version {has}, this one's of {wants}); `agentctl serve --migrate` brings them to this version, with which no older agentctl works any more"
    )]
    Older { place: String, has: i64, wants: i64 },
    #[error(
        "{place} is not a store of sessions that agentctl made: {why}. Move it away, and a new one is made"
    )]
    NotOurs { place: String, why: String },
    #[error("{}: {why}", path.display())]
    File { path: PathBuf, why: String },
    #[error(
        "busy: another turn of this session is under way and did not end in {seconds} s; nothing was done, send it again"
    )]
    Busy { seconds: u64 },
    #[error(
        "busy: {MOST_WAITING} turns of this session wait already; nothing was done, send it again later"
    )]
    Queue,
    #[error(
        "the session was changed meanwhile (version {found}, expected {expected}); nothing was written, send it again"
    )]
    Changed { expected: i64, found: i64 },
    #[error(
        "session {id} is not this user's: {foreign}. `agentctl sessions adopt {id}` makes it yours, `agentctl sessions delete {id}` erases it"
    )]
    Foreign { id: String, foreign: Foreign },
    #[error("no session {id}")]
    Unknown { id: String },
    #[error("row {row} of table {table} in {place} is damaged: {why}")]
    Damaged {
        place: String,
        table: &'static str,
        row: String,
        why: String,
    },
    #[error("{0}")]
    History(String),
}
