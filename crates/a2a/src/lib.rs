//! The words of A2A 1.0 (specification 1.0.1, `a2a.proto`): messages, tasks, events, cards and faults, as the JSON of both bindings
//! (JSON-RPC and HTTP+JSON) has them. Pure: what a server or a client does with them is theirs. They are read as ProtoJSON is: names that
//! are not known are passed over, a field may be called as in the proto (`task_id`) or as it is written here (`taskId`), never both; a
//! part with two contents, or none, is refused.

mod card;
mod fault;
mod message;
mod requests;
mod sign;
mod task;
pub mod v0_3;

pub use card::{
    AgentCard, AgentExtension, AgentInterface, AgentSkill, Capabilities, HttpAuth, SecurityList,
    SecurityRequirement, SecurityScheme,
};
pub use fault::{Fault, Kind};
pub use message::{Artifact, Content, Message, Part, Role};
pub use requests::{
    CancelTask, Configuration, GetTask, ListTasks, PushAuthentication, PushConfig, PushList,
    PushOf, PushesOf, SendMessage, SubscribeToTask, TaskList,
};
pub use sign::{CardKey, CardKeys, NotSigned, claimed};
pub use task::{ArtifactUpdate, Status, StatusUpdate, StreamResponse, Task, TaskState};

/// The one version that is spoken.
pub const VERSION: &str = "1.0";
/// The header that names it. Where it is missing a client speaks 0.3, the specification says (3.6.2).
pub const VERSION_HEADER: &str = "a2a-version";
/// What bodies of the HTTP+JSON binding are.
pub const MEDIA_TYPE: &str = "application/a2a+json";
/// Where a card is found, below an agent's address.
pub const CARD_PATH: &str = ".well-known/agent-card.json";
