//! The servers of `.mcp.json` as items: what each would start or reach, what would really run, and the names of the variables that
//! it would be given. No value of a variable is shown.

use super::item::{Item, Kind, hashed};
use agentctl_host::home::variable;
use agentctl_mcp::ServerIdentity;
use std::path::Path;

pub const FILE: &str = agentctl_mcp::FILE;

/// The name of a server's item.
pub fn item_name(server: &str) -> String {
    format!("{FILE}/{server}")
}

/// One item for each enabled server, `bytes` being the file. A file that cannot be read as JSON is one item: whoever trusts it is
/// told its mistake by the reader.
pub fn server_items(project: &Path, bytes: &[u8]) -> Vec<Item> {
    let found = match std::str::from_utf8(bytes) {
        Ok(text) => {
            agentctl_mcp::identities_in(project, text, &variable).map_err(|error| error.to_string())
        }
        Err(_) => Err("it is not UTF-8 text".to_owned()),
    };
    match found {
        Ok(found) => found.into_iter().map(item).collect(),
        Err(why) => vec![Item {
            kind: Kind::Server,
            name: FILE.to_owned(),
            shows: vec![format!("cannot be read: {why}")],
            hash: Ok(hashed(Kind::Server, bytes)),
        }],
    }
}

fn item(server: ServerIdentity) -> Item {
    let mut shows = server.shown;
    if let Some(address) = server.address {
        let now = address.host.map(|host| format!(" (now {host})"));
        shows.push(format!(
            "works on {}{}",
            address.written,
            now.unwrap_or_default()
        ));
    }
    let warnings = server.warnings.into_iter();
    shows.extend(warnings.map(|warning| format!("warning: {warning}")));
    Item {
        kind: Kind::Server,
        name: item_name(&server.name),
        shows,
        hash: Ok(server.hash),
    }
}
