"""PCI Express between the shim and the drive: cocotbext-pcie's model of the UltraScale+ block as a root port, its link, and the drive of
drive.py as a device on it. The model is an endpoint's; `Block` changes what is different in a root port and nothing else."""

import collections
import types

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import Event, NullTrigger, RisingEdge, Timer
from cocotb.utils import get_sim_time
from cocotbext.pcie.core import Device, Endpoint
from cocotbext.pcie.core.bridge import Bridge
from cocotbext.pcie.core.caps import MsiCapability, MsixCapability
from cocotbext.pcie.core.tlp import CplStatus, Tlp, TlpType
from cocotbext.pcie.core.utils import PcieId
from cocotbext.pcie.xilinx.us import UltraScalePlusPcieDevice
from cocotbext.pcie.xilinx.us.tlp import ErrorCode, Tlp_us

from drive import CYCLE_NS, PAGE, Drive

ENDPOINT = 1 << 31 | 1 << 20  # configuration space of bus 1, as drive.py takes addresses
UNSUPPORTED = {TlpType.MEM_READ_LOCKED, TlpType.IO_READ, TlpType.IO_WRITE}
READS = {TlpType.MEM_READ, TlpType.MEM_READ_64}
WRITES = {TlpType.MEM_WRITE, TlpType.MEM_WRITE_64}


class RootFunction(Bridge):
    """Type 1 configuration space of cocotbext-pcie with the capabilities where the block has them."""

    def __init__(self):
        super().__init__()
        self.register_capability(self.pm_cap, offset=0x10)
        self.register_capability(self.pcie_cap, offset=0x1C)
        self.pcie_cap.pcie_device_type = 4
        self.msi_cap, self.msix_cap = MsiCapability(), MsixCapability()
        self.register_capability(self.msi_cap, offset=0x12)
        self.register_capability(self.msix_cap, offset=0x18)

    @property
    def bus_master_enable(self):
        """Requests of a root port's own user need no bus master bit; those from below do (`forwards`)."""
        return True

    @bus_master_enable.setter
    def bus_master_enable(self, value):
        self.forwards = value

    def match_bar(self, addr, io=False):
        """A root port gives its user every memory request from below that is not for its own window."""
        inside = self.mem_base <= addr <= self.mem_limit
        return (0, addr) if self.forwards and not inside and not io else None


