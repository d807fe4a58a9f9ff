"""`assay.load`: tables, units, and histograms that agree with what assay prints."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pytest

import assay

# Names in exports and the percentile in per cent.
PERCENTILES = {
    "p50": 50, "p90": 90, "p95": 95, "p99": 99, "p99_9": 99.9, "p99_99": 99.99, "p99_999": 99.999, "p99_9999": 99.9999,
}  # fmt: skip


@pytest.fixture(params=["bandwidth", "open_loop", "long_soak"])
def run(request):
    return assay.load(request.getfixturevalue(request.param))


def test_tables_have_the_rows_of_the_run(bandwidth):
    run = assay.load(bandwidth)
    assert run.simulated
    planned = {cell["id"] for cell in run.manifest["cells"]}
    assert set(run.cells["cell"].to_pylist()) == planned
    assert set(run.cells["drive_label"].to_pylist()) == {"samsung-951", "intel-600p"}
    for table in (run.intervals, run.telemetry, run.histograms):
        assert table.num_rows > 0
        assert set(table["cell"].to_pylist()) <= planned


def test_runs_has_a_row_per_drive_that_joins_the_other_tables(bandwidth):
    run = assay.load(bandwidth)
    rows = run.runs.to_pylist()
    assert [row["drive"] for row in rows] == [0, 1]
    for row, drive in zip(rows, run.manifest["drives"]):
        assert (row["serial"], row["model"], row["firmware"]) == (drive["serial"], drive["model"], drive["firmware"])
    (row,) = {(row["suite"], row["tool_version"], row["created"], row["outcome"]) for row in rows}
    assert row == ("bandwidth", run.manifest["tool"]["version"], run.manifest["created"], "complete")
    assert {row["suite_sha256"] for row in rows} == {sha256(run.manifest["suite"]["text"].encode()).hexdigest()}
    for table in (run.cells, run.intervals, run.telemetry, run.histograms):
        joined = run.runs.join(table, ["run_id", "drive"], join_type="inner", right_suffix="_right")
        assert joined.num_rows == table.num_rows


def test_conclusions_are_those_of_the_json_export(bandwidth, tmp_path):
    """One definition: rows, keys and values are the same."""
    run = assay.load(bandwidth)
    command = [assay.find_binary(), "export", str(bandwidth), "--format", "json", "-o", str(tmp_path / "run.json")]
    subprocess.run(command, check=True, capture_output=True)
    document = json.loads((tmp_path / "run.json").read_text())
    for name in ("conclusions", "phases", "modes"):
        assert getattr(run, name).to_pylist() == document[name], name
    kinds = set(run.conclusions["kind"].to_pylist())
    assert kinds <= {"score", "knee", "latency", "throttling", "steady_state", "power", "causes", "verdict", "endurance"}
    assert {"causes", "verdict"} <= kinds
    measured = {row["cell"] for row in run.cells.to_pylist() if row["elapsed_ns"]}
    assert {row["cell"] for row in run.phases.to_pylist()} <= measured
    for row in run.cells.to_pylist():
        if row["ci_low_iops"] is not None:
            assert row["ci_low_iops"] <= row["iops"] <= row["ci_high_iops"], row["cell"]


def test_segments_of_a_soak_are_one_cell(long_soak):
    run = assay.load(long_soak)
    assert len(run.manifest["cells"]) == 3
    assert run.cells["cell"].to_pylist() == ["samsung-951/soak"]
    assert set(run.histograms["cell"].to_pylist()) == {"samsung-951/soak"}
    assert run.intervals.num_rows == 130


def test_every_number_has_a_unit(run):
    for table in (run.runs, run.cells, run.intervals, run.telemetry, run.host, run.conclusions, run.phases, run.modes, run.histograms):
        units = assay.units(table)
        for field in table.schema:
            number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
            assert (field.name in units) == number, field.name
    units = assay.units(run.cells)
    assert units["read_latency_p99_9_ns"] == "ns"
    assert units["read_mib_per_s"] == "MiB/s"
    assert units["read_iops"] == "1/s"
    assert units["bs_bytes"] == "B"
    assert units["host_user_pct"] == "%"
    assert units["iodepth"] == "1"
    telemetry = assay.units(run.telemetry)
    assert (telemetry["temperature_c"], telemetry["power_mw"]) == ("degC", "mW")
    assert (telemetry["nand_bytes_written"], telemetry["warning_time_s"]) == ("B", "s")
    assert (telemetry["percentage_used"], telemetry["power_on_hours"], telemetry["erases_most"]) == ("%", "h", "1")


def test_percentiles_of_raw_histograms_equal_those_that_assay_prints(run):
    """The module reads the journal by docs/run-folder.md; the tables are the binary's."""
    compared = 0
    for row in run.cells.to_pylist():
        for op in ("read", "write"):
            for measure in ("latency", "service"):
                column = f"{op}_{measure}"
                if not row[f"{column}_samples"]:
                    continue
                histogram = run.histogram(row["cell"], row["drive"], op, measure)
                assert histogram.count == row[f"{column}_samples"]
                assert histogram.min_ns == row[f"{column}_min_ns"]
                assert histogram.max_ns == row[f"{column}_max_ns"]
                assert histogram.overflow == row[f"{column}_overflow"]
                assert histogram.mean_ns == pytest.approx(row[f"{column}_mean_ns"], rel=1e-12)
                for name, percent in PERCENTILES.items():
                    assert histogram.percentile(percent) == row[f"{column}_{name}_ns"], (row["cell"], name)
                    compared += 1
    assert compared >= len(PERCENTILES)


