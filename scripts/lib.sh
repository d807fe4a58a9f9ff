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

# Begins a stage of a check: prints its name, and notes wall and processor time of the one before.
stage_name=
stage_table=
stage() {
  local file now cpu
  file=$(mktemp)
  times >"$file"
  now=$SECONDS
  cpu=$(awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); printf "%d", u[1] * 60 + u[2] + s[1] * 60 + s[2] }' "$file")
  rm -f "$file"
  if [ -n "$stage_name" ]; then
    stage_table+=$(printf '%6d s  %6d CPU-s  %s' $((now - stage_start)) $((cpu - stage_cpu)) "$stage_name")$'\n'
  fi
  stage_name=${1:-}
  stage_start=$now
  stage_cpu=$cpu
  [ -z "$stage_name" ] || printf '\n== %s (%d s so far)\n' "$stage_name" "$now"
}

# Ends the last stage and prints the time of each. Processor time of a process in the background counts where it ends.
stage_times() {
  stage
  printf '\n== time per stage\n%s' "$stage_table"
}
