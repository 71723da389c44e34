//! Talk with a program that was started confined: what it gets, what it says, and that nothing of it is left.

use agentctl_host::family::Family;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;

/// Of what it says on stderr, in bytes.
const SAID: usize = 2_000;

pub(crate) struct Said {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    /// Its beginning.
    pub stderr: String,
}

/// Why nothing is known of what it would have said.
pub(crate) enum Silent {
    /// It did not end in time.
    Late,
    Broken(String),
}

/// What became of it. Nothing of it is left when this returns, also when nobody waits for it any more.
pub(crate) async fn said(
    (mut child, family): (Child, Family),
    input: &[u8],
    limit: Duration,
    max_bytes: u64,
) -> Result<Said, Silent> {
    let talk = talked(&mut child, &family, input, max_bytes);
    let came = tokio::time::timeout(limit, talk).await;
    match came {
        // It was waited for, and what it started is gone.
        Ok(Ok(_)) => family.let_go(),
        Ok(Err(_)) | Err(_) => drop(family),
    }
    came.map_err(|_| Silent::Late)?.map_err(Silent::Broken)
}

async fn talked(
    child: &mut Child,
    family: &Family,
    input: &[u8],
    max_bytes: u64,
) -> Result<Said, String> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let given = async {
        if let Some(mut stdin) = stdin {
            // A program need not read what it is given.
            let _ = stdin.write_all(input).await;
        }
        Ok(())
    };
    let words = async {
        let mut kept = Vec::new();
        if let Some(stderr) = stderr {
            kept = beginning(stderr, SAID).await?;
        }
        Ok(kept)
    };
    let answer = async {
        let Some(stdout) = stdout else {
            return Ok(Vec::new());
        };
        let mut answer = Vec::new();
        let mut bounded = stdout.take(max_bytes.saturating_add(1));
        let read = bounded.read_to_end(&mut answer).await;
        read.map_err(|e| format!("its answer cannot be read: {e}"))?;
        match u64::try_from(answer.len()).is_ok_and(|bytes| bytes <= max_bytes) {
            true => Ok(answer),
            false => Err(format!("the answer is larger than {max_bytes} bytes")),
        }
    };
    let ended = async {
        let told = |e: io::Error| format!("its end was not seen: {e}");
        family.child_ended().await.map_err(told)?;
        // What it started may hold its pipes open; until it is waited for, they are all found.
        family.kill();
        child.wait().await.map_err(told)
    };
    let ((), stderr, stdout, status) = tokio::try_join!(given, words, answer, ended)?;
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    Ok(Said {
        status,
        stdout,
        stderr,
    })
}

/// Its first bytes; the others are read and thrown away, so that nobody has to wait.
async fn beginning(mut of: impl AsyncRead + Unpin, most: usize) -> Result<Vec<u8>, String> {
    let told = |e: io::Error| format!("what it says cannot be read: {e}");
    let mut kept = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        let read = of.read(&mut buffer).await.map_err(told)?;
        let new = buffer.get(..read).unwrap_or_default();
        if new.is_empty() {
            return Ok(kept);
        }
        kept.extend(new.iter().take(most.saturating_sub(kept.len())));
    }
}
