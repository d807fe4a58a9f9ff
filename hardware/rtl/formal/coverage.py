"""Coverage per module, from the files of the models of hardware/rtl/coverage.sh.

Usage: coverage.py DATA EXCLUDED MISSED LINES TOGGLES

DATA is a folder: of each simulation a file run-shim_MODEL-*.dat (and reset-shim_MODEL-*.dat with what ran before the end of the reset), of each
model a netlist MODEL.json by Yosys. EXCLUDED is coverage-excluded.txt. What was missed goes to the file MISSED. Fails below the percentages LINES
and TOGGLES of the whole core.

A line point is covered when it ran. A toggle point is one bit of a vector of up to 64 bits; it is covered when it changed in both directions in one
instance of the module in one simulation after the reset. Points of several instances of a module, in both models, are one point.

Not counted are bits that are constant in the netlist in every instance, and those of EXCLUDED.
"""

import collections
import glob
import json
import os
import re
import sys

folder, excluded_name, missed_name, lines_floor, toggles_floor = sys.argv[1:]

# Bits by hierarchical name of a model's netlist: "0", "1" and "x" are constant.
netlists = {}
for name in glob.glob(f"{folder}/*.json"):
    with open(name, encoding="utf-8") as file:
        # Yosys names a module with parameters by their digest.
        nets = next(module for module in json.load(file)["modules"].values() if "top" in module["attributes"])["netnames"]
    netlists[os.path.basename(name).removesuffix(".json")] = {name: net["bits"] for name, net in nets.items()}

# Patterns of "module.signal", width of a lane (0: none), last and first bit.
excluded = []
with open(excluded_name, encoding="utf-8") as file:
    for line in file:
        if line.strip() and not line.startswith("#"):
            pattern, bits = line.split()[:2]
            found = re.fullmatch(r"(\d+):(\d+)(?:%(\d+))?", bits)
            excluded.append([re.compile(pattern), int(found[3] or 0), int(found[1]), int(found[2]), False])


def is_excluded(module, signal, bit):
    """Whether a rule of EXCLUDED covers a bit."""
    for rule in excluded:
        pattern, lane, last, first, _ = rule
        if first <= (bit % lane if lane else bit) <= last and pattern.fullmatch(f"{module}.{signal}"):
            rule[4] = True
            return True
    return False


def is_constant(model, path, signal, bit):
    """Whether a bit is constant in the netlist of a model. Yosys cuts constant bits off the end of a vector."""
    bits = netlists[model].get(f"{path}.{signal}" if path else signal)
    return bits is not None and (bit >= len(bits) or isinstance(bits[bit], str))


Point = collections.namedtuple("Point", "module kind line name")
best = collections.Counter()
alive = set()
known = {}
for name in sorted(glob.glob(f"{folder}/*.dat")):
    stage, model = os.path.basename(name).split("-")[:2]
    model = model.removeprefix("shim_")
    with open(name, encoding="latin-1") as file:
        for line in file:
            key, _, count = line.rstrip("\n").rpartition(" ")
            point = known.get((model, key))
            if point is None:
                keys = dict(part.split("\x02", 1) for part in key[3:-1].split("\x01") if "\x02" in part)
                if "page" not in keys:
                    continue
                module = os.path.splitext(os.path.basename(keys["f"]))[0]
                kind = "toggle" if keys["page"].startswith("v_toggle") else "line"
                point = Point(module, kind, int(keys["l"]), keys.get("o", ""))
                known[model, key] = point
                signal, bit = re.fullmatch(r"(.*?)(?:\[(\d+)\])?", point.name).groups()
                path = keys["h"].removeprefix("nvs_core.nvs_core").removeprefix(".")
                if kind == "line" or not is_constant(model, path, signal, int(bit or 0)):
                    alive.add(point)
            if stage == "run" or point.kind == "line":
                best[point] = max(best[point], int(count))

total, hit, constant, ruled = (collections.Counter() for _ in range(4))
missed = collections.defaultdict(list)
for point, count in best.items():
    signal, bit = re.fullmatch(r"(.*?)(?:\[(\d+)\])?", point.name).groups()
    keys = [(point.module, point.kind), ("all", point.kind)]
    if point not in alive:
        constant.update(keys)
    elif point.kind == "toggle" and is_excluded(point.module, signal, int(bit or 0)):
        ruled.update(keys)
    else:
        total.update(keys)
        if count >= (2 if point.kind == "toggle" else 1):
            hit.update(keys)
        else:
            missed[point.module, point.line, point.kind, signal].append(int(bit or 0))


def percent(key):
    """Share of the points of a module that were reached."""
    return 100 * hit[key] / total[key] if total[key] else 100.0


def ranges(bits):
    """Bits in short: 7:4,0."""
    text = []
    bits = sorted(bits, reverse=True)
    while bits:
        count = 1
        while count < len(bits) and bits[count] == bits[0] - count:
            count += 1
        text.append(f"{bits[0]}:{bits[count - 1]}" if count > 1 else f"{bits[0]}")
        bits = bits[count:]
    return ",".join(text)


print(f"  {'module':20} {'lines':>5} {'reached':>8} {'toggles':>8} {'reached':>8} {'constant':>9} {'excluded':>9}")
for module in sorted({module for module, _ in total} - {"all"}) + ["all"]:
    line, toggle = (module, "line"), (module, "toggle")
    reached = f"{percent(line):6.1f} %" if total[line] else ""
    print(f"  {module:20} {total[line]:5} {reached:>8} {total[toggle]:8} {percent(toggle):6.1f} % {constant[toggle]:9} {ruled[toggle]:9}")
with open(missed_name, "w", encoding="utf-8") as file:
    for (module, line, kind, signal), bits in sorted(missed.items()):
        print(f"{module}.sv:{line}: {kind}: {signal}{f'[{ranges(bits)}]' if kind == 'toggle' else ''}", file=file)
for pattern, _, _, _, used in excluded:
    if not used:
        sys.exit(f"coverage: {excluded_name}: {pattern.pattern} excludes nothing")
for kind, floor in ("line", lines_floor), ("toggle", toggles_floor):
    if percent(("all", kind)) < float(floor):
        sys.exit(f"coverage: {percent(('all', kind)):.1f} % of the {kind} points are reached, of {floor} %; see {missed_name}")
