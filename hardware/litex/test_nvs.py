"""Runs the core in LiteX's simulation. Argument: folder for the build.

LiteX's AXI-Lite interconnect has the registers, the configuration space of a root port and of an endpoint, and the ring. A program in
logic reads and writes registers, lets the sequencer enumerate the endpoint, and reads and writes the ring as a drive does.
"""

import sys

from migen import FSM, ClockDomain, Display, Finish, If, Memory, NextState, NextValue, Signal

from litex.build.generic_platform import Pins
from litex.build.sim import SimPlatform
from litex.build.sim.config import SimConfig
from litex.gen import LiteXModule
from litex.gen.genlib.misc import WaitTimer
from litex.soc.interconnect.axi import AXI2AXILite, AXILiteInterface, AXILiteInterconnectShared, AXILiteSRAM

from nvs import NVMeStreamer

CLOCK_HZ = int(4e6)
CHUNK_PAGES, SLOTS, ENTRIES = 4, 2, 4
RING_BYTES = 2 * SLOTS * CHUNK_PAGES * 4096
REPLAY_HALF = 1 << (2 + 1 + 2 + 12)  # bus address: above two bits of the drive, one of the slot, two of the page

# Configuration space, by dword: one capability, PCI Express, at 40h. BAR 0 of the endpoint keeps all bits, which no endpoint may do.
ROOT = {0x00: 0x000C1B36, 0x08: 0x06040000, 0x34: 0x40, 0x40: 0x0042_0010, 0x44: 0}
ENDPOINT = {0x00: 0x00101B36, 0x08: 0x01080200, 0x34: 0x40, 0x40: 0x0002_0010, 0x44: 0}
# The sequencer then stops in step 16 for reason 2, a register of ones; the endpoint was found.
SEQUENCER = 1 << 18 | 1 << 17 | 2 << 8 | 16
WORDS = [0x0123_4567_89AB_CDEF << 64 | 0xFEDC_BA98_7654_3210 ^ n for n in range(4)]


