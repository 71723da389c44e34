//! Our own JSON form: `{"$schema": …, "files": [{path, workflow, nodes, findings: […]}], "summary": {…}}`, made in pieces: a file's own piece
//! on the thread that checked it, so that the whole never has to be held.

use crate::check::{Checked, Judged, State};
use agentctl_base::secrets;
use agentctl_n8n::EditOp;
use agentctl_n8n::finding::{Confidence, Fix};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// How far the lines of a file's piece are moved in.
pub const FILE_MARGIN: &str = "    ";
/// The same for the totals.
pub const SUMMARY_MARGIN: &str = "  ";

/// The name of the form, which is the `$id` of its published schema.
macro_rules! head {
    () => {
        "{\n  \"$schema\": \"urn:agentctl:schema:qa\",\n  \"files\": "
    };
}

/// What stands before the piece of a file.
pub fn before_file(is_first: bool) -> &'static str {
    if is_first {
        concat!(head!(), "[\n    ")
    } else {
        ",\n    "
    }
}

/// What stands before the totals.
pub fn before_summary(is_empty: bool) -> &'static str {
    if is_empty {
        concat!(head!(), "[],\n  \"summary\": ")
    } else {
        "\n  ],\n  \"summary\": "
    }
}

/// What ends the answer.
pub const END: &str = "\n}\n";

impl Serialize for Checked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("path", &self.path)?;
        map.serialize_entry("workflow", &self.workflow)?;
        map.serialize_entry("nodes", &self.nodes)?;
        map.serialize_entry("findings", &self.findings)?;
        if let Some(mended) = &self.mended {
            let ids: Vec<&str> = mended.fixed.iter().map(|f| f.id.as_str()).collect();
            map.serialize_entry(if mended.written { "fixed" } else { "fixable" }, &ids)?;
            map.serialize_entry("diff", &mended.diff)?;
        }
        map.end()
    }
}

impl Serialize for Judged {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finding = &self.finding;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &finding.id)?;
        map.serialize_entry("code", &finding.code)?;
        map.serialize_entry("severity", &finding.severity)?;
        map.serialize_entry("node", &finding.node)?;
        map.serialize_entry("node_id", &finding.node_id)?;
        map.serialize_entry("pointer", &finding.pointer)?;
        if let Some(place) = &finding.place {
            map.serialize_entry("place", place)?;
        }
        map.serialize_entry("line", &self.place.line)?;
        map.serialize_entry("column", &self.place.column)?;
        map.serialize_entry("message", &finding.message)?;
        map.serialize_entry("fix", &finding.fix.as_ref().map(ShownFix::of))?;
        match &self.state {
            State::Open => {}
            State::Known => map.serialize_entry("known", &true)?,
            State::Waived { reason, expires } => {
                let waiver = serde_json::json!({"reason": reason, "expires": expires.to_string()});
                map.serialize_entry("waived", &waiver)?;
            }
        }
        map.end()
    }
}

/// A fix as it is shown: values that look like secrets are hidden, so that such a fix is for the program alone.
#[derive(Serialize)]
pub struct ShownFix<'a> {
    confidence: Confidence,
    title: Cow<'a, str>,
    ops: Cow<'a, [EditOp]>,
}

impl<'a> ShownFix<'a> {
    pub fn of(fix: &'a Fix) -> Self {
        let hidden = serde_json::to_string(&fix.ops).ok().and_then(|text| {
            match secrets::mask(&text) {
                Cow::Borrowed(_) => None,
                // A mark in place of a value stays JSON; if it did not, the operations would be left out.
                Cow::Owned(masked) => Some(serde_json::from_str(&masked).unwrap_or_default()),
            }
        });
        ShownFix {
            confidence: fix.confidence,
            title: secrets::mask(&fix.title),
            ops: hidden.map_or(Cow::Borrowed(fix.ops.as_slice()), Cow::Owned),
        }
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod json_tests;
