"""Random scenarios: recordings of each kind and replays side by side, and whatever can happen to them at any moment. What must hold
whatever happened is checked: every session ends, nothing is reported that is not on the drive, and the core works afterwards.

NVS_ADVERSARY says how many there are (4); NVS_SEED chooses their random numbers."""

import os
import random

from bench import BY_ABORT, BY_ERROR, BY_STOP, COMPLETE, SEED, scenario
from drive import DNR, ONES, READ, WRITE

MEDIA_ERROR = 0x281
TIMEOUT_TICKS, TIMEOUT_CYCLES = 2500, 20_000
# First chunk of the replays, unless they begin below an address of more than 32 bits.
REPLAYED = 200


class Round:
    """One recording, perhaps a replay beside it."""

    def __init__(self, bench, rng):
        self.bench, self.rng = bench, rng
        self.packets, self.ring = rng.random() < 0.5, rng.random() < 0.4
        low, across = rng.randrange(40), (1 << 32) // bench.chunk - rng.randint(1, 3)
        self.first, self.replay_first = rng.choice(((low, REPLAYED), (across, REPLAYED), (low, across)))
        self.chunks = bench.slots + rng.randint(0, 5) if self.ring else rng.randint(1, 8)
        self.refused = self.ring and rng.random() < 0.15  # the ring is shorter than it may be
        if self.refused:
            self.chunks = rng.randint(1, bench.slots - 1)
        self.replayed = rng.choice((0, 0, 1, 3, 6))
        self.harmed = False  # the drive was lost, or failed a command for good
        self.broken = False  # a rule of the drive's port or of the stream was broken
        self.data = b""

    def make(self):
        """What the source gives, and as what the recording keeps it."""
        beat, rng = self.bench.beat, self.rng
        total = rng.randint(1, 2 * self.chunks * self.bench.chunk if self.ring else self.chunks * self.bench.chunk)
        while len(self.data) < total:
            part = self.bench.random_bytes(rng.choice((1, beat, rng.randint(1, 3000), total)) if self.packets else total)
            self.bench.send(part)
            self.data += part + (bytes(-len(part) % beat) if self.packets else b"")

    async def run(self):
        bench, rng = self.bench, self.rng
        await bench.ready()
        bench.frames.clear()
        short = rng.random() < 0.4 and bench.memory.latency_cycles < 300  # so slow a memory makes the drive late
        await bench.registers.write("drive.COMMAND_TIMEOUT", TIMEOUT_TICKS if short else 10_000_000)
        self.make()
        bench.fill(self.replay_first, max(1, self.replayed))
        await bench.registers.write("write.POST_CHUNKS", rng.choice((0, 1, 2, 3, ONES)))
        controls = [name for name, wanted in (("PACKETS", self.packets), ("RING", self.ring), ("FLUSH_AFTER_WRITE", rng.random() < 0.3)) if wanted]
        await bench.start("write", self.first, self.chunks, *controls)
        if self.replayed:
            await bench.start("read", self.replay_first, self.replayed)
        bench.dut._log.warning("  %s of %d chunks from %d on, %d bytes, %d chunks replayed from %d on, %s", controls, self.chunks, self.first,
                               len(self.data), self.replayed, self.replay_first, "short timeout" if short else "no timeout")
        for _ in range(rng.choice((0, 1, 2, 4))):
            await bench.cycles(rng.choice((1, rng.randint(1, 300), rng.randint(1, 8000))))
            await self.event(short)
        bench.sink.pause = bench.source.pause = False
        await self.end()

    async def event(self, short):
        bench, rng = self.bench, self.rng
        kind = rng.choice(("STOP", "ABORT", "CLOSE", "TRIGGER", "FLUSH_NOW", "read STOP", "read ABORT", "pin", "pause", "source", "sink", "RESTART",
                           "link", "fatal", "retry", "hard", "silent", "narrow", "hole"))
        bench.dut._log.warning("  %s", kind)
        if kind.isupper() and kind != "RESTART":
            await bench.registers.act("write.CONTROL", kind)
        elif kind.startswith("read "):
            await bench.registers.act("read.CONTROL", kind[5:])
        elif kind == "pin":
            bench.dut.trigger.value = 1
            await bench.cycles(rng.randint(2, 5))
            bench.dut.trigger.value = 0
        elif kind == "pause":
            # Across COMMAND_TIMEOUT, which is not the drive's fault.
            bench.sink.pause = bench.source.pause = True
            await bench.cycles(2 * TIMEOUT_CYCLES if short else 5000)
            bench.sink.pause = bench.source.pause = False
        elif kind in ("source", "sink"):
            port = getattr(bench, kind)
            port.pause = not port.pause
        elif kind == "narrow":
            # A burst that the core refuses; it is counted at the drive.
            self.harmed = self.broken = True
            bench.errors = None
            await bench.device.read(0, 4 * bench.beat, size=2)
        elif kind == "hole":
            # A recording without packets has ended before, and never takes it.
            self.harmed = self.broken = True
            bench.send(bench.random_bytes(2 * bench.beat), keep=[1, 0] * bench.beat)
        elif kind in ("retry", "hard") or (kind == "silent" and short):
            opcode = rng.choice((READ, WRITE))
            number = bench.drive.counts.get((True, opcode), 0) + rng.randrange(3)
            bench.options.faults[opcode, number] = {"retry": MEDIA_ERROR, "hard": MEDIA_ERROR | DNR, "silent": "silent"}[kind]
            self.harmed |= kind != "retry"
        elif kind != "silent":
            await self.harm(kind)

    async def harm(self, kind):
        """The drive is gone, for a while."""
        bench = self.bench
        self.harmed = bench.may_breach = True
        if kind == "RESTART":
            await bench.registers.act("drive.CONTROL", "RESTART")
        elif kind == "fatal":
            bench.drive.fatal = True
        else:
            bench.dut.link_up.value = 0
            bench.drive.power_on()
            await bench.cycles(self.rng.randint(1, 2000))
            bench.dut.link_up.value = 1

    async def end(self):
        bench = self.bench
        if self.packets or self.ring:
            for _ in range(self.rng.randrange(200)):
                if bench.source.idle():
                    break
                await bench.cycles(100)
            await bench.cycles(100)
            await bench.registers.act("write.CONTROL", "CLOSE")
        status = await bench.ended("write")
        bench.dut._log.warning("  recording: %s", status)
        await self.check_record(status)
        if self.replayed:
            await self.check_replay(await bench.ended("read"))
        bench.options.faults = {}
        await bench.ready()
        if bench.drive.fatal:
            await bench.until(lambda: not bench.drive.fatal, "a reset of the drive")
            await bench.ready()
        await bench.drop_rest()

    def check_status(self, status, what):
        ends = status & {"FINISHED", "STOPPED", "ABORTED", "DEVICE_ERROR"}
        assert len(ends - {"DEVICE_ERROR"}) == 1 or "DEVICE_ERROR" in ends, f"{what}: {status}"
        assert "FINISHED" not in status or "DEVICE_ERROR" not in status, f"{what}: {status}"
        assert self.harmed or "DEVICE_ERROR" not in status, f"{what}: {status}"
        assert self.broken or "PROTOCOL_ERROR" not in status, f"{what}: {status}"
        assert "DEVICE_ERROR" in status or "PROTOCOL_ERROR" not in status, f"{what}: {status}"

    async def check_record(self, status):
        bench, chunk = self.bench, self.bench.chunk
        if not self.harmed and "DEVICE_ERROR" in status:
            for name in ("write.DEVICE_STATUS", "drive.LOST", "drive.SEQUENCER"):
                bench.dut._log.warning("  %s: %s", name, await bench.registers.fields(name))
        count = await bench.registers.read("write.BYTES")
        assert ("LAST_VALID" in status) == (count > 0), (status, count)
        assert count <= len(self.data) and (count % chunk == 0 or "EARLY_LAST" in status), (status, count)
        if self.refused:
            assert status == {"OUT_OF_RANGE"}, status
            return
        self.check_status(status, "record")
        _, begun = await bench.check_chunks(self.first, self.chunks, self.data, status)
        assert not self.ring or ("WRAPPED" in status) == (begun >= self.chunks), (status, begun)
        durable = await bench.registers.read("write.DURABLE_BYTES")
        assert durable <= count and ("ABORTED" not in status or "DEVICE_ERROR" in status or durable == count), (durable, count)

    async def check_replay(self, status):
        bench = self.bench
        self.check_status(status, "replay")
        await bench.cycles(5000)
        content = bench.drive.content(self.replay_first * bench.chunk, self.replayed * bench.chunk)
        count = await bench.registers.read("read.BYTES")
        assert len(bench.frames) <= 1 and (bench.frames or not count), (status, count)
        if not bench.frames:
            return
        data, user = await bench.frame()
        assert data == content[: len(data)] and len(data) >= count, (status, len(data), count)
        if "FINISHED" in status:
            assert user == COMPLETE and data == content, (user, len(data))
        elif "DEVICE_ERROR" in status:
            assert user in (BY_ERROR, COMPLETE), user
        else:
            assert user == (BY_ABORT if "ABORTED" in status else BY_STOP), (status, user)


def adversary(number):
    rng = random.Random(f"{SEED} adversary {number}")
    longest = rng.choice((60, 400, 1500))
    options = {
        "blocks": 1 << 24, "block_shift": rng.choice((9, 12)), "max_payload": rng.choice((0, 1, 2)), "mdts": rng.choice((0, 0, 1, 2)),
        "delay_cycles": (10, longest), "late_cycles": rng.choice(((0, 0), (0, 0), (1, 500))), "in_flight": rng.choice((1, 2, 8)),
        "shuffled": rng.random() < 0.5, "list_bytes": rng.choice((0, 64)), "pauses": rng.choice((0, 0.2, 0.5)),
        "memory_pauses": rng.choice((0, 0.3)), "latency_cycles": rng.choice((1, 50, 300)),
    }

    async def work(bench):
        bench.dut._log.warning("NVS_SEED=%d: %s", SEED, options)
        for _ in range(4):
            await Round(bench, bench.rng).run()
        await bench.works()

    work.__name__ = work.__qualname__ = f"adversary_{number}"
    globals()[work.__name__] = scenario(**options)(work)


for number in range(int(os.environ.get("NVS_ADVERSARY", "4"))):
    adversary(number)
