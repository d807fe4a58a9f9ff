# Packages of the core for other tools, each checked by its own; sourced by hardware/rtl/check. The files are in hardware/ and
# hardware/packages; the tools are pinned in hardware/packages/requirements.txt.

# Makes a virtual environment of Python packages under target/, once per list of packages. Sets $python. Arguments: name, packages.
environment() {
  local folder=../../target/$1
  shift
  python=$folder/bin/python
  [ "$(cat "$folder/packages" 2>/dev/null)" != "$*" ] || return 0
  rm -rf "$folder"
  { python3 -m venv "$folder" && "$python" -m pip install -q "$@"; } >"$work/log" 2>&1 || { rm -rf "$folder"; return 1; }
  echo "$*" >"$folder/packages"
}

# Packages of a list of pip's.
requirements() { grep -v '^#' "$1"; }

packages() {
  # shellcheck disable=SC2046 # several packages
  environment rtl-packages $(requirements ../packages/requirements.txt) ||
    { echo "skipped: packages of the core; they need python3-venv and pip install -r hardware/packages/requirements.txt"; complete=no; return; }
  "$python" ../packages/check_files.py
  "$python" ../packages/check_systemrdl.py
  fusesoc_lint
  bender_sources
  yosys -q -c ../packages/check_vivado.tcl
  litex_simulation
}

# The lint target, and a set of parameters that the core refuses.
fusesoc_lint() {
  local fusesoc=(../../target/rtl-packages/bin/fusesoc --cores-root .. run "--build-root=$work/fusesoc" --target=lint assay:nvme:nvs_core)
  for parameters in "" "--DataWidth=512 --Drives=4" "--ChunkPages=4 --Slots=8"; do
    # shellcheck disable=SC2086 # several parameters
    "${fusesoc[@]}" $parameters >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
  done
  ! "${fusesoc[@]}" --Slots=12 >"$work/log" 2>&1 || { echo "packages: FuseSoC's lint passes with 12 slots" >&2; exit 1; }
  grep -q "USERERROR: .*nvs_core.sv" "$work/log" || { cat "$work/log" >&2; exit 1; }
  echo "FuseSoC: target lint, 3 sets of parameters, and one that is refused"
}

# The files that Bender finds are those of the folder. Bender is built once under target/.
bender_sources() {
  local bender=../../target/bender/bin/bender version=0.31.0
  [ "$("$bender" --version 2>/dev/null)" = "bender $version" ] ||
    cargo install -q bender --version "$version" --locked --debug --root ../../target/bender >"$work/log" 2>&1 ||
    { echo "skipped: Bender.yml; it needs cargo install bender --version $version"; complete=no; return; }
  mkdir "$work/bender"
  cp -r ../Bender.yml ../rtl "$work/bender"
  "$bender" -d "$work/bender" script flist 2>"$work/log" >"$work/files"
  diff <(printf '%s\n' "${modules[@]}") <(sed -n 's|.*/||p' "$work/files") || { echo "packages: Bender's files (>) are not those of hardware/rtl (<)" >&2; exit 1; }
  echo "Bender: ${#modules[@]} files"
}

# Builds and runs LiteX's simulation of the core. The console's modules of that simulation need json-c and libevent.
litex_simulation() {
  { printf '#include <json-c/json.h>\n#include <event2/event.h>\n' | cc -E - ; } >/dev/null 2>&1 ||
    { echo "skipped: the LiteX module; it needs apt-get install libjson-c-dev libevent-dev"; complete=no; return; }
  # LiteX calls the tools of its environment.
  PATH=$(realpath ../../target/rtl-packages/bin):$PATH "$python" ../litex/test_nvs.py "$work/litex" >"$work/log" 2>&1 || true
  grep "^PASSED" "$work/log" | sed 's/^PASSED/LiteX: passed/' || { cat "$work/log" >&2; exit 1; }
}
