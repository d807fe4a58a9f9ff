# Shared functions of the scripts; source it in the repository root.

# Cargo's target directory (target/, CARGO_TARGET_DIR, or the cargo configuration).
target_directory() {
  cargo metadata --no-deps --format-version 1 | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p'
}

# The assay binary: $ASSAY, or else the release build, built if necessary.
assay_binary() {
  if [ -n "${ASSAY:-}" ]; then
    realpath "$ASSAY"
    return
  fi
  cargo build --release --quiet -p assay-cli >&2
  echo "$(target_directory)/release/assay"
}
