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
    // `PROFILE` names the one that a profile inherits from; its own folder is `PROFILE/build/*/out`.
    let output = std::path::PathBuf::from(variable("OUT_DIR"));
    let folder = output.ancestors().nth(3).and_then(|folder| folder.file_name());
    let profile = folder.map_or_else(|| variable("PROFILE"), |name| name.display().to_string());
    println!("cargo::rustc-env=ASSAY_PROFILE={profile}");
    for path in ["HEAD", "index"] {
        if let Some(path) = git(&["rev-parse", "--git-path", path]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}
