"""The core between cocotbext-axi's sources, sinks and masters, a memory that reorders, and the drive of drive.py."""

import functools
import itertools
import logging
import os
import pathlib
import random
import time
import tomllib
import zlib

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotbext.axi import (AxiBus, AxiLiteBus, AxiLiteMaster, AxiLiteSlave, AxiMaster, AxiStreamBus, AxiStreamFrame, AxiStreamSink,
                           AxiStreamSource)
from cocotbext.axi.axi_channels import AxiARSink, AxiAWSink, AxiBSource, AxiRSource, AxiWSink

from drive import CYCLE_NS, ONES, PAGE, Drive, Options

REGISTERS = pathlib.Path(__file__).resolve().parent.parent / "rtl/registers.toml"
# Random numbers of all scenarios; a failure prints it.
SEED = int(os.environ.get("NVS_SEED", "1"))
TICK_CYCLES = 8
# m_user_o with the last beat.
COMPLETE, BY_STOP, BY_ABORT, BY_ERROR = range(4)


class Registers:
    """Reads and writes by name: "write.STATUS", "drive.SEQUENCER"."""

    def __init__(self, bus):
        self.bus = bus
        description = tomllib.loads(REGISTERS.read_text())
        banks = {bank["name"]: bank["offset"] for bank in description["bank"]}
        self.places, self.bits = {}, {}
        for register in description["register"]:
            for bank in register["banks"]:
                name = f"{bank}.{register['name']}"
                self.places[name] = (banks[bank] + register["offset"], register["bits"] // 8)
                self.bits[name] = {field["name"]: (field["bits"][0], field["bits"][-1]) for field in register.get("field", [])}

    async def read(self, name):
        address, size = self.places[name]
        words = [await self.bus.read_dword(address + at) for at in range(0, size, 4)]
        return sum(word << 32 * n for n, word in enumerate(words))

    async def write(self, name, value):
        address, size = self.places[name]
        for at in range(0, size, 4):
            await self.bus.write_dword(address + at, value >> 8 * at & ONES)

    async def fields(self, name):
        value = await self.read(name)
        return {field: value >> low & (1 << high - low + 1) - 1 for field, (high, low) in self.bits[name].items()}

    async def act(self, name, *fields):
        await self.write(name, sum(1 << self.bits[name][field][1] for field in fields))


class Memory:
    """The ring. Bursts of one identifier stay in order; those of two are reordered and their data interleaved."""

    def __init__(self, dut, rng, size, latency_cycles, pauses):
        clock, reset = dut.clk, dut.rst_n
        bus = AxiBus.from_prefix(dut, "mem")
        self.rng, self.latency_cycles = rng, latency_cycles
        self.data = bytearray(size)
        self.aw = AxiAWSink(bus.write.aw, clock, reset, False)
        self.w = AxiWSink(bus.write.w, clock, reset, False)
        self.b = AxiBSource(bus.write.b, clock, reset, False)
        self.ar = AxiARSink(bus.read.ar, clock, reset, False)
        self.r = AxiRSource(bus.read.r, clock, reset, False)
        self.beat = len(dut.mem_wdata) // 8
        for channel in (self.aw, self.ar, self.b, self.r):
            channel.queue_occupancy_limit = 4
        self.w.queue_occupancy_limit = 16
        self.bad_writes = self.bad_reads = 0  # bursts that get an error
        self.answers, self.bursts = {}, {}
        for channel in (self.aw, self.w, self.b, self.ar, self.r):
            if pauses:
                channel.set_pause_generator(paused(rng, pauses))
        for work in (self._write, self._answer, self._accept, self._read):
            cocotb.start_soon(work())

    def _burst(self, address, beats):
        length = beats * self.beat
        assert address + length <= len(self.data), f"mem address {address:#x} beyond the ring of {len(self.data)} bytes"
        assert address % PAGE + length <= PAGE, f"mem burst at {address:#x} crosses a page"
        return address - address % self.beat

    async def _write(self):
        while True:
            request = await self.aw.recv()
            beats = int(request.awlen) + 1
            at = self._burst(int(request.awaddr), beats)
            for n in range(beats):
                beat = await self.w.recv()
                assert bool(beat.wlast) == (n == beats - 1), "wlast"
                data, strobes = int(beat.wdata).to_bytes(self.beat, "little"), int(beat.wstrb)
                for byte in range(self.beat):
                    if strobes >> byte & 1:
                        self.data[at + byte] = data[byte]
                at += self.beat
            self.bad_writes, bad = max(0, self.bad_writes - 1), self.bad_writes > 0
            self.answers.setdefault(int(request.awid), []).append(2 * bad)

    async def _answer(self):
        while True:
            identifiers = [identifier for identifier, waiting in self.answers.items() if waiting]
            await self._rest(not identifiers)
            if identifiers:
                answer = self.b._transaction_obj()
                answer.bid = self.rng.choice(identifiers)
                answer.bresp = self.answers[answer.bid].pop(0)
                await self.b.send(answer)

    async def _accept(self):
        while True:
            request = await self.ar.recv()
            beats = int(request.arlen) + 1
            self.bad_reads, bad = max(0, self.bad_reads - 1), self.bad_reads > 0
            self.bursts.setdefault(int(request.arid), []).append([self._burst(int(request.araddr), beats), beats, 2 * bad])

    async def _read(self):
        while True:
            identifiers = [identifier for identifier, waiting in self.bursts.items() if waiting]
            await self._rest(not identifiers)
            if not identifiers:
                continue
            identifier = self.rng.choice(identifiers)
            burst = self.bursts[identifier][0]
            for _ in range(min(burst[1], self.rng.randint(1, 16))):
                beat = self.r._transaction_obj()
                beat.rid, beat.rresp, beat.rlast = identifier, burst[2], burst[1] == 1
                beat.rdata = int.from_bytes(self.data[burst[0] : burst[0] + self.beat], "little")
                await self.r.send(beat)
                burst[0], burst[1] = burst[0] + self.beat, burst[1] - 1
            if not burst[1]:
                self.bursts[identifier].pop(0)

    async def _rest(self, idle):
        if idle:
            await Timer(4 * CYCLE_NS, "ns")
        elif self.rng.random() < 0.2:
            await Timer(self.rng.randint(1, self.latency_cycles) * CYCLE_NS, "ns")


def paused(rng, share):
    """Pauses of 1 to 40 cycles that take about this share of the time."""
    while True:
        run = rng.randint(1, 40)
        yield from [True] * run
        yield from [False] * max(1, round(rng.randint(1, 40) * (1 - share) / share))


class Bench:
    def __init__(self, dut, rng, options, pauses=0.0, memory_pauses=0.0, latency_cycles=30):
        self.dut, self.rng, self.options = dut, rng, options
        self.pauses = pauses
        dut.rst_n.value = 0
        dut.link_up.value = 0
        dut.trigger.value = 0
        clock, reset = dut.clk, dut.rst_n
        self.connect_drive(clock, reset)
        self.registers = Registers(AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_reg"), clock, reset, False))
        self.source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), clock, reset, False)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), clock, reset, False)
        self.chunk = int(dut.ChunkPages.value) * PAGE
        self.slots = int(dut.Slots.value)
        self.beat = len(dut.s_axis_tdata) // 8
        self.memory = Memory(dut, rng, 2 * self.slots * self.chunk, latency_cycles, memory_pauses)
        if pauses:
            self.source.set_pause_generator(paused(rng, pauses))
            self.sink.set_pause_generator(paused(rng, pauses))
        self.frames = []
        self.may_breach = False

    def connect_drive(self, clock, reset):
        """The drive behind a bridge, and the clock."""
        Clock(clock, CYCLE_NS, "ns").start()
        self.device = AxiMaster(AxiBus.from_prefix(self.dut, "dev"), clock, reset, False)
        self.drive = Drive(self.device, self.rng, self.options)
        self.bar = AxiLiteSlave(AxiLiteBus.from_prefix(self.dut, "bar"), clock, reset, target=self.drive, reset_active_level=False)

    async def reset(self):
        await Timer(10 * CYCLE_NS, "ns")
        await RisingEdge(self.dut.clk)
        self.dut.rst_n.value = 1
        await RisingEdge(self.dut.clk)
        cocotb.start_soon(self._collect())
        cocotb.start_soon(self._slot())

    async def _slot(self):
        """PERST# resets the drive and takes the link down."""
        while True:
            if self.dut.perst.value:
                self.dut.link_up.value = 0
                self.drive.power_on()
                await FallingEdge(self.dut.perst)
            await Timer(100 * CYCLE_NS, "ns")
            self.dut.link_up.value = 1
            await RisingEdge(self.dut.perst)

    async def _collect(self):
        while True:
            self.frames.append(await self.sink.recv(compact=False))

    # ---- Waiting

    async def cycles(self, count):
        await Timer(count * CYCLE_NS, "ns")

    async def until(self, condition, what, cycles=200_000):
        """`condition` is a coroutine function or a function."""
        for _ in range(cycles // 50):
            answer = condition()
            if hasattr(answer, "__await__"):
                answer = await answer
            if answer:
                return answer
            await self.cycles(50)
        raise AssertionError(f"not within {cycles} cycles: {what}")

    async def ready(self):
        async def condition():
            fields = await self.registers.fields("drive.SEQUENCER")
            assert not fields["FAILED"], f"bring-up: {fields}"
            return fields["READY"]

        await self.until(condition, "bring-up")

    async def failed(self):
        """Step and reason of a bring-up that must fail."""
        async def condition():
            fields = await self.registers.fields("drive.SEQUENCER")
            assert not fields["READY"], "ready"
            return fields if fields["FAILED"] else None

        fields = await self.until(condition, "a failure of the bring-up")
        return fields["STEP"], fields["REASON"]

    async def ended(self, bank):
        """STATUS when the session has ended, as a set of names."""
        async def condition():
            status = await self.registers.fields(f"{bank}.STATUS")
            return None if status["RUNNING"] else {name for name, value in status.items() if value}

        return await self.until(condition, f"end of {bank}")

    # ---- Sessions

    def random_bytes(self, length):
        return self.rng.randbytes(length)

    async def start(self, bank, first, chunks, *controls, length=0):
        """The range is `chunks` chunks from chunk `first` on."""
        await self.registers.write(f"{bank}.FIRST_ADDRESS", first * self.chunk)
        await self.registers.write(f"{bank}.LAST_ADDRESS", (first + chunks - 1) * self.chunk)
        if bank == "read":
            await self.registers.write("read.LENGTH", length)
        await self.registers.act(f"{bank}.CONTROL", "START", *controls)

    def send(self, data, keep=None):
        self.source.send_nowait(AxiStreamFrame(data, tkeep=keep))

    async def record(self, first, data, chunks=None, expected=None, controls=()):
        """Records one packet and compares every byte on the drive."""
        chunks = chunks or -(-len(data) // self.chunk)
        self.send(data)
        await self.start("write", first, chunks, *controls)
        status = await self.ended("write")
        early = {"EARLY_LAST"} if len(data) % self.chunk else set()
        assert status == (expected or {"FINISHED", "LAST_VALID"} | early), f"record: {status}"
        await self.recorded(first, data)

    async def recorded(self, first, data):
        count = await self.registers.read("write.BYTES")
        assert count == len(data), f"BYTES {count} instead of {len(data)}"
        last = await self.registers.read("write.LAST_ADDRESS_WRITTEN")
        if data:
            assert last == (first + (len(data) - 1) // self.chunk) * self.chunk, f"LAST_ADDRESS_WRITTEN {last:#x}"
        block = 1 << self.options.block_shift
        assert self.drive.content(first * self.chunk, len(data)) == data + bytes(-len(data) % block), "the drive has other bytes"

    async def check_chunks(self, first, chunks, data, status):
        """Compares what the registers say is recorded of a stream, which may have gone round its range, with the drive. Returns the numbers
        of chunks that are recorded, and that were begun."""
        count = await self.registers.read("write.BYTES")
        number = -(-count // self.chunk)
        last = await self.registers.read("write.LAST_ADDRESS_WRITTEN")
        assert not count or last == (first + (number - 1) % chunks) * self.chunk, f"LAST_ADDRESS_WRITTEN {last:#x} of {number} chunks"
        # Behind a failure, chunks were begun that are not recorded; what was at their places is lost.
        following = await self.registers.read("write.NEXT_ADDRESS") // self.chunk - first
        begun = number + (following - number) % chunks
        if "UNRECORDED" in status and begun == number:
            begun += chunks  # a whole round
        for k in range(max(0, begun - chunks), number):
            part = data[k * self.chunk : min(count, (k + 1) * self.chunk)]
            found = self.drive.content((first + k % chunks) * self.chunk, len(part))
            assert found[: len(part)] == part, f"chunk {k} of {number}: the drive has other bytes"
        return number, begun

    async def frame(self):
        """Bytes and TUSER of the next packet of the replay."""
        frame = await self.until(lambda: self.frames[0] if self.frames else None, "a packet")
        self.frames.pop(0)
        data = bytes(byte for byte, keep in zip(frame.tdata, frame.tkeep) if keep)
        users = frame.tuser if isinstance(frame.tuser, list) else [frame.tuser]
        return data, users[-1]

    async def replay(self, first, chunks, length=0, expected=None):
        """Replays and compares every byte with the drive."""
        await self.start("read", first, chunks, length=length)
        status = await self.ended("read")
        early = {"EARLY_LAST"} if length % self.chunk else set()
        assert status == (expected or {"FINISHED", "LAST_VALID"}) or status == {"FINISHED", "LAST_VALID"} | early, f"replay: {status}"
        await self.replayed(first, length or chunks * self.chunk)

    async def replayed(self, first, length):
        data, user = await self.frame()
        assert user == COMPLETE, f"m_user {user}"
        assert data == self.drive.content(first * self.chunk, length)[:length], "the replay has other bytes"

    def fill(self, first, chunks):
        data = self.random_bytes(chunks * self.chunk)
        self.drive.fill(first * self.chunk, data)
        return data

    async def drop_rest(self):
        """The rest of the stream, of which no session is to take anything. Dropping ends with each last beat."""
        async def dropped():
            await self.registers.act("write.FLUSH_CONTROL", "START")
            return self.source.idle()

        await self.until(dropped, "the rest of the stream")
        # The core holds two beats at its input, each of which may be the last one of a packet.
        for _ in range(2):
            await self.registers.act("write.FLUSH_CONTROL", "START")
        await self.registers.act("write.FLUSH_CONTROL", "STOP")

    async def works(self):
        """After whatever happened: one recording and one replay, each with its own packet."""
        await self.ready()
        await self.registers.write("drive.COMMAND_TIMEOUT", 10_000_000)
        self.frames.clear()
        await self.record(40, self.random_bytes(2 * self.chunk + 100))
        await self.replay(40, 3)

    async def finish(self):
        await self.device.wait()
        assert self.may_breach or not self.drive.breaches, self.drive.breaches
        assert not self.frames, "a packet too many"


# Number of the next scenario, and of those every which one is run, another one each day.
registered = itertools.count(int(time.time()) // 86400)
SAMPLE = int(os.environ.get("NVS_SAMPLE", "1"))


def scenario(bring_up=True, pauses=0.0, memory_pauses=0.0, latency_cycles=30, errors=0, bench=Bench, **options):
    """Makes a test of a coroutine of the bench. `errors`: what PROTOCOL_ERRORS says at the end; None: anything but 0."""
    def decorate(work):
        @functools.wraps(work)
        async def test(dut):
            logging.getLogger("cocotb").setLevel(logging.WARNING)
            seed = zlib.crc32(f"{SEED} {work.__name__}".encode())
            dut._log.warning("%s: NVS_SEED=%d", work.__name__, SEED)
            made = bench(dut, random.Random(seed), Options(**options), pauses, memory_pauses, latency_cycles)
            made.errors = errors
            await made.reset()
            if bring_up:
                await made.ready()
            await work(made)
            await made.finish()
            counted = await made.registers.read("drive.PROTOCOL_ERRORS")
            assert counted == made.errors if made.errors is not None else counted, f"PROTOCOL_ERRORS {counted}"

        return cocotb.test(skip=next(registered) % SAMPLE != 0)(test)

    return decorate
