//! Tells the binary which commit it was built from, so that every run folder can say so, and for
//! what and how it was built.

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn main() {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    let dirty =
        git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|s| !s.is_empty());
    println!("cargo::rustc-env=ASSAY_COMMIT={commit}{}", if dirty { "-dirty" } else { "" });
    let variable = |name| std::env::var(name).expect("cargo sets it");
    println!("cargo::rustc-env=ASSAY_TARGET={}", variable("TARGET"));
    // Of profiles that inherit from another, cargo names that one.
    let profile = format!("{}, optimisation level {}", variable("PROFILE"), variable("OPT_LEVEL"));
    println!("cargo::rustc-env=ASSAY_PROFILE={profile}");
    for path in ["HEAD", "index"] {
        if let Some(path) = git(&["rev-parse", "--git-path", path]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}
