# Coverage of the co-simulation; sourced by hardware/rtl/check after cosim.sh. The tests of hardware/cosim run on models that count lines and toggles.

# Its models: name, number of drives, bits of a ring address. With two drives, what chooses among drives is counted.
coverage_models=("w128c16 1 20" "w128c16d2 2 20")

# Makes $work/model/libassay_cosim_models.so with all of them.
build_coverage_models() {
  local model name drives ring parts=()
  rm -rf "$work/model"
  mkdir -p "$work/model"
  # Replaces the one of the build of the tests.
  echo "#define MODELS(X)$(printf ' X(%s)' "${coverage_models[@]%% *}")" >"$work/model/models.h"
  local compiler=(g++ -std=gnu++17 -O1 -fPIC -w -DVL_USER_STOP -DVL_USER_FATAL -DVM_COVERAGE=1 -DVM_TRACE=0 -DTRACE=0
    -I "$work/model" -I "$out" -I ../cosim/csrc -I "$runtime" -I "$runtime/vltstd")
  for source in ../cosim/csrc/table.cpp "$runtime"/verilated{,_threads,_cov}.cpp; do
    parts+=("$work/model/$(basename "$source" .cpp).o")
    "${compiler[@]}" -c "$source" -o "${parts[-1]}" >"$work/log" 2>&1 || return 1
  done
  for model in "${coverage_models[@]}"; do
    read -r name drives ring <<<"$model"
    # In small files, as the compiler needs minutes and gigabytes for a large one; what runs once, most of the code, is not optimized.
    verilator --cc --build -j "$(nproc)" --top-module nvs_core --prefix "V$name" -O3 --no-timing --assert --x-assign unique \
      --timescale 1ns/1ns -Wno-fatal -Wno-lint -Wno-style -GDataWidth=128 -GChunkPages=4 -GSlots=8 "-GDrives=$drives" "-GNamespace=$((drives == 1 ? 2147549699 : 1))" \
      --coverage-line --coverage-toggle --coverage-max-width 64 --output-split 5000 --output-split-cfuncs 2000 \
      --Mdir "$work/model/$name" -CFLAGS "-fPIC -w" -MAKEFLAGS "OPT_FAST=-O1 OPT_SLOW=-O0" -y . nvs_core.sv >"$work/log" 2>&1 || return 1
    parts+=("$work/model/$name.o" "$work/model/$name/V${name}__ALL.a")
    "${compiler[@]}" "-DPREFIX=V$name" "-DSHIM=shim_$name" -DDATA_WIDTH=128 "-DRING_WIDTH=$ring" "-DDRIVES=$drives" \
      -I "$work/model/$name" -c ../cosim/csrc/shim.cpp -o "$work/model/$name.o" >"$work/log" 2>&1 || return 1
  done
  g++ -shared -Wl,-z,defs "${parts[@]}" -o "$work/model/libassay_cosim_models.so" >"$work/log" 2>&1
}

# Lines and toggles of each module that the tests reach, with what they must reach at least, percent; what they do not reach is in
# target/rtl-coverage/missed.txt. Lines and bits that can never be reached: formal/coverage.py.
coverage() {
  local lines=99 toggles=91 report=../../target/rtl-coverage model name drives
  build_cosim
  build_coverage_models || { cat "$work/log" >&2; exit 1; }
  rm -rf "$report"
  mkdir -p "$report" "$work/data"
  for model in "${coverage_models[@]}"; do
    read -r name drives _ <<<"$model"
    yosys -q -p "read_verilog -sv ${modules[*]}; chparam -set DataWidth 128 -set ChunkPages 4 -set Slots 8 -set Drives $drives nvs_core
      prep -top nvs_core -flatten; opt -full; write_json $work/data/$name.json" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
  done
  # All but what tests the bench and what measures; of the random sequences a quarter.
  (cd ../cosim && ASSAY_COSIM_COVERAGE=$work/data LD_LIBRARY_PATH=$work/model "$program" -q --skip bench:: --skip pcie_drive:: --skip pcie_drive_faults:: \
    --skip performance:: --skip sequences_251 --skip sequences_501 --skip sequences_751) >"$work/run" 2>&1 || { cat "$work/run" >&2; exit 1; }
  python3 formal/coverage.py "$work/data" formal/coverage-excluded.txt "$report/missed.txt" "$lines" "$toggles"
}
