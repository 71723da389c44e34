//! Two readings of one request, and the account that chooses between them: the older reader (`read`) knows many sentences well,
//! the newer one (`assemble`) understands more of those that neither has seen. What each would build is held against the
//! request; the one that answers for more of it is taken. The older reader goes when the newer one needs it no more.

use super::{account, assemble, compile, explain, read};
use agentctl_n8n::catalog::Catalog;

/// How much of a request, in hundredths, a plan must answer for to be built although the other reader asks.
const ENOUGH: u32 = 75;
/// How much, where the older reader asks: its questions are the less sensible ones.
const ENOUGH_OF_THE_NEWER: u32 = 60;

/// What a reader makes of a request.
enum Made {
    Refused,
    Asked,
    /// A plan that answers for so many hundredths of the request.
    Built(u32),
}

/// The better reading of a request.
pub fn reading(request: &str, cx: &read::ReadContext) -> read::Reading {
    let answered = !cx.answers.is_empty();
    let whole = read::ask::with_answers(request, &cx.answers);
    let older = read::read(request, cx);
    let mut newer = assemble::read(&whole, explain::language(&whole));
    if answered {
        newer.questions.clear();
    }
    if newer.plan.name.is_empty() {
        newer.plan.name = read::title::title(&newer.plan, request).unwrap_or_default();
    }
    let takes_newer = match (made(&whole, &older), made(&whole, &newer)) {
        (_, Made::Refused) => true,
        (Made::Refused, _) => false,
        (Made::Asked, Made::Asked) => !newer.questions.is_empty(),
        (Made::Built(percent), Made::Asked) => percent < ENOUGH && !newer.questions.is_empty(),
        (Made::Asked, Made::Built(percent)) => percent >= ENOUGH_OF_THE_NEWER,
        (Made::Built(older), Made::Built(newer)) => newer > older,
    };
    if takes_newer { newer } else { older }
}

fn made(request: &str, reading: &read::Reading) -> Made {
    if reading.refusal.is_some() {
        return Made::Refused;
    }
    if reading.plan.steps.is_empty() || reading.questions.iter().any(|q| q.required) {
        return Made::Asked;
    }
    let built = compile::compile(&reading.plan, Catalog::embedded());
    let account = account::account(request, &reading.plan.language, &[&built.workflow]);
    Made::Built(account.percent())
}
