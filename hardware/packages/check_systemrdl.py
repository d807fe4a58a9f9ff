"""Compiles hardware/rtl/nvs_registers.rdl with systemrdl-compiler and compares it with hardware/rtl/registers.toml."""
import pathlib
import sys
import tomllib

from systemrdl import RDLCompiler
from systemrdl.node import AddressableNode, RegNode

RTL = pathlib.Path(__file__).resolve().parent.parent / "rtl"
# Software's and hardware's access by the description's word.
ACCESS = {"constant": ("r", "na"), "ro": ("r", "w"), "rw": ("rw", "r"), "w1p": ("w", "r")}


def expected(description):
    """Address, size, access and fields of each register, by path."""
    registers = {}
    for bank in description["bank"]:
        for copy in range(bank.get("copies", 1)):
            name = f"{bank['name']}[{copy}]" if "copies" in bank else bank["name"]
            for register in description["register"]:
                if bank["name"] not in register["banks"]:
                    continue
                fields = {field["name"]: (field["bits"][0], field["bits"][-1]) for field in register.get("field", [])}
                resets = {"constant": register.get("value"), "rw": register.get("reset", 0)}
                registers[f"{name}.{register['name']}"] = (
                    bank["offset"] + copy * bank.get("stride", 0) + register["offset"],
                    register["bits"],
                    ACCESS[register["access"]],
                    fields or {"VALUE": (register["bits"] - 1, 0)},
                    resets.get(register["access"]) if not fields else None,
                )
    return registers


def compiled(path):
    """The same, as the compiler sees it."""
    compiler = RDLCompiler()
    compiler.compile_file(str(path))
    registers = {}

    def walk(node, name):
        for child in node.children(unroll=True):
            path = f"{name}.{child.get_path_segment()}".lstrip(".")
            if isinstance(child, RegNode):
                fields = list(child.fields())
                accesses = {(field.get_property("sw").name, field.get_property("hw").name) for field in fields}
                assert len(accesses) == 1, f"{path}: {accesses}"
                registers[path] = (
                    child.absolute_address,
                    child.get_property("regwidth"),
                    accesses.pop(),
                    {field.inst_name: (field.high, field.low) for field in fields},
                    fields[0].get_property("reset") if [field.inst_name for field in fields] == ["VALUE"] else None,
                )
            elif isinstance(child, AddressableNode):
                walk(child, path)

    walk(compiler.elaborate().top, "")
    return registers


def main():
    with open(RTL / "registers.toml", "rb") as file:
        of_source = expected(tomllib.load(file))
    of_compiler = compiled(RTL / "nvs_registers.rdl")
    for path in sorted(of_source.keys() | of_compiler.keys()):
        if of_source.get(path) != of_compiler.get(path):
            sys.exit(f"nvs_registers.rdl: {path} is {of_compiler.get(path)}, in registers.toml {of_source.get(path)}")
    print(f"SystemRDL: {len(of_source)} registers as in registers.toml")


main()
