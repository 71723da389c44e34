//! The binary: run, exit. Everything else is in the library.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(agentctl::cli::main(std::env::args_os().collect()))
}
