//! Where things lie on this machine is nobody's business elsewhere: in what goes out, a path of the project or of its user's folders
//! stands under its short name. It must never touch what is no text of the server's own (files, pages).

use hyper::body::Bytes;
use std::path::Path;

/// Folders, each with the name by which it goes out; the longest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paths(Vec<(String, String)>);

impl Paths {
    /// One folder more. One that is not whole, or is all of a disk, is no place that could be told from others.
    pub fn add(&mut self, folder: &Path, short: &str) {
        let parts = folder.components().count();
        if !folder.is_absolute() || parts < 2 {
            return;
        }
        let Some(path) = folder.to_str() else { return };
        // As JSON writes it.
        let written = serde_json::Value::from(path).to_string();
        let written = written.trim_matches('"').trim_end_matches('/').to_owned();
        if self.0.iter().all(|(known, _)| *known != written) {
            self.0.push((written, short.to_owned()));
        }
        self.0
            .sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    }

    /// The same text, each of these folders under its short name.
    pub fn shortened(&self, text: &str) -> Option<String> {
        let mut changed = None;
        for (path, short) in &self.0 {
            let text = changed.as_deref().unwrap_or(text);
            if let Some(shorter) = without(text, path, short) {
                changed = Some(shorter);
            }
        }
        changed
    }

    pub fn shortened_bytes(&self, bytes: Bytes) -> Bytes {
        let text = std::str::from_utf8(&bytes).ok();
        let shorter = text.and_then(|text| self.shortened(text));
        shorter.map_or(bytes, Bytes::from)
    }
}

/// None: the path does not stand in the text.
fn without(text: &str, path: &str, short: &str) -> Option<String> {
    let mut rest = text;
    let mut out = String::new();
    let mut found = false;
    while let Some(at) = rest.find(path) {
        let (before, from) = rest.split_at(at);
        let after = from.get(path.len()..).unwrap_or_default();
        out.push_str(before);
        // A part of a longer name, or of an address, is another path.
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || "-_./~".contains(c));
        let name = |c: char| c.is_alphanumeric() || "-_".contains(c);
        let longer = after.trim_start_matches('.');
        let ends = !longer.starts_with(name);
        let own = begins && ends;
        found |= own;
        rest = match (own, after.strip_prefix('/')) {
            (false, _) => {
                out.push_str(path);
                after
            }
            (true, Some(below))
                if below.starts_with(|c: char| c.is_alphanumeric() || "._-".contains(c)) =>
            {
                if !short.is_empty() {
                    out.push_str(short);
                    out.push('/');
                }
                below
            }
            (true, _) => {
                out.push_str(if short.is_empty() {
                    "the project"
                } else {
                    short
                });
                after
            }
        };
    }
    out.push_str(rest);
    found.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_out_under_its_short_name_and_nothing_else_is_touched() {
        let mut paths = Paths::default();
        paths.add(Path::new("/home/ann"), "~");
        paths.add(Path::new("/home/ann/desk"), "");
        paths.add(Path::new("/"), "all");
        paths.add(Path::new("here"), "here");
        for (text, shown) in [
            (
                "cannot read /home/ann/desk/memory/runs: denied",
                Some("cannot read memory/runs: denied"),
            ),
            (
                "\"/home/ann/desk\" and /home/ann/.config/x.toml:3",
                Some("\"the project\" and ~/.config/x.toml:3"),
            ),
            ("in /home/ann/desk.", Some("in the project.")),
            ("/home/ann/desks/x", Some("~/desks/x")),
            ("https://example.org/home/ann/desk", None),
            ("/agents/desk/a2a", None),
        ] {
            assert_eq!(paths.shortened(text).as_deref(), shown, "{text}");
        }
    }
}
