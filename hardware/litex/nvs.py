"""LiteX module of the NVMe streaming core: its ports as LiteX's AXI, AXI-Lite and stream interfaces.

    from nvs import NVMeStreamer
    self.nvs = NVMeStreamer(platform, sys_clk_freq)
    self.bus.add_slave("nvs", self.nvs.registers, SoCRegion(origin=0x9000_0000, size=0x1000, cached=False))

The design connects `memory` to LiteDRAM, and of each drive `devices[d]` (what the drive reads and writes), `bars[d]` (its registers,
bit 31: configuration space) and `link_up[d]`, `link_speed[d]`, `link_width[d]` to a root port. See docs/hardware-core.md.
"""

import pathlib

from migen import Cat, ClockSignal, If, Instance, ResetSignal, Signal, log2_int

from litex.gen import LiteXModule
from litex.soc.interconnect import stream
from litex.soc.interconnect.axi import BURST_INCR, AXIInterface, AXILiteInterface

RTL = pathlib.Path(__file__).resolve().parent.parent / "rtl"

# AxCACHE of the ring: normal memory that may be buffered.
BUFFERABLE = 0b0011


def channel(port, name, endpoint, signals, drives_it):
    """Ports of one channel: `drives_it` says whether the core gives valid and payload. `endpoint`: of each drive, or one."""
    endpoints = endpoint if isinstance(endpoint, list) else [endpoint]
    give, take = ("o", "i") if drives_it else ("i", "o")
    suffix = {"i": "_i", "o": "_o"}
    ports = {
        f"{give}_{port}_{name}valid{suffix[give]}": Cat(*[endpoint.valid for endpoint in endpoints]),
        f"{take}_{port}_{name}ready{suffix[take]}": Cat(*[endpoint.ready for endpoint in endpoints]),
    }
    for signal in signals:
        ports[f"{give}_{port}_{name}{signal}{suffix[give]}"] = Cat(*[getattr(endpoint, signal) for endpoint in endpoints])
    return ports


def lite(port, interfaces, leads):
    """Ports of AXI-Lite; `leads`: the core asks."""
    ports = {}
    for name, signals, request in (
        ("aw", ["addr"], True),
        ("w", ["data", "strb"], True),
        ("b", ["resp"], False),
        ("ar", ["addr"], True),
        ("r", ["data", "resp"], False),
    ):
        ports |= channel(port, f"{name}_", [getattr(interface, name) for interface in interfaces], signals, leads == request)
    return ports


class NVMeStreamer(LiteXModule):
    """The core with its parameters in lower case. `sys_clk_freq` gives the pulse per microsecond, hertz."""

    def __init__(self, platform, sys_clk_freq, data_width=128, chunk_pages=32, slots=32, entries=64, drives=1, id_width=4, bus_base=0,
                 namespace=1, unit_shift=19, settle_shift=0, reset_shift=10, poll_shift=10, timeout_ticks=50000,
                 index_entries=0):
        beat = data_width // 8
        ring_width = 1 + 2 + log2_int(slots) + log2_int(chunk_pages) + 12
        self.registers = AXILiteInterface(data_width=32, address_width=12)
        self.sink = stream.Endpoint([("data", data_width), ("keep", beat)])
        self.source = stream.Endpoint([("data", data_width), ("keep", beat), ("user", 2)])
        self.memory = AXIInterface(data_width=data_width, address_width=ring_width, id_width=3)
        self.devices = [AXIInterface(data_width=data_width, address_width=40, id_width=id_width) for _ in range(drives)]
        self.bars = [AXILiteInterface(data_width=32, address_width=32) for _ in range(drives)]
        self.link_up = [Signal() for _ in range(drives)]
        self.link_speed = [Signal(4) for _ in range(drives)]
        self.link_width = [Signal(8) for _ in range(drives)]
        self.perst = [Signal() for _ in range(drives)]  # PERST# of the slot is its inverse
        self.trigger = Signal()  # of a ring recording
        self.irq = Signal(2)
        self.irq_lost = [Signal() for _ in range(drives)]
        self.quiet = Signal()

        cycles = max(1, round(sys_clk_freq / 1e6))
        tick = Signal()
        count = Signal(max=max(2, cycles))
        self.sync += If(count == cycles - 1, count.eq(0)).Else(count.eq(count + 1))
        self.comb += tick.eq(count == cycles - 1)
        for address in (self.memory.aw, self.memory.ar):
            self.comb += [address.burst.eq(BURST_INCR), address.size.eq(log2_int(beat)), address.cache.eq(BUFFERABLE)]

        memory, devices = self.memory, self.devices
        of_devices = {name: [getattr(device, name) for device in devices] for name in ("aw", "w", "b", "ar", "r")}
        ports = lite("s_reg", [self.registers], leads=False) | lite("bar", self.bars, leads=True)
        ports |= channel("s", "", self.sink, ["data", "keep", "last"], False)
        ports |= channel("m", "", self.source, ["data", "keep", "last", "user"], True)
        ports |= channel("mem", "aw_", memory.aw, ["id", "addr", "len"], True)
        ports |= channel("mem", "w_", memory.w, ["data", "strb", "last"], True)
        ports |= channel("mem", "b_", memory.b, ["id", "resp"], False)
        ports |= channel("mem", "ar_", memory.ar, ["id", "addr", "len"], True)
        ports |= channel("mem", "r_", memory.r, ["id", "data", "resp", "last"], False)
        ports |= channel("dev", "aw_", of_devices["aw"], ["id", "addr", "len", "size", "burst"], False)
        ports |= channel("dev", "w_", of_devices["w"], ["data", "strb", "last"], False)
        ports |= channel("dev", "b_", of_devices["b"], ["id", "resp"], True)
        ports |= channel("dev", "ar_", of_devices["ar"], ["id", "addr", "len", "size", "burst"], False)
        ports |= channel("dev", "r_", of_devices["r"], ["id", "data", "resp", "last"], True)
        self.specials += Instance(
            "nvs_core",
            p_DataWidth=data_width,
            p_ChunkPages=chunk_pages,
            p_Slots=slots,
            p_Entries=entries,
            p_Drives=drives,
            p_IdWidth=id_width,
            p_BusBase=Instance.PreformattedParam(f"64'h{bus_base:x}"),
            p_Namespace=namespace,
            p_UnitShift=unit_shift,
            p_SettleShift=settle_shift,
            p_ResetShift=reset_shift,
            p_PollShift=poll_shift,
            p_TimeoutTicks=timeout_ticks,
            p_IndexEntries=index_entries,
            i_clk_i=ClockSignal("sys"),
            i_rst_ni=~ResetSignal("sys"),
            i_tick_i=tick,
            i_trigger_i=self.trigger,
            i_link_up_i=Cat(*self.link_up),
            i_link_speed_i=Cat(*self.link_speed),
            i_link_width_i=Cat(*self.link_width),
            o_perst_o=Cat(*self.perst),
            o_irq_o=self.irq,
            o_irq_lost_o=Cat(*self.irq_lost),
            o_quiet_o=self.quiet,
            **ports,
        )
        self.add_sources(platform)

    @staticmethod
    def add_sources(platform):
        for file in sorted(RTL.glob("nvs_*.sv")):
            platform.add_source(str(file), language="systemverilog")
