#!/usr/bin/env bash
# fio 3.33 (Debian 3.33-3) with ioengine=null and iodepth above 1 writes nearly every I/O twice into its log of I/Os (write_iolog): 255 lines of
# 128 I/Os at depth 8. At depth 1, and with an engine that does the I/Os, each is there once. A log that is recorded so, without a drive, replays
# twice the I/Os. Prints what was seen; fails if that changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq fio=3.33-3
dpkg-deb --extract fio_3.33-3_*.deb root
fio=$work/root/usr/bin/fio

"$fio" --version
lines() { # engine, depth
  rm -f log
  "$fio" --name=writes --filename=area --size=1m --rw=randwrite --bs=8k --ioengine="$1" --iodepth="$2" --write_iolog=log \
    --output-format=json >out.json
  python3 -c 'import json; print(json.load(open("out.json"))["jobs"][0]["write"]["total_ios"])' >ios
  grep -c ' write ' log >found
  echo "$1, depth $2: $(cat ios) I/Os, $(cat found) lines, $(grep ' write ' log | awk '{print $(NF-1)}' | sort -u | wc -l) offsets"
}
lines null 1
[ "$(cat found)" = "$(cat ios)" ]
lines libaio 8
[ "$(cat found)" = "$(cat ios)" ]
lines null 8
if [ "$(cat found)" -le "$(($(cat ios) * 3 / 2))" ]; then
  echo "changed: the log no longer has most I/Os twice" >&2
  exit 1
fi
echo "as stated: most I/Os are in the log twice"
