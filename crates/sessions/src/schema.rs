//! Tables and their versions. A new store is made as it is opened; one of an older agentctl is brought to this one's version only where
//! its user says so, since no older one works with it any more.

use crate::SessionError;
use sqlx::SqlSafeStr as _;
use sqlx::migrate::{Migrate, MigrateError, Migration, MigrationType, Migrator};

/// What is done with a store of an older agentctl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schema {
    Refused,
    Migrated,
}

/// The migrations of one kind of store, noted in `table`.
pub(crate) fn migrator(table: &'static str, all: &[(&'static str, &'static str)]) -> Migrator {
    let numbered = (1..).zip(all);
    let sql = numbered.map(|(number, (name, text))| {
        let simple = MigrationType::Simple;
        Migration::new(number, (*name).into(), simple, text.into_sql_str(), false)
    });
    let mut all = Migrator::with_migrations(sql.collect());
    all.dangerous_set_table_name(table);
    all
}

/// Makes the tables that are missing. `unreachable`: the error of a store that did not answer.
pub(crate) async fn bring<C: Migrate>(
    (table, migrator): (&str, &Migrator),
    connection: &mut C,
    schema: Schema,
    (place, unreachable): (&str, &(dyn Fn(sqlx::Error) -> SessionError + Sync)),
) -> Result<(), SessionError> {
    let wrong = |e: MigrateError| match e {
        MigrateError::VersionMissing(version) => SessionError::Newer {
            place: place.to_owned(),
            version,
        },
        MigrateError::Execute(e) => unreachable(e),
        e => SessionError::NotOurs {
            place: place.to_owned(),
            why: e.to_string(),
        },
    };
    if schema == Schema::Refused {
        // Under the lock of whoever makes the tables in this moment.
        connection.lock().await.map_err(wrong)?;
        connection
            .ensure_migrations_table(table)
            .await
            .map_err(wrong)?;
        let applied = connection.list_applied_migrations(table).await;
        connection.unlock().await.map_err(wrong)?;
        let newest = migrator.iter().map(|migration| migration.version).max();
        let has = applied.map_err(wrong)?.iter().map(|one| one.version).max();
        if let (Some(has), Some(wants)) = (has, newest)
            && has < wants
        {
            return Err(SessionError::Older {
                place: place.to_owned(),
                has,
                wants,
            });
        }
    }
    let done = migrator.run_direct(None, connection, false).await;
    done.map_err(wrong)
}
