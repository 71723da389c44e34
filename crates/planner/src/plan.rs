//! The plan: what a request means, before any n8n node is chosen. `read` writes it, `compile` turns it into a workflow.
//! It is serialisable: the architect's blueprint carries it from one agent to the next.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request, understood.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// A short name for the workflow, in the request's language.
    pub name: String,
    /// `en`, `de`, `es`, `fr`.
    pub language: String,
    pub triggers: Vec<Trigger>,
    pub steps: Vec<Step>,
    /// IANA name when the request names one (UTC, Europe/Berlin).
    pub timezone: Option<String>,
    /// "Retry failing steps up to 3 times": for every step that acts on the outside.
    pub retry: Option<Retry>,
    /// Steps of "if it (still) fails, tell …": run from an error output or an error workflow.
    pub on_error: Vec<Step>,
    /// The steps whose failure that is; empty: all that act on the outside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<String>,
    /// Steps that may fail: the flow goes on with what it has.
    pub lenient: Vec<String>,
    /// At most this many nodes ("nothing else please").
    pub minimal: bool,
    /// Flows of their own in the same workflow, each with its own triggers ("part two: a chat that …").
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Plan>,
    /// Parts of the request that ask for something and left no trace in this plan, as they stand there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

impl Plan {
    /// A time of day that the request does not give a timezone is in the user's; None: it is not, or the user's is not known.
    pub fn in_zone_of(&mut self, user: &str) -> Option<String> {
        if user.is_empty() || !self.needs_zone() {
            return None;
        }
        self.timezone = Some(user.to_owned());
        Some(format!("its time of day is in your timezone, {user}"))
    }

