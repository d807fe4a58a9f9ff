# Record of passed steps; sourced by hardware/rtl/check. ../proven.toml holds for each step a digest of its inputs and of the versions of its
# tools. A step has passed if its digest is that of the record, so a changed input or another version runs it again. Of `prove` each module
# is a step of its own. Only a complete run that is asked for without --recorded writes the record.
record=../proven.toml

# Files that decide the result of a step; none for a step that is not recorded. The versions of slang and verible are in `check`.
inputs_of() {
  case $1 in
    lint) echo check record.sh nvs_*.sv formal/slang.py formal/faults.py formal/mutants.txt formal/cosim-mutants.txt ;;
    prove.*) echo "${1#prove.}.sv" $(parts_of "${1#prove.}") $(ls "formal/${1#prove.}.svh" 2>/dev/null) ;;
    mutants) echo check record.sh nvs_*.sv formal/*.svh formal/proofs.txt formal/mutants.txt ;;
    area) echo check record.sh nvs_*.sv formal/area.txt formal/area.py ;;
    packages) echo check packages.sh record.sh nvs_*.sv nvs_registers.rdl registers.toml ../nvs_core.core ../Bender.yml ../packages/* ../litex/*.py ../vivado/* synth/nvs_core_shift.sv ;;
    bench) echo check packages.sh bench.sh record.sh nvs_*.sv registers.toml $(ls ../cocotb/* | grep -v __pycache__) ;;
  esac
}

tools_of() {
  case $1 in
    lint | packages) verilator --version ;;
    bench) requirements ../cocotb/requirements.txt | paste -sd ' ' ;;
    *) yosys -V ;;
  esac
}

# The proofs of a module depend on its lines of formal/proofs.txt and on how they are run, too.
digest_of() {
  {
    tools_of "$1"
    sha256sum $(inputs_of "$1")
    [[ $1 != prove.* ]] || { grep "^${1#prove.} " formal/proofs.txt && declare -f prove_file prove_with; }
  } | sha256sum | cut -d " " -f 1
}

# Whether a step may be skipped: it is on record for the present inputs and tools.
is_recorded() { [ $skip_recorded = yes ] && [ -n "$(inputs_of "$1")" ] && [ "$(digest_of "$1")" = "$(recorded "$1" digest)" ]; }

# A value of the record. Arguments: step, key.
recorded() {
  [ ! -e "$record" ] || awk -v step="[$1]" -v key="$2" '
    /^\[/ { inside = $0 == step }
    inside && $1 == key { sub(/^[a-z]+ = /, ""); gsub(/"/, ""); print }' "$record"
}

# Arguments: step, digest when it began, seconds. An input that has changed since is not recorded. Modules are proven side by side.
write_record() {
  local step=$1 digest=$2 seconds=$3 key lock
  [ $records = yes ] || return 0
  [ "$(digest_of "$step")" = "$digest" ] || { echo "$step: an input has changed meanwhile; not recorded"; return 0; }
  exec {lock}<.
  flock $lock
  {
    echo "# Steps of hardware/rtl/check that have passed; written by \`make rtl\`, read by \`make test\`. See hardware/rtl/record.sh."
    for key in lint $(printf 'prove.%s ' "${modules[@]%.sv}") mutants area packages bench; do
      if [ "$key" = "$step" ]; then
        printf '\n[%s]\ndigest = "%s"\ntools = "%s"\ndate = "%s"\nseconds = %d\n' "$key" "$digest" "$(tools_of "$key")" "$(date -u +%F)" "$seconds"
      elif [ -n "$(recorded "$key" digest)" ]; then
        printf '\n[%s]\n' "$key"
        printf 'digest = "%s"\ntools = "%s"\ndate = "%s"\nseconds = %d\n' \
          "$(recorded "$key" digest)" "$(recorded "$key" tools)" "$(recorded "$key" date)" "$(recorded "$key" seconds)"
      fi
    done
  } >"$record.new.$$"
  mv "$record.new.$$" "$record"
  exec {lock}<&-
}
