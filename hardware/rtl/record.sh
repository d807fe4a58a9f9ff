# Record of passed steps; sourced by hardware/rtl/check. ../proven.toml holds for each step a digest of its inputs and of the versions of its
# tools. A step has passed if its digest is that of the record, so a changed input or another version runs it again. Only a complete run
# that is asked for without --recorded writes the record.
record=../proven.toml

# Files that decide the result of a step; none for a step that is not recorded. The versions of slang and verible are in `check`.
inputs_of() {
  case $1 in
    lint) echo check record.sh nvs_*.sv formal/slang.py ;;
    prove) echo check record.sh nvs_*.sv formal/*.svh formal/proofs.txt ;;
    mutants) echo check record.sh nvs_*.sv formal/*.svh formal/proofs.txt formal/mutants.txt ;;
    area) echo check record.sh nvs_*.sv formal/area.txt ;;
  esac
}

tools_of() {
  case $1 in
    lint) verilator --version ;;
    *) yosys -V ;;
  esac
}

digest_of() { { tools_of "$1" && sha256sum $(inputs_of "$1"); } | sha256sum | cut -d " " -f 1; }

# A value of the record. Arguments: step, key.
recorded() {
  [ ! -e "$record" ] || awk -v step="[$1]" -v key="$2" '
    /^\[/ { inside = $0 == step }
    inside && $1 == key { sub(/^[a-z]+ = /, ""); gsub(/"/, ""); print }' "$record"
}

# Arguments: step, digest when it began, seconds. An input that has changed since is not recorded.
write_record() {
  local step=$1 digest=$2 seconds=$3
  [ "$(digest_of "$step")" = "$digest" ] || { echo "$step: an input has changed meanwhile; not recorded"; return; }
  {
    echo "# Steps of hardware/rtl/check that have passed; written by \`make rtl\`, read by \`make test\`. See hardware/rtl/record.sh."
    for step in lint prove mutants area; do
      if [ "$step" = "$1" ]; then
        printf '\n[%s]\ndigest = "%s"\ntools = "%s"\ndate = "%s"\nseconds = %d\n' "$step" "$digest" "$(tools_of "$step")" "$(date -u +%F)" "$seconds"
      elif [ -n "$(recorded "$step" digest)" ]; then
        printf '\n[%s]\n' "$step"
        printf 'digest = "%s"\ntools = "%s"\ndate = "%s"\nseconds = %d\n' \
          "$(recorded "$step" digest)" "$(recorded "$step" tools)" "$(recorded "$step" date)" "$(recorded "$step" seconds)"
      fi
    done
  } >"$record.new.$$"
  mv "$record.new.$$" "$record"
}
