//! Files packed into one file (zip), as Word and Excel write them. All of it is unpacked and counted once before anything is believed:
//! what an entry says of its size is its own word.

use crate::{MAX_ENTRIES, MAX_UNPACKED, Unread};
use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use zip::ZipArchive;
use zip::result::ZipError;

/// The parts that are XML, by name.
pub(crate) struct Parts(BTreeMap<String, String>);

impl Parts {
    /// `form`: what the file says that it is.
    pub fn of(form: &'static str, bytes: &[u8]) -> Result<Parts, Unread> {
        // A document with a password is packed in another way.
        if bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]) {
            return Err(Unread::Locked);
        }
        if !bytes.starts_with(b"PK") {
            return Err(Unread::Other(form));
        }
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
        if archive.len() > MAX_ENTRIES {
            return Err(Unread::Entries);
        }
        let mut left = MAX_UNPACKED;
        let mut parts = BTreeMap::new();
        for at in 0..archive.len() {
            let mut entry = archive.by_index(at).map_err(damaged)?;
            let name = entry.name().map_err(damaged)?.into_owned();
            let mut content = Vec::new();
            let read = entry.by_ref().take(left + 1).read_to_end(&mut content);
            let read = read.map_err(|e| Unread::Damaged(e.to_string()))?;
            left = u64::try_from(read)
                .ok()
                .and_then(|read| left.checked_sub(read))
                .ok_or(Unread::Unpacks)?;
            if is_xml(&name) {
                parts.insert(name, xml(&content)?);
            }
        }
        Ok(Parts(parts))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

fn damaged(error: ZipError) -> Unread {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => Unread::Locked,
        error => Unread::Damaged(error.to_string()),
    }
}

fn is_xml(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".xml", ".rels", ".vml"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

/// Its characters. A document type is refused wherever it stands: no part of these forms has one.
fn xml(content: &[u8]) -> Result<String, Unread> {
    let of_pairs = |pair: fn([u8; 2]) -> u16| {
        let (pairs, _) = content.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|two| pair(*two)).collect();
        String::from_utf16_lossy(&units)
    };
    let text = match content {
        [0xFF, 0xFE, ..] => of_pairs(u16::from_le_bytes),
        [0xFE, 0xFF, ..] => of_pairs(u16::from_be_bytes),
        _ => String::from_utf8_lossy(content).into_owned(),
    };
    match text.contains("<!DOCTYPE") || text.contains("<!ENTITY") {
        true => Err(Unread::DocumentType),
        false => Ok(text.trim_start_matches('\u{feff}').to_owned()),
    }
}
