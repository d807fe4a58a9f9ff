"""The scenarios. Each compares every byte that reaches the drive or the consumer."""

import os
import random
import struct

from cocotbext.axi import AxiBurstType

from bench import BY_ABORT, BY_ERROR, BY_STOP, SEED, TICK_CYCLES, scenario
from drive import DATASET_MANAGEMENT, DNR, FLUSH, GET_FEATURES, GET_LOG_PAGE, IDENTIFY, INVALID_OPCODE, MORE, PAGE, READ, WRITE

FULL = {"FINISHED", "LAST_VALID"}
EARLY = FULL | {"EARLY_LAST"}
# Status fields of failures: a media error, which allows another try, and one that does not.
MEDIA_ERROR = 0x281
HARD_ERROR = MEDIA_ERROR | DNR


# ---- Record


@scenario()
async def record_one_chunk(bench):
    await bench.record(3, bench.random_bytes(bench.chunk))


@scenario(pauses=0.3, memory_pauses=0.2)
async def record_many_chunks_with_pauses(bench):
    await bench.record(1, bench.random_bytes(12 * bench.chunk))


@scenario()
async def record_lengths_that_end_inside_a_chunk(bench):
    lengths = [1, bench.beat - 1, bench.beat, bench.beat + 1, 511, 512, 513, 4095, 4097, bench.chunk - 1, bench.chunk + 1]
    for first, length in enumerate(lengths):
        await bench.record(2 * first, bench.random_bytes(length), chunks=2)


@scenario()
async def record_fills_its_range(bench):
    """The stream is longer; its rest is dropped by FLUSH_CONTROL, up to the last beat."""
    data = bench.random_bytes(5 * bench.chunk)
    bench.send(data)
    await bench.start("write", 7, 2)
    assert await bench.ended("write") == FULL
    await bench.recorded(7, data[: 2 * bench.chunk])
    await bench.registers.act("write.FLUSH_CONTROL", "START")

    async def finished():
        return (await bench.registers.fields("write.FLUSH_STATUS"))["FINISHED"]

    await bench.until(finished, "end of the stream flush")
    assert await bench.registers.read("write.DROPPED_BEATS") * 16 == 3 * bench.chunk
    await bench.works()


@scenario(pauses=0.2)
async def record_two_packets_in_two_sessions(bench):
    first, second = bench.random_bytes(bench.chunk + 77), bench.random_bytes(2 * bench.chunk)
    bench.send(first)
    bench.send(second)
    await bench.start("write", 0, 8)
    assert await bench.ended("write") == EARLY
    await bench.recorded(0, first)
    await bench.start("write", 10, 8)
    assert await bench.ended("write") == FULL
    await bench.recorded(10, second)


@scenario(block_shift=12)
async def record_and_replay_blocks_of_4096_bytes(bench):
    await bench.record(1, bench.random_bytes(2 * bench.chunk + 4097))
    await bench.replay(1, 3)


@scenario(delay_cycles=(20, 4000), shuffled=True)
async def record_with_completions_out_of_order(bench):
    await bench.record(0, bench.random_bytes(12 * bench.chunk))


@scenario(delay_cycles=(6000, 9000), in_flight=1)
async def record_to_a_slow_drive_holds_the_stream(bench):
    await bench.record(0, bench.random_bytes((bench.slots + 4) * bench.chunk))
    assert await bench.registers.read("write.STALLS") > 0 and await bench.registers.read("write.STALL_TIME") > 0


@scenario()
async def record_flushes_behind_the_stream(bench):
    data = bench.random_bytes(3 * bench.chunk + 5)
    await bench.record(4, data, controls=("FLUSH_AFTER_WRITE",))
    assert await bench.registers.read("write.DURABLE_BYTES") == len(data)
    assert bench.drive.durable == [4], bench.drive.durable


@scenario(pauses=0.3)
async def record_flushes_within_the_stream(bench):
    data = bench.random_bytes(8 * bench.chunk)
    bench.send(data)
    await bench.start("write", 0, 8)

    async def some():
        return await bench.registers.read("write.BYTES") >= 2 * bench.chunk

    await bench.until(some, "two chunks")
    await bench.registers.act("write.CONTROL", "FLUSH_NOW")
    assert await bench.ended("write") == FULL
    await bench.recorded(0, data)
    durable = await bench.registers.read("write.DURABLE_BYTES")
    assert len(bench.drive.durable) == 1 and 2 * bench.chunk <= durable <= bench.drive.durable[0] * bench.chunk


async def stopped_record(bench, *controls):
    """Stops within the fourth chunk; returns what was sent."""
    data = bench.random_bytes(12 * bench.chunk)
    bench.send(data)
    await bench.start("write", 0, 12)

    async def some():
        return await bench.registers.read("write.BYTES") >= 2 * bench.chunk

    await bench.until(some, "two chunks")
    for control in controls:
        await bench.registers.act("write.CONTROL", control)
    return data


async def prefix(bench, data):
    """The drive has the first BYTES of the data, whole chunks, and nothing behind them."""
    count = await bench.registers.read("write.BYTES")
    assert 0 < count < len(data) and count % bench.chunk == 0, count
    await bench.recorded(0, data[:count])
    assert bench.drive.content(count, len(data) - count) == bytes(len(data) - count), "bytes behind BYTES are on the drive"
    return count


@scenario(pauses=0.4, delay_cycles=(20, 60))
async def record_stopped(bench):
    data = await stopped_record(bench, "STOP")
    assert await bench.ended("write") == {"STOPPED", "LAST_VALID"}
    await prefix(bench, data)
    assert not bench.drive.durable
    await bench.drop_rest()
    await bench.works()


@scenario(pauses=0.4)
async def record_aborted(bench):
    """What follows in the packet is dropped; what was recorded is durable."""
    data = await stopped_record(bench, "ABORT")
    status = await bench.ended("write")
    assert status >= {"ABORTED", "LAST_VALID"} and not status & {"FINISHED", "DEVICE_ERROR"}, status
    count = await prefix(bench, data)
    assert await bench.registers.read("write.DURABLE_BYTES") == count and len(bench.drive.durable) == 1
    await bench.until(lambda: bench.source.idle(), "the rest of the packet")
    await bench.works()


@scenario(pauses=0.4, delay_cycles=(2000, 3000))
async def record_aborted_behind_a_stop(bench):
    data = await stopped_record(bench, "STOP", "ABORT")
    assert "ABORTED" in await bench.ended("write")
    count = await prefix(bench, data)
    assert await bench.registers.read("write.DURABLE_BYTES") == count
    await bench.until(lambda: bench.source.idle(), "the rest of the packet")
    await bench.works()


