"""A run folder as tables."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable

from . import _journal
from ._binary import find_binary
from ._histogram import Histogram
from ._units import to_pandas, with_units

if TYPE_CHECKING:
    import pandas
    import pyarrow

TABLES = ("runs", "cells", "intervals", "telemetry", "host", "conclusions", "phases", "modes")


@dataclass(kw_only=True)
class Tables:
    """Tables of what was measured (`pyarrow.Table`, units in the metadata of fields); `run_id` and `drive` join them."""

    runs: pyarrow.Table
    """One row per drive: serial, model, firmware, suite and its hash, build, dates, outcome."""
    cells: pyarrow.Table
    """One row per cell and drive: workload, rates with their confidence intervals, latencies."""
    intervals: pyarrow.Table
    """One row per interval, drive and operation."""
    telemetry: pyarrow.Table
    """One row per reading of a drive's sensors."""
    host: pyarrow.Table
    """One row per cell and interval: processor time of the host."""
    conclusions: pyarrow.Table
    """One row per figure or answer that is concluded: scores, knees, parts of latencies, throttling, steady state, power, causes, verdicts."""
    phases: pyarrow.Table
    """One row per phase of a cell: span, cause, mean rates, evidence."""
    modes: pyarrow.Table
    """One row per level between which the rate of a cell alternates: share and dwell time."""

    def to_pandas(self) -> dict[str, pandas.DataFrame]:
        """All tables as data frames, with the units in `frame.attrs["units"]`; needs pandas. Raw histograms are left out, as to read
        them takes longer than all the rest: `assay.to_pandas(run.histograms)`.
        """
        return {name: to_pandas(getattr(self, name)) for name in TABLES}


@dataclass(kw_only=True)
class Run(Tables):
    """A run folder: its manifest, and its tables."""

    folder: Path
    manifest: dict[str, Any]
    """The plan: suite, drives, cells, parameters, build; keys in docs/run-folder.md."""

    @cached_property
    def _sums(self) -> dict[_journal.Key, Histogram]:
        """Read when a histogram is first asked for: decoding the journal takes seconds."""
        wholes = {cell["id"]: cell["segment"]["of"] for cell in self.manifest["cells"] if "segment" in cell}
        return _journal.histograms(self.folder / "journal.log", wholes)

    @property
    def simulated(self) -> bool:
        """Is any of the drives simulated?"""
        return any(drive["simulated"] for drive in self.manifest["drives"])

    @cached_property
    def histograms(self) -> pyarrow.Table:
        """One row per occupied bucket of each cell's raw histogram; `low_ns` and `high_ns` are inclusive."""
        import pyarrow as pa

        labels = [drive["label"] for drive in self.manifest["drives"]]
        rows = [
            (self.manifest["run_id"], cell, drive, labels[drive], op, measure, low, high, count)
            for (cell, drive, op, measure), histogram in self._sums.items()
            for low, high, count in histogram.rows()
        ]
        text, number = pa.string(), pa.uint64()
        columns = {
            "run_id": text, "cell": text, "drive": number, "drive_label": text, "op": text, "measure": text,
            "low_ns": number, "high_ns": number, "count": number,
        }  # fmt: skip
        values = zip(*rows) if rows else [[] for _ in columns]
        arrays = [pa.array(list(column), kind) for column, kind in zip(values, columns.values())]
        return with_units(pa.table(arrays, names=list(columns)))

    def histogram(self, cell: str, drive: int | None = None, op: str | None = None, measure: str = "latency") -> Histogram:
        """The raw histogram of a cell: of one drive (index in the manifest) or of all, of `read`, `write` or both.

        `measure` is `latency`, or `service` in open-loop jobs. Raises `KeyError` if the cell has none.
        """
        chosen = [
            histogram
            for key, histogram in self._sums.items()
            if key[0] == cell and drive in (None, key[1]) and op in (None, key[2]) and key[3] == measure
        ]
        if not chosen:
            raise KeyError(f"no {measure} histogram of cell {cell!r}, drive {drive}, operation {op}")
        total = Histogram()
        for histogram in chosen:
            total.merge(histogram)
        return total


@dataclass(kw_only=True)
class Runs(Tables):
    """Several run folders: the tables of all, one below the other."""

    each: list[Run]
    """The runs, in the order of the folders."""

    @cached_property
    def histograms(self) -> pyarrow.Table:
        """As those of each run."""
        return _joined([run.histograms for run in self.each])


def _joined(tables: list[pyarrow.Table]) -> pyarrow.Table:
    """Versions of assay may have further columns, which are null for runs of others."""
    import pyarrow as pa

    return pa.concat_tables(tables, promote_options="default")


def load(folder: str | os.PathLike[str], *, binary: str | None = None) -> Run:
    """Read a run folder. `binary` is the `assay` command that exports the tables; by default the installed one.

    Raises `FileNotFoundError` if the folder is no run folder, `RuntimeError` with assay's message if it cannot be read, and
    `ModuleNotFoundError` without pyarrow (`pyarrow alone: `pip install pyarrow``).
    """
    import pyarrow.parquet

    folder = Path(folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="assay-") as scratch:
        command = [binary or find_binary(), "export", str(folder), "--format", "parquet", "-o", scratch]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        tables = {name: with_units(pyarrow.parquet.read_table(Path(scratch) / f"{name}.parquet")) for name in TABLES}
    return Run(folder=folder, manifest=manifest, **tables)


def load_many(folders: Iterable[str | os.PathLike[str]], *, binary: str | None = None) -> Runs:
    """Read several run folders, as many at once as there are processors; errors as of `load`, and `ValueError` for no folder."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        each = list(pool.map(lambda folder: load(folder, binary=binary), folders))
    if not each:
        raise ValueError("no run folder is named")
    return Runs(each=each, **{name: _joined([getattr(run, name) for run in each]) for name in TABLES})
