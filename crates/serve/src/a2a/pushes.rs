//! The receivers of a task: named, shown, listed and taken away by its client. Their secrets are not told again.

use super::refused::Refused;
use super::{find, task};
use crate::ask::Ask;
use crate::clients::May;
use crate::problem::Problem;
use crate::push::{self, Form, Outbox, Target, Wanted};
use crate::server::{ServedPack, Server};
use agentctl_a2a::{Fault, Kind, PushAuthentication, PushConfig, PushList, PushOf, PushesOf};
use agentctl_sessions::Push;
use std::sync::Arc;

/// So many receivers a task has.
const MOST: usize = 8;
/// So many of them are told at once, where the client does not say how many; and at most.
const PAGE: i64 = 50;
const MOST_OF_A_PAGE: usize = 100;
/// The longest name of one, in characters.
const MAX_NAME: usize = 200;

pub fn offered(server: &Server) -> Result<&Arc<Outbox>, Fault> {
    server.outbox.as_ref().ok_or_else(|| {
        Fault::new(
            Kind::PushNotificationNotSupported,
            "nothing is pushed from here, since there is no key to seal addresses with: SubscribeToTask tells a task's events",
        )
    })
}

/// The receiver that a client names; one without an id gets one.
pub async fn wanted(server: &Server, config: &PushConfig) -> Result<Wanted, Refused> {
    let outbox = offered(server)?;
    let name = config.id.clone().filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    if name.chars().count() > MAX_NAME || name.contains(['/', ':']) {
        let why = format!("has 1 to {MAX_NAME} characters, none of them / or :");
        return Err(Fault::field("id", why).into());
    }
    let target = Target::of(config, &outbox.allow).await;
    let target = target.map_err(|(field, why)| Fault::field(field, why))?;
    Ok(Wanted { name, target })
}

pub async fn create(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &ServedPack,
    config: &PushConfig,
) -> Result<PushConfig, Refused> {
    ask.may(May::Turn)?;
    let outbox = offered(server)?;
    let task = config.task_id.as_deref().unwrap_or_default();
    let found = find(server, ask, pack, task).await?;
    let wanted = wanted(server, config).await?;
    let known = server.sessions.pushes_of(&found.run).await;
    let known = known.map_err(Problem::from)?;
    if known.len() >= MOST && known.iter().all(|push| push.name != wanted.name) {
        let why = format!("{MOST} receivers are told of the task already: delete one");
        return Err(Fault::field("taskId", why).into());
    }
    let seen = task::look(server, &found).await?;
    let ended = seen.is_over();
    push::keep(server, outbox, &found, &wanted, (seen.last, ended)).await?;
    Ok(shown(&found.run, &wanted.name, &wanted.target))
}

pub async fn get(
    server: &Server,
    ask: &Ask,
    pack: &ServedPack,
    of: &PushOf,
) -> Result<PushConfig, Refused> {
    let mut all = kept(server, ask, pack, (&of.task_id, May::Read)).await?;
    let at = all.iter().position(|(push, _)| push.name == of.id);
    let (push, target) = at.map(|at| all.swap_remove(at)).ok_or_else(|| {
        Fault::new(
            Kind::TaskNotFound,
            "the task has no such push notification config",
        )
        .with("taskId", &of.task_id)
    })?;
    Ok(shown(&of.task_id, &push.name, &target))
}

pub async fn list(
    server: &Server,
    ask: &Ask,
    pack: &ServedPack,
    of: &PushesOf,
) -> Result<PushList, Refused> {
    let size = of.page_size.filter(|size| *size != 0).unwrap_or(PAGE);
    let size = match usize::try_from(size) {
        Ok(size) if size <= MOST_OF_A_PAGE => size,
        _ => {
            let why = format!("is 1 to {MOST_OF_A_PAGE}, not {size}");
            return Err(Fault::field("pageSize", why).into());
        }
    };
    let task = &of.task_id;
    let mut all = kept(server, ask, pack, (task, May::Read)).await?;
    all.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    // A token is the name of the last one of a page: which of them are deleted meanwhile does not matter.
    if let Some(last) = of.page_token.as_deref().filter(|token| !token.is_empty()) {
        all.retain(|(push, _)| push.name.as_str() > last);
    }
    let more = all.len() > size;
    all.truncate(size);
    let last = all.last().filter(|_| more);
    Ok(PushList {
        next_page_token: last.map_or_else(String::new, |(push, _)| push.name.clone()),
        configs: all
            .iter()
            .map(|(push, target)| shown(task, &push.name, target))
            .collect(),
    })
}

/// One that is not there is deleted, too.
pub async fn delete(
    server: &Server,
    ask: &Ask,
    pack: &ServedPack,
    of: &PushOf,
) -> Result<(), Refused> {
    let outbox = offered(server)?;
    let all = kept(server, ask, pack, (&of.task_id, May::Turn)).await?;
    for (push, _) in all.iter().filter(|(push, _)| push.name == of.id) {
        push::forget(server, outbox, &push.id).await?;
    }
    Ok(())
}

/// The receivers that clients of this protocol named.
async fn kept(
    server: &Server,
    ask: &Ask,
    pack: &ServedPack,
    (task, may): (&str, May),
) -> Result<Vec<(Push, Target)>, Refused> {
    ask.may(may)?;
    let outbox = offered(server)?;
    let found = find(server, ask, pack, task).await?;
    let kept = server.sessions.pushes_of(&found.run).await;
    let kept = kept.map_err(Problem::from)?.into_iter();
    let read = kept.filter_map(|push| Some((push::target(outbox, &push)?, push)));
    let read = read.filter(|(target, _)| target.form == Form::Events);
    Ok(read.map(|(target, push)| (push, target)).collect())
}

fn shown(task: &str, name: &str, target: &Target) -> PushConfig {
    let scheme = target.authentication.as_ref();
    PushConfig {
        id: Some(name.to_owned()),
        task_id: Some(task.to_owned()),
        url: target.url.to_string(),
        token: None,
        authentication: scheme.map(|(scheme, _)| PushAuthentication {
            scheme: scheme.clone(),
            credentials: None,
        }),
    }
}
