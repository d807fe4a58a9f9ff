# Co-simulation with changed models of the core; sourced by hardware/rtl/check. The tests of hardware/cosim are built once, with the model of
# configuration w128c16 in a shared library (feature `shared-model`); a changed model is another library of the same name.

# Builds the tests of the core. Sets $program, $out (the build script's folder) and $objects.
build_cosim() {
  local messages=$work/cargo.json
  (cd .. && cargo test -q -p assay-cosim --features shared-model --test tests --no-run --message-format=json) >"$messages"
  program=$(sed -n 's|.*"executable":"\([^"]*/tests-[^"]*\)".*|\1|p' "$messages")
  out=$(sed -n '/"build-script-executed"/s/.*"out_dir":"\([^"]*assay-cosim-[^"]*\)".*/\1/p' "$messages" | tail -n 1)
  [ -e "$out/libassay_cosim_models.so" ] || { echo "hardware/rtl/check: hardware/cosim was built without a model" >&2; exit 1; }
  objects=$work
  runtime=$(verilator --getenv VERILATOR_ROOT)/include
}

# Makes $work/model/libassay_cosim_models.so. Argument: folder whose modules replace those here.
build_model() {
  local folder=$1 model=$work/model
  rm -rf "$model"
  mkdir -p "$model"
  verilator --cc --top-module nvs_core --prefix Vw128c16 -O3 --no-timing --assert --x-assign unique --timescale 1ns/1ns -Wno-fatal -Wno-lint \
    -Wno-style -GDataWidth=128 -GChunkPages=4 -GSlots=8 -GDrives=1 -GNamespace=2147549699 --Mdir "$model" -y "$folder" -y . nvs_core.sv >"$work/log" 2>&1 || return 1
  {
    for part in "$model"/*.cpp ../cosim/csrc/shim.cpp ../cosim/csrc/table.cpp; do echo "#include \"$(realpath "$part")\""; done
  } >"$model/all.cc"
  local flags=(-std=gnu++17 -O1 -fPIC -w -DVL_USER_STOP -DVL_USER_FATAL -DVM_COVERAGE=0 -DVM_TRACE=0 -DTRACE=0
    -DPREFIX=Vw128c16 -DSHIM=shim_w128c16 -DDATA_WIDTH=128 -DRING_WIDTH=20 -DDRIVES=1
    -I "$out" -I ../cosim/csrc -I "$runtime" -I "$runtime/vltstd" -I "$model")
  # Verilator's own sources are compiled once, for the model without a fault.
  for source in verilated verilated_threads; do
    [ -e "$objects/$source.o" ] || g++ "${flags[@]}" -c "$runtime/$source.cpp" -o "$objects/$source.o" >"$work/log" 2>&1 || return 1
  done
  g++ "${flags[@]}" -shared "$model/all.cc" "$objects"/verilated*.o -o "$model/libassay_cosim_models.so" >"$work/log" 2>&1
}

# Runs modules of the tests with $work/model until one fails, those first that fail soonest. Argument: processor time of each, seconds, as
# a fault may make a core wait for ever.
run_cosim() {
  local module
  for module in core_tests ports consumers rings coverage control random; do
    { (cd ../cosim && ulimit -t "$1" && LD_LIBRARY_PATH=$work/model RUST_BACKTRACE=0 exec "$program" -q "$module::") >>"$work/run" 2>&1; } \
      2>/dev/null || return 1
  done
}

# Faults of the modules that only connect others, and of those whose tests are the co-simulation. Every one must make a test fail.
cosim_mutants() {
  build_cosim
  build_model . || { cat "$work/log" >&2; exit 1; }
  run_cosim 600 || { cat "$work/run" >&2; echo "cosim-mutants: the tests fail without a fault" >&2; exit 1; }
  each_fault cosim-mutants formal/cosim-mutants.txt "$1" find_by_cosim
}

find_by_cosim() {
  build_model "$work" || { cat "$work/log" >&2; echo "cosim-mutants: $1: \"$3\" is no valid fault" >&2; return 1; }
  if run_cosim 15; then
    echo "cosim-mutants: not found in $1: \"$2\" -> \"$3\"" >&2
    return 1
  fi
  echo "  $1: \"$3\": $(sed -n 's/^---- \(.*\) stdout ----$/\1/p' "$work/run" | grep . -m 1 || echo "no end")"
}
