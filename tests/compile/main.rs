//! The compiler, from a plan to a whole workflow: what it writes, and that n8n would take it.

mod cases;
mod plans;
