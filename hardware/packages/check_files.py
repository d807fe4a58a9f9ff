"""Compares the FuseSoC package with the core: files with the folder, parameters with those of nvs_core.sv."""
import pathlib
import re
import sys

import yaml

HARDWARE = pathlib.Path(__file__).resolve().parent.parent
# FuseSoC's numbers have 32 bits.
NOT_A_NUMBER = {"BusBase"}


def same(what, package, core):
    if package != core:
        sys.exit(f"nvs_core.core: {what}: {sorted(package ^ core)} in one of the package and hardware/rtl only")


def main():
    package = yaml.safe_load((HARDWARE / "nvs_core.core").read_text().removeprefix("CAPI=2:\n"))
    files = {f"rtl/{file.name}" for file in (HARDWARE / "rtl").glob("nvs_*.sv")}
    same("files", set(package["filesets"]["rtl"]["files"]), files)
    head = (HARDWARE / "rtl/nvs_core.sv").read_text().split(") (")[0]
    parameters = set(re.findall(r"^  parameter .*?(\w+) +=", head, re.MULTILINE)) - NOT_A_NUMBER
    same("parameters", set(package["parameters"]), parameters)
    same("parameters of the targets", set(package["targets"]["default"]["parameters"]), parameters)
    version = re.search(r'^version = "(.*)"', (HARDWARE / "../Cargo.toml").read_text(), re.MULTILINE)[1]
    same("version", {package["name"].split(":")[-1]}, {version})
    print(f"files: {len(files)} files and {len(parameters)} parameters as in hardware/rtl")


main()