    /// Whether it fires at a time of day of which the request does not say in which timezone.
    pub fn needs_zone(&self) -> bool {
        let at_a_time = |trigger: &Trigger| match trigger {
            Trigger::Schedule { rules } => rules.iter().any(ScheduleRule::is_at_a_time),
            _ => false,
        };
        self.timezone.is_none() && self.triggers.iter().any(at_a_time)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retry {
    pub max_tries: u32,
    pub wait_seconds: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Trigger {
    Manual,
    /// Called by another workflow; the named inputs.
    SubWorkflow {
        inputs: Vec<String>,
    },
    Schedule {
        rules: Vec<ScheduleRule>,
    },
    /// `respond`: none = answers at once; `fields` = the body's fields named in the request.
    Webhook {
        method: String,
        path: Option<String>,
        fields: Vec<String>,
        auth: Option<WebhookAuth>,
        /// A file comes with the call.
        #[serde(default)]
        file: bool,
    },
    Form {
        title: String,
        fields: Vec<FormField>,
    },
    Chat {
        public: bool,
    },
    /// Something happens in a service ("new order in Shopify", "starred mail in Gmail"): the trigger node of the service.
    /// `event` = the words of the event ("order created"), `filters` = what the trigger itself can filter on (label, folder, branch, repository, status).
    Service {
        service: Service,
        event: String,
        object: Option<String>,
        args: Vec<Arg>,
    },
    /// A service without a trigger node: poll it on a schedule.
    Poll {
        every: ScheduleRule,
        step: Box<Step>,
    },
    /// The workflow is itself an MCP server; the tools hang on it as `Step::agent_tools`-like sub-nodes.
    McpServer {
        tools: Vec<Tool>,
        auth: Option<WebhookAuth>,
        path: Option<String>,
    },
    /// Another workflow failed.
    Error,
}

impl Trigger {
    /// A rhythm or a person starts the workflow: no record is at hand behind it.
    pub fn brings_nothing(&self) -> bool {
        matches!(self, Trigger::Schedule { .. } | Trigger::Manual)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookAuth {
    Header,
    Basic,
    Bearer,
    Jwt,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "every", rename_all = "snake_case")]
pub enum ScheduleRule {
    Seconds {
        n: u32,
    },
    Minutes {
        n: u32,
    },
    Hours {
        n: u32,
        minute: u32,
    },
    Days {
        n: u32,
        hour: u32,
        minute: u32,
    },
    /// weekdays: 0 = Sunday … 6 = Saturday.
    Weeks {
        n: u32,
        weekdays: Vec<u8>,
        hour: u32,
        minute: u32,
    },
    /// day: 1–31, or 0 for the last day of the month.
    Months {
        n: u32,
        day: u32,
        hour: u32,
        minute: u32,
    },
    Cron {
        expression: String,
    },
}

impl ScheduleRule {
    /// It fires at a time of the day, which is another moment in another timezone.
    fn is_at_a_time(&self) -> bool {
        matches!(
            self,
            ScheduleRule::Days { .. }
                | ScheduleRule::Weeks { .. }
                | ScheduleRule::Months { .. }
                | ScheduleRule::Cron { .. }
        )
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormField {
    pub label: String,
    /// text, textarea, email, number, date, dropdown, file, checkbox, password.
    pub kind: String,
    pub options: Vec<String>,
    pub required: bool,
}

/// A service as the user named it, with the catalog node types it can be, best first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// The user's words, e.g. `Google Sheet`.
    pub said: String,
    /// e.g. `n8n-nodes-base.googleSheets`; empty when the catalog has no node (an HTTP Request then, with its reason).
    pub node_types: Vec<String>,
}

/// A named argument of a step, in the request's terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arg {
    pub role: Role,
    pub value: Val,
}

/// What an argument is for. `Field` = a field of the object being written ("due date two days from now", "priority 4").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    To,
    From,
    Cc,
    Channel,
    /// A person addressed inside a service: @maria, a chat id, a phone number.
    Recipient,
    Subject,
    /// The text to send.
    Text,
    /// The container: a spreadsheet, base, database, project, list, board, collection, bucket, folder, site, mailbox.
    Container,
    /// The part of the container: a sheet tab, a table.
    Part,
    Query,
    Url,
    Method,
    Path,
    FileName,
    Template,
    Stage,
    Priority,
    Due,
    Title,
    Label,
    Status,
    Id,
    /// The key to match on (upsert, lookup).
    MatchOn,
    Limit,
    TimeRange,
    Branch,
    Attachment,
    Command,
    Workflow,
    Body,
    Header,
    /// What the user names by its kind: (`board`, 778899), (`queue`, alerts), (`item`, 556677). Canonical English kinds.
    Named(String),
    /// A condition on the records that are meant: column, comparison.
    Where {
        column: String,
        op: Cmp,
    },
    Field(String),
}

/// A value: given in the request, carried from an earlier step, or computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "val", rename_all = "snake_case")]
pub enum Val {
    Lit {
        value: Value,
    },
    /// A field of the data at hand, in the user's words ("customer e-mail", "order number"). `of` = what it belongs to
    /// ("order", "invitee"), or the id of the step whose output it is.
    Field {
        name: String,
        #[serde(default)]
        of: Option<String>,
    },
    /// Text with holes: "<invitee name> – intro call".
    Template {
        parts: Vec<Val>,
    },
    /// Now plus an offset in seconds (negative: ago); `format` e.g. `yyyy-MM-dd`.
    Now {
        offset_seconds: i64,
        format: Option<String>,
    },
    /// Two values and a sign between them: `+`, `-`, `*`, `/`.
    Math {
        left: Box<Val>,
        sign: char,
        right: Box<Val>,
    },
    /// An n8n expression without the leading `=` (only where nothing else says it).
    Expr {
        code: String,
    },
}

/// One step. `id` is unique in the plan (`s1`, `s2`…); `said` is the part of the request it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub id: String,
    pub said: String,
    pub does: Does,
    /// A wish for the node's name, in the request's language; else the compiler names it.
    #[serde(default)]
    pub name: Option<String>,
}

impl Step {
    /// The steps of its ways: branches, cases, a loop's body, an approval's yes and no.
    pub fn ways(&self) -> Vec<&[Step]> {
        match &self.does {
            Does::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Does::Switch {
                cases, fallback, ..
            } => {
                let cases = cases.iter().map(|c| c.steps.as_slice());
                cases.chain(fallback.as_deref()).collect()
            }
            Does::Loop { body, after, .. } => vec![body, after],
            Does::Approval {
                approved, rejected, ..
            } => vec![approved, rejected],
            Does::Gather { branches } | Does::Each { branches } => {
                branches.iter().map(Vec::as_slice).collect()
            }
            Does::Join { left, right, .. } => vec![left, right],
            _ => Vec::new(),
        }
    }

    /// The same, to be changed.
    pub fn ways_mut(&mut self) -> Vec<&mut Vec<Step>> {
        match &mut self.does {
            Does::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Does::Switch {
                cases, fallback, ..
            } => {
                let cases = cases.iter_mut().map(|c| &mut c.steps);
                cases.chain(fallback.as_mut()).collect()
            }
            Does::Loop { body, after, .. } => vec![body, after],
            Does::Approval {
                approved, rejected, ..
            } => vec![approved, rejected],
            Does::Gather { branches } | Does::Each { branches } => branches.iter_mut().collect(),
            Does::Join { left, right, .. } => vec![left, right],
            _ => Vec::new(),
        }
    }
}

/// The verb of a step on a service, normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    Create,
    Get,
    GetMany,
    Search,
    Update,
    /// Create or update.
    Upsert,
    Append,
    Delete,
    Send,
    Reply,
    Draft,
    Post,
    Call,
    Upload,
    Download,
    Move,
    Publish,
    Query,
    Insert,
    Run,
    Set,
    Add,
    Remove,
    Other,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "does", rename_all = "snake_case")]
