//! What a server's bytes are: lines of bounded length, and of each line whether it is a message, noise, or a message that
//! nobody should read. Must never hold more than one line, and must never guess what a broken message meant.

use agentctl_base::strict_json;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The longest message, in bytes.
pub const MAX_MESSAGE: usize = 16 * 1024 * 1024;
/// The deepest nesting of a message.
pub const MAX_DEPTH: u32 = 128;

/// Why a connection was cut from our side, or how it ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Cut(pub String);

/// Lines of at most `max` bytes. A part of a line survives a cancelled `next`.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    partial: Vec<u8>,
    max: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(reader: R) -> Self {
        Lines {
            reader: BufReader::with_capacity(64 * 1024, reader),
            partial: Vec::new(),
            max: MAX_MESSAGE,
        }
    }

    /// The next line without its end; None at the end. What follows the last line end is no line: it was cut off.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Cut> {
        loop {
            let buffer = self
                .reader
                .fill_buf()
                .await
                .map_err(|e| Cut(format!("reading from the server failed: {e}")))?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let chunk = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or(buffer);
            if self.partial.len() + chunk.len() > self.max {
                return Err(Cut(format!(
                    "the server sent a line of more than {} MiB",
                    self.max / (1024 * 1024)
                )));
            }
            self.partial.extend_from_slice(chunk);
            let used = chunk.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.partial)));
            }
        }
    }
}

/// What one line is.
#[derive(Debug, PartialEq)]
pub enum Judged {
    Empty,
    /// No message and none meant: a greeting, a log line.
    Noise,
    Message(Value),
    /// Meant as a message, and not acceptable as one.
    Broken(String),
}

pub fn judge(line: &[u8]) -> Judged {
    let meant = |why: String| {
        let marker = br#""jsonrpc""#;
        if line.windows(marker.len()).any(|part| part == marker) {
            Judged::Broken(why)
        } else {
            Judged::Noise
        }
    };
    let text = match std::str::from_utf8(line) {
        // What JSON takes for blank, and no more: else others would refuse what is a message here.
        Ok(text) => text.trim_matches([' ', '\t', '\r', '\n']),
        Err(_) => return meant("it is not valid UTF-8".to_owned()),
    };
    match text.as_bytes().first() {
        None => Judged::Empty,
        Some(b'{') => match strict_json::value(text, MAX_DEPTH) {
            Ok(value) if value.get("jsonrpc") == Some(&Value::from("2.0")) => {
                Judged::Message(value)
            }
            Ok(_) => meant("its `jsonrpc` is not \"2.0\"".to_owned()),
            Err(why) => meant(why),
        },
        Some(b'[') => meant("it is a batch, which MCP no longer has".to_owned()),
        Some(_) => Judged::Noise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    async fn all(bytes: &[u8], max: usize) -> (Vec<String>, Result<(), Cut>) {
        let mut lines = Lines::new(bytes);
        lines.max = max;
        let mut found = Vec::new();
        loop {
            match lines.next().await {
                Ok(Some(line)) => found.push(String::from_utf8_lossy(&line).into_owned()),
                Ok(None) => return (found, Ok(())),
                Err(cut) => return (found, Err(cut)),
            }
        }
    }

    #[tokio::test]
    async fn lines_end_where_they_end() {
        let (lines, end) = all(b"one\r\n\ntwo\nnever ended", 20).await;
        assert_eq!(
            (lines, end),
            (vec!["one\r".into(), "".into(), "two".into()], Ok(()))
        );
    }

    #[tokio::test]
    async fn a_line_has_a_longest_length() {
        let (lines, end) = all(b"short\n12345678901", 10).await;
        assert_eq!(lines, ["short"]);
        assert!(end.is_err());
        let (lines, end) = all(b"1234567890\n", 10).await;
        assert_eq!((lines.len(), end), (1, Ok(())));
    }

    #[test]
    fn a_message_is_told_from_noise_and_from_a_broken_one() {
        let message = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        assert_eq!(
            judge(format!(" {message}\r").as_bytes()),
            Judged::Message(message)
        );
        for noise in [
            "Server started",
            "{ level: 'info' }",
            "{\"level\":\"info\"}",
            "[1,2]",
            "\u{1b}[2J",
        ] {
            assert_eq!(judge(noise.as_bytes()), Judged::Noise, "{noise}");
        }
        assert_eq!(judge(b"\xff\xfe noise"), Judged::Noise);
        assert_eq!(judge(b"  \r"), Judged::Empty);
        let deep = format!(
            "{{\"jsonrpc\":\"2.0\",\"a\":{}1{}}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        for broken in [
            br#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}"#.as_slice(),
            br#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#,
            br#"{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}"#,
            br#"{"jsonrpc":"2.0","id":1,"result":{"a":Infinity}}"#,
            br#"{"jsonrpc":"2.0","id":1,"result":{"a":1e400}}"#,
            br#"{"jsonrpc":"2.0","id":1,"result":{"a":18446744073709551617}}"#,
            br#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\x0c",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\u{a0}".as_bytes(),
            br#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#,
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}",
            br#"{"jsonrpc":"2.0","id":1,"result"#,
            deep.as_bytes(),
        ] {
            assert!(
                matches!(judge(broken), Judged::Broken(_)),
                "{:?}",
                String::from_utf8_lossy(broken.get(..60.min(broken.len())).unwrap())
            );
        }
    }
}
