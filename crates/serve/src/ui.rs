//! What the page of runs (`/ui`) has of the rest of the program: the look of its pages, and a run's report as one of them.

use crate::answer::{Answer, whole};
use crate::problem::Problem;
use crate::runs::Readable;
use crate::server::{ServedPack, Server};
use agentctl_base::BoxFuture;
use agentctl_engine::pack::Pack;
use hyper::StatusCode;
use hyper::header::{CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY};

/// What a report may do where it is opened by itself: be looked at. Its own policy, which stands in it, is narrower.
const MAY: &str = "sandbox; frame-ancestors 'none'";

/// Makes a run's report: a page in one file, without any script.
pub trait Reports: Send + Sync {
    /// `pack`: the one that is served, with the flow that the run is of. Error: why there is none.
    fn page<'a>(
        &'a self,
        served: &'a ServedPack,
        pack: &'a Pack,
        run: &'a str,
    ) -> BoxFuture<'a, Result<String, String>>;
}

pub struct Ui {
    /// The style sheet of the program's pages.
    pub look: String,
    /// The source (`'sha256-…'`) by which a policy names the style that stands in a report.
    pub report_style: String,
    pub reports: Box<dyn Reports>,
}

/// `GET /runs/{id}/report`.
pub async fn report(server: &Server, found: &Readable) -> Result<Answer, Problem> {
    let ui = server.ui.as_ref();
    let ui = ui.ok_or_else(|| {
        Problem::not_found("report here").hint("[serve] ui = true in agentctl.toml makes them")
    })?;
    let pack = found.as_it_runs();
    let page = ui.reports.page(&found.pack, &pack, &found.run).await;
    let page = page.map_err(|why| match found.key {
        Some(_) => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, why),
        // It may be of another version of the pack, or of an orchestrator that was chosen.
        None => {
            Problem::new(StatusCode::CONFLICT, why).hint(format!("agentctl report {}", found.run))
        }
    })?;
    let mut answer = whole(StatusCode::OK, "text/html; charset=utf-8", page);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(MAY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(answer)
}
