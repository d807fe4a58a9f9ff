# %% [markdown]
# # Random reads of a run, redrawn
#
# The chart "random read bandwidth by block size and threads" of `assay report`, and the latency distribution behind one of its points,
# from the run folder. In Jupyter or an editor that knows `# %%` the parts of this file are cells; as a program it takes a run
# folder of the suite `bandwidth` and writes a PNG:
#
#     assay run bandwidth sim:samsung-951 sim:intel-600p --scale 0.1 --out two-drives
#     python redraw_bandwidth.py two-drives figure.png

# %%
import sys

import assay
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

folder, picture = sys.argv[1:3] if len(sys.argv) > 2 else ("two-drives", "figure.png")
run = assay.load(folder)
units = assay.units(run.cells)

# %% The cells of one step, as a data frame: one row per block size, number of threads, and drive.
reads = run.cells.to_pandas().query("step == 'random-read' and state == 'finished'")
labels = dict(zip(reads.drive, reads.drive_label + reads.simulated.map({True: " (simulated)", False: ""})))
colours = dict(zip(labels, plt.get_cmap("tab10").colors))
markers = dict(zip(sorted(reads.numjobs.unique()), "os^vD"))

# %% Bandwidth by block size.
figure, (rates, latencies) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
for (drive, numjobs), line in reads.groupby(["drive", "numjobs"]):
    line = line.sort_values("bs_bytes")
    rates.plot(
        line.bs_bytes / 1024,
        line.read_mib_per_s,
        color=colours[drive],
        marker=markers[numjobs],
        # Wider below: where more threads make no difference both lines remain visible.
        linewidth=1.5 if numjobs == max(markers) else 4,
        alpha=1 if numjobs == max(markers) else 0.4,
        label=f"{labels[drive]}, {numjobs} threads",
    )
sizes = sorted(reads.bs_bytes.unique() / 1024)
rates.set_xscale("log", base=2)
rates.set_xticks(sizes, [f"{size:g}" for size in sizes])
rates.set_xlabel("block size, KiB")
rates.set_ylabel(f"random read, {units['read_mib_per_s']}")
rates.set_ylim(bottom=0)

# %% The raw histogram of each drive's cell of 4 KiB with the most threads: how many reads take longer.
for drive, label in labels.items():
    row = reads[(reads.drive == drive) & (reads.bs_bytes == 4096)].sort_values("numjobs").iloc[-1]
    histogram = run.histogram(row.cell, drive, "read")
    seen, slower, at_us = 0, [], []
    for _, high_ns, count in histogram.rows():
        seen += count
        if seen < histogram.count:
            at_us.append(high_ns / 1000)
            slower.append(1 - seen / histogram.count)
    latencies.plot(at_us, slower, color=colours[drive], label=f"{label}, {row.numjobs} threads")
    p99_us = histogram.percentile(99) / 1000
    latencies.plot(p99_us, 0.01, "o", color=colours[drive])
    latencies.annotate(f"p99 {p99_us:,.0f} µs ", (p99_us, 0.01), ha="right", va="top")
latencies.set_xscale("log")
latencies.set_yscale("log")
latencies.set_xlabel("latency of 4 KiB reads, µs")
latencies.set_ylabel("fraction of reads that take longer")

# %%
for axes in (rates, latencies):
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)
figure.suptitle(f"{run.manifest['suite']['title']}, run {run.manifest['run_id']}")
figure.savefig(picture, dpi=110)
