"""Scenarios of the core with the shim for the UltraScale+ block. Each compares every byte."""

import collections
import functools

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import AxiStreamBus
from cocotbext.pcie.core.tlp import CplStatus, TlpAttr, TlpTc, TlpType
from cocotbext.pcie.xilinx.us.interface import UsPcieFrame

import bench as public
from drive import CYCLE_NS, PAGE
from pcie import Block, LinkDevice, LinkedDrive

FULL = {"FINISHED", "LAST_VALID"}
LANES = {128: 4, 256: 8, 512: 16}  # of a link at 8 GT/s, as fast as the stream
READ, READ_64 = TlpType.MEM_READ, TlpType.MEM_READ_64
WRITE, WRITE_64 = TlpType.MEM_WRITE, TlpType.MEM_WRITE_64


class TlpBench(public.Bench):
    root_payload = 1024  # largest Max_Payload_Size of the root port
    timeout_ns = 12_000 * CYCLE_NS  # Completion Timeout of the block

    def connect_drive(self, clock, reset):
        dut = self.dut
        dut.block_reset.value = dut.poisoned.value = 0
        streams = {f"{name}_bus": AxiStreamBus.from_prefix(dut, name) for name in ("rq", "rc", "cq", "cc")}
        management = {name: getattr(dut, name) for name in (
            "cfg_mgmt_addr", "cfg_mgmt_function_number", "cfg_mgmt_write", "cfg_mgmt_write_data", "cfg_mgmt_byte_enable", "cfg_mgmt_read",
            "cfg_mgmt_read_data", "cfg_mgmt_read_write_done", "cfg_negotiated_width", "cfg_current_speed", "cfg_max_payload")}
        self.lanes = LANES[len(dut.s_axis_tdata)]
        self.block = Block(pcie_generation=3, pcie_link_width=self.lanes, user_clk_frequency=250e6, max_payload_size=self.root_payload,
                           enable_client_tag=True, user_clk=clock, user_reset=dut.block_reset, pcie_cq_np_req=dut.cq_np_req, **streams, **management)
        self.block.timeout_ns = self.timeout_ns
        capability = self.block.functions[0].pcie_cap
        capability.current_link_speed, capability.negotiated_link_width = 3, self.lanes
        link = LinkDevice(self.rng)
        link.upstream_port.max_link_speed, link.upstream_port.max_link_width = 3, self.lanes
        self.block.upstream_port.connect(link.upstream_port)
        self.device = link.function
        self.drive = self.device.drive = LinkedDrive(self.device, self.rng, self.options)
        if self.pauses:
            for stream in (self.block.rq_sink, self.block.rc_source, self.block.cq_source, self.block.cc_sink):
                stream.set_pause_generator(public.paused(self.rng, self.pauses))
        self.hot_resets = 0
        cocotb.start_soon(self._hot_reset())

    async def _hot_reset(self):
        while True:
            await RisingEdge(self.dut.hot_reset)
            self.hot_resets += 1
            self.power_on()

    def power_on(self):
        self.drive.power_on()
        self.device.reset()

    async def lose_link(self):
        """The block resets its user side, wherever packets are."""
        self.block.alive = False
        self.dut.block_reset.value = 1
        self.dut.link_up.value = 0
        await RisingEdge(self.dut.clk)
        await self.block.reset_streams()
        self.power_on()
        await self.cycles(20)

    async def train(self):
        await self.block.reset_streams()
        self.dut.block_reset.value = 0
        await self.cycles(100)
        self.block.alive = True
        self.dut.link_up.value = 1

    async def _slot(self):
        while True:
            if self.dut.perst.value:
                await self.lose_link()
                if self.dut.perst.value:
                    await FallingEdge(self.dut.perst)
            await self.train()
            await RisingEdge(self.dut.perst)

    # ---- Addresses as the drive sees them

    def ring(self, replay, at):
        """Bus address of a byte of the ring's half; there are two bits for the drive."""
        half = self.slots * self.chunk
        return (half * 4 if replay else 0) + at

    async def lost(self, cause):
        """The drive was lost for this reason, and the core has brought it up again by itself."""
        async def condition():
            return (await self.registers.fields("drive.LOST"))[cause]

        await self.until(condition, f"LOST.{cause}")
        await self.ready()
        await self.registers.act("drive.CONTROL", "ACKNOWLEDGE")


scenario = functools.partial(public.scenario, bench=TlpBench)


def with_payload(root_payload):
    """A bench whose root port has another largest payload."""
    return type("PayloadBench", (TlpBench,), {"root_payload": root_payload})


# ---- Sessions


