//! The binary: parse, run, exit. Everything else is in the library.

use anyhow::Context;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error:#}");
            eprintln!(
                "hint: this is a bug in agentctl; please report it with the command that you typed"
            );
            ExitCode::from(70)
        }
    }
}

fn run() -> anyhow::Result<u8> {
    let args: Vec<std::ffi::OsString> = std::env::args_os().collect();
    agentctl::cli::main(args).context("internal error")
}
