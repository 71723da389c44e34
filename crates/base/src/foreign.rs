//! Names of tools that other MCP servers have.

/// The name under which a model sees a tool of another MCP server.
pub fn foreign_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// `mcp__server__tool` → (server, tool). A server's name has no `__`, a tool's may.
pub fn split_foreign(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}