@scenario()
async def record_pattern(bench):
    """Each beat is the one before times x^128 modulo x^128 + x^7 + x^2 + x + 1."""
    seed = bench.rng.getrandbits(128)
    await bench.registers.write("write.PATTERN_SEED", seed & (1 << 64) - 1)
    await bench.registers.write("write.PATTERN_SEED_HIGH", seed >> 64)
    await bench.start("write", 2, 3, "PATTERN")
    assert await bench.ended("write") == FULL
    await bench.recorded(2, pattern(seed, 3 * bench.chunk))


def pattern(beat, length):
    data = bytearray()
    while len(data) < length:
        data += beat.to_bytes(16, "little")
        for _ in range(128):
            beat = beat << 1 ^ (beat >> 127) * (1 << 128 | 0x87)
    return bytes(data[:length])


@scenario()
async def ranges_that_are_refused(bench):
    media = bench.options.blocks << bench.options.block_shift
    chunks = media // bench.chunk
    for bank in ("write", "read"):
        for first, last, reason in ((512, bench.chunk, "UNALIGNED"), (2 * bench.chunk, bench.chunk, "FIRST_AFTER_LAST"),
                                    (0, chunks * bench.chunk, "OUT_OF_RANGE"), (0, 1 << 60, "OUT_OF_RANGE")):
            await bench.registers.write(f"{bank}.FIRST_ADDRESS", first)
            await bench.registers.write(f"{bank}.LAST_ADDRESS", last)
            await bench.registers.act(f"{bank}.CONTROL", "START")
            status = await bench.ended(bank)
            assert reason in status and not status & FULL, (reason, status)
    assert not bench.drive.log
    # The last chunk of the media is none of them.
    await bench.record(chunks - 1, bench.random_bytes(bench.chunk))
    await bench.replay(chunks - 1, 1)


@scenario(block_shift=12, blocks=1 << 40)
async def fault_6_ranges_above_2_32_chunks(bench):
    """A range of 2^32 + 2 chunks takes more than two."""
    data = bench.random_bytes(5 * bench.chunk)
    bench.send(data)
    await bench.start("write", 9, (1 << 32) + 2)
    assert await bench.ended("write") == FULL
    await bench.recorded(9, data)
    high = (1 << 33) + 3
    await bench.record(high, data[: bench.chunk])
    await bench.replay(high, 1)


# ---- Replay


@scenario()
async def replay_one_chunk(bench):
    bench.fill(5, 1)
    await bench.replay(5, 1)


@scenario(pauses=0.4, memory_pauses=0.2)
async def replay_many_chunks_with_pauses(bench):
    bench.fill(2, 12)
    await bench.replay(2, 12)


@scenario(delay_cycles=(20, 4000), shuffled=True)
async def replay_with_completions_out_of_order(bench):
    bench.fill(0, 12)
    await bench.replay(0, 12)


@scenario()
async def replay_lengths(bench):
    bench.fill(0, 3)
    for length in (1, bench.beat, bench.beat + 1, 512, 4097, bench.chunk, bench.chunk + 3, 3 * bench.chunk - 1, 3 * bench.chunk):
        await bench.replay(0, 3, length=length)


@scenario()
async def fault_12_length_above_the_range(bench):
    bench.fill(0, 2)
    await bench.start("read", 0, 2, length=2 * bench.chunk + 1)
    assert await bench.ended("read") == {"OUT_OF_RANGE"}
    assert not bench.drive.log
    await bench.replay(0, 2, length=2 * bench.chunk)


@scenario()
async def fault_12_finished_after_the_last_beat_was_taken(bench):
    bench.fill(0, 1)
    bench.sink.pause = True
    await bench.start("read", 0, 1)
    await bench.cycles(10_000)
    status = await bench.registers.fields("read.STATUS")
    assert status["RUNNING"] and not status["FINISHED"], status
    bench.sink.pause = False
    assert await bench.ended("read") == FULL
    await bench.replayed(0, bench.chunk)


@scenario()
async def fault_1_a_consumer_that_pauses_is_no_late_drive(bench):
    """The consumer waits for ten times COMMAND_TIMEOUT, beside a recording."""
    # Twice what all slots take that the drive serves at the same time: a shorter one is no fault of the consumer.
    timeout = 2 * bench.slots * bench.chunk // 16 // TICK_CYCLES
    await bench.registers.write("drive.COMMAND_TIMEOUT", timeout)
    resets = bench.drive.resets
    bench.fill(20, 2 * bench.slots)
    bench.sink.pause = True
    await bench.start("read", 20, 2 * bench.slots)
    await bench.cycles(10 * timeout * TICK_CYCLES)
    await bench.record(0, bench.random_bytes(3 * bench.chunk))
    bench.sink.pause = False
    assert await bench.ended("read") == FULL
    await bench.replayed(20, 2 * bench.slots * bench.chunk)
    assert bench.drive.resets == resets


async def ended_replay(bench, act, status, user):
    """A replay that is ended while its consumer is not ready; the next one is a packet of its own."""
    bench.fill(0, 10)
    await bench.start("read", 0, 10)

    async def some():
        return await bench.registers.read("read.BYTES") >= bench.chunk

    await bench.until(some, "a chunk")
    bench.sink.pause = True
    await bench.cycles(3000)
    await act()
    assert await bench.ended("read") == status
    bench.sink.pause = False
    data, ending = await bench.frame()
    assert ending == user, f"m_user {ending}"
    assert 0 < len(data) < 10 * bench.chunk and data == bench.drive.content(0, len(data))[: len(data)]
    await bench.ready()
    await bench.replay(3, 2)


@scenario()
async def fault_3_4_replay_stopped(bench):
    await ended_replay(bench, lambda: bench.registers.act("read.CONTROL", "STOP"), {"STOPPED", "LAST_VALID"}, BY_STOP)


@scenario()
async def fault_3_4_replay_aborted(bench):
    await ended_replay(bench, lambda: bench.registers.act("read.CONTROL", "ABORT"), {"ABORTED", "LAST_VALID"}, BY_ABORT)


@scenario()
async def fault_3_4_replay_and_restart(bench):
    await ended_replay(bench, lambda: bench.registers.act("drive.CONTROL", "RESTART"), {"DEVICE_ERROR", "LAST_VALID"}, BY_ERROR)


@scenario(faults={(READ, 4): HARD_ERROR})
async def fault_3_replay_that_the_drive_fails(bench):
    bench.fill(0, 8)
    await bench.start("read", 0, 8)
    status = await bench.ended("read")
    assert status == {"DEVICE_ERROR", "LAST_VALID"}, status
    data, user = await bench.frame()
    assert user == BY_ERROR and data == bench.drive.content(0, 4 * bench.chunk)
    failure = await bench.registers.fields("read.DEVICE_STATUS")
    assert failure == {"STATUS_FIELD": HARD_ERROR, "DRIVE": 0, "VALID": 1, "LBA": 4 * bench.chunk >> 9}, failure
    await bench.replay(1, 2)


