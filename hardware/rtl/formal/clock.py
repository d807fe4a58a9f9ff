"""Clock and critical path of nextpnr's reports, one per seed. Usage: clock.py REPORT..."""

import json
import re
import sys

results = []
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        report = json.load(file)
    clock, figures = next(iter(report["fmax"].items()))
    path = next(p for p in report["critical_paths"] if p["from"].endswith(clock) and p["to"].endswith(clock))
    results.append((figures["achieved"], name, path["path"]))
results.sort(key=lambda result: result[0])
print("clock: " + ", ".join(f"{achieved:.1f}" for achieved, _, _ in results) + " MHz (ECP5-85, speed grade 8, one per seed)")
achieved, name, path = results[len(results) // 2]
logic = sum(part["delay"] for part in path if part["type"] != "routing")
routing = sum(part["delay"] for part in path if part["type"] == "routing")
cells = sum(1 for part in path if part["type"] == "logic")
print(f"clock: median {achieved:.1f} MHz; its longest path: {logic:.2f} ns in {cells} cells, {routing:.2f} ns of routing")
for part in path:
    if part["type"] == "routing":
        print(f"  {part['delay']:6.2f} ns  net {part.get('net', '')}")