@scenario()
async def bring_up_over_configuration_requests(bench):
    """Payload size, bus numbers, window and bits of both ends."""
    root, endpoint = bench.block.functions[0], bench.drive.endpoint
    assert root.pcie_cap.max_payload_size == 1 == endpoint.read(0x78) >> 5 & 7
    assert (root.pri_bus_num, root.sec_bus_num, root.sub_bus_num) == (0, 1, 1)
    assert (root.mem_base, root.mem_limit) == (0x1000_0000, 0x1FFF_FFFF)
    assert root.memory_space_enable and root.forwards and endpoint.read(0x04) & 6 == 6
    link = await bench.registers.fields("drive.LINK")
    assert link == {"UP": 1, "SPEED": 3, "WIDTH": bench.lanes}, link
    assert bench.hot_resets == 0
    await bench.works()


@scenario(pauses=0.3, memory_pauses=0.2)
async def record_with_pauses_on_all_streams(bench):
    await bench.record(1, bench.random_bytes(10 * bench.chunk + 77))


@scenario(pauses=0.3, memory_pauses=0.2)
async def replay_with_pauses_on_all_streams(bench):
    bench.fill(5, 10)
    await bench.replay(5, 10)


@scenario(shuffled=True, in_flight=16)
async def record_with_requests_out_of_order(bench):
    await bench.record(0, bench.random_bytes(6 * bench.chunk))


@scenario(shuffled=True, pauses=0.2)
async def replay_with_writes_out_of_order(bench):
    bench.fill(0, 6)
    await bench.replay(0, 6)


async def both_at_once(bench):
    bench.fill(100, 6)
    data = bench.random_bytes(6 * bench.chunk)
    bench.send(data)
    await bench.start("read", 100, 6)
    await bench.start("write", 10, 6)
    assert await bench.ended("write") == FULL
    await bench.recorded(10, data)
    assert await bench.ended("read") == FULL
    await bench.replayed(100, 6 * bench.chunk)


@scenario(pauses=0.2, memory_pauses=0.1, shuffled=True)
async def record_beside_a_replay(bench):
    await both_at_once(bench)


@scenario(bench=with_payload(128), max_payload=2, pauses=0.1)
async def payload_of_128_bytes_by_the_root_port(bench):
    await both_at_once(bench)
    assert max(bench.block.lengths) == 128


@scenario(max_payload=2)
async def payload_of_512_bytes(bench):
    await both_at_once(bench)
    assert max(bench.block.lengths) == 512


@scenario(max_payload=3, pauses=0.1)
async def payload_of_1024_bytes(bench):
    bench.drive.endpoint.values[0x78] |= 3 << 12  # requests of 1024 bytes
    await both_at_once(bench)
    assert max(bench.block.lengths) == 1024


@scenario(pauses=0.1)
async def requests_of_all_sizes(bench):
    """Max_Read_Request_Size of 128 to 4096 bytes."""
    for size in range(6):
        control = bench.drive.endpoint.values[0x78]
        bench.drive.endpoint.values[0x78] = control & ~0x7000 | size << 12
        await bench.record(10 * size, bench.random_bytes(2 * bench.chunk))
    assert bench.device.splits


@scenario(pauses=0.1, block_shift=12, mdts=1, list_bytes=64)
async def small_commands_and_lists_in_bursts(bench):
    await both_at_once(bench)


# ---- Single requests