@scenario()
async def replay_pattern(bench):
    """The checker finds the pattern right, and then the first wrong beat."""
    seed = bench.rng.getrandbits(128)
    data = bytearray(pattern(seed, 3 * bench.chunk))
    await bench.registers.write("read.PATTERN_SEED", seed & (1 << 64) - 1)
    await bench.registers.write("read.PATTERN_SEED_HIGH", seed >> 64)
    bench.drive.fill(0, bytes(data))
    await bench.start("read", 0, 3, "PATTERN")
    assert await bench.ended("read") == FULL
    wrong = bench.rng.randrange(len(data))
    data[wrong] ^= 1 << bench.rng.randrange(8)
    bench.drive.fill(0, bytes(data))
    await bench.start("read", 0, 3, "PATTERN")
    assert await bench.ended("read") == FULL | {"PATTERN_ERROR"}
    assert await bench.registers.read("read.ERROR_BEAT") == wrong // 16


# ---- Both


async def both(bench, chunks):
    bench.fill(100, chunks)
    data = bench.random_bytes(chunks * bench.chunk - 33)
    bench.send(data)
    await bench.start("read", 100, chunks)
    await bench.start("write", 0, chunks)
    assert await bench.ended("write") == EARLY
    assert await bench.ended("read") == FULL
    await bench.recorded(0, data)
    await bench.replayed(100, chunks * bench.chunk)


@scenario()
async def both_directions(bench):
    await both(bench, 6)


@scenario(pauses=0.4, memory_pauses=0.4, latency_cycles=200, delay_cycles=(20, 3000), shuffled=True)
async def both_directions_with_pauses_everywhere(bench):
    await both(bench, 6)


@scenario(delay_cycles=(20, 60), memory_pauses=0.5, latency_cycles=400)
async def both_directions_with_slow_memory(bench):
    await both(bench, 5)


@scenario()
async def replay_of_what_was_just_recorded(bench):
    """Stale bytes of the ring would show: the same slots hold other data each time."""
    for first in range(3):
        await bench.record(first * 4, bench.random_bytes(4 * bench.chunk))
        await bench.replay(first * 4, 4)


# ---- Faults of drive, bridge and source


@scenario()
async def fault_5_head_doorbells(bench):
    """The drive notes a head doorbell that repeats its value, whatever the number of entries."""
    await bench.record(0, bench.random_bytes(9 * bench.chunk))
    await bench.replay(0, 9)
    assert await bench.registers.read("drive.DOORBELLS") <= 4 * 18


async def lost(bench, fault, cause):
    """A session is under way and the drive fails: it ends within some polls of CSTS, and the drive is brought up again."""
    bench.send(bench.random_bytes(9 * bench.chunk))
    await bench.start("write", 0, 9)
    await bench.until(lambda: bench.drive.counts.get((True, WRITE)), "a command")
    setattr(bench.drive, fault, True)
    assert "DEVICE_ERROR" in await bench.ended("write")
    lost = await bench.registers.fields("drive.LOST")
    assert bench.dut.irq_lost.value and [name for name, value in lost.items() if value] == [cause], lost
    await bench.registers.act("drive.CONTROL", "ACKNOWLEDGE")
    assert not await bench.registers.read("drive.LOST") and not bench.dut.irq_lost.value
    await bench.drop_rest()


@scenario()
async def fault_8_fatal_status(bench):
    """CSTS.CFS during I/O: the drive answers nothing more. A reset of the controller helps."""
    await lost(bench, "fatal", "FATAL")
    await bench.works()


@scenario()
async def fault_8_hung_drive(bench):
    """Its registers read as ones, and a reset of the controller does not reach it: RESTART resets it by PERST# and a hot reset."""
    await lost(bench, "hung", "ONES")
    await bench.cycles(20_000)
    assert not (await bench.registers.fields("drive.SEQUENCER"))["READY"]
    await bench.registers.act("drive.CONTROL", "RESTART")
    await bench.cycles(200)
    await bench.works()


@scenario(delay_cycles=(60_000, 60_000))
async def fault_8_no_command_timeout(bench):
    await bench.registers.write("drive.COMMAND_TIMEOUT", 0)
    await bench.record(0, bench.random_bytes(bench.chunk))


@scenario(list_bytes=512)
async def fault_9_prp_lists_in_fixed_bursts(bench):
    await bench.record(0, bench.random_bytes(3 * bench.chunk))
    await bench.replay(0, 3)


@scenario(faults={(WRITE, n): MEDIA_ERROR for n in (0, 1, 3, 5)} | {(READ, 1): MEDIA_ERROR})
async def fault_10_another_try(bench):
    await bench.record(0, bench.random_bytes(6 * bench.chunk))
    await bench.replay(0, 6)
    assert bench.drive.counts[True, WRITE] == 10 and bench.drive.counts[True, READ] == 7
    assert await bench.registers.read("drive.COMMANDS") == 12


@scenario(faults={(WRITE, n): MEDIA_ERROR for n in range(4)})
async def fault_10_no_fourth_try(bench):
    """One command at a time, so that all tries are of the same one."""
    bench.send(bench.random_bytes(bench.chunk))
    await bench.start("write", 2, 1)
    assert await bench.ended("write") == {"DEVICE_ERROR"}
    assert bench.drive.counts[True, WRITE] == 4 and await bench.registers.read("write.BYTES") == 0
    failure = await bench.registers.fields("write.DEVICE_STATUS")
    assert failure["STATUS_FIELD"] == MEDIA_ERROR and failure["LBA"] == 2 * bench.chunk >> 9, failure
    await bench.works()


@scenario(faults={(WRITE, 2): HARD_ERROR})
async def a_hard_error_is_not_tried_again(bench):
    data = bench.random_bytes(6 * bench.chunk)
    bench.send(data)
    await bench.start("write", 0, 6)
    assert await bench.ended("write") == {"DEVICE_ERROR", "LAST_VALID"}
    count = await bench.registers.read("write.BYTES")
    assert count <= 2 * bench.chunk
    await bench.recorded(0, data[:count])
    await bench.drop_rest()
    await bench.works()


@scenario(faults={(WRITE, 1): MORE, (READ, 0): MORE, (FLUSH, 0): MORE})
async def fault_10_more_is_a_success(bench):
    await bench.record(0, bench.random_bytes(3 * bench.chunk), controls=("FLUSH_AFTER_WRITE",))
    await bench.replay(0, 3)
    assert bench.drive.counts[True, WRITE] == 3 and bench.drive.counts[True, READ] == 3


async def refused_burst(bench, access):
    """A burst that the core does not take while a session runs: counted, and the session ends."""
    bench.fill(0, 12)
    await bench.start("read", 0, 12)

    async def some():
        return await bench.registers.read("read.BYTES") >= bench.chunk

    await bench.until(some, "a chunk")
    await access()
    status = await bench.ended("read")
    assert {"PROTOCOL_ERROR", "DEVICE_ERROR"} <= status, status
    data, user = await bench.frame()
    assert user == BY_ERROR and data == bench.drive.content(0, 12 * bench.chunk)[: len(data)]
    await bench.works()


