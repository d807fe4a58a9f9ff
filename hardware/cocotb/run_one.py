"""Builds and runs one configuration. Arguments: folder for the build, configuration, N as in `--sample N`, regular expression or nothing."""

import pathlib
import sys
import time
import xml.etree.ElementTree

from cocotb_tools.runner import get_runner

HERE = pathlib.Path(__file__).resolve().parent
RTL = HERE.parent / "rtl"
CONFIGURATIONS = {
    "default": {"DataWidth": 128, "ChunkPages": 4, "Slots": 8, "Entries": 64},
    "small": {"DataWidth": 128, "ChunkPages": 4, "Slots": 2, "Entries": 4},
    "wide": {"DataWidth": 512, "ChunkPages": 4, "Slots": 4, "Entries": 8},
    "tlp": {"DataWidth": 128, "ChunkPages": 4, "Slots": 8, "Entries": 64},
    "tlp-256": {"DataWidth": 256, "ChunkPages": 4, "Slots": 8, "Entries": 64},
    "tlp-512": {"DataWidth": 512, "ChunkPages": 4, "Slots": 8, "Entries": 64},
}


def main():
    build, name, sample, select = sys.argv[1:]
    started = time.monotonic()
    runner = get_runner("verilator")
    # The shim has a bench and scenarios of its own.
    top, scenarios = ("nvs_tlp_bench", "tlp_scenarios") if name.startswith("tlp") else ("nvs_bench", ["scenarios", "adversary"])
    runner.build(
        sources=[HERE / "public.vlt", *sorted(RTL.glob("nvs_*.sv")), HERE / f"{top}.sv"],
        includes=[HERE],
        hdl_toplevel=top,
        parameters=CONFIGURATIONS[name],
        # A missing pin is an output that the bench has no use for.
        build_args=["--assert", "-O3", "--x-assign", "unique", "--no-timing", "-Wno-fatal", "-Wno-PINMISSING"],
        timescale=("1ns", "1ps"),
        build_dir=build,
        log_file=f"{build}/build.log",
    )
    built = time.monotonic()
    environment = {"NVS_SAMPLE": sample, "COCOTB_LOG_LEVEL": "WARNING", "PYTHONWARNINGS": "ignore::DeprecationWarning"}
    results = runner.test(hdl_toplevel=top, test_module=scenarios, build_dir=build, test_dir=HERE, extra_env=environment,
                          test_filter=select or None, results_xml=f"{build}/results.xml")
    failed = passed = 0
    for case in xml.etree.ElementTree.parse(results).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is None:
            passed += 1
    times = f"{built - started:.0f} s to build, {time.monotonic() - built:.0f} s to run"
    print(f"cocotb: {name}: {passed} scenarios passed, {failed} failed; {times}")
    sys.exit(0 if passed and not failed else 1)


if __name__ == "__main__":
    main()