class Program(LiteXModule):
    """Operations, one after the other: ("write", address, data), ("read", address, data), ("poll", address, data) of registers;
    ("dev_write", address, words), ("dev_read", address, words) of the drive; ("memory", address, word) of the ring itself."""

    def __init__(self, nvs, ring, operations):
        self.fsm = fsm = FSM(reset_state="0")
        self.deadline = WaitTimer(20_000)
        self.comb += self.deadline.wait.eq(1)
        # Statements that print must be clocked ones.
        place, wrong, passed, found = Signal(8), Signal(), Signal(), Signal(128)
        self.sync += [
            If(wrong, Display("FAILED: operation before %d: %x", place, found), Finish()),
            If(~wrong & passed, Display(f"PASSED: {len(operations)} operations"), Finish()),
            If(self.deadline.done, Display("FAILED: no end in operation %d", place), Finish()),
        ]
        registers, device = nvs.registers, nvs.devices[0]
        asked, sent, count = Signal(), Signal(), Signal(8)
        for number, (kind, address, value) in enumerate(operations):
            fsm.act(str(number), place.eq(number))
            following = [NextValue(asked, 0), NextValue(sent, 0), NextValue(count, 0), NextState(str(number + 1))]

            def expect(data, expected):
                return If(data != expected, NextValue(wrong, 1), NextValue(found, data))

            if kind == "write":
                fsm.act(
                    str(number),
                    registers.aw.valid.eq(~asked),
                    registers.aw.addr.eq(address),
                    registers.w.valid.eq(~sent),
                    registers.w.data.eq(value),
                    registers.w.strb.eq(0xF),
                    registers.b.ready.eq(1),
                    If(registers.aw.ready, NextValue(asked, 1)),
                    If(registers.w.ready, NextValue(sent, 1)),
                    If(registers.b.valid, *following),
                )
            elif kind in ("read", "poll"):
                check = [expect(registers.r.data, value), *following]
                if kind == "poll":
                    check = [If(registers.r.data == value, *following).Else(NextValue(asked, 0))]
                fsm.act(
                    str(number),
                    registers.ar.valid.eq(~asked),
                    registers.ar.addr.eq(address),
                    registers.r.ready.eq(1),
                    If(registers.ar.ready, NextValue(asked, 1)),
                    If(registers.r.valid, *check),
                )
            elif kind == "dev_write":
                beats = [If(count == n, device.w.data.eq(word)) for n, word in enumerate(value)]
                fsm.act(
                    str(number),
                    self.burst(device.aw, ~asked, address, len(value)),
                    device.w.valid.eq(~sent),
                    device.w.strb.eq(0xFFFF),
                    device.w.last.eq(count == len(value) - 1),
                    *beats,
                    device.b.ready.eq(1),
                    If(device.aw.ready, NextValue(asked, 1)),
                    If(device.w.ready & ~sent, NextValue(count, count + 1), If(device.w.last, NextValue(sent, 1))),
                    If(device.b.valid, *following),
                )
            elif kind == "dev_read":
                checks = [If(count == n, expect(device.r.data, word)) for n, word in enumerate(value)]
                last = If(device.r.last, *following).Else(NextValue(count, count + 1))
                fsm.act(
                    str(number),
                    self.burst(device.ar, ~asked, address, len(value)),
                    device.r.ready.eq(1),
                    If(device.ar.ready, NextValue(asked, 1)),
                    If(device.r.valid, *checks, last),
                )
            elif kind == "memory":
                fsm.act(str(number), ring.adr.eq(address // 16), If(asked, expect(ring.dat_r, value), *following).Else(NextValue(asked, 1)))
        fsm.act(str(len(operations)), place.eq(len(operations)), NextValue(passed, 1))

    @staticmethod
    def burst(channel, valid, address, beats):
        return [channel.valid.eq(valid), channel.addr.eq(address), channel.len.eq(beats - 1), channel.size.eq(4), channel.burst.eq(1)]


class Bench(LiteXModule):
    def __init__(self, platform):
        # Some cycles of reset: LiteX's simulation starts without one.
        self.cd_sys, self.cd_por = ClockDomain("sys"), ClockDomain("por", reset_less=True)
        clock, cycle = platform.request("sys_clk"), Signal(4)
        self.sync.por += If(cycle != 15, cycle.eq(cycle + 1))
        self.comb += [self.cd_sys.clk.eq(clock), self.cd_por.clk.eq(clock), self.cd_sys.rst.eq((cycle > 3) & (cycle < 12))]
        self.nvs = nvs = NVMeStreamer(platform, CLOCK_HZ, chunk_pages=CHUNK_PAGES, slots=SLOTS, entries=ENTRIES, reset_shift=2)
        self.comb += [nvs.link_up[0].eq(1), nvs.link_speed[0].eq(3), nvs.link_width[0].eq(4)]

        # Configuration space of both ends.
        slaves = []
        for origin, content in ((0x8000_0000, ROOT), (0x8010_0000, ENDPOINT)):
            space = AXILiteSRAM(256, init=[content.get(offset, 0) for offset in range(0, 256, 4)], bus=AXILiteInterface(32, 32))
            self.add_module(f"space_{origin:x}", space)
            slaves.append((lambda address, origin=origin: address[18:] == origin >> 20, space.bus))
        self.interconnect = AXILiteInterconnectShared(nvs.bars, slaves, timeout_cycles=None)

        # The ring, in dual-ported memory.
        memory = Memory(128, RING_BYTES // 16, init=WORDS)
        bus = AXILiteInterface(128, len(nvs.memory.aw.addr))
        self.to_lite = AXI2AXILite(nvs.memory, bus)
        self.ring = AXILiteSRAM(memory, bus=bus)
        port = memory.get_port()
        self.specials += port

        self.program = Program(nvs, port, [
            ("read", 0x000, 0x59415341),
            ("read", 0x104, 2),
            ("read", 0x020, CHUNK_PAGES * 4096),
            ("write", 0x010, 0x1234_8000),
            ("read", 0x010, 0x1234_8000),
            ("read", 0x200, 1 | 3 << 4 | 4 << 8),
            ("poll", 0x204, SEQUENCER),
            # Slot 0 of the record half is at address 0 of the memory, that of the replay half behind the record half.
            ("dev_read", 0, WORDS),
            ("dev_write", REPLAY_HALF, WORDS[::-1]),
            ("memory", RING_BYTES // 2, WORDS[3]),
            ("memory", RING_BYTES // 2 + 48, WORDS[0]),
            ("read", 0x230, 0),
            # An address that is none of the core's is counted.
            ("dev_read", 1 << 39 | 0x7000, [0]),
            ("read", 0x230, 1),
        ])


IO = [("sys_clk", 0, Pins(1))]


def main():
    platform = SimPlatform("SIM", IO)
    config = SimConfig(default_clk="sys_clk", default_clk_freq=CLOCK_HZ)
    platform.build(Bench(platform), build_dir=sys.argv[1], sim_config=config, opt_level="O1", verbose=False, interactive=False)


main()