@scenario(errors=None, delay_cycles=(500, 600))
async def fault_11_narrow_reads(bench):
    await refused_burst(bench, lambda: bench.device.read(0, 4 * bench.beat, size=2))


@scenario(errors=None, delay_cycles=(500, 600))
async def fault_11_fixed_reads(bench):
    await refused_burst(bench, lambda: bench.device.read(0, 4 * bench.beat, burst=AxiBurstType.FIXED))


@scenario(errors=None, delay_cycles=(500, 600))
async def fault_11_narrow_writes(bench):
    replay_half = 1 << (2 + (bench.slots - 1).bit_length() + (bench.chunk - 1).bit_length())
    await refused_burst(bench, lambda: bench.device.write(replay_half, bytes(4 * bench.beat), size=2))


async def refused_beats(bench, keep):
    """A packet whose second chunk has a beat that the core does not take; nothing of that chunk is on the drive."""
    data = bench.random_bytes(len(keep))
    bench.send(data, keep)
    await bench.start("write", 0, 4)
    status = await bench.ended("write")
    assert {"PROTOCOL_ERROR", "DEVICE_ERROR"} <= status and "FINISHED" not in status, status
    count = await bench.registers.read("write.BYTES")
    assert count <= bench.chunk
    await bench.recorded(0, data[:count])
    assert bench.drive.content(bench.chunk, 3 * bench.chunk) == bytes(3 * bench.chunk)
    await bench.drop_rest()
    await bench.works()


@scenario()
async def fault_12_partial_beat_inside_a_packet(bench):
    keep = [1] * (3 * bench.chunk)
    at = bench.chunk + bench.chunk // 2
    keep[at + bench.beat - 3 : at + bench.beat] = [0] * 3
    await refused_beats(bench, keep)


@scenario()
async def fault_12_hole_in_a_beat(bench):
    keep = [1] * (3 * bench.chunk)
    keep[bench.chunk + 5] = 0
    await refused_beats(bench, keep)


@scenario()
async def fault_12_hole_in_the_last_beat(bench):
    keep = [1] * (bench.chunk + bench.beat)
    keep[-4] = 0
    await refused_beats(bench, keep)


async def lost_drive(bench):
    """The drive gives no answer to a command: COMMAND_TIMEOUT, then another bring-up."""
    await bench.registers.write("drive.COMMAND_TIMEOUT", 400)
    resets = bench.drive.resets
    data = bench.random_bytes(8 * bench.chunk)
    bench.send(data)
    await bench.start("write", 0, 8)
    status = await bench.ended("write")
    assert "DEVICE_ERROR" in status and "FINISHED" not in status, status
    count = await bench.registers.read("write.BYTES")
    await bench.recorded(0, data[:count])
    assert (await bench.registers.fields("write.DEVICE_STATUS"))["STATUS_FIELD"] == 0x7FFF
    await bench.drop_rest()
    await bench.ready()
    assert bench.drive.resets > resets
    await bench.works()


@scenario(faults={(WRITE, 2): "silent"})
async def drive_without_an_answer(bench):
    await lost_drive(bench)


@scenario(faults={(WRITE, 0): "silent"})
async def drive_without_an_answer_to_the_first_command(bench):
    await lost_drive(bench)


async def protocol_error(bench):
    bench.may_breach = True
    await bench.registers.write("drive.COMMAND_TIMEOUT", 2000)
    bench.send(bench.random_bytes(8 * bench.chunk))
    await bench.start("write", 0, 8)
    status = await bench.ended("write")
    assert {"PROTOCOL_ERROR", "DEVICE_ERROR"} <= status, status
    await bench.drop_rest()
    await bench.registers.act("drive.CONTROL", "RESTART")
    await bench.cycles(500)
    await bench.works()


@scenario(errors=None, faults={(WRITE, 2): "phase"})
async def completion_with_a_wrong_phase(bench):
    await protocol_error(bench)


@scenario(errors=None, faults={(WRITE, 2): "identifier"})
async def completion_with_a_wrong_identifier(bench):
    await protocol_error(bench)


@scenario(errors=None, faults={(WRITE, 2): "outside"})
async def access_outside_the_core(bench):
    await protocol_error(bench)


@scenario()
async def memory_error_of_a_recording(bench):
    bench.memory.bad_writes = 1
    bench.send(bench.random_bytes(2 * bench.chunk))
    await bench.start("write", 0, 2)
    status = await bench.ended("write")
    assert {"PROTOCOL_ERROR", "DEVICE_ERROR"} <= status, status
    await bench.drop_rest()
    await bench.works()


@scenario()
async def memory_error_of_a_replay(bench):
    bench.fill(0, 3)
    bench.memory.bad_reads = 1
    await bench.start("read", 0, 3)
    status = await bench.ended("read")
    assert {"PROTOCOL_ERROR", "DEVICE_ERROR"} <= status, status
    await bench.works()


@scenario()
async def link_down_and_up(bench):
    bench.fill(0, 10)
    await bench.start("read", 0, 10)
    await bench.until(lambda: bench.drive.counts.get((True, READ), 0) > 2, "commands")
    bench.dut.link_up.value = 0
    bench.drive.power_on()
    status = await bench.ended("read")
    assert "DEVICE_ERROR" in status, status
    await bench.cycles(500)
    bench.dut.link_up.value = 1
    await bench.works()


@scenario()
async def shutdown_and_restart(bench):
    await bench.record(0, bench.random_bytes(bench.chunk))
    await bench.registers.act("drive.CONTROL", "SHUTDOWN")

    async def down():
        return (await bench.registers.fields("drive.SEQUENCER"))["DOWN"]

    await bench.until(down, "shutdown")
    assert bench.drive.shutdown == 2
    await bench.registers.act("drive.CONTROL", "RESTART")
    await bench.works()


# ---- Bring-up


def bring_up_fails(name, step, reason, **options):
    async def work(bench):
        assert await bench.failed() == (step, reason), await bench.failed()
        await bench.start("write", 0, 1)
        assert await bench.ended("write") & {"OUT_OF_RANGE", "DEVICE_ERROR"}
        assert not bench.drive.log

    work.__name__ = work.__qualname__ = f"bring_up_{name}"
    globals()[work.__name__] = scenario(bring_up=False, **options)(work)


bring_up_fails("without_an_endpoint", 4, 4, present=False)
bring_up_fails("of_another_class", 6, 5, device_class=0x020000)
bring_up_fails("with_few_entries", 21, 8, entries=2)
bring_up_fails("without_the_nvm_command_set", 22, 9, command_sets=0)
bring_up_fails("with_large_pages", 22, 10, smallest_page=1)
bring_up_fails("never_ready", 31, 12, gets_ready=False)
bring_up_fails("fatal", 31, 13, fatal_at_enable=True, gets_ready=False)
bring_up_fails("identify_fails", 32, 15, admin_faults={IDENTIFY: HARD_ERROR})
bring_up_fails("without_identify_data", 32, 17, identifies=False)
bring_up_fails("odd_block_size", 34, 18, block_shift=10)
bring_up_fails("metadata", 34, 19, metadata_bytes=8)
bring_up_fails("one_queue", 35, 20, queues=1)


