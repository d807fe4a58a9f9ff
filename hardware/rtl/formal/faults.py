"""Checks that each fault of mutants.txt and cosim-mutants.txt can be put into its module: its text occurs there exactly once."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
errors = []
for name in ("mutants.txt", "cosim-mutants.txt"):
    for number, line in enumerate((HERE / name).read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            module, text, _ = line.split("\t")
            found = (HERE.parent / f"{module}.sv").read_text().count(text)
            if found != 1:
                errors.append(f'{name}:{number}: "{text}" occurs {found} times in {module}.sv, not once')
print(*errors, sep="\n", end="\n" if errors else "", file=sys.stderr)
sys.exit(1 if errors else 0)
