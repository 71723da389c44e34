//! Workflow documents in files: reading with an exact reason when it fails, and the text that we write.
//! Never guesses: a file that is not one whole workflow is not read at all, and so is never written over.

use agentctl_n8n::Workflow;
use serde_json::Value;

/// Larger files are not read (n8n itself takes about 16 MB in one request).
pub const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Reads one workflow from a file's bytes; the error says what is wrong, with line and column where there is one.
pub fn read(bytes: &[u8]) -> Result<Workflow, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| format!("it is not UTF-8 text (byte {})", e.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err("the file is empty".to_owned());
    }
    let value: Value = serde_json::from_str(text).map_err(|e| format!("it is not JSON: {e}"))?;
    if let Value::Array(list) = &value {
        return Err(format!(
            "it holds a list of {} instead of one workflow; save each one in a file of its own",
            list.len()
        ));
    }
    Workflow::from_value(value).map_err(|e| e.to_string())
}