@scenario(block_shift=12, mdts=7, blocks=12345)
async def registers_of_the_drive(bench):
    expected = {"MEDIA_BYTES": 12345 << 12, "BLOCK_BYTES": 4096, "MAX_TRANSFER": 128 * 4096, "CAP": bench.drive.capabilities(),
                "LINK": 1 | 3 << 4 | 4 << 8, "OLDEST_COMMAND": 0, "COMMANDS": 0}
    for name, value in expected.items():
        assert await bench.registers.read(f"drive.{name}") == value, name


@scenario()
async def interrupts(bench):
    """Each direction has its own, from the end of a session to the next start."""
    await bench.record(0, bench.random_bytes(bench.chunk))
    assert int(bench.dut.irq.value) == 0b01
    await bench.replay(0, 1)
    assert int(bench.dut.irq.value) == 0b11
    bench.sink.pause = True
    await bench.start("read", 0, 1)
    await bench.cycles(100)
    assert int(bench.dut.irq.value) == 0b01
    bench.sink.pause = False
    await bench.ended("read")
    await bench.replayed(0, bench.chunk)


@scenario(stride=3)
async def doorbell_stride(bench):
    await bench.record(0, bench.random_bytes(3 * bench.chunk))
    await bench.replay(0, 3)


# ---- Drives whose MDTS is below a chunk: a chunk is several commands