def test_the_table_of_histograms_holds_all_that_was_measured(run):
    counts = {}
    for row in run.histograms.to_pylist():
        assert row["low_ns"] <= row["high_ns"] and row["count"] > 0
        key = row["cell"], row["drive"], row["op"], row["measure"]
        counts[key] = counts.get(key, 0) + row["count"]
    for (cell, drive, op, measure), count in counts.items():
        histogram = run.histogram(cell, drive, op, measure)
        assert count == histogram.count - histogram.overflow


def test_data_frames_keep_the_units(run):
    frames = run.to_pandas()
    assert set(frames) == {"runs", "cells", "intervals", "telemetry", "host", "conclusions", "phases", "modes"}
    assert len(frames["cells"]) == run.cells.num_rows
    assert frames["cells"].attrs["units"] == assay.units(run.cells)
    # Integers stay integers where some are missing.
    types = {column.name: column.type for column in assay.columns(run.cells)}
    integers = {name for name, type in types.items() if type in ("int64", "uint64", "int32", "uint32")}
    assert any(run.cells[name].null_count for name in integers)
    for name in integers:
        assert frames["cells"][name].dtype.name.lower() == types[name], name


def test_columns_have_types_and_units(run):
    columns = assay.columns(run.cells)
    assert [column.name for column in columns] == run.cells.column_names
    assert assay.Column("read_latency_p99_ns", str(run.cells.schema.field("read_latency_p99_ns").type), "ns") in columns
    assert assay.Column("cell", "string", None) in columns


def test_many_runs_have_joined_tables(bandwidth, open_loop):
    both = assay.load_many([bandwidth, open_loop])
    parts = [assay.load(bandwidth), assay.load(open_loop)]
    assert [run.folder for run in both.each] == [bandwidth, open_loop]
    for name in ("runs", "cells", "intervals", "telemetry", "conclusions", "histograms"):
        rows = [row for run in parts for row in getattr(run, name).to_pylist()]
        assert getattr(both, name).to_pylist() == rows, name
    assert assay.units(both.cells) == assay.units(parts[0].cells)
    with pytest.raises(ValueError, match="no run folder"):
        assay.load_many([])


def test_histograms_are_read_when_they_are_asked_for(bandwidth, monkeypatch):
    read = []
    original = assay._journal.histograms
    monkeypatch.setattr(assay._journal, "histograms", lambda *arguments: read.append(arguments) or original(*arguments))
    run = assay.load(bandwidth)
    run.to_pandas()
    assert not read
    assert run.histograms.num_rows and run.histogram(run.histograms["cell"][0].as_py()).count
    assert len(read) == 1


def test_pandas_is_optional(bandwidth):
    program = (
        "import sys\n"
        "class NoPandas:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.split('.')[0] == 'pandas': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, NoPandas())\n"
        "import assay; run = assay.load(sys.argv[1]); assert run.histograms.num_rows and assay.units(run.cells)"
    )
    subprocess.run([sys.executable, "-c", program, str(bandwidth)], check=True)


def test_a_damaged_line_is_left_out_with_a_warning(open_loop, tmp_path):
    for name in ("manifest.json", "journal.log"):
        (tmp_path / name).write_bytes((open_loop / name).read_bytes())
    journal = tmp_path / "journal.log"
    lines = journal.read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if b'"interval"' in line and b'"ramp":false' in line)
    whole = json.loads(lines[at][9:])
    lines[at] = lines[at].replace(b'"ramp":false', b'"ramp":fals3')
    journal.write_bytes(b"".join(lines))
    damaged = assay.load(tmp_path)
    cell, op = whole["cell"], whole["ops"][0]
    with pytest.warns(UserWarning, match="1 damaged line"):
        damaged.histogram(cell)
    lost = assay.load(open_loop).histogram(cell, op=op["op"]).count - damaged.histogram(cell, op=op["op"]).count
    assert lost == op["ios"]


def test_errors_say_what_is_wrong(tmp_path, bandwidth):
    with pytest.raises(FileNotFoundError, match="manifest.json"):
        assay.load(tmp_path)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(RuntimeError, match="manifest"):
        assay.load(tmp_path)
    with pytest.raises(KeyError, match="no latency histogram of cell 'nowhere'"):
        assay.load(bandwidth).histogram("nowhere")


def test_the_example_draws_its_figure(bandwidth, tmp_path):
    example = Path(__file__).resolve().parent.parent / "examples" / "redraw_bandwidth.py"
    picture = tmp_path / "figure.png"
    subprocess.run([sys.executable, "-W", "error", str(example), str(bandwidth), str(picture)], check=True)
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 20_000
