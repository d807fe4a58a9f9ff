"""Units of columns, by the endings of their names (the unit is last in every name of assay's tables)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas
    import pyarrow

# Endings, the longest that fits decides. "1" is a number without a unit, "" a column that is no number.
_ENDINGS = {
    "_ns": "ns",
    "_us": "us",
    "_ms": "ms",
    "_s": "s",
    "_bytes": "B",
    "bytes": "B",
    "_bytes_read": "B",
    "_bytes_written": "B",
    "_mib_per_s": "MiB/s",
    "mib_per_s": "MiB/s",
    "_per_s": "1/s",
    "iops": "1/s",
    "_pct": "%",
    "_c": "degC",
    "percentage_used": "%",
    "_hours": "h",
    "_mw": "mW",
    "_w": "W",
}

# Columns of `conclusions` whose unit is that of the row, in its column `unit`.
_BY_ROW = ("value", "lower", "upper")


def unit_of(column: str) -> str:
    """The unit of a column: `ns`, `B`, `MiB/s`, `1/s`, `%`, `degC`, `mW`, ...; `1` for counts, indices and texts; `unit` where it is in the
    column of that name.

    >>> unit_of("read_latency_p99_ns"), unit_of("read_mib_per_s"), unit_of("iodepth")
    ('ns', 'MiB/s', '1')
    """
    if column in _BY_ROW:
        return "unit"
    fitting = [ending for ending in _ENDINGS if column.endswith(ending)]
    return _ENDINGS[max(fitting, key=len)] if fitting else "1"


def with_units(table: pyarrow.Table) -> pyarrow.Table:
    """The table with a unit in the metadata of each field that is a number."""
    import pyarrow as pa

    fields = [
        field.with_metadata({"unit": unit_of(field.name)})
        if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields, metadata=table.schema.metadata))


def units(table: pyarrow.Table) -> dict[str, str]:
    """Columns that are numbers, and their units."""
    found = {field.name: (field.metadata or {}).get(b"unit") for field in table.schema}
    return {name: unit.decode() for name, unit in found.items() if unit is not None}


class Column(NamedTuple):
    """A column of a table."""

    name: str
    type: str
    """Of Arrow: `uint64`, `double`, `string`, `bool`, ..."""
    unit: str | None
    """None where it is no number."""


def columns(table: pyarrow.Table) -> list[Column]:
    """The columns in order, with their types and units."""
    known = units(table)
    return [Column(field.name, str(field.type), known.get(field.name)) for field in table.schema]


def to_pandas(table: pyarrow.Table) -> pandas.DataFrame:
    """The table as a data frame, with the units in `frame.attrs["units"]`; needs pandas.

    Types are those of the table, also where values are missing: integers stay integers (`UInt64`), missing ones are `NA`.
    """
    import pandas
    import pyarrow as pa

    nullable = {
        pa.int64(): pandas.Int64Dtype(),
        pa.uint64(): pandas.UInt64Dtype(),
        pa.int32(): pandas.Int32Dtype(),
        pa.uint32(): pandas.UInt32Dtype(),
        pa.float64(): pandas.Float64Dtype(),
        pa.bool_(): pandas.BooleanDtype(),
        pa.string(): pandas.StringDtype(),
    }
    frame = table.to_pandas(types_mapper=nullable.get)
    frame.attrs["units"] = units(table)
    return frame
