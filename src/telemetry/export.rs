//! Spans on their way to an OTLP collector over HTTP, set up by the usual `OTEL_*` variables. They go out on a thread of
//! their own: the run waits for nobody but at its end, and then for what is still under way, once.

use super::{Attribute, Finished, Kind, Spans, requests};
use agentctl_engine::{flow::Flow, store::Record};
use agentctl_serve::Asked;
use opentelemetry::{
    Array, InstrumentationScope, KeyValue, StringValue, Value,
    trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState},
};
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::{
    Resource,
    trace::{SpanData, SpanEvents, SpanExporter as _, SpanLinks},
};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::JoinHandle,
};

/// So many batches wait for a collector that is slow; what comes then is lost, and counted.
const WAITING: usize = 10_000;

/// Any of these says where spans go.
const ENDPOINTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];
const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// Whether the environment names a collector. `variable` looks into it.
pub fn wanted(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let set = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
    let is = |name, value: &str| variable(name).is_some_and(|v| v.eq_ignore_ascii_case(value));
    ENDPOINTS.iter().any(set)
        && !is("OTEL_SDK_DISABLED", "true")
        && !is("OTEL_TRACES_EXPORTER", "none")
}

/// What takes spans to the collector.
struct Sending {
    out: SyncSender<Vec<SpanData>>,
    sent: JoinHandle<Result<(), String>>,
    lost: AtomicU64,
}

impl Sending {
    /// `stays`: a batch that cannot be sent is lost and the next one is tried; else nothing more is sent.
    fn start(variable: &dyn Fn(&str) -> Option<String>, stays: bool) -> Result<Self, String> {
        agentctl_host::http::provide();
        let mut exporter = SpanExporter::builder()
            .with_http()
            .build()
            .map_err(|e| e.to_string())?;
        let service = variable("OTEL_SERVICE_NAME").unwrap_or_else(|| "agentctl".to_owned());
        let resource = Resource::builder()
            .with_service_name(service)
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        exporter.set_resource(&resource);
        let (out, batches) = sync_channel(WAITING);
        let sent = std::thread::Builder::new()
            .name("telemetry".to_owned())
            .spawn(move || send(&exporter, &batches, stays))
            .map_err(|e| e.to_string())?;
        Ok(Sending {
            out,
            sent,
            lost: AtomicU64::new(0),
        })
    }

    fn send(&self, over: Vec<SpanData>) {
        let count = over.len() as u64;
        // Also where the thread has given up: `finish` says why.
        if self.out.try_send(over).is_err() {
            self.lost.fetch_add(count, Ordering::Relaxed);
        }
    }

    fn finish(self) -> Result<(), String> {
        drop(self.out);
        let sent = self.sent.join();
        sent.unwrap_or_else(|_| Err("the exporter broke".to_owned()))?;
        match self.lost.into_inner() {
            0 => Ok(()),
            lost => Err(format!("{lost} came faster than the collector takes them")),
        }
    }
}

/// The requests of a server on their way to a collector.
pub struct Requests(Sending);

impl Requests {
    /// Err: the variables cannot be used, in words.
    pub fn start(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        Sending::start(variable, true).map(Requests)
    }

    pub fn record(&self, asked: &Asked) {
        if let Some(over) = requests::span(asked, uuid::Uuid::new_v4().as_u128()) {
            self.0.send(vec![span(over)]);
        }
    }

    /// Waits until everything is out, or the collector has not answered in time. Err: why spans were lost.
    pub fn finish(self) -> Result<(), String> {
        self.0.finish()
    }
}

pub struct Exporter<'a> {
    spans: Spans<'a>,
    sending: Sending,
}

impl<'a> Exporter<'a> {
    /// Err: the variables cannot be used, in words.
    pub fn start(
        flow: &'a Flow,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let content = variable(CONTENT).is_some_and(|v| v.eq_ignore_ascii_case("true"));
        Ok(Exporter {
            spans: Spans::new(flow, content),
            sending: Sending::start(variable, false)?,
        })
    }

    /// What an earlier activation did; it told its spans itself.
    pub fn recall(&mut self, records: &[Record]) {
        for record in records {
            drop(self.spans.feed(record));
        }
    }

    pub fn record(&mut self, record: &Record) {
        let over: Vec<SpanData> = self.spans.feed(record).into_iter().map(span).collect();
        if !over.is_empty() {
            self.sending.send(over);
        }
    }

    /// Waits until everything is out, or the collector has not answered in time. Err: why spans were lost.
    pub fn finish(self) -> Result<(), String> {
        self.sending.finish()
    }
}

/// A run gives up at the first batch that cannot be sent: a collector that is not there must not cost one wait for each. A server
/// (`stays`) outlives its collector's restart.
fn send(
    exporter: &SpanExporter,
    batches: &Receiver<Vec<SpanData>>,
    stays: bool,
) -> Result<(), String> {
    let mut last = Ok(());
    while let Ok(mut batch) = batches.recv() {
        while let Ok(more) = batches.try_recv() {
            batch.extend(more);
        }
        let sent = futures_executor::block_on(exporter.export(batch)).map_err(|e| e.to_string());
        match (sent, stays) {
            (Ok(()), _) => {}
            (Err(why), true) => last = Err(why),
            (Err(why), false) => return Err(why),
        }
    }
    last
}

fn span(span: Finished) -> SpanData {
    let attributes = span.attributes.into_iter().map(|(key, value)| {
        let value = match value {
            Attribute::Text(text) => Value::from(text),
            Attribute::Texts(texts) => {
                let texts = texts.into_iter().map(StringValue::from).collect();
                Value::Array(Array::String(texts))
            }
            Attribute::Count(count) => Value::from(count),
            Attribute::Number(number) => Value::from(number),
        };
        KeyValue::new(key, value)
    });
    SpanData {
        span_context: SpanContext::new(
            TraceId::from(span.trace_id),
            SpanId::from(span.id),
            TraceFlags::SAMPLED,
            false,
            TraceState::default(),
        ),
        parent_span_id: SpanId::from(span.parent),
        parent_span_is_remote: span.kind == Kind::Server,
        span_kind: match span.kind {
            Kind::Internal => SpanKind::Internal,
            Kind::Client => SpanKind::Client,
            Kind::Server => SpanKind::Server,
        },
        name: span.name.into(),
        start_time: span.begun,
        end_time: span.ended,
        attributes: attributes.collect(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: match span.error {
            None => Status::Unset,
            Some(error) => Status::error(error),
        },
        instrumentation_scope: InstrumentationScope::builder("agentctl")
            .with_version(env!("CARGO_PKG_VERSION"))
            .build(),
    }
}
