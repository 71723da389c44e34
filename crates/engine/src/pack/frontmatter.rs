//! Markdown with a YAML head between two `---` lines, as agents and skills have it. Lines in messages are the file's own.

use agentctl_base::yaml::{self, Kind, Node, Place, Problem};

/// The head as a tree, and the text below it.
#[derive(Debug)]
pub struct Frontmatter {
    pub head: Node,
    pub body: String,
}

pub fn split(text: &str, file: &str) -> Result<Frontmatter, Problem> {
    let problem = |line: u64, message: &str| Problem {
        file: file.to_owned(),
        place: Place { line, column: 1 },
        message: message.to_owned(),
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    if lines.next().map(str::trim_end) != Some("---") {
        return Err(problem(1, "must begin with a head between two `---` lines"));
    }
    // An empty first line stands for the `---`, so that line numbers stay the file's.
    let mut yaml = "\n".to_owned();
    let mut closed = false;
    for line in lines.by_ref() {
        if line.trim_end() == "---" {
            closed = true;
            break;
        }
        yaml.push_str(line);
    }
    if !closed {
        return Err(problem(1, "the head is not closed by a `---` line"));
    }
    let head = yaml::read(&yaml, file)?;
    if !matches!(head.kind, Kind::Map(_)) {
        return Err(problem(2, "the head must be `key: value` lines"));
    }
    let body: String = lines.collect();
    Ok(Frontmatter {
        head,
        body: body.trim().to_owned(),
    })
}
