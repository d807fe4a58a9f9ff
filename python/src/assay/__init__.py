"""Run folders of assay as tables, for notebooks.

>>> import assay
>>> run = assay.load("two-drives")                       # doctest: +SKIP
>>> run.cells.to_pandas()                                # doctest: +SKIP
>>> run.histogram("samsung-951/random-read/t=16").percentile(99.9)  # ns; doctest: +SKIP

`runs`, `cells`, `intervals`, `telemetry`, `host`, `conclusions`, `phases` and `modes` are the tables of `assay export --format parquet`, made by the
binary of the same wheel.
`histograms` and their percentiles are read from the journal by this module, as docs/run-folder.md describes it. Every column
has its unit in the metadata of its field: `assay.units(run.cells)`.
"""

from ._binary import find_binary
from ._histogram import Histogram
from ._run import Run, load
from ._units import to_pandas, unit_of, units

__all__ = ["Histogram", "Run", "find_binary", "load", "to_pandas", "unit_of", "units"]
