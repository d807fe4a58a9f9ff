"""Coverage per module of a file of verilator_coverage. Usage: coverage.py ALL.DAT MISSED.TXT

A line is covered when one of its statements ran, a toggle point (one bit in one direction) when it occurred. Points of several instances of a module are
added up. What was missed goes to MISSED.TXT.
"""

import collections
import os
import re
import sys

points = collections.defaultdict(int)
for line in open(sys.argv[1], encoding="latin-1"):
    found = re.match(r"C '(.*)' (\d+)$", line.rstrip("\n"))
    if not found:
        continue
    keys = dict(part.split("\x02", 1) for part in found.group(1).split("\x01") if "\x02" in part)
    module = os.path.splitext(os.path.basename(keys["f"]))[0]
    kind = keys["page"].split("/")[0].removeprefix("v_")
    points[module, kind, int(keys["l"]), keys.get("o", "")] += int(found.group(2))

total = collections.Counter()
hit = collections.Counter()
missed = collections.defaultdict(set)
for (module, kind, line, name), count in points.items():
    kind = "toggle" if kind == "toggle" else "line"
    for key in (module, kind), ("all", kind):
        total[key] += 1
        hit[key] += count > 0
    if count == 0:
        missed[module, kind, line].add(re.sub(r"\[\d+\]", "", name))

def percent(module, kind):
    points = total[module, kind]
    return f"{100 * hit[module, kind] / points:5.1f} % of {points:5d}" if points else " " * 16

modules = sorted({module for module, _ in total} - {"all"})
for module in modules + ["all"]:
    print(f"  {module:22} lines {percent(module, 'line')}   toggles {percent(module, 'toggle')}")
with open(sys.argv[2], "w", encoding="utf-8") as file:
    for (module, kind, line), names in sorted(missed.items()):
        print(f"{module}.sv:{line}: {kind}: {', '.join(sorted(names))}", file=file)
