"""Adds up the cells of each module and compares with formal/area.txt. Arguments: output of Yosys' `stat -json`, `check` or `no`.

The columns of Yosys' text table differ between versions, its JSON does not. A module of the core has LUTs, so a total of none is an error.
"""

import json
import re
import sys
from pathlib import Path

KINDS = {"LUT": r"LUT[1-6]", "LUTRAM cells": r"RAM\d+[A-Z].*", "FF": r"FD.*", "BRAM": r"RAMB.*"}
LIMITED = ("LUT", "FF", "BRAM")

stat, check = sys.argv[1:]
lines = [line.split() for line in (Path(__file__).parent / "area.txt").read_text().splitlines() if not line.startswith("#")]
limits = {name: dict(zip(LIMITED, map(int, values))) for name, *values in filter(None, lines)}
# Of several modules, Yosys 0.23 writes their tree between them and their sum, which is no JSON.
text = re.sub(r"\n   \},\n(?!   \").*", "}}", Path(stat).read_text(), flags=re.S)
modules: dict[str, dict[str, int]] = {}
for name, module in json.loads(text[text.index("{") :])["modules"].items():
    found = re.search(r"nvs_[a-z_]+", name)
    if not found:
        continue
    total = modules.setdefault(found[0], dict.fromkeys(KINDS, 0))
    for cell, count in module["num_cells_by_type"].items():
        for kind, pattern in KINDS.items():
            total[kind] += int(count) if re.fullmatch(pattern, cell) else 0
errors = [] if sum(total["LUT"] for total in modules.values()) > 0 else [f"{stat} has no LUT of a module of the core"]
for name, total in sorted(modules.items()):
    print(f"  {name:22}", *(f"{total[kind]:5} {kind}" for kind in KINDS))
    if check != "check":
        continue
    if name not in limits:
        errors.append(f"{name} has no limits in formal/area.txt")
    elif any(total[kind] > limits[name][kind] for kind in LIMITED):
        errors.append(f"{name} exceeds its limits: " + ", ".join(f"{limits[name][kind]} {kind}" for kind in LIMITED))
for error in errors:
    print(f"area: {error}", file=sys.stderr)
sys.exit(1 if errors else 0)
