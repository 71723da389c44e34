//! From a request of `serve` to its span, named as the HTTP semantic conventions name it. Pure.

use super::{Attribute, Finished, Kind};
use agentctl_serve::Asked;

/// Others are no words of a span's name: anybody can send any.
const METHODS: [&str; 7] = ["GET", "POST", "DELETE", "OPTIONS", "HEAD", "PUT", "PATCH"];

/// The span of a request; `own`: a number that no other one has, the trace of a caller that names none. None: the caller keeps no
/// spans of its trace, so nobody would see this one.
pub fn span(asked: &Asked, own: u128) -> Option<Finished> {
    if asked.parent.is_some_and(|parent| !parent.sampled) {
        return None;
    }
    let method = METHODS.iter().find(|known| **known == asked.method);
    let method = method.copied().unwrap_or("_OTHER");
    let mut attributes: Vec<(&'static str, Attribute)> = vec![
        ("http.request.method", method.into()),
        ("url.path", asked.path.as_str().into()),
        ("http.response.status_code", u64::from(asked.status).into()),
    ];
    let route = asked.route();
    let mut more = |key, value: Option<&str>| attributes.extend(value.map(|v| (key, v.into())));
    more("http.route", route);
    more("agentctl.client", asked.client.as_deref());
    more("gen_ai.conversation.id", asked.run.as_deref());
    let failed = asked.status >= 500;
    let status = asked.status.to_string();
    more("error.type", failed.then_some(status.as_str()));
    // Halves of a number that is random as a whole; zero would be no span.
    let [high, low] = [own >> 64, own & u128::from(u64::MAX)];
    let id = u64::try_from(high ^ low).unwrap_or_default().max(1);
    Some(Finished {
        trace_id: asked.parent.map_or(own.max(1), |parent| parent.trace),
        id,
        parent: asked.parent.map_or(0, |parent| parent.span),
        name: route.map_or_else(|| method.to_owned(), |route| format!("{method} {route}")),
        kind: Kind::Server,
        begun: asked.begun,
        ended: asked.begun + asked.took,
        attributes,
        error: failed.then_some(status),
    })
}