async def split(bench):
    """Whole and short chunks, both directions alone and beside each other."""
    part = 4096 << bench.options.mdts
    for first, length in ((0, 5 * bench.chunk), (10, bench.chunk + part + 1), (20, 2 * bench.chunk - 1)):
        before = await bench.registers.read("drive.COMMANDS")
        await bench.record(first, bench.random_bytes(length))
        assert await bench.registers.read("drive.COMMANDS") - before == -(-length // part)
        await bench.replay(first, -(-length // bench.chunk), length=length)
    assert all(count << bench.options.block_shift <= part for _, _, count in bench.drive.log)
    await both(bench, 4)


@scenario(mdts=1, delay_cycles=(20, 1000), shuffled=True)
async def split_chunks(bench):
    await split(bench)


@scenario(mdts=1, block_shift=12, pauses=0.2, memory_pauses=0.2, list_bytes=64)
async def split_chunks_of_large_blocks(bench):
    await split(bench)


@scenario(mdts=1, faults={(WRITE, n): MEDIA_ERROR for n in (1, 2, 5, 7)} | {(READ, n): MEDIA_ERROR for n in (0, 3)})
async def split_chunks_retry_each_command(bench):
    await bench.record(0, bench.random_bytes(4 * bench.chunk))
    await bench.replay(0, 4)
    assert bench.drive.counts[True, WRITE] == 8 + 4 and bench.drive.counts[True, READ] == 8 + 2


@scenario(mdts=1, delay_cycles=(20, 2000), faults={(WRITE, 5): HARD_ERROR})
async def split_chunk_with_a_command_that_fails(bench):
    """The chunk has failed and is not counted; DEVICE_STATUS names the command."""
    bench.send(bench.random_bytes(5 * bench.chunk))
    await bench.start("write", 4, 5)
    status = await bench.ended("write")
    assert "DEVICE_ERROR" in status and "FINISHED" not in status, status
    failure = await bench.registers.fields("write.DEVICE_STATUS")
    count = await bench.registers.read("write.BYTES")
    assert failure["STATUS_FIELD"] == HARD_ERROR and failure["LBA"] * 512 % 8192 == 0, failure
    assert 0 <= failure["LBA"] * 512 - 4 * bench.chunk - count < bench.chunk, (failure, count)
    written = {first for opcode, first, _ in bench.drive.log if opcode == WRITE}
    assert failure["LBA"] not in written, "the command that failed is another one"
    await bench.drop_rest()
    await bench.works()


# ---- Commands of the software, between sessions


async def command(bench, opcode, namespace=0, io=0, words=()):
    """Sends one and returns the fields of PASS_STATUS when it has ended."""
    await bench.registers.write("drive.PASS_DW0", opcode | io << 31)
    await bench.registers.write("drive.PASS_DW1", namespace)
    for number in range(6):
        await bench.registers.write(f"drive.PASS_DW{10 + number}", words[number] if number < len(words) else 0)
    return await go(bench)


async def go(bench):
    await bench.registers.act("drive.CONTROL", "PASS")

    async def ended():
        status = await bench.registers.fields("drive.PASS_STATUS")
        return None if status["BUSY"] else status

    return await bench.until(ended, "the end of the command")


def fields(**names):
    return {"BUSY": 0, "DONE": 0, "REFUSED": 0, "LOST": 0, "STATUS_FIELD": 0} | names


DONE, REFUSED, LOST = fields(DONE=1), fields(REFUSED=1), fields(LOST=1)


def from_drive(bench):
    """The page to which a command of the software brings its data: the first one of the replay half of the ring."""
    at = bench.slots * bench.chunk
    return bytes(bench.memory.data[at : at + PAGE])


async def deallocate(bench, *ranges):
    """The ranges are in the first page of the record half. Returns PASS_STATUS."""
    data = b"".join(struct.pack("<IIQ", 0, blocks, first) for first, blocks in ranges)
    bench.memory.data[: len(data)] = data
    return await command(bench, DATASET_MANAGEMENT, namespace=1, io=1, words=(len(ranges) - 1, 4))


@scenario(pauses=0.2, memory_pauses=0.2)
async def identify_and_smart_between_sessions(bench):
    await bench.record(0, bench.random_bytes(3 * bench.chunk))
    assert await command(bench, IDENTIFY, words=(1,)) == DONE
    assert from_drive(bench) == bench.drive._identify(1, 0)
    assert await command(bench, IDENTIFY, namespace=1) == DONE
    assert from_drive(bench) == bench.drive._identify(0, 1)
    await bench.replay(0, 3)
    assert await command(bench, GET_LOG_PAGE, namespace=0xFFFF_FFFF, words=(2 | 127 << 16,)) == DONE
    assert from_drive(bench)[:512] == bench.drive.smart()
    assert bench.drive.admin_log[-1] == (GET_LOG_PAGE, 0xFFFF_FFFF, (2 | 127 << 16, 0, 0, 0, 0, 0))
    await bench.works()


@scenario(delay_cycles=(20, 400))
async def many_commands_of_both_queues(bench):
    """Both queues go round, and so do those of the sessions between."""
    for turn in range(7):
        words = tuple(bench.rng.getrandbits(32) & ~0xFF | 7 for _ in range(6))
        assert await command(bench, GET_FEATURES, words=words) == DONE
        assert bench.drive.admin_log[-1] == (GET_FEATURES, 0, words)
        assert await bench.registers.read("drive.PASS_RESULT") == (bench.options.queues - 1) * 0x10001
        for _ in range(bench.rng.randint(0, 5)):
            assert await deallocate(bench, (8, 8)) == DONE
        await bench.record(turn, bench.random_bytes(bench.chunk))


@scenario(memory_pauses=0.2)
async def trim_before_a_recording(bench):
    """Dataset Management is really sent, with all of its ranges; a recording follows at once."""
    chunks = 4
    bench.fill(0, chunks)
    ranges = [(0, 8), (3 * bench.chunk >> 9, 16), (bench.chunk >> 9, 1), (70, 5)]
    kept = bytearray(bench.drive.content(0, chunks * bench.chunk))
    commands = await bench.registers.read("drive.COMMANDS")
    assert await deallocate(bench, *ranges) == DONE
    assert bench.drive.trimmed == [(0, first, blocks) for first, blocks in ranges]
    for first, blocks in ranges:
        kept[first << 9 : first + blocks << 9] = bytes(blocks << 9)
    assert bench.drive.content(0, chunks * bench.chunk) == kept
    assert await bench.registers.read("drive.COMMANDS") == commands, "COMMANDS counts those of the streams"
    await bench.record(0, bench.random_bytes(chunks * bench.chunk), controls=("FLUSH_AFTER_WRITE",))
    await bench.replay(0, chunks)
    most = [(8 * n, 8) for n in range(PAGE // 16)]
    assert await deallocate(bench, *most) == DONE
    assert len(bench.drive.trimmed) == len(ranges) + len(most)


@scenario()
async def commands_that_the_drive_refuses(bench):
    assert await command(bench, 0xC0) == fields(DONE=1, STATUS_FIELD=INVALID_OPCODE)
    assert await command(bench, 0xC0, namespace=1, io=1) == fields(DONE=1, STATUS_FIELD=INVALID_OPCODE)
    assert (await deallocate(bench, (bench.options.blocks, 1)))["STATUS_FIELD"] & 0x7FF == 0x80
    # The registers are kept: the same command once more.
    assert (await go(bench))["STATUS_FIELD"] & 0x7FF == 0x80
    await bench.works()


@scenario()
async def commands_are_refused_while_a_session_runs(bench):
    bench.fill(0, 2)
    bench.sink.pause = True
    await bench.start("read", 0, 2)
    count = len(bench.drive.admin_log)
    assert await command(bench, IDENTIFY, words=(1,)) == REFUSED
    assert await command(bench, WRITE, namespace=1, io=1) == REFUSED
    assert len(bench.drive.admin_log) == count and not bench.drive.counts.get((True, WRITE))
    bench.sink.pause = False
    assert await bench.ended("read") == FULL
    await bench.replayed(0, 2 * bench.chunk)
    assert await command(bench, IDENTIFY, words=(1,)) == DONE
    # Data both ways; no drive.
    assert await command(bench, 0xC3) == REFUSED
    bench.dut.link_up.value = 0
    bench.drive.power_on()
    await bench.cycles(500)
    assert await command(bench, IDENTIFY, words=(1,)) == REFUSED
    bench.dut.link_up.value = 1
    await bench.registers.act("drive.CONTROL", "ACKNOWLEDGE")
    await bench.works()


@scenario(delay_cycles=(20_000, 20_000))
async def sessions_are_refused_while_a_command_runs(bench):
    for name, value in (("DW0", DATASET_MANAGEMENT | 1 << 31), ("DW1", 1), ("DW10", 0), ("DW11", 4)):
        await bench.registers.write(f"drive.PASS_{name}", value)
    await bench.registers.act("drive.CONTROL", "PASS")
    for bank in ("write", "read"):
        await bench.start(bank, 0, 1)
        assert await bench.ended(bank) == {"DEVICE_ERROR"}
    # A second command and its dwords have no effect.
    await bench.registers.write("drive.PASS_DW0", WRITE | 1 << 31)
    await bench.registers.act("drive.CONTROL", "PASS")
    status = await bench.registers.fields("drive.PASS_STATUS")
    assert status == fields(BUSY=1), status

    async def ended():
        return not (await bench.registers.fields("drive.PASS_STATUS"))["BUSY"]

    await bench.until(ended, "the end of the command")
    assert bench.drive.counts.get((True, DATASET_MANAGEMENT)) == 1 and not bench.drive.counts.get((True, WRITE))
    bench.options.delay_cycles = (20, 200)
    await bench.works()


async def lost_command(bench, cause, **how):
    """The drive does not complete it: it is lost and brought up again."""
    resets = bench.drive.resets
    assert await command(bench, **how) == LOST
    lost = await bench.registers.fields("drive.LOST")
    assert [name for name, value in lost.items() if value] == [cause], lost
    await bench.ready()
    assert bench.drive.resets > resets
    bench.options.admin_faults.clear()
    bench.options.faults.clear()
    assert await command(bench, IDENTIFY, words=(1,)) == DONE
    await bench.registers.act("drive.CONTROL", "ACKNOWLEDGE")
    await bench.works()


@scenario(admin_faults={GET_LOG_PAGE: "silent"})
async def admin_command_without_an_answer(bench):
    await lost_command(bench, "LATE", opcode=GET_LOG_PAGE, words=(2 | 127 << 16,))


@scenario(faults={(DATASET_MANAGEMENT, 0): "silent"})
async def io_command_without_an_answer(bench):
    await bench.registers.write("drive.COMMAND_TIMEOUT", 400)
    await lost_command(bench, "LATE", opcode=DATASET_MANAGEMENT, namespace=1, io=1)


@scenario(admin_faults={GET_LOG_PAGE: "silent"})
async def command_and_restart(bench):
    """RESTART ends a command, of the admin queue and of the other one."""
    bench.options.faults[DATASET_MANAGEMENT, 0] = "silent"
    for opcode, io in ((GET_LOG_PAGE, 0), (DATASET_MANAGEMENT, 1)):
        await bench.registers.write("drive.PASS_DW0", opcode | io << 31)
        await bench.registers.write("drive.PASS_DW1", 1)
        await bench.registers.write("drive.PASS_DW10", 2)
        await bench.registers.act("drive.CONTROL", "PASS")
        await bench.cycles(2000)
        assert await bench.registers.fields("drive.PASS_STATUS") == fields(BUSY=1)
        await bench.registers.act("drive.CONTROL", "RESTART")
        await bench.cycles(500)
        assert await bench.registers.fields("drive.PASS_STATUS") == LOST
        await bench.works()


@scenario(admin_faults={GET_LOG_PAGE: "identifier"})
async def admin_command_with_a_wrong_completion(bench):
    await lost_command(bench, "ACCESS", opcode=GET_LOG_PAGE, words=(2 | 127 << 16,))


# ---- Packets, rings and the index


async def entry(bench, number):
    """One entry of the index: (place, bytes kept, names of the flags, how, time)."""
    await bench.registers.write("write.INDEX_SELECT", number)
    place, when = await bench.registers.read("write.INDEX_POSITION"), await bench.registers.fields("write.INDEX_TIME")
    flags = {name for bit, name in enumerate(("CHUNK", "LAST", "TRIGGER", "END")) if place >> bit & 1}
    return place & ~0xF, when["KEPT"], flags, when["HOW"], when["TIME"]


async def index(bench, since):
    """Entries from this number on, all of which are to be there still."""
    count = await bench.registers.read("write.INDEX_COUNT")
    assert count - since <= 64, f"{count - since} entries"
    entries = [await entry(bench, number) for number in range(since, count)]
    times = [found[4] for found in entries]
    assert times == sorted(times) and times[-1] <= await bench.registers.read("write.TIME"), times
    return entries


async def close(bench):
    await bench.until(bench.source.idle, "the end of the stream")
    await bench.cycles(200)
    await bench.registers.act("write.CONTROL", "CLOSE")
    return await bench.ended("write")


async def packets(bench, first, lengths):
    """Records packets of these lengths and compares bytes and index."""
    since = await bench.registers.read("write.INDEX_COUNT")
    parts = [bench.random_bytes(length) for length in lengths]
    data, expected = b"", {}
    for part in parts:
        bench.send(part)
        for place in range(-(-len(data) // bench.chunk) * bench.chunk, len(data) + len(part), bench.chunk):
            expected.setdefault(place, [bench.beat, {"CHUNK"}])
        place = len(data) + (len(part) - 1) // bench.beat * bench.beat
        expected.setdefault(place, [0, set()])[1].add("LAST")
        expected[place][0] = len(data) + len(part) - place
        data += part + bytes(-len(part) % bench.beat)
    await bench.start("write", first, -(-len(data) // bench.chunk) + 1, "PACKETS")
    status = await close(bench)
    assert status - {"EARLY_LAST"} == FULL and ("EARLY_LAST" in status) == bool(len(data) % bench.chunk), status
    await bench.recorded(first, data)
    found = await index(bench, since)
    assert found[-1][:4] == (len(data), 0, {"END"}, 0), found[-1]
    assert {place: [kept, flags] for place, kept, flags, _, _ in found[:-1]} == expected, (found, expected)
    # What software makes of it: each packet again.
    begin = 0
    for part, (place, kept, _, _, _) in zip(parts, [one for one in found if "LAST" in one[2]], strict=True):
        assert data[begin : place + kept] == part
        begin = place + bench.beat


@scenario(pauses=0.3, memory_pauses=0.2)
async def several_packets_in_one_recording(bench):
    await packets(bench, 0, (1, bench.beat, 5000, bench.beat + 1, 3, bench.chunk, 777, 2 * bench.chunk - 5))
    # One that ends with a chunk.
    await packets(bench, 20, (bench.chunk - bench.beat, 1, bench.chunk))
    await packets(bench, 30, [bench.rng.randint(1, 3000) for _ in range(20)])
    await bench.works()


@scenario()
async def packets_of_the_pattern_generator(bench):
    seed = bench.rng.getrandbits(128)
    await bench.registers.write("write.PATTERN_SEED", seed & (1 << 64) - 1)
    await bench.registers.write("write.PATTERN_SEED_HIGH", seed >> 64)
    await bench.registers.write("write.PACKET_BEATS", 100)
    await bench.start("write", 2, 3, "PATTERN", "PACKETS")
    assert await bench.ended("write") == FULL
    await bench.recorded(2, pattern(seed, 3 * bench.chunk))


@scenario()
async def packets_and_beats_that_break_a_rule(bench):
    """A partial beat inside a packet is still an error."""
    bench.may_breach = True
    keep = [1] * 100 * bench.beat + [1] * 3 + [0] * (bench.beat - 3) + [1] * 5 * bench.beat
    bench.send(bench.random_bytes(len(keep)), keep=keep)
    await bench.start("write", 0, 4, "PACKETS")
    status = await bench.ended("write")
    assert {"PROTOCOL_ERROR", "DEVICE_ERROR"} <= status, status
    await bench.drop_rest()
    await bench.works()


@scenario(pauses=0.2)
async def recording_without_packets_has_an_index(bench):
    """Also how it ended: here by STOP."""
    since = await bench.registers.read("write.INDEX_COUNT")
    await stopped_record(bench, "STOP")
    assert await bench.ended("write") == {"STOPPED", "LAST_VALID"}
    found = await index(bench, since)
    assert [place for place, _, flags, _, _ in found if "CHUNK" in flags] == [n * bench.chunk for n in range(len(found) - 1)], found
    assert found[-1][2:4] == ({"END"}, 1) and found[-1][0] >= await bench.registers.read("write.BYTES"), found
    await bench.drop_rest()
    since = await bench.registers.read("write.INDEX_COUNT")
    await bench.record(0, bench.random_bytes(bench.chunk + 5))
    assert [one[1:4] for one in await index(bench, since)] == [
        (bench.beat, {"CHUNK"}, 0), (5, {"CHUNK", "LAST"}, 0), (0, {"END"}, 0)]
    await bench.works()


@scenario()
async def index_keeps_its_newest_entries(bench):
    for length in (100, 30):
        bench.send(bench.random_bytes(length * bench.beat))
    for _ in range(90):
        bench.send(bench.random_bytes(7))
    await bench.start("write", 0, 2, "PACKETS")
    assert await close(bench) == EARLY
    count = await bench.registers.read("write.INDEX_COUNT")
    assert count == 94, count
    for number in range(count - 64, count - 1):
        assert (await entry(bench, number))[:3] == ((129 + number - 2) * bench.beat, 7, {"LAST"}), number


async def ring(bench, first, chunks, sent, post, trigger_at, by_pin=False, controls=()):
    """Records round the range and triggers when so many bytes were recorded. Returns the stream and how many chunks were kept of it."""
    since = await bench.registers.read("write.INDEX_COUNT")
    data = bench.random_bytes(sent * bench.chunk)
    bench.send(data)
    await bench.registers.write("write.POST_CHUNKS", post)
    await bench.start("write", first, chunks, "RING", *controls)

    async def some():
        return await bench.registers.read("write.BYTES") >= trigger_at * bench.chunk

    await bench.until(some, "the time of the trigger")
    assert not (await bench.registers.fields("write.STATUS"))["TRIGGERED"]
    if by_pin:
        bench.dut.trigger.value = 1
        await bench.cycles(2)
        bench.dut.trigger.value = 0
    else:
        await bench.registers.act("write.CONTROL", "TRIGGER")
    status = await bench.ended("write")
    recorded = await in_order(bench, first, chunks, data, status)
    assert status >= FULL | {"TRIGGERED"}, status
    count = await bench.registers.read("write.INDEX_COUNT")
    places = [found[0] for found in [await entry(bench, n) for n in range(max(since, count - 64), count)] if "TRIGGER" in found[2]]
    if count - since <= 64:
        # The chunk that was open at the trigger, or that begins with it, and those behind it.
        assert len(places) == 1 and recorded - places[0] // bench.chunk in (max(post, 1), max(post, 1) + 1), (places, recorded)
    return data, recorded


async def in_order(bench, first, chunks, data, status):
    """A ring without a failure: the drive has its newest chunks. Returns how many chunks were recorded."""
    number, begun = await bench.check_chunks(first, chunks, data, status)
    assert begun == number and ("WRAPPED" in status) == (number >= chunks), (status, number, begun)
    return number


@scenario(pauses=0.1, memory_pauses=0.1)
async def ring_with_a_trigger(bench):
    size = bench.slots + 1
    await ring(bench, 3, size, 3 * size + 6, 4, 2 * size)
    await bench.drop_rest()
    await ring(bench, 0, size, 2 * size + 6, 0, 3, by_pin=True)
    await bench.drop_rest()
    # The trigger comes before the ring is full, and the ring ends before it is.
    await ring(bench, 20, size + 4, size + 8, size, 1, controls=("FLUSH_AFTER_WRITE",))
    assert await bench.registers.read("write.DURABLE_BYTES") == await bench.registers.read("write.BYTES")
    await bench.drop_rest()
    await bench.works()


@scenario(pauses=0.4, delay_cycles=(20, 3000), shuffled=True, mdts=1)
async def ring_with_a_slow_drive(bench):
    """As short as it may be, with commands completed in any order."""
    await ring(bench, 1, bench.slots, 3 * bench.slots + 4, 2, bench.slots + 3)
    await bench.drop_rest()
    await bench.works()


@scenario(pauses=0.2)
async def ring_of_packets_that_is_closed(bench):
    """CLOSE keeps the open chunk; a trigger is not needed."""
    size = bench.slots + 2
    data = b"".join(bench.random_bytes(bench.rng.randint(1, 400) * bench.beat) for _ in range(10))
    data += bench.random_bytes((2 * size + 1) * bench.chunk + 3 * bench.beat - len(data))
    at = 0
    while at < len(data):
        length = bench.rng.randint(1, 500) * bench.beat
        bench.send(data[at : at + length])
        at += length
    await bench.start("write", 5, size, "RING", "PACKETS")
    await bench.until(bench.source.idle, "the end of the stream", cycles=2_000_000)
    status = await close(bench)
    assert status == EARLY | {"WRAPPED"}, status
    assert await bench.registers.read("write.BYTES") == len(data)
    await in_order(bench, 5, size, data, status)
    await bench.works()


@scenario(pauses=0.3)
async def ring_that_is_stopped(bench):
    for control in ("STOP", "ABORT"):
        size = bench.slots + 1
        data = bench.random_bytes((2 * size + 5) * bench.chunk)
        bench.send(data)
        await bench.start("write", 0, size, "RING")

        async def some():
            return await bench.registers.read("write.BYTES") >= (size + 2) * bench.chunk

        await bench.until(some, "a round")
        await bench.registers.act("write.CONTROL", control)
        status = await bench.ended("write")
        assert "WRAPPED" in status and not status & {"FINISHED", "TRIGGERED", "DEVICE_ERROR"}, status
        await in_order(bench, 0, size, data, status)
        await bench.drop_rest()
    await bench.works()


@scenario()
async def ring_that_is_refused(bench):
    """Two chunks at the same place would be under way at the same time."""
    await bench.start("write", 0, bench.slots - 1, "RING")
    assert await bench.ended("write") == {"OUT_OF_RANGE"}
    # A trigger outside of a ring has no effect, and none is left for the next session.
    await bench.registers.act("write.CONTROL", "TRIGGER")
    bench.send(bench.random_bytes(2 * bench.chunk))
    await bench.start("write", 0, 2)
    await bench.registers.act("write.CONTROL", "TRIGGER")
    assert await bench.ended("write") == FULL
    await ring(bench, 0, bench.slots, bench.slots + 6, 2, 3)
    await bench.drop_rest()
    await bench.works()


@scenario(pauses=0.2, faults={(WRITE, 25): MEDIA_ERROR, (WRITE, 40): MEDIA_ERROR | DNR})
async def ring_whose_drive_fails(bench):
    """A retry, then a failure in a later round: what is reported was recorded."""
    size = bench.slots + 3
    data = bench.random_bytes(50 * bench.chunk)
    bench.send(data)
    await bench.start("write", 0, size, "RING")
    status = await bench.ended("write")
    assert status == {"DEVICE_ERROR", "LAST_VALID", "WRAPPED", "UNRECORDED"}, status
    number, _ = await bench.check_chunks(0, size, data, status)
    assert 0 < number <= 40, number
    block = (await bench.registers.fields("write.DEVICE_STATUS"))["LBA"]
    assert block == number % size * bench.chunk >> 9, (block, number)
    await bench.drop_rest()
    await bench.works()


# ---- Random parameters


def random_scenario(number):
    rng = random.Random(f"{SEED} parameters {number}")
    longest = rng.choice((60, 400, 5000))
    options = {
        "block_shift": rng.choice((9, 12)), "stride": rng.choice((0, 0, 1, 4)), "max_payload": rng.choice((0, 1, 2)),
        "delay_cycles": (10, longest), "in_flight": rng.choice((1, 2, 8)), "shuffled": rng.random() < 0.5,
        "list_bytes": rng.choice((0, 64, 128)), "ready_cycles": rng.randint(1, 3000),
        "mdts": rng.choice((0, 1, 2, 5)),
        "pauses": rng.choice((0, 0.2, 0.5)), "memory_pauses": rng.choice((0, 0.3)), "latency_cycles": rng.choice((1, 50, 300)),
        "faults": {(rng.choice((READ, WRITE)), rng.randrange(12)): MEDIA_ERROR for _ in range(rng.choice((0, 0, 2)))},
    }

    async def work(bench):
        bench.dut._log.warning("NVS_SEED=%d: %s", SEED, options)
        for first in range(0, 60, 20):
            kind = bench.rng.choice(("record", "replay", "both"))
            chunks = bench.rng.randint(1, 5)
            length = chunks * bench.chunk - bench.rng.choice((0, bench.rng.randrange(bench.chunk)))
            if kind == "both":
                await both(bench, chunks)
            else:
                await bench.record(first, bench.random_bytes(length))
            if kind == "replay":
                await bench.replay(first, chunks, length=length)

    work.__name__ = work.__qualname__ = f"random_parameters_{number}"
    globals()[work.__name__] = scenario(**options)(work)


for number in range(int(os.environ.get("NVS_RANDOM", "4"))):
    random_scenario(number)
