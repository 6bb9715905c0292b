//! The program: hands its arguments to the command line and its verdict to the shell.

use std::process::ExitCode;

fn main() -> ExitCode {
    triagent::cli::run(std::env::args_os())
}
