//! `assay completions SHELL`.

use clap::CommandFactory;

use crate::args::Arguments;
use crate::exit::Verdict;

/// Print completions for a shell.
pub fn run(shell: clap_complete::Shell) -> anyhow::Result<Verdict> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "assay", &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(Verdict::Done)
}
