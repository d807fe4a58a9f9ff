#!/usr/bin/env bash
# fio 3.33 (Debian 3.33-3) with ioengine=io_uring and sqthread_poll=1 prints completion latencies (clat) that begin near the start of the job, not at
# the submission of each I/O: their mean is a large share of the run time, and their percentiles, which are those that fio prints by default, end
# at the largest bucket of its histogram (17.1 s) in longer jobs. Submission latency is 0. The whole latency (lat) of the same I/Os is right: with one
# I/O in flight, rate times latency is about 1. Published results of this option have such percentiles. Prints what was seen; fails if that changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq fio=3.33-3
dpkg-deb --extract fio_3.33-3_*.deb root
fio=$work/root/usr/bin/fio

"$fio" --version
"$fio" --name=reads --filename=area --size=64m --rw=randread --bs=4k --iodepth=1 --direct=1 \
  --ioengine=io_uring --registerfiles=1 --sqthread_poll=1 --time_based --runtime=4 --output-format=json >out.json
python3 - <<'END'
import json, sys
read = json.load(open("out.json"))["jobs"][0]["read"]
means = {key: read[key]["mean"] / 1e9 for key in ("slat_ns", "clat_ns", "lat_ns")}
in_flight = {key: read["iops"] * mean for key, mean in means.items()}
print("I/Os", read["total_ios"], "run time, s:", read["runtime"] / 1e3, "means, s:", means)
print("rate times mean latency, 1 in flight:", in_flight)
if means["slat_ns"] != 0 or means["clat_ns"] < 0.5 or not 0.5 < in_flight["lat_ns"] < 1.5:
    sys.exit("changed: completion latency no longer begins at the start of the job")
print("as stated: completion latency is a share of the run time, the whole latency is right")
END
