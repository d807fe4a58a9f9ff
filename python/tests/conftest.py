import subprocess
from pathlib import Path

import pytest

import assay

DRIVES = ["sim:samsung-951", "sim:intel-600p"]


def measure(folder: Path, *arguments: str) -> Path:
    command = [assay.find_binary(), *arguments, "--out", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def bandwidth(tmp_path_factory) -> Path:
    """A run of two drives with reads and writes."""
    folder = tmp_path_factory.mktemp("runs") / "bandwidth"
    return measure(folder, "run", "bandwidth", *DRIVES, "--scale", "0.01")


@pytest.fixture(scope="session")
def open_loop(tmp_path_factory) -> Path:
    """A job with latency and service time, and a ramp."""
    folder = tmp_path_factory.mktemp("runs") / "open-loop"
    job = ["--rw", "randrw", "--bs", "4k", "--rate", "20k", "--ramp_time", "1s", "--runtime", "3s"]
    return measure(folder, "job", DRIVES[0], *job)


@pytest.fixture(scope="session")
def long_soak(tmp_path_factory) -> Path:
    """A soak of three segments."""
    folder = tmp_path_factory.mktemp("runs") / "soak"
    suite = tmp_path_factory.mktemp("suites") / "soak.toml"
    suite.write_text(
        'name = "soak"\ntitle = "Soak"\nsummary = "Reads."\nsource = "here"\nduration = "long"\n[[step]]\nid = "soak"\n'
        'title = "Soak"\nkind = "soak"\njob = { rw = "randread", bs = "4k", size = "64m", runtime = "130m", rate_iops = "20" }\n'
    )
    return measure(folder, "run", str(suite), DRIVES[0])
