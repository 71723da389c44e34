//! A tool that other agents may use: it rings, and counts.

use agentctl_base::BoxFuture;
use agentctl_base::model::{ToolResult, ToolSpec, ToolStatus};
use agentctl_mcp::serve::{Client, Hints, Host, Hosts, Offer, Offered};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct Bell {
    offer: Offer,
    rung: Arc<AtomicUsize>,
}

impl Default for Bell {
    fn default() -> Bell {
        let spec = ToolSpec {
            name: "bell".to_owned(),
            description: "Rings.".to_owned(),
            parameters: json!({"type": "object"}),
        };
        let offered = Offered {
            spec,
            hints: Hints {
                read_only: false,
                destructive: false,
                idempotent: false,
                open_world: false,
            },
            returns: None,
        };
        Bell {
            offer: Offer {
                tools: vec![offered],
                instructions: String::new(),
            },
            rung: Arc::default(),
        }
    }
}

impl Hosts for Bell {
    fn offer(&self) -> &Offer {
        &self.offer
    }
    fn open(&self, client: Client) -> Arc<dyn Host> {
        assert_eq!((client.name.as_str(), client.transport), ("one", "a2a"));
        Arc::new(Rope(Arc::clone(&self.rung)))
    }
}

/// `{"how": "refused"}` is refused, `unknown` may have rung, `slow` rings when the caller has gone.
struct Rope(Arc<AtomicUsize>);

impl Host for Rope {
    fn call(
        &self,
        name: String,
        arguments: String,
        cancelled: BoxFuture<'static, ()>,
    ) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            let args: Value = serde_json::from_str(&arguments).unwrap();
            let how = args["how"].as_str().unwrap_or_default().to_owned();
            if how == "slow" {
                cancelled.await;
            }
            let times = self.0.fetch_add(1, Ordering::SeqCst) + 1;
            let told = |rule: &str| json!({"error": "no", "rule": rule, "hint": "do not"});
            let (status, content) = match how.as_str() {
                "refused" => (ToolStatus::Refused, told("role")),
                "unknown" => (ToolStatus::Unknown, told("cut")),
                "slow" => (ToolStatus::Cancelled, told("")),
                _ => (ToolStatus::Ok, json!({"rung": times})),
            };
            ToolResult {
                call_id: "c1".to_owned(),
                name,
                status,
                content,
            }
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}
