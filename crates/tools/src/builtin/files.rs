//! `make_file`: a file of the run's own, in `memory/files/RUN_ID/`. Its name and what stands in it come from a model, so the name is
//! only letters, and what is put into a format is data there: no markup, no script, no formula.

use super::{Answered, pdf};
use agentctl_engine::store::{KINDS, RunFile};
use agentctl_host::files::{Existing, FileError, Files};
use pulldown_cmark::{Event, Parser, Tag, html};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Of one run.
const MAX_FILES: usize = 50;
/// Of a name without its ending, in characters.
const MAX_NAME: usize = 80;
const NAMELESS: &str = "file";

/// How content becomes the bytes of a format, under a title.
type Made = fn(&Value, &str) -> Result<Vec<u8>, String>;

fn format(name: &str) -> Option<Made> {
    Some(match name {
        "md" => |content, _| Ok(text(content)?.as_bytes().to_vec()),
        "html" => |content, title| Ok(page(text(content)?, title).into_bytes()),
        "csv" => |content, _| table(content),
        "json" => |content, _| document(content),
        "pdf" => |content, title| Ok(pdf::of(text(content)?, title)),
        _ => return None,
    })
}

pub(super) fn make(values: &Map<String, Value>, root: &Path) -> Answered {
    let of = |key: &str| values.get(key).and_then(Value::as_str).unwrap_or_default();
    let run = of("run");
    let is_run = !run.is_empty()
        && run.len() <= 64
        && run.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if !is_run {
        return Err((
            "there is no run whose file it would be".to_owned(),
            "make files in a run",
        ));
    }
    let ending = of("format");
    let Some(made) = format(ending) else {
        let names = KINDS.map(|(name, _)| name);
        let why = format!("format is one of {}, not {ending:?}", names.join(", "));
        return Err((why, "take another format"));
    };
    let base = plain(of("name"), ending);
    let content = values.get("content").unwrap_or(&Value::Null);
    let bytes = made(content, &base).map_err(|why| (why, "give it as the format needs it"))?;
    if bytes.len() > RunFile::MAX {
        let why = format!(
            "the file would have {} bytes, and {} is the most",
            bytes.len(),
            RunFile::MAX
        );
        return Err((why, "make a smaller one"));
    }
    let file = written(root, run, &base, ending, &bytes)?;
    Ok(json!({
        "file": file.place(),
        "attachment": {"name": file.name(), "mime": file.media_type(), "size": bytes.len()},
    }))
}

/// Writes it under a name that the run has not used yet.
fn written(
    root: &Path,
    run: &str,
    base: &str,
    ending: &str,
    bytes: &[u8],
) -> Result<RunFile, (String, &'static str)> {
    const TELL: &str = "say that the file was not made";
    let failed = |e: FileError| (e.to_string(), TELL);
    let files = Files::open(root).map_err(failed)?;
    if files.names(&RunFile::folder(run)).map_err(failed)?.len() >= MAX_FILES {
        return Err((format!("this run has made {MAX_FILES} files already"), TELL));
    }
    for number in 1..=MAX_FILES + 1 {
        let name = match number {
            1 => format!("{base}.{ending}"),
            number => format!("{base}-{number}.{ending}"),
        };
        let file = RunFile::of(run, &name)
            .ok_or_else(|| (format!("{name:?} is no name of a file"), TELL))?;
        match files.write(Path::new(&file.place()), bytes, Existing::Refuse) {
            Ok(()) => return Ok(file),
            Err(FileError::Exists { .. }) => {}
            Err(e) => return Err(failed(e)),
        }
    }
    Err((format!("there are too many files named {base:?}"), TELL))
}

/// A name that means the same everywhere: letters, digits, `-` and `_`, without the ending.
fn plain(name: &str, ending: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.strip_suffix(&format!(".{ending}")).unwrap_or(name);
    let mut plain = String::new();
    for c in name.chars().take(MAX_NAME) {
        if c.is_ascii_alphanumeric() || matches!(c, '_') {
            plain.push(c);
        } else if let Some(written) = latin(c) {
            plain.push_str(written);
        } else if !plain.ends_with('-') {
            plain.push('-');
        }
    }
    match plain.trim_matches('-') {
        "" => NAMELESS.to_owned(),
        plain => plain.to_owned(),
    }
}

fn latin(c: char) -> Option<&'static str> {
    Some(match c {
        'ä' | 'á' | 'à' | 'â' => "a",
        'ö' | 'ó' | 'ô' => "o",
        'ü' | 'ú' | 'ù' | 'û' => "u",
        'é' | 'è' | 'ê' | 'ë' => "e",
        'í' | 'î' | 'ï' => "i",
        'ñ' => "n",
        'ç' => "c",
        'ß' => "ss",
        _ => return None,
    })
}

fn text(content: &Value) -> Result<&str, String> {
    let text = content.as_str().filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| "content must be a text".to_owned())
}

/// Markdown as a page that loads and runs nothing: markup of the text's own is shown as text, links and pictures are only their words.
fn page(markdown: &str, title: &str) -> String {
    let events = Parser::new(markdown).filter_map(|event| match event {
        Event::Html(raw) | Event::InlineHtml(raw) => Some(Event::Text(raw)),
        Event::Start(Tag::Link { .. } | Tag::Image { .. }) => None,
        Event::End(pulldown_cmark::TagEnd::Link | pulldown_cmark::TagEnd::Image) => None,
        event => Some(event),
    });
    let mut body = String::new();
    html::push_html(&mut body, events);
    format!(
        "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{title}</title>\n<style>body {{ font-family: sans-serif; max-width: 45em; margin: 2em auto; line-height: 1.5 }}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// Rows: lists of cells, or objects, whose keys are then the first row.
fn table(content: &Value) -> Result<Vec<u8>, String> {
    let form = "content must be a list of rows, each a list of cells or an object";
    let rows = content
        .as_array()
        .filter(|rows| !rows.is_empty())
        .ok_or(form)?;
    let mut writer = csv::Writer::from_writer(Vec::new());
    let told = |e: csv::Error| format!("the table cannot be written: {e}");
    let mut keys: Vec<&String> = Vec::new();
    for row in rows.iter().filter_map(Value::as_object) {
        let new: Vec<&String> = row.keys().filter(|key| !keys.contains(key)).collect();
        keys.extend(new);
    }
    if !keys.is_empty() {
        writer
            .write_record(keys.iter().map(|key| cell(&Value::from(key.as_str()))))
            .map_err(told)?;
    }
    for row in rows {
        let cells: Vec<String> = match row {
            Value::Array(cells) if keys.is_empty() => cells.iter().map(cell).collect(),
            Value::Object(row) => keys
                .iter()
                .map(|key| row.get(*key).map(cell).unwrap_or_default())
                .collect(),
            _ => return Err(form.to_owned()),
        };
        writer.write_record(cells).map_err(told)?;
    }
    writer
        .into_inner()
        .map_err(|e| format!("the table cannot be written: {e}"))
}

/// What a table's program would reckon with is text for it: an apostrophe before it.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) if text.starts_with(['=', '+', '-', '@', '\t', '\r']) => {
            format!("'{text}")
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn document(content: &Value) -> Result<Vec<u8>, String> {
    let value = match content {
        Value::Null => return Err("there is no content".to_owned()),
        // A model often writes JSON as a text.
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| content.clone()),
        other => other.clone(),
    };
    let mut text = serde_json::to_string_pretty(&value).map_err(|e| e.to_string())?;
    text.push('\n');
    Ok(text.into_bytes())
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod files_tests;
