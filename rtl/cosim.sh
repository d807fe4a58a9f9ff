# Co-simulation with changed models of the core; sourced by rtl/check. The tests of crates/cosim are built once, with the model of
# configuration w128c16 in a shared library (feature `shared-model`); a changed model is another library of the same name.

# Builds the tests of the core. Sets $tests (programs; those that fail soonest first), $out (the build script's folder).
build_cosim() {
  local messages=$work/cargo.json name tests_of_core=(core coverage control random)
  # shellcheck disable=SC2046 # several options
  (cd .. && cargo test -q -p assay-cosim --features shared-model $(printf -- '--test %s ' "${tests_of_core[@]}") --no-run --message-format=json) \
    >"$messages"
  tests=()
  for name in "${tests_of_core[@]}"; do
    tests+=("$(sed -n "s|.*\"executable\":\"\([^\"]*/$name-[^\"]*\)\".*|\1|p" "$messages")")
  done
  out=$(sed -n '/"build-script-executed"/s/.*"out_dir":"\([^"]*assay-cosim-[^"]*\)".*/\1/p' "$messages" | tail -n 1)
  [ -e "$out/libassay_cosim_models.so" ] || { echo "rtl/check: crates/cosim was built without a model" >&2; exit 1; }
  runtime=$(verilator --getenv VERILATOR_ROOT)/include
}

# Makes $work/model/libassay_cosim_models.so. Arguments: folder whose modules replace those here, optimization of the compiler, options of
# Verilator.
build_model() {
  local folder=$1 optimization=$2 model=$work/model coverage=0
  shift 2
  [[ " $* " != *" --coverage"* ]] || coverage=1
  rm -rf "$model"
  mkdir -p "$model"
  verilator --cc --top-module nvs_core --prefix Vw128c16 -O3 --no-timing --assert --x-assign unique --timescale 1ns/1ns -Wno-fatal -Wno-lint \
    -Wno-style -GDataWidth=128 -GChunkPages=4 -GSlots=8 -GDrives=1 --Mdir "$model" "$@" -y "$folder" -y . nvs_core.sv >"$work/log" 2>&1 || return 1
  {
    for part in "$model"/*.cpp ../crates/cosim/csrc/shim.cpp ../crates/cosim/csrc/table.cpp; do echo "#include \"$(realpath "$part")\""; done
  } >"$model/all.cc"
  local flags=(-std=gnu++17 "$optimization" -fPIC -w -DVL_USER_STOP -DVL_USER_FATAL -DVM_COVERAGE=$coverage -DVM_TRACE=0 -DTRACE=0
    -DPREFIX=Vw128c16 -DSHIM=shim_w128c16 -DDATA_WIDTH=128 -DRING_WIDTH=20 -DDRIVES=1
    -I "$out" -I ../crates/cosim/csrc -I "$runtime" -I "$runtime/vltstd" -I "$model")
  local sources=("$runtime/verilated.cpp" "$runtime/verilated_threads.cpp")
  [ $coverage = 0 ] || sources+=("$runtime/verilated_cov.cpp")
  # Verilator's own sources are compiled once.
  for source in "${sources[@]}"; do
    local object
    object=$work/$(basename "$source" .cpp)$coverage.o
    [ -e "$object" ] || g++ "${flags[@]}" -c "$source" -o "$object" >"$work/log" 2>&1 || return 1
  done
  g++ "${flags[@]}" -shared "$model/all.cc" "$work"/verilated*$coverage.o -o "$model/libassay_cosim_models.so" >"$work/log" 2>&1
}

# Runs the test programs with $work/model until one fails. Arguments: processor time of each, seconds, as a fault may make a core wait
# for ever; `all`: further ones also run.
run_cosim() {
  local failed=0 program
  for program in "${tests[@]}"; do
    { (cd ../crates/cosim && ulimit -t "$1" && LD_LIBRARY_PATH=$work/model RUST_BACKTRACE=0 exec "$program" -q) >>"$work/run" 2>&1 || failed=1; } 2>/dev/null
    [ $failed = 0 ] || [ "${2:-}" = all ] || return 1
  done
  return $failed
}

# Faults of the modules that only connect others, and of those whose tests are the co-simulation. Every one must make a test fail.
cosim_mutants() {
  local count=0 number=0 every=${1:-1} survivors=0
  build_cosim
  build_model . -O1 || { cat "$work/log" >&2; exit 1; }
  : >"$work/run"
  run_cosim 600 || { cat "$work/run" >&2; echo "cosim-mutants: the tests fail without a fault" >&2; exit 1; }
  while IFS=$'\t' read -r module text replacement; do
    [[ -z $module || $module == \#* ]] && continue
    number=$((number + 1))
    drawn $number "$every" || continue
    rm -f "$work"/nvs_*.sv
    mutate "$module" "$text" "$replacement"
    build_model "$work" -O1 || { cat "$work/log" >&2; echo "cosim-mutants: $module: \"$replacement\" is no valid fault" >&2; exit 1; }
    : >"$work/run"
    if run_cosim 15; then
      echo "cosim-mutants: not found in $module: \"$text\" -> \"$replacement\"" >&2
      survivors=$((survivors + 1))
    else
      echo "  $module: \"$replacement\": $(sed -n 's/^---- \(.*\) stdout ----$/\1/p' "$work/run" | grep . -m 1 || echo "no end")"
    fi
    count=$((count + 1))
  done <formal/cosim-mutants.txt
  [ $survivors = 0 ] || { echo "cosim-mutants: $survivors of $count not found" >&2; exit 1; }
  echo "cosim-mutants: $count of $number, all found"
}

# Lines and toggles of each module that the tests reach; what they do not reach is in target/rtl-coverage/.
coverage() {
  local report=../target/rtl-coverage
  build_cosim
  build_model . -O2 --coverage-line --coverage-toggle --coverage-max-width 64 || { cat "$work/log" >&2; exit 1; }
  rm -rf "$report"
  mkdir -p "$report/data"
  ASSAY_COSIM_COVERAGE=$(realpath "$report/data")
  export ASSAY_COSIM_COVERAGE
  : >"$work/run"
  run_cosim 1200 all || { cat "$work/run" >&2; exit 1; }
  verilator_coverage --write "$report/all.dat" "$report"/data/*.dat >/dev/null
  verilator_coverage --annotate "$report" --annotate-min 1 --annotate-all "$report/all.dat" >"$work/log" 2>&1
  python3 formal/coverage.py "$report/all.dat" "$report/missed.txt"
}
