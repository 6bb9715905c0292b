//! The program: hands its arguments to the command line and its verdict to the shell.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A grader is this program again: it must give up its rights before anything else happens.
    triagent::sandbox::entry(std::env::args_os())
        .unwrap_or_else(|| triagent::cli::run(std::env::args_os()))
}
