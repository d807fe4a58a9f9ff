# Shared by the scripts; to be sourced from the repository's root.

# Where cargo puts what it builds, whatever decides that (target/, CARGO_TARGET_DIR, a cargo configuration).
target_directory() {
  cargo metadata --no-deps --format-version 1 | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p'
}

# The assay to use: the one that ASSAY names, else the release build, else a release build made now.
assay_binary() {
  if [ -n "${ASSAY:-}" ]; then
    realpath "$ASSAY"
    return
  fi
  cargo build --release --quiet -p assay-cli >&2
  echo "$(target_directory)/release/assay"
}