@scenario(memory_pauses=0.1, pauses=0.1)
async def reads_of_any_bytes(bench):
    """Any address and length within 4 KiB, any first and last byte enables, of no byte, too."""
    bench.memory.data[: bench.slots * bench.chunk] = content = bench.random_bytes(bench.slots * bench.chunk)
    rng = bench.rng

    async def one(n):
        offset = rng.randrange(0, PAGE, 4)
        length = rng.choice((1, 2, 3, rng.randint(1, 1024)))
        length = min(length, (PAGE - offset) // 4)
        at = rng.randrange(bench.slots * bench.chunk // PAGE) * PAGE + offset
        request = bench.device.request((READ, READ_64), bench.ring(False, at), 4 * length)
        if length == 1:
            request.first_be = rng.choice((0, 1, 2, 4, 6, 8, 12, 14, 15))
        else:
            request.first_be, request.last_be = rng.choice((8, 12, 14, 15)), rng.choice((1, 3, 7, 15))
        request.tc, request.attr = TlpTc(rng.choice((0, 3))), TlpAttr(rng.choice((0, 1, 2)))
        data = await bench.device.read_request(request)
        assert data == content[at : at + 4 * length], f"{n}: {request}"

    for group in range(6):
        tasks = [cocotb.start_soon(one(20 * group + n)) for n in range(20)]
        for task in tasks:
            await task
    assert bench.device.splits > 20


@scenario(memory_pauses=0.1, pauses=0.1)
async def writes_of_any_bytes(bench):
    half = bench.slots * bench.chunk
    bench.memory.data[half:] = bench.random_bytes(half)
    expected = bytearray(bench.memory.data[half:])
    rng = bench.rng
    for _ in range(150):
        offset = rng.randrange(0, PAGE, 4)
        length = min(rng.choice((1, 2, 3, rng.randint(1, 64))), (PAGE - offset) // 4)
        at = rng.randrange(half // PAGE) * PAGE + offset
        request = bench.device.request((WRITE, WRITE_64), bench.ring(True, at), 4 * length)
        if length == 1:
            request.first_be = rng.randrange(16)
        else:
            request.first_be, request.last_be = rng.choice((8, 12, 14, 15)), rng.choice((1, 3, 7, 15))
        request.set_data(bench.random_bytes(4 * length))
        bench.device.post(request)
        for n in range(4 * length):
            enables = request.first_be if n < 4 else request.last_be if n >= 4 * length - 4 else 15
            if enables >> n % 4 & 1:
                expected[at + n] = request.data[n]
    await bench.device.wait()
    await bench.cycles(4000)
    assert bench.memory.data[half:] == expected


@scenario(pauses=0.1)
async def requests_that_are_not_supported(bench):
    """Each has one completion that says so, in its turn among reads; a message is dropped."""
    bench.memory.data[:PAGE] = content = bench.random_bytes(PAGE)

    async def one(n):
        kind = (READ, TlpType.MEM_READ_LOCKED, TlpType.IO_READ, TlpType.IO_WRITE)[n % 4]
        request = bench.device.request((kind, kind), 4 * n, 4)
        if kind == TlpType.IO_WRITE:
            request.set_data(bytes(4))
        data = await bench.device.read_request(request)
        assert data == (content[4 * n : 4 * n + 4] if kind == READ else None), f"{request}"

    message = UsPcieFrame()
    message.data, message.byte_en, message.parity = [0, 0, 0x0100_6001, 0, 1], [0] * 4 + [15], [0] * 5
    tasks = []
    for n in range(24):
        tasks.append(cocotb.start_soon(one(n)))
        if n % 6 == 0:
            await bench.block.give(message)
    for task in tasks:
        await task
    await bench.works()


@scenario(errors=None)
async def accesses_outside_are_counted(bench):
    """An address above the core's; a read gets zeroes."""
    assert await bench.device.read_request(bench.device.request((READ, READ_64), 1 << 40 | 64, 512)) == bytes(512)
    bench.device.post(write := bench.device.request((WRITE, WRITE_64), 1 << 52, 64))
    write.set_data(bytes(64))
    await bench.device.wait()
    await bench.cycles(400)
    assert await bench.registers.read("drive.PROTOCOL_ERRORS") == 2
    await bench.works()


@scenario(errors=None, pauses=0.1)
async def malformed_requests_end(bench):
    """Lengths of 0 and across 4 KiB, packets shorter and longer than they say: what follows is not harmed."""
    def frame(kind, address, dwords, payload):
        made = UsPcieFrame()
        made.data = [address, 0, dwords | kind << 11 | 0x0100 << 16, 7] + list(range(payload))
        made.byte_en, made.first_be, made.last_be = [0] * 4 + [15] * payload, 15, 15
        made.update_parity()
        return made

    half = bench.ring(True, 0)
    for made in (frame(1, half + PAGE - 8, 4, 4), frame(1, half, 0, 1), frame(1, half + 4, 40, 3), frame(1, half + 12, 3, 30), frame(1, half, 5, 0),
                 frame(0, PAGE - 8, 4, 0), frame(0, 0, 0, 0)):
        await bench.block.give(made)
        bench.block.taken += made.data[2] >> 11 & 15 == 1
    await bench.cycles(2000)
    assert await bench.registers.read("drive.PROTOCOL_ERRORS") == 2  # the writes that were dropped
    await bench.works()


@scenario(errors=None)
async def damaged_write_ends_the_replay(bench):
    bench.fill(0, 4)
    bench.block.damaged = 1
    await bench.start("read", 0, 4)
    assert {"DEVICE_ERROR", "PROTOCOL_ERROR"} <= await bench.ended("read")
    await bench.until(lambda: bench.drive.outstanding == set(), "the drive's commands")
    await bench.cycles(500)
    bench.frames.clear()
    await bench.works()


@scenario(errors=None)
async def poisoned_write_ends_the_replay(bench):
    """The block drops it and says so."""
    bench.fill(0, 4)
    await bench.start("read", 0, 4)
    await bench.cycles(1500)
    bench.dut.poisoned.value = 1
    await bench.cycles(1)
    bench.dut.poisoned.value = 0
    assert {"DEVICE_ERROR", "PROTOCOL_ERROR"} <= await bench.ended("read")
    bench.frames.clear()
    await bench.until(lambda: bench.drive.outstanding == set(), "the drive's commands")
    await bench.cycles(500)
    bench.frames.clear()
    await bench.works()


# ---- Errors of what the core asks for


async def next_access(bench, fault):
    bench.device.faults[bench.device.accesses] = fault
    await bench.lost("ACCESS")
    await bench.works()


@scenario()
async def unsupported_request_for_the_core(bench):
    await next_access(bench, CplStatus.UR)


@scenario()
async def completer_abort_for_the_core(bench):
    await next_access(bench, CplStatus.CA)


@scenario()
async def poisoned_completion_for_the_core(bench):
    await next_access(bench, "poisoned")


@scenario()
async def completion_timeout_by_the_block(bench):
    await next_access(bench, "silent")


@scenario()
async def completion_timeout_by_the_shim(bench):
    bench.block.says = False
    await next_access(bench, "silent")


@scenario()
async def completion_that_is_late(bench):
    """The shim has given it up; it must not answer another access."""
    bench.block.says = False
    await next_access(bench, "late")
    await bench.cycles(20_000)
    await bench.works()


@scenario(bring_up=False)
async def retry_status_during_enumeration(bench):
    """An endpoint that is not ready yet answers so."""
    for access in range(3):
        bench.device.faults[access] = CplStatus.CRS
    await bench.works()
    assert not bench.device.faults


@scenario(bring_up=False, present=False)
async def slot_without_a_drive(bench):
    assert await bench.failed() == (4, 4)


# ---- Loss


@scenario(pauses=0.1)
async def drive_that_vanishes(bench):
    """Link and block stay; nothing comes any more, and a restart brings it back."""
    data = bench.random_bytes(12 * bench.chunk)
    bench.send(data)
    await bench.start("write", 0, 12)
    await bench.until(lambda: bench.block.lengths, "the recording")
    await bench.cycles(2000)
    bench.device.vanished = True
    assert "DEVICE_ERROR" in await bench.ended("write")
    await bench.registers.act("drive.CONTROL", "RESTART")
    await bench.drop_rest()
    await bench.ready()
    assert bench.hot_resets == 1
    await bench.works()


@scenario(pauses=0.2, errors=None)
async def link_lost_in_the_middle_of_packets(bench):
    """The block is reset at any cycle of any packet, eight times."""
    for turn in range(8):
        bench.fill(100, 8)
        bench.send(bench.random_bytes(8 * bench.chunk))
        await bench.start("read", 100, 8)
        await bench.start("write", 10, 8)
        await bench.cycles(bench.rng.randint(600, 6000))
        await bench.lose_link()
        assert "DEVICE_ERROR" in await bench.ended("write"), turn
        assert "DEVICE_ERROR" in await bench.ended("read"), turn
        await bench.drop_rest()
        await bench.train()
        await bench.ready()
        bench.frames.clear()
        await bench.registers.act("drive.CONTROL", "ACKNOWLEDGE")
    await bench.works()
    # What the core did with the rest of bursts that were cut is not counted; PROTOCOL_ERRORS may be anything.
    bench.device.post(write := bench.device.request((WRITE, WRITE_64), 1 << 52, 64))
    write.set_data(bytes(64))
    await bench.cycles(400)


@scenario()
async def restart_resets_by_both_ways(bench):
    await bench.registers.act("drive.CONTROL", "RESTART")
    await bench.until(lambda: bench.hot_resets, "a hot reset")
    await bench.works()


# ---- Rate


async def count_cycles(bench, counts):
    """Cycles that the shim needs for completions: those in which a word passes, and those in which it alone keeps one back."""
    dut = bench.dut
    while True:
        await RisingEdge(dut.clk)
        if int(dut.dev_rvalid.value):
            counts["needed"] += int(dut.dev_rready.value) or int(dut.cc_tready.value)
        counts["port"] += int(dut.cc_tvalid.value) and int(dut.cc_tready.value)


@scenario(in_flight=8, delay_cycles=(20, 30))
async def rate_of_completions(bench):
    """The shim needs no more cycles than the link. That is measured at 128 bits: wider ports without straddling are slower than their link."""
    if bench.lanes != LANES[128]:
        return
    cycle = CYCLE_NS / (bench.block.upstream_port.symbol_period * 1e9)  # in bytes of the link
    counts = collections.Counter()
    cocotb.start_soon(count_cycles(bench, counts))
    await bench.record(0, bench.random_bytes(16 * bench.chunk))
    allowed = sum(size for _, size in bench.block.carried) / cycle
    bench.dut._log.warning("rate: %s of what the link allows, %s", round(allowed / counts["needed"], 4), counts)
    assert allowed >= 0.99 * counts["needed"]
