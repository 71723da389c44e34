//! Spans of a run for an OpenTelemetry collector, when this program was built with the feature `otel` and the environment
//! names a collector. What goes wrong with them is a remark, never the run's fault.

#[cfg(feature = "otel")]
mod on {
    use crate::cli::output::Output;
    use crate::cli::session::Session;
    use crate::telemetry::{self, Exporter, wanted};
    use agentctl_engine::run;
    use agentctl_engine::store::Record;
    use agentctl_host::home::variable;
    use agentctl_serve::Asked;

    #[derive(Default)]
    pub struct Traces<'a>(Option<Exporter<'a>>);

    impl<'a> Traces<'a> {
        pub fn start(session: &'a Session, resumed: Option<Option<&str>>, out: &Output) -> Self {
            if !wanted(&variable) {
                return Traces(None);
            }
            let mut exporter = match Exporter::start(&session.pack.flow, &variable) {
                Ok(exporter) => exporter,
                Err(why) => {
                    out.note(&format!("no spans are sent: {why}"));
                    return Traces(None);
                }
            };
            if let Some(run) = resumed {
                let earlier = run::run_named(&session.project, run)
                    .and_then(|run| Ok(run::read(&session.project, &run)?));
                // What is wrong with the run is told when it is taken up.
                if let Ok(loaded) = earlier {
                    exporter.recall(&loaded.records);
                }
            }
            Traces(Some(exporter))
        }

        pub fn record(&mut self, record: &Record) {
            if let Some(exporter) = &mut self.0 {
                exporter.record(record);
            }
        }

        pub fn finish(self, out: &Output) {
            if let Some(Err(why)) = self.0.map(Exporter::finish) {
                out.note(&format!("spans were not sent: {why}"));
            }
        }
    }

    /// The requests of a server.
    #[derive(Default)]
    pub struct Requests(Option<telemetry::Requests>);

    impl Requests {
        pub fn start(out: &Output) -> Self {
            if !wanted(&variable) {
                return Requests(None);
            }
            match telemetry::Requests::start(&variable) {
                Ok(requests) => Requests(Some(requests)),
                Err(why) => {
                    out.note(&format!("no spans are sent: {why}"));
                    Requests(None)
                }
            }
        }

        pub fn record(&self, asked: &Asked) {
            if let Some(requests) = &self.0 {
                requests.record(asked);
            }
        }

        pub fn finish(self, out: &Output) {
            if let Some(Err(why)) = self.0.map(telemetry::Requests::finish) {
                out.note(&format!("spans were not sent: {why}"));
            }
        }
    }
}

#[cfg(not(feature = "otel"))]
mod off {
    use crate::cli::output::Output;
    use crate::cli::session::Session;
    use agentctl_engine::store::Record;
    use agentctl_serve::Asked;
    use std::marker::PhantomData;

    #[derive(Default)]
    pub struct Traces<'a>(PhantomData<&'a Session>);

    impl<'a> Traces<'a> {
        pub fn start(_: &'a Session, _: Option<Option<&str>>, _: &Output) -> Self {
            Traces(PhantomData)
        }
        pub fn record(&mut self, _: &Record) {}
        pub fn finish(self, _: &Output) {}
    }

    #[derive(Default)]
    pub struct Requests;

    impl Requests {
        pub fn start(_: &Output) -> Self {
            Requests
        }
        pub fn record(&self, _: &Asked) {}
        pub fn finish(self, _: &Output) {}
    }
}

#[cfg(not(feature = "otel"))]
pub use off::{Requests, Traces};
#[cfg(feature = "otel")]
pub use on::{Requests, Traces};
