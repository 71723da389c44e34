//! Pages in one file: no script and no style but those that stand in it and whose hash its policy names, no request to anywhere.
//! The policy stands in the page, so it holds wherever the file is opened.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

pub use crate::escape::{lines, text};

/// The look of every page; pictures bring their own beside it.
const STYLE: &str = include_str!("page.css");

/// A page in the making.
#[derive(Debug, Default)]
pub struct Page {
    title: String,
    body: String,
    script: Option<&'static str>,
}

impl Page {
    /// `title`: as it came.
    pub fn new(title: &str) -> Self {
        Page {
            title: text(title),
            ..Page::default()
        }
    }

    /// What runs on it: a text of the program's own, never one from outside.
    pub fn with_script(mut self, script: &'static str) -> Self {
        self.script = Some(script);
        self
    }

    /// Markup, in which every text from outside went through `text` or `lines`.
    pub fn push(&mut self, markup: &str) {
        self.body.push_str(markup);
    }

    /// A part with a heading.
    pub fn section(&mut self, heading: &str, markup: &str) {
        let heading = text(heading);
        self.body.push_str(&format!(
            "<section>\n<h2>{heading}</h2>\n{markup}</section>\n"
        ));
    }

    /// The whole file.
    pub fn finish(self) -> String {
        let style = style();
        let script = self.script.unwrap_or_default();
        let scripts = match script.is_empty() {
            true => "'none'".to_owned(),
            false => format!("'sha256-{}'", hash(script)),
        };
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {scripts}; base-uri 'none'; form-action 'none'",
            style_source()
        );
        let run = match script.is_empty() {
            true => String::new(),
            false => format!("<script>{script}</script>\n"),
        };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n{}</main>\n{run}</body>\n</html>\n",
            self.title, self.title, self.body
        )
    }
}

/// The look of every page, for one that a server hands out in parts.
pub fn look() -> &'static str {
    STYLE
}

/// How a policy names the one style that stands in every page.
pub fn style_source() -> String {
    format!("'sha256-{}'", hash(&style()))
}

fn style() -> String {
    format!("{STYLE}{}", crate::svg::STYLE)
}

fn hash(of: &str) -> String {
    BASE64_STANDARD.encode(Sha256::digest(of.as_bytes()))
}

/// No picture is drawn smaller than this part of its size: its words could not be read.
const LEAST: f64 = 0.6;

/// A picture, made to fit the page as long as it can be read, in a frame that scrolls; its full size can be asked for. With a name for
/// who does not see it.
pub fn figure(svg: &str, caption: &str) -> String {
    let caption = text(caption);
    let least = width(svg) * LEAST;
    format!(
        "<figure>\n<label class=\"size\"><input type=\"checkbox\"> full size</label>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{caption}\"><div class=\"fit\">{svg}<canvas class=\"least\" width=\"{least:.0}\" height=\"1\" aria-hidden=\"true\"></canvas></div></div>\n<figcaption>{caption}</figcaption>\n</figure>\n"
    )
}

/// A picture's own width, as it says itself.
fn width(svg: &str) -> f64 {
    let told = svg
        .split_once(" width=\"")
        .and_then(|(_, rest)| rest.split_once('"'));
    told.and_then(|(width, _)| width.parse().ok())
        .unwrap_or_default()
}

/// Rows below their headings; every cell is markup.
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let cells = |name: &str, cells: &[String]| -> String {
        let cells: String = cells
            .iter()
            .map(|cell| format!("<{name}>{cell}</{name}>"))
            .collect();
        format!("<tr>{cells}</tr>\n")
    };
    let head: String = head
        .iter()
        .map(|name| format!("<th scope=\"col\">{}</th>", text(name)))
        .collect();
    let rows: String = rows.into_iter().map(|row| cells("td", &row)).collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}