class Block(UltraScalePlusPcieDevice):
    """What a root port does otherwise than the endpoint of the model: no bus number is captured, completions time out (table "Requester
    Completion Descriptor", error code 1001b), and a completion does not pass writes on its way to the user."""

    def __init__(self, *args, **kwargs):
        self.timeout_ns = 0  # Completion Timeout; 0: never
        self.alive = True  # the link
        self.taken = self.given = 0  # writes for the CQ port, and those that have left it
        self.says = True  # whether the user hears of a completion timeout
        self.releases = (collections.deque(), collections.deque())  # of flow control: of reads and of writes for the CQ port
        self.lengths = []  # payload of each completion, in bytes
        self.carried = []  # time in ns and size on the wire of packets with a whole payload, both ways
        self.credits = 0
        self.damaged = 0  # writes for the CQ port that are marked as damaged
        super().__init__(*args, **kwargs)
        self.give, self.cq_source.send = self.cq_source.send, self._send_request
        cocotb.start_soon(self._count())

    @property
    def cq_np_req_count(self):
        """pcie_cq_np_req counts in each cycle; the model misses those in which it delivers a request (`_count` adds them up)."""
        return self.credits

    @cq_np_req_count.setter
    def cq_np_req_count(self, value):
        self.credits = min(self.credits, value) if hasattr(self, "credits") else 0

    def make_function(self):
        return self.append_function(RootFunction())

    async def _count(self):
        bus, first, write = self.cq_source.bus, True, False
        while True:
            await RisingEdge(self.user_clk)
            self.credits = min(self.credits + (int(self.pcie_cq_np_req.value) & 1), 32)
            if int(bus.tvalid.value) and int(bus.tready.value):
                if first:
                    write = int(bus.tdata.value) >> 75 & 0xF == 1
                first = bool(int(bus.tlast.value))
                self.given += first and write
            elif int(self.user_reset.value):
                first = True

    def _carry(self, tlp):
        if len(tlp.data) >= 128:
            self.carried.append((get_sim_time("ns"), tlp.get_wire_size()))

    async def _send_request(self, frame):
        if self.damaged and frame.data[2] >> 11 & 0xF == 1:
            self.damaged -= 1
            frame.discontinue = True
        await self.give(frame)
        releases = self.releases[frame.data[2] >> 11 & 0xF == 1]
        while self.cq_source.count():
            await RisingEdge(self.user_clk)
        if releases:
            releases.popleft()()

    async def reset_streams(self):
        """While user_reset is high: nothing of a packet is left."""
        for queue in (self.cq_queue, self.rc_queue, self.rq_np_queue):
            while not queue.empty():
                queue.get_nowait()
        self.active_request = [None] * 256
        for releases in self.releases:
            while releases:
                releases.popleft()()
        for sink in (self.rq_sink, self.cc_sink):
            if sink.active:
                end = sink._transaction_obj(tlast=1, tkeep=0, tuser=1 << sink.discontinue_offset)
                sink.sample_obj = end
                sink.sample_sync.set()
        for source in (self.cq_source, self.rc_source):
            source.clear()  # leaves the occupancy, which `send` waits for, as it was
            source.queue_occupancy_frames = source.queue_occupancy_bytes = 0
            source.dequeue_event.set()
            for _ in range(300):
                source.drive_obj = None
                source.drive_sync.set()
                await NullTrigger()
                await NullTrigger()
        self.given = self.taken

    async def upstream_recv(self, tlp):
        if not self.alive:
            tlp.release_fc()
            return
        if tlp.fmt_type in UNSUPPORTED:
            tlp.release_fc()
            self.cq_queue.put_nowait(Tlp_us(tlp))
            return
        self._carry(tlp)
        # The receive buffer has a place again when the user has the packet.
        release, tlp.release_fc_cb = tlp.release_fc_cb, None
        before = self.cq_queue.qsize()
        await super().upstream_recv(tlp)
        if self.cq_queue.qsize() > before:
            self.taken += tlp.fmt_type in WRITES
            self.releases[tlp.fmt_type in WRITES].append(release)
        elif release:
            release()

    async def upstream_send(self, tlp):
        if self.alive:
            await super().upstream_send(tlp)

    async def _run_rc_logic(self):
        while True:
            tlp = await self.rc_queue.get()
            target = self.taken
            while self.given < target:
                await RisingEdge(self.user_clk)
            await self.rc_source.send(tlp.pack_us_rc())

    async def send(self, tlp):
        root = self.functions[0]
        if tlp.is_completion():
            limit = 128 << root.pcie_cap.max_payload_size
            assert len(tlp.data) <= limit, f"completion of {len(tlp.data)} bytes, MPS {limit}"
            self.lengths.append(len(tlp.data))
            self._carry(tlp)
        elif tlp.fmt_type in READS | WRITES:
            assert root.memory_space_enable and root.mem_base <= tlp.address <= root.mem_limit, f"outside the window: {tlp}"
        else:
            assert tlp.completer_id.bus == root.sec_bus_num == 1 and tlp.completer_id.device == 0, f"not for the endpoint: {tlp}"
        if tlp.is_nonposted() and self.timeout_ns:
            cocotb.start_soon(self._expire(tlp.tag, self.active_request[tlp.tag]))
        await super().send(tlp)

    async def _expire(self, tag, request):
        await Timer(self.timeout_ns, "ns")
        if self.active_request[tag] is request:
            self.active_request[tag] = None
            if self.says:
                self.fail(tag, ErrorCode.TIMEOUT)

    def fail(self, tag, code, status=CplStatus.SC):
        """An error completion as the block makes it: only its tag counts."""
        completion = Tlp_us()
        completion.fmt_type = TlpType.CPL
        completion.tag, completion.error_code, completion.status, completion.request_completed = tag, code, status, True
        self.rc_queue.put_nowait(completion)


