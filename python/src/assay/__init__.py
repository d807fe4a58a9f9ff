"""Run folders of assay as tables, for notebooks.

>>> import assay
>>> run = assay.load("two-drives")                       # doctest: +SKIP
>>> run.cells.to_pandas()                                # doctest: +SKIP
>>> run.histogram("samsung-951/random-read/t=16").percentile(99.9)  # ns; doctest: +SKIP

`runs`, `cells`, `intervals`, `telemetry`, `host`, `conclusions`, `phases` and `modes` are the tables of `assay export --format parquet`, made by the
binary of the same wheel.
`histograms` and their percentiles are read from the journal by this module, when they are first asked for, as docs/run-folder.md describes it. `load_many` joins
the tables of several runs. Every column
has its unit in the metadata of its field: `assay.units(run.cells)`.
"""

from ._binary import find_binary
from ._histogram import Histogram
from ._run import Run, Runs, load, load_many
from ._units import Column, columns, to_pandas, unit_of, units

__all__ = ["Column", "Histogram", "Run", "Runs", "columns", "find_binary", "load", "load_many", "to_pandas", "unit_of", "units"]
