"""The journal of a run folder: checked lines, and the histograms in them (docs/run-folder.md)."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, Callable, Iterator

from ._histogram import Histogram

Key = tuple[str, int, str, str]
"""Cell, index of the drive, `read` or `write`, `latency` or `service`."""


def _table() -> list[int]:
    """CRC-32C (Castagnoli), reflected polynomial."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _table()


def _crc32c_of_bytes(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _crc32c() -> Callable[[bytes], int]:
    try:  # The compiled one, if it is there.
        from google_crc32c import value
    except ImportError:
        return _crc32c_of_bytes
    return value


crc32c = _crc32c()


def events(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a journal in order. Damaged lines are left out; their number is a warning."""
    damaged = 0
    with path.open("rb") as lines:
        for line in lines:
            text = line[9:].rstrip(b"\n")
            try:
                if int(line[:8], 16) != crc32c(text):
                    raise ValueError
                yield json.loads(text)
            except ValueError:
                damaged += 1
    if damaged:
        warnings.warn(f"{path}: {damaged} damaged lines were left out", stacklevel=3)


def histograms(path: Path, wholes: dict[str, str]) -> dict[Key, Histogram]:
    """The sums of the intervals that count: of the last attempt of each cell, without ramps.

    `wholes` has the cells that are segments of longer ones, which they are added to.
    """
    sums: dict[Key, Histogram] = {}
    for event in events(path):
        if event["event"] == "cell_start":
            for key in [key for key in sums if key[0] == event["cell"]]:
                del sums[key]
        elif event["event"] == "interval" and not event["ramp"]:
            for part in event["ops"]:
                for measure in ("latency", "service"):
                    if text := part.get(measure):
                        key = event["cell"], event["drive"], part["op"], measure
                        sums.setdefault(key, Histogram()).merge(Histogram.decode(text))
    joined: dict[Key, Histogram] = {}
    for (cell, *rest), histogram in sums.items():
        joined.setdefault((wholes.get(cell, cell), *rest), Histogram()).merge(histogram)
    return joined
