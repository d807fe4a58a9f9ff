"""Raw latency histograms, as docs/run-folder.md describes them: decoding, sums, percentiles."""

from __future__ import annotations

import base64
from collections import Counter
from dataclasses import dataclass, field
from typing import Iterator

# Below 2^11 ns each bucket is 1 ns wide; above, every power of two is cut into 2^10.
_EXACT_BITS = 11
_HALF = 1 << (_EXACT_BITS - 1)


def bucket_range(bucket: int) -> tuple[int, int]:
    """The lowest and the highest latency of a bucket, both inclusive, in nanoseconds."""
    if bucket < 2 * _HALF:
        return bucket, bucket
    shift = bucket // _HALF - 1
    low = (bucket - _HALF * shift) << shift
    return low, low + (1 << shift) - 1


def _numbers(data: bytes) -> Iterator[int]:
    """Unsigned LEB128 numbers."""
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
        else:
            yield value
            value = shift = 0
    if shift:
        raise ValueError("the histogram ends in the middle of a number")


@dataclass
class Histogram:
    """Latencies in buckets; count, sum, minimum and maximum are exact. All times are in nanoseconds."""

    count: int = 0
    overflow: int = 0
    """Latencies above 2^42 ns (73 minutes); they are in count, sum and maximum, and in no bucket."""
    sum_ns: int = 0
    min_ns: int = 0
    max_ns: int = 0
    buckets: Counter[int] = field(default_factory=Counter)
    """Bucket index to the number of latencies in it."""

    @classmethod
    def decode(cls, text: str) -> Histogram:
        """A histogram of the journal. Raises `ValueError` if it is damaged."""
        numbers = list(_numbers(base64.b64decode(text + "=" * (-len(text) % 4))))
        if len(numbers) < 6 or len(numbers) % 2:
            raise ValueError("not a histogram")
        count, overflow, low, high, least, greatest = numbers[:6]
        buckets: Counter[int] = Counter()
        bucket = 0
        for gap, n in zip(numbers[6::2], numbers[7::2]):
            bucket += gap
            buckets[bucket] = n
        if buckets.total() + overflow != count:
            raise ValueError("the counts of the histogram do not add up")
        return cls(count, overflow, low | high << 64, least, greatest, buckets)

    def merge(self, other: Histogram) -> None:
        """Add the latencies of another histogram."""
        if not other.count:
            return
        self.min_ns = min(self.min_ns, other.min_ns) if self.count else other.min_ns
        self.max_ns = max(self.max_ns, other.max_ns)
        self.count += other.count
        self.overflow += other.overflow
        self.sum_ns += other.sum_ns
        self.buckets.update(other.buckets)

    @property
    def mean_ns(self) -> float:
        """The exact mean; 0 when empty."""
        return self.sum_ns / self.count if self.count else 0.0

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """The occupied buckets in order: lowest and highest latency in nanoseconds (inclusive), and count."""
        for bucket in sorted(self.buckets):
            yield *bucket_range(bucket), self.buckets[bucket]

    def percentile(self, percent: float) -> int:
        """The latency that `percent` per cent of the values do not exceed: nearest rank, at the upper end of its bucket, so never
        understated and at most 0.1 % too high. As `assay` computes it, in steps of a millionth. 0 when empty.
        """
        if not 0 <= percent <= 100:
            raise ValueError(f"a percentile is between 0 and 100, not {percent}")
        if not self.count:
            return 0
        per_million = round(percent * 10_000)
        rank = max(-(-self.count * per_million // 1_000_000), 1)
        seen = 0
        for _, high, n in self.rows():
            seen += n
            if seen >= rank:
                return min(max(high, self.min_ns), self.max_ns)
        return self.max_ns
