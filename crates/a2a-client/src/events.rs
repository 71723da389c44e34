//! A stream of server-sent events, read one by one and bounded: of one event, and of all of them.

use crate::agent::Limits;
use crate::client::typed;
use crate::error::Error;
use crate::wire::{self, Binding};
use agentctl_a2a::StreamResponse;

/// What an agent tells as it goes.
#[derive(Debug)]
pub struct Events {
    answer: reqwest::Response,
    binding: Binding,
    limits: Limits,
    /// Read and not looked at yet.
    rest: Vec<u8>,
    /// How far `rest` was searched for the end of a line.
    searched: usize,
    /// The lines of data of the event that is being read.
    data: Vec<u8>,
    taken: u64,
}

impl Events {
    pub(crate) fn new(answer: reqwest::Response, binding: Binding, limits: Limits) -> Events {
        Events {
            answer,
            binding,
            limits,
            rest: Vec::new(),
            searched: 0,
            data: Vec::new(),
            taken: 0,
        }
    }

    /// The next event; None: the agent closed the stream.
    ///
    /// # Errors
    /// The stream broke off, tells more than is allowed, or what does not fit the protocol.
    pub async fn next(&mut self) -> Result<Option<StreamResponse>, Error> {
        loop {
            while let Some(line) = self.line() {
                if let Some(event) = self.take(&line)? {
                    return Ok(Some(event));
                }
            }
            // What is left is one line that has not ended.
            if length(&self.rest) > self.limits.max_bytes {
                return Err(too_large("an event", self.limits.max_bytes));
            }
            match self.answer.chunk().await {
                Ok(Some(chunk)) => {
                    self.taken = self.taken.saturating_add(length(&chunk));
                    self.rest.extend_from_slice(&chunk);
                    if self.taken > self.limits.max_stream_bytes {
                        let most = self.limits.max_stream_bytes;
                        return Err(too_large("the stream", most));
                    }
                }
                Ok(None) => return Ok(None),
                Err(e) => return Err(Error::of(&e)),
            }
        }
    }

    /// The next whole line, without its end.
    fn line(&mut self) -> Option<Vec<u8>> {
        let ahead = self.rest.get(self.searched..)?;
        let Some(at) = ahead.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.rest.len();
            return None;
        };
        let end = self.searched + at;
        self.searched = 0;
        let mut line: Vec<u8> = self.rest.drain(..=end).collect();
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Some(line)
    }

    /// An empty line ends an event.
    fn take(&mut self, line: &[u8]) -> Result<Option<StreamResponse>, Error> {
        if !line.is_empty() {
            if let Some(data) = line.strip_prefix(b"data:") {
                let data = data.strip_prefix(b" ").unwrap_or(data);
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(data);
                if length(&self.data) > self.limits.max_bytes {
                    return Err(too_large("an event", self.limits.max_bytes));
                }
            }
            return Ok(None);
        }
        if self.data.is_empty() {
            return Ok(None);
        }
        let data = std::mem::take(&mut self.data);
        typed(wire::result(self.binding, 200, &data)?).map(Some)
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn too_large(what: &str, most: u64) -> Error {
    Error::Unreadable(format!("{what} is larger than {most} bytes"))
}