class DriveFunction(Endpoint):
    """The drive as a device on the link. Its configuration space and registers are those of drive.py; it makes requests for it and checks
    each completion by PCI Express 2.2.9 and 2.3.1.1. `faults`: of accesses of the host, by their number: what is answered instead."""

    def __init__(self, rng):
        super().__init__()
        self.rng = rng
        self.drive = None
        self.faults = {}
        self.accesses = 0
        self.posted = Queue()
        self.open = set()  # requests that have not ended
        self.tasks = []
        self.splits = 0  # reads with several completions
        self.vanished = False
        for kind in READS:
            self.register_rx_tlp_handler(kind, self._host_reads)
        for kind in WRITES:
            self.register_rx_tlp_handler(kind, self._host_writes)
        self.rx_tlp_handler[TlpType.CFG_READ_0] = self._host_configures
        self.rx_tlp_handler[TlpType.CFG_WRITE_0] = self._host_configures
        cocotb.start_soon(self._post())

    # ---- What the host asks for

    def match_tlp(self, tlp):
        return tlp.fmt_type in READS | WRITES or super().match_tlp(tlp)

    async def read_config_register(self, reg):
        return self.drive._read(ENDPOINT | reg << 2)

    async def write_config_register(self, reg, data, mask):
        assert mask == 0xF
        self.drive._write(ENDPOINT | reg << 2, data)
        self.pcie_cap.extended_tag_field_enable = bool(self.drive.endpoint.read(0x78) & 1 << 8)

    def _fault(self):
        self.accesses += 1
        return "silent" if self.vanished or not self.drive.options.present else self.faults.pop(self.accesses - 1, None)

    async def _answer(self, request, data=None):
        """A completion with success, or the fault of this access."""
        fault = self._fault()
        if fault == "silent":
            return
        if fault == "late":
            await Timer(18_000 * CYCLE_NS, "ns")
        if isinstance(fault, CplStatus):
            return await self.send(Tlp.create_completion_for_tlp(request, self.pcie_id, status=fault))
        completion = Tlp.create_completion_for_tlp(request, self.pcie_id, data is not None)
        if data is not None:
            completion.set_data(data.to_bytes(4, "little"))
            completion.byte_count = 4
            completion.lower_address = request.address & 0x7F if request.fmt_type in READS else 0
        completion.ep = fault == "poisoned"
        await self.send(completion)

    async def _host_configures(self, request):
        self.pcie_id = self.pcie_id._replace(bus=request.completer_id.bus)
        register = request.address >> 2
        if request.fmt_type == TlpType.CFG_READ_0:
            await self._answer(request, await self.read_config_register(register))
        else:
            await self.write_config_register(register, int.from_bytes(request.data, "little"), request.first_be)
            await self._answer(request)

    async def _host_reads(self, request):
        assert request.length == 1 and request.first_be == 0xF and request.last_be == 0
        if self.drive._bar_offset(request.address) is None:
            return await self.send(Tlp.create_ur_completion_for_tlp(request, self.pcie_id))
        await self._answer(request, self.drive._read(request.address))

    async def _host_writes(self, request):
        if self._fault() != "silent":
            await self.drive.write(request.address, bytes(request.data))

    # ---- What the drive asks for

    async def _post(self):
        while True:
            request = await self.posted.get()
            if not self.vanished:
                await self.send(request)
            self.open.discard(id(request))

    def reset(self):
        """By PERST# or a hot reset."""
        self.vanished = False
        self.open.clear()
        for task in self.tasks:
            task.cancel()
        self.tasks = []
        while not self.posted.empty():
            self.posted.get_nowait()
        for tag, queue in enumerate(self.rx_cpl_queues):
            self.tag_active[tag] = False
            while not queue.empty():
                queue.get_nowait().release_fc()

    def request(self, kind, address, length):
        tlp = Tlp()
        tlp.fmt_type = kind[address >> 32 != 0]
        tlp.requester_id = self.pcie_id
        tlp.set_addr_be(address, length)
        return tlp

    def init_write(self, address, data):
        limit = 128 << (self.drive.endpoint.read(0x78) >> 5 & 7)
        at = 0
        while at < len(data):
            part = min(limit, len(data) - at, PAGE - (address + at) % PAGE)
            tlp = self.request((TlpType.MEM_WRITE, TlpType.MEM_WRITE_64), address + at, part)
            tlp.set_addr_be_data(address + at, data[at : at + part])
            self.post(tlp)
            at += part
        event = Event()
        event.set()
        event.data = types.SimpleNamespace(resp=0, address=address)
        return event

    def post(self, tlp):
        self.open.add(id(tlp))
        self.posted.put_nowait(tlp)

    async def read(self, address, length):
        tlp = self.request((TlpType.MEM_READ, TlpType.MEM_READ_64), address, length)
        data = await self.read_request(tlp)
        first = tlp.get_first_be_offset()
        return types.SimpleNamespace(resp=2 if data is None else 0, data=bytes(length) if data is None else data[first : first + length])

    async def read_request(self, tlp):
        """All dwords, or nothing when it was not completed with success. The request goes on when its user is cancelled."""
        answer = types.SimpleNamespace(event=Event(), data=None)
        self.tasks = [task for task in self.tasks if not task.done()]
        self.tasks.append(cocotb.start_soon(self._perform(tlp, answer)))
        await answer.event.wait()
        return answer.data

    async def _perform(self, tlp, answer):
        self.open.add(id(tlp))
        # A read does not pass a write.
        while not self.posted.empty():
            await Timer(CYCLE_NS, "ns")
        if self.vanished:
            return
        completions = await self.perform_nonposted_operation(tlp, 400_000, "ns")
        self.open.discard(id(tlp))
        if completions and completions[-1].status == CplStatus.SC:
            self.splits += len(completions) > 1
            self._check(tlp, completions)
            answer.data = b"".join(bytes(completion.data) for completion in completions)
        answer.event.set()

    def _check(self, tlp, completions):
        limit = 128 << (self.drive.endpoint.read(0x78) >> 5 & 7)
        empty = tlp.length == 1 and tlp.first_be == 0
        left = 1 if empty else tlp.get_be_byte_count()
        address = tlp.address if empty else tlp.address + tlp.get_first_be_offset()
        dwords = tlp.length
        for n, completion in enumerate(completions):
            said = (completion.byte_count, completion.lower_address, completion.completer_id, completion.tc, completion.attr)
            assert said == (left, address & 0x7F, PcieId(0, 0, 0), tlp.tc, tlp.attr), f"{completion} for {tlp}"
            assert completion.length <= dwords and completion.length * 4 <= limit
            end = (address & ~3) + 4 * completion.length
            assert n == len(completions) - 1 or end % 128 == 0, f"not at a read completion boundary: {completion}"
            left -= end - address
            dwords -= completion.length
            address = end
        assert dwords == 0, f"{dwords} dwords are missing of {tlp}"

    async def wait(self):
        while self.open and not self.vanished:
            await Timer(CYCLE_NS, "ns")


class LinkDevice(Device):
    def __init__(self, rng):
        super().__init__()
        self.function = self.append_function(DriveFunction(rng))


class LinkedDrive(Drive):
    """The window of the root port is checked by `Block`."""

    def _bar_offset(self, address):
        bar = self.endpoint.read(0x10) & ~0xF
        open_ = self.endpoint.read(0x04) & 2 and bar <= address < bar + 0x4000
        return address - bar if open_ and self.options.present else None
