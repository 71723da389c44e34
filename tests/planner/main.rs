//! Plain requests of a new user, read into plans: what a reasonable user means, request by request.

mod plain;
mod summary;
