"""Histograms by themselves: encoding, buckets, percentiles."""

import base64

import pytest

from assay import Histogram
from assay._histogram import bucket_range
from assay._journal import _crc32c_of_bytes


def encoded(*numbers: int) -> str:
    data = bytearray()
    for number in numbers:
        while number >= 0x80:
            data.append(number & 0x7F | 0x80)
            number >>= 7
        data.append(number)
    return base64.b64encode(bytes(data)).rstrip(b"=").decode()


def test_buckets_follow_one_another():
    """As docs/run-folder.md has them: 1 ns below 2048 ns, 1024 per power of two above."""
    end = 0
    for bucket in range(40_000):
        low, high = bucket_range(bucket)
        assert low == end
        assert high - low + 1 == (1 if bucket < 2048 else 1 << (bucket // 1024 - 1))
        end = high + 1
    assert bucket_range(2048) == (2048, 2049)


def test_percentiles_are_nearest_ranks_at_the_upper_end_of_the_bucket():
    # 100 ns, twice 3000 ns (bucket 2524: 3000 and 3001 ns), 5000 ns (bucket 3298: to 5003 ns).
    histogram = Histogram.decode(encoded(4, 0, 11_100, 0, 100, 5000, 100, 1, 2424, 2, 774, 1))
    assert list(histogram.rows())[1] == (3000, 3001, 2)
    assert histogram.percentile(25) == 100
    assert histogram.percentile(25.1) == 3001
    assert histogram.percentile(75) == 3001
    assert histogram.percentile(100) == 5000
    assert histogram.mean_ns == 2775
    assert Histogram().percentile(50) == 0
    with pytest.raises(ValueError):
        histogram.percentile(101)


def test_overflow_counts_at_the_maximum():
    histogram = Histogram.decode(encoded(3, 2, 0, 1, 10, 1 << 43, 10, 1))
    assert histogram.sum_ns == 1 << 64
    assert histogram.percentile(50) == 1 << 43


def test_damaged_histograms_are_refused():
    good = encoded(2, 0, 30, 0, 10, 20, 10, 1, 10, 1)
    assert Histogram.decode(good).count == 2
    for bad in (encoded(3, 0, 30, 0, 10, 20, 10, 1, 10, 1), encoded(2, 0), base64.b64encode(b"\x80").decode()):
        with pytest.raises(ValueError):
            Histogram.decode(bad)


def test_sums_keep_extremes():
    total = Histogram()
    for value in (70, 50, 90):
        total.merge(Histogram.decode(encoded(1, 0, value, 0, value, value, value, 1)))
    assert (total.count, total.sum_ns, total.min_ns, total.max_ns) == (3, 210, 50, 90)
    assert total.percentile(50) == 70


def test_crc32c():
    """The check value of CRC-32C (RFC 3720, appendix B.4: 32 bytes of zeros; the usual check string)."""
    assert _crc32c_of_bytes(b"123456789") == 0xE3069283
    assert _crc32c_of_bytes(bytes(32)) == 0x8A9136AA
