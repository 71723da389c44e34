//! How many requests a client makes, counted over all servers that share a database: so many a minute, and a minute's worth at once, as
//! one server counts them for itself. By the database's clock.

use crate::schema::migrator;
use sqlx::PgPool;
use sqlx::migrate::Migrator;

/// The migrations that were made, by their numbers.
pub(crate) const MIGRATED: &str = "agentctl_rates_migrations";

/// Each request fills a minute by its part; where it is full, no row comes back.
const SPEND: &str = "INSERT INTO agentctl_rates AS r (client, full_at) VALUES ($1, clock_timestamp() + $2 * interval '1 second') \
     ON CONFLICT (client) DO UPDATE SET full_at = GREATEST(r.full_at, clock_timestamp()) + $2 * interval '1 second' \
     WHERE GREATEST(r.full_at, clock_timestamp()) + $2 * interval '1 second' <= clock_timestamp() + interval '1 minute' \
     RETURNING true";
const LEFT: &str = "SELECT extract(epoch FROM full_at + $2 * interval '1 second' - interval '1 minute' - clock_timestamp())::float8 \
     FROM agentctl_rates WHERE client = $1";

pub(crate) fn migrations() -> Migrator {
    let all = [("rates", include_str!("../sql/rates/0001_rates.sql"))];
    migrator(MIGRATED, &all)
}

/// Takes one of a client's. Inner error: in so many seconds there is one again.
pub(crate) async fn spend(
    pool: &PgPool,
    client: &str,
    per_minute: u32,
) -> Result<Result<(), u64>, sqlx::Error> {
    let each = 60.0 / f64::from(per_minute.max(1));
    let spent = sqlx::query_scalar::<_, bool>(SPEND).bind(client).bind(each);
    if spent.fetch_optional(pool).await?.is_some() {
        return Ok(Ok(()));
    }
    let left = sqlx::query_scalar::<_, f64>(LEFT).bind(client).bind(each);
    let left = left.fetch_optional(pool).await?.unwrap_or_default();
    Ok(Err((left.ceil() as u64).clamp(1, 60)))
}