pub enum Does {
    /// An operation of a service ("create a Salesforce lead", "append to the sheet").
    /// `once`: one call for all items together (one message, one mail), else one per item.
    Service {
        service: Service,
        verb: Verb,
        object: Option<String>,
        args: Vec<Arg>,
        once: bool,
    },
    /// A plain HTTP call. `expect_status` when the request compares the status.
    Http {
        method: String,
        url: String,
        query: Vec<Arg>,
        body: Vec<Arg>,
        auth: Option<String>,
        save_as_file: bool,
        never_fail: bool,
        rate_per_second: Option<f64>,
    },
    /// Two ways. `otherwise` may be empty. A filter is an If without an otherwise whose steps are the rest: use `Filter`.
    If {
        condition: Cond,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    Switch {
        on: Val,
        cases: Vec<Case>,
        fallback: Option<Vec<Step>>,
    },
    /// Items that do not meet it are dropped; what follows runs on the rest.
    Filter {
        condition: Cond,
    },
    /// Over items in batches; `after` runs once at the end.
    Loop {
        batch_size: u32,
        body: Vec<Step>,
        after: Vec<Step>,
    },
    Wait {
        seconds: u64,
    },
    /// Until a date of the data, or so many seconds before (negative) or after it.
    WaitUntil {
        at: Val,
        offset_seconds: i64,
    },
    /// Waits for a person's yes or no (send-and-wait of a service).
    Approval {
        service: Service,
        args: Vec<Arg>,
        approved: Vec<Step>,
        rejected: Vec<Step>,
    },
    /// A language model reads or writes text.
    Llm {
        task: LlmTask,
        provider: Option<String>,
        instructions: String,
        input: Option<Val>,
    },
    /// An agent with tools, memory, knowledge.
    Agent {
        provider: Option<String>,
        instructions: String,
        input: Option<Val>,
        tools: Vec<Tool>,
        memory: Option<Memory>,
        knowledge: Vec<Knowledge>,
        output_fields: Vec<String>,
    },
    /// Many items into one ("as one list", "a single report"); `format`: list, html_table, text, json.
    /// `group_by`: one list per value of it ("one mail per owner").
    Aggregate {
        format: String,
        #[serde(default)]
        group_by: Option<Val>,
    },
    /// One item with a list into many items.
    Split {
        field: Val,
    },
    /// Set fields for the steps after it.
    SetFields {
        fields: Vec<Arg>,
    },
    Sort {
        by: Val,
        descending: bool,
    },
    LimitTo {
        n: u32,
    },
    /// Repeats within one run are dropped; without fields, whole items are compared.
    Unique {
        by: Vec<Val>,
    },
    /// Sums, counts, averages for each value of `by`.
    Summarize {
        measures: Vec<Measure>,
        by: Vec<Val>,
    },
    /// Never twice: drop what was handled in an earlier run. `key` identifies an item.
    Dedupe {
        key: Val,
        window_seconds: Option<u64>,
    },
    /// Drop items that are already in a store: a lookup, then an If.
    NotIn {
        lookup: Box<Step>,
        key: Val,
    },
    /// Two sources joined: keep `both`, `left_only`, `enrich`, `all`.
    Join {
        left: Vec<Step>,
        right: Vec<Step>,
        on: String,
        keep: String,
    },
    /// Sources side by side, appended (summaries over several services).
    Gather {
        branches: Vec<Vec<Step>>,
    },
    /// Independent targets that all get the same data ("post to Slack and append to the sheet"): siblings, not a chain.
    Each {
        branches: Vec<Vec<Step>>,
    },
    /// Data to a file or back: csv, json, xlsx, html, pdf, text, zip (compress, decompress).
    ToFile {
        format: String,
        file_name: Option<Val>,
    },
    FromFile {
        format: String,
        options: Vec<Arg>,
    },
    ReadDisk {
        path: String,
    },
    WriteDisk {
        path: String,
    },
    /// Answer the webhook's caller.
    Respond {
        status: u16,
        body: Vec<Arg>,
        as_text: Option<Val>,
    },
    CallWorkflow {
        reference: String,
        inputs: Vec<Arg>,
        wait: bool,
    },
    Transcribe {
        provider: Option<String>,
    },
    /// Documents into a vector store: cut into chunks, embedded. `embeddings` is a model's host.
    Ingest {
        store: Service,
        collection: Option<String>,
        embeddings: Option<String>,
        chunk_size: Option<u32>,
        overlap: Option<u32>,
    },
    GenerateImage {
        provider: Option<String>,
        prompt: String,
    },
    /// What no other kind says, in JavaScript (validated before use), with its reason.
    Code {
        purpose: String,
        javascript: String,
    },
    /// "for other nothing happens".
    Nothing,
}

/// One figure of a summary: `op` is sum, count, average, min, max.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    pub op: String,
    pub of: Val,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub label: String,
    pub condition: Option<Cond>,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum LlmTask {
    Classify {
        labels: Vec<String>,
    },
    Sentiment,
    Extract {
        fields: Vec<String>,
    },
    Summarize,
    Translate {
        language: String,
    },
    /// Write something (article, reply, intro, critique).
    Write,
}

/// A tool of an agent (or of an MCP server).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// snake_case name when the request gives one.
    pub name: Option<String>,
    pub purpose: String,
    /// A step whose parameters the model fills (`$fromAI`): Service, Http, CallWorkflow; or `builtin` (calculator, serpapi, wikipedia, code, vector store).
    pub step: Option<Box<Step>>,
    pub builtin: Option<String>,
    /// Parameters that the model fills.
    pub inputs: Vec<String>,
    /// A person must approve each use, over this service.
    pub approval: Option<Box<Step>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// simple, postgres, redis, mongodb, …
    pub store: String,
    pub window: Option<u32>,
    /// What the session is keyed by, e.g. the chat id.
    pub session: Option<Val>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Knowledge {
    pub store: Service,
    pub collection: Option<String>,
    /// The host of the embedding model, when it is not the chat model's.
    #[serde(default)]
    pub embeddings: Option<String>,
}

/// A condition tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cond", rename_all = "snake_case")]
pub enum Cond {
    All {
        of: Vec<Cond>,
    },
    Any {
        of: Vec<Cond>,
    },
    Not {
        of: Box<Cond>,
    },
    Compare {
        left: Val,
        op: Cmp,
        right: Val,
    },
    /// Older/newer than: compares a date field with now.
    Age {
        field: Val,
        older: bool,
        seconds: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cmp {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
    Contains,
    NotContains,
    StartsWith,
    EndsWith,
    Matches,
    Exists,
    Missing,
    IsTrue,
    IsFalse,
    OneOf,
}

impl Cmp {
    /// The comparison that holds where this one does not; none where no single one says it.
    pub fn opposite(self) -> Option<Self> {
        Some(match self {
            Cmp::Eq => Cmp::Ne,
            Cmp::Ne => Cmp::Eq,
            Cmp::Gt => Cmp::Le,
            Cmp::Ge => Cmp::Lt,
            Cmp::Lt => Cmp::Ge,
            Cmp::Le => Cmp::Gt,
            Cmp::Contains => Cmp::NotContains,
            Cmp::NotContains => Cmp::Contains,
            Cmp::Exists => Cmp::Missing,
            Cmp::Missing => Cmp::Exists,
            Cmp::IsTrue => Cmp::IsFalse,
            Cmp::IsFalse => Cmp::IsTrue,
            Cmp::StartsWith | Cmp::EndsWith | Cmp::Matches | Cmp::OneOf => return None,
        })
    }
}

/// What the user must still do before the workflow can run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Todo {
    /// credential, id, value.
    pub kind: String,
    pub node: String,
    pub text: String,
}

/// Why a request is not built, and what could be built instead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    pub reason: String,
    pub alternatives: Vec<String>,
}

#[cfg(test)]
mod zone_tests {
    use crate::read::{ReadContext, read};

    #[test]
    fn a_time_of_day_is_in_the_users_timezone() {
        let zone = |request: &str, user: &str| {
            let mut plan = read(request, &ReadContext::default()).plan;
            let told = plan.in_zone_of(user);
            (plan.timezone, told.is_some())
        };
        let vienna = || Some("Europe/Vienna".to_owned());
        let daily = "Every day at 9:00 post hello to Slack channel #dev";
        assert_eq!(zone(daily, "Europe/Vienna"), (vienna(), true));
        assert_eq!(zone(daily, ""), (None, false));
        let named = "Every day at 9:00 Europe/Berlin time post hello to Slack channel #dev";
        let berlin = Some("Europe/Berlin".to_owned());
        assert_eq!(zone(named, "Europe/Vienna"), (berlin, false));
        let hourly = "Every hour post hello to Slack channel #dev";
        assert_eq!(zone(hourly, "Europe/Vienna"), (None, false));
    }
}
