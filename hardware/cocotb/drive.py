"""An NVMe drive behind a root port, written from the specifications: NVM Express Base 2.0c and NVM Command Set 1.0c (section numbers
below), PCI Express Base 4.0. It shares nothing with hardware/cosim. It checks what the host does and notes each breach in `breaches`."""

import dataclasses
import struct

import cocotb
from cocotb.triggers import Timer

PAGE = 4096
SECONDARY_BUS_RESET = 1 << 22  # Bridge Control, bit 6
CYCLE_NS = 4
ONES = 0xFFFF_FFFF

# I/O and admin opcodes.
FLUSH, WRITE, READ = 0x00, 0x01, 0x02
DATASET_MANAGEMENT = 0x09
CREATE_SQ, GET_LOG_PAGE, CREATE_CQ, IDENTIFY, SET_FEATURES, GET_FEATURES = 0x01, 0x02, 0x05, 0x06, 0x09, 0x0A
# Status fields without the phase (3.3.3.2.1): code, type 10:8, More 13, Do Not Retry 14.
MORE, DNR = 1 << 13, 1 << 14
INVALID_OPCODE, INVALID_FIELD, LBA_OUT_OF_RANGE = 0x01 | DNR, 0x02 | DNR, 0x80 | DNR


@dataclasses.dataclass
class Options:
    """What kind of drive it is, and what it does wrong."""

    block_shift: int = 9
    blocks: int = 1 << 20
    mdts: int = 0
    identifies: bool = True  # Identify data come before the completion of their command
    metadata_bytes: int = 0
    entries: int = 1024  # CAP.MQES + 1
    stride: int = 0  # CAP.DSTRD
    command_sets: int = 1  # CAP.CSS
    smallest_page: int = 0  # CAP.MPSMIN
    timeout: int = 2  # CAP.TO
    queues: int = 4
    max_payload: int = 1  # 128 << n bytes
    device_class: int = 0x010802
    present: bool = True
    gets_ready: bool = True
    fatal_at_enable: bool = False
    ready_cycles: int = 50
    delay_cycles: tuple = (20, 200)  # of a command, before its data
    late_cycles: tuple = (0, 0)  # between its data and its completion
    in_flight: int = 8  # requests of one command at the same time
    shuffled: bool = False  # data of a command in any order
    list_bytes: int = 0  # PRP lists are read in aligned pieces of so many bytes; 0: just what is used
    # Faults by opcode and number of the command with it: a status, or a word of `_complete` and `_run`.
    faults: dict = dataclasses.field(default_factory=dict)
    admin_faults: dict = dataclasses.field(default_factory=dict)  # status by opcode, or a word as above


class Function:
    """Configuration space of one function: values and which bits can be written."""

    def __init__(self, content):
        self.values = {offset: value for offset, (value, _) in content.items()}
        self.writable = {offset: mask for offset, (_, mask) in content.items()}

    def read(self, offset):
        return self.values.get(offset, 0)

    def write(self, offset, value):
        mask = self.writable.get(offset, 0)
        self.values[offset] = self.values.get(offset, 0) & ~mask | value & mask


class Queue:
    def __init__(self, base, entries):
        self.base, self.entries = base, entries
        self.head = self.tail = 0
        self.phase = 1


class Drive:
    def __init__(self, device, rng, options, bus_base=0):
        self.device, self.rng, self.options, self.bus_base = device, rng, options, bus_base
        self.blocks = {}  # content by block
        self.breaches = []
        self.counts = {}  # commands by opcode
        self.log = []  # (opcode, first block, blocks) as they completed well
        self.durable = []  # length of `log` at each flush
        self.trimmed = []  # ranges of Dataset Management: (attributes, first block, blocks)
        self.admin_log = []  # (opcode, namespace, dwords 10 to 15) as they came
        self.resets = 0
        self.tasks = []
        self.writes = []
        self.root = Function({
            0x00: (0x5678_1234, 0), 0x04: (1 << 20, 0x547), 0x08: (0x0604_0000, 0), 0x18: (0, 0xFFFFFF), 0x20: (0, 0xFFF0FFF0),
            0x24: (0, 0xFFF0FFF0), 0x34: (0x50, 0), 0x3C: (0, SECONDARY_BUS_RESET), 0x50: (0x0003_7001, 0), 0x70: (0x0042_0010, 0),
            0x74: (2, 0), 0x78: (0x2810, 0x7FFF), 0x7C: (0x43, 0),
        })
        self.power_on()

    def breach(self, text):
        self.breaches.append(text)

    # ---- PCI Express

    def power_on(self):
        """A reset by PERST#, by the secondary bus (hot reset), or by a link that was down."""
        self.endpoint = Function({
            0x00: (0x1000_1D1D, 0), 0x04: (1 << 20, 0x546), 0x08: (self.options.device_class << 8, 0), 0x10: (4, 0xFFFF_C000),
            0x14: (0, ONES), 0x34: (0x40, 0), 0x40: (0x0003_6001, 0), 0x60: (0x0080_7005, 0x71 << 16), 0x70: (0x0002_0010, 0),
            0x74: (self.options.max_payload | 1 << 5, 0), 0x78: (0x2810, 0x7FFF), 0x7C: (0x43, 0),
        })
        self.silent = self.fatal = False  # it answers no command; CSTS.CFS
        self.hung = False  # its registers read as ones, until a reset
        self.reset_controller()
        self.cc = self.aqa = self.asq = self.acq = 0
        self.shutdown = 0

    def reset_controller(self):
        for task in self.tasks:
            task.cancel()
        self.tasks = []
        self.ready = False
        self.submission, self.completion = {}, {}
        self.outstanding = set()
        self.resets += 1

    async def _disable(self):
        """RDY falls when nothing more comes from the controller."""
        await self.device.wait()
        self.ready = False

    async def read(self, address, length):
        return self._read(address & ~3).to_bytes(4, "little")[address & 3 : (address & 3) + length]

    async def write(self, address, data):
        if len(data) != 4 or address & 3:
            self.breach(f"write of {len(data)} bytes at {address:#x}")
        self._write(address, int.from_bytes(data, "little"))

    def _function(self, address):
        """Of a configuration access: bus, device and function."""
        number = address >> 12 & 0xFFFF
        if number == 0:
            return self.root
        if number == self.root.read(0x18) >> 8 & 0xFF and number << 12 == 1 << 20 or number == 1 << 8:
            return self.endpoint if self.options.present else None
        return None

    def _bar_offset(self, address):
        """Place in BAR 0, if window, BAR and the bits of the Command registers let the access through."""
        window = self.root.read(0x20)
        base, limit = (window & 0xFFF0) << 16, window >> 20 << 20 | 0xF_FFFF
        open_ = self.root.read(0x04) & 2 and self.endpoint.read(0x04) & 2
        bar = self.endpoint.read(0x10) & ~0xF
        inside = base <= address <= limit and bar <= address < bar + 0x4000
        return address - bar if open_ and inside and self.options.present else None

    def _read(self, address):
        if address >> 31:
            function = self._function(address & 0x7FFF_FFFF)
            return function.read(address & 0xFFC) if function else ONES
        offset = self._bar_offset(address)
        return self._read_register(offset) if offset is not None else ONES

    def _write(self, address, value):
        if address >> 31:
            function = self._function(address & 0x7FFF_FFFF)
            if function:
                function.write(address & 0xFFC, value)
            if self.root.read(0x3C) & SECONDARY_BUS_RESET:
                self.power_on()
            return
        offset = self._bar_offset(address)
        if offset is None:
            self.breach(f"write to {address:#x}, where nothing is")
        elif offset >= 0x1000:
            self._doorbell(offset, value)
        else:
            self._write_register(offset, value)

    # ---- Registers (3.1.3)

    def capabilities(self):
        options = self.options
        return (options.entries - 1 | 1 << 16 | options.timeout << 24 | options.stride << 32 | options.command_sets << 37
                | options.smallest_page << 48)

    def _read_register(self, offset):
        if self.hung:
            return ONES
        status = self.ready | self.fatal << 1 | self.shutdown << 2
        values = {0x00: self.capabilities() & ONES, 0x04: self.capabilities() >> 32, 0x08: 0x20000, 0x14: self.cc, 0x1C: status,
                  0x24: self.aqa, 0x28: self.asq & ONES, 0x2C: self.asq >> 32, 0x30: self.acq & ONES, 0x34: self.acq >> 32}
        return values.get(offset, 0)

    def _write_register(self, offset, value):
        if self.hung:
            return
        if offset == 0x14:
            self._configure(value)
        elif offset == 0x24:
            self.aqa = value
        elif offset in (0x28, 0x30):
            name = "asq" if offset == 0x28 else "acq"
            setattr(self, name, getattr(self, name) >> 32 << 32 | value)
        elif offset in (0x2C, 0x34):
            name = "asq" if offset == 0x2C else "acq"
            setattr(self, name, getattr(self, name) & ONES | value << 32)
        else:
            self.breach(f"write to register {offset:#x}")
        if offset in (0x24, 0x28, 0x2C, 0x30, 0x34) and self.cc & 1:
            self.breach(f"register {offset:#x} is written while the controller is enabled")

    def _configure(self, value):
        was, self.cc = self.cc, value
        if value & 1 and not was & 1:
            if value >> 16 & 0xFF != 0x46 or value >> 4 & 0x7FF:
                self.breach(f"CC {value:#x}: entries of 64 and 16 bytes, pages of 4 KiB, NVM command set")
            self.fatal = self.options.fatal_at_enable
            self.shutdown = 0
            self.submission[0] = Queue(self.asq, (self.aqa & 0xFFF) + 1)
            self.completion[0] = Queue(self.acq, (self.aqa >> 16 & 0xFFF) + 1)
            cocotb.start_soon(self._get_ready())
        elif was & 1 and not value & 1:
            ready = self.ready
            self.reset_controller()
            self.ready = ready
            cocotb.start_soon(self._disable())
        elif value >> 14 & 3 and not was >> 14 & 3:
            if self.outstanding:
                self.breach("shutdown with commands outstanding")
            self.shutdown = 2

    async def _get_ready(self):
        await Timer(self.options.ready_cycles * CYCLE_NS, "ns")
        self.ready = self.options.gets_ready and bool(self.cc & 1)

    def _doorbell(self, offset, value):
        number, rest = divmod(offset - 0x1000, 4 << self.options.stride)
        queue = (self.completion if number & 1 else self.submission).get(number >> 1)
        if rest or queue is None or not self.ready or not self.endpoint.read(0x04) & 4:
            return self.breach(f"doorbell {offset:#x} of no queue, or the controller is not ready")
        if value >= queue.entries:
            return self.breach(f"doorbell {offset:#x}: {value} of {queue.entries} entries")
        if number & 1:
            freed = (value - queue.head) % queue.entries
            if not freed or freed > (queue.tail - queue.head) % queue.entries:
                self.breach(f"head doorbell of queue {number >> 1}: {value} behind {queue.head}, tail {queue.tail}")
            queue.head = value
        else:
            if value == queue.tail:
                self.breach(f"tail doorbell of queue {number >> 1}: {value} again")
            queue.tail = value
            if not self.silent and not self.fatal:
                self._start(self._fetch(number >> 1, queue))

    def _start(self, work):
        self.tasks = [task for task in self.tasks if not task.done()]
        self.tasks.append(cocotb.start_soon(work))

    # ---- Commands

    async def _fetch(self, number, queue):
        while queue.head != queue.tail:
            index, queue.head = queue.head, (queue.head + 1) % queue.entries
            entry = await self._read_host(queue.base + 64 * index, 64)
            self._start(self._run(number, entry))

    async def _read_host(self, address, length):
        """A memory read request, within a page and the largest size."""
        answer = await self.device.read(address - self.bus_base, length)
        if int(answer.resp):
            self.breach(f"error response to a read at {address:#x}")
        return bytes(answer.data)

    def _write_host(self, address, data, **how):
        """A posted write: nobody waits for it."""
        self.writes = [event for event in self.writes if not event.is_set() or self._checked(event)]
        self.writes.append(self.device.init_write(address - self.bus_base, bytes(data), **how))

    def _checked(self, event):
        if int(event.data.resp):
            self.breach(f"error response to a write at {event.data.address:#x}")
        return False

    async def _run(self, number, entry):
        opcode, flags, identifier, namespace = struct.unpack_from("<BBHI", entry)
        words = struct.unpack_from("<6I", entry, 40)
        count = self.counts.get((bool(number), opcode), 0)
        self.counts[bool(number), opcode] = count + 1
        if flags or any(entry[8:24]):
            self.breach(f"fused, SGL or reserved bits in a command: {entry.hex()}")
        if (number, identifier) in self.outstanding:
            self.breach(f"identifier {identifier} twice")
        self.outstanding.add((number, identifier))
        if number == 0:
            fault = self.options.admin_faults.get(opcode)
            self.admin_log.append((opcode, namespace, words))
            if fault == "silent":
                return
            result, status = await self._admin(opcode, namespace, entry, words)
        else:
            fault = self.options.faults.get((opcode, count))
            await Timer(self.rng.randint(*self.options.delay_cycles) * CYCLE_NS, "ns")
            if fault == "silent":
                return
            refused = isinstance(fault, int) and fault & 0x7FF
            result, status = (0, 0) if refused else await self._io(opcode, namespace, entry, words)
            if self.options.late_cycles[1]:
                await Timer(self.rng.randint(*self.options.late_cycles) * CYCLE_NS, "ns")
        await self._complete(number, identifier, result, fault if isinstance(fault, int) else status, fault)

    async def _complete(self, number, identifier, result, status, fault):
        queue = self.completion[number]
        while (queue.tail + 1) % queue.entries == queue.head:
            await Timer(10 * CYCLE_NS, "ns")
        if fault == "outside":
            await self._read_host(self.bus_base | 1 << 39 | 0x8000, 64)
        if fault == "narrow":
            await self.device.read(0, 64, size=2)
        phase = queue.phase ^ (fault == "phase")
        identifier = identifier ^ (0x100 if fault == "identifier" else 0)
        head = self.submission[number].head
        entry = struct.pack("<IIHHHH", result, 0, head, number, identifier, status << 1 | phase)
        self.outstanding.discard((number, identifier))
        place = queue.base + 16 * queue.tail
        queue.tail = (queue.tail + 1) % queue.entries
        queue.phase ^= queue.tail == 0
        self._write_host(place, entry)

    # Admin command set (5).
    async def _admin(self, opcode, namespace, entry, words):
        pointer = struct.unpack_from("<Q", entry, 24)[0]
        if opcode == IDENTIFY:
            if pointer % PAGE:
                self.breach(f"Identify to {pointer:#x}")
            for at in range(0, PAGE if self.options.identifies else 0, 256):
                self._write_host(pointer + at, self._identify(words[0] & 0xFF, namespace)[at : at + 256])
            return 0, 0
        if opcode == SET_FEATURES and words[0] & 0xFF == 7:
            return (self.options.queues - 1) * 0x10001, 0
        if opcode in (CREATE_CQ, CREATE_SQ):
            kind = self.completion if opcode == CREATE_CQ else self.submission
            number, entries = words[0] & 0xFFFF, (words[0] >> 16) + 1
            if number in kind or not words[1] & 1 or entries > self.options.entries or pointer % PAGE:
                return 0, INVALID_FIELD
            if opcode == CREATE_SQ and words[1] >> 16 not in self.completion:
                return 0, 0x100 | DNR
            kind[number] = Queue(pointer, entries)
            return 0, 0
        if opcode == GET_LOG_PAGE:
            length = ((words[0] >> 16) + 1) * 4
            if words[0] & 0xFF != 2 or length > PAGE:
                return 0, 0x109 | DNR
            if pointer % PAGE:
                self.breach(f"Get Log Page to {pointer:#x}")
            page = self.smart()[:length]
            for at in range(0, length, 128):
                self._write_host(pointer + at, page[at : at + 128])
            return 0, 0
        if opcode == GET_FEATURES and words[0] & 0xFF == 7:
            return (self.options.queues - 1) * 0x10001, 0
        return 0, INVALID_OPCODE

    def smart(self):
        """SMART / Health Information (5.16.1.3): a temperature, an amount of spare, and the commands so far."""
        page = bytearray(512)
        struct.pack_into("<BHBBB", page, 0, 0, 311, 100, 10, 3)
        struct.pack_into("<QQQQ", page, 64, self.counts.get((True, READ), 0), 0, self.counts.get((True, WRITE), 0), 0)
        return page

    def _identify(self, structure, namespace):
        page = bytearray(PAGE)
        if structure == 1:
            page[77] = self.options.mdts
            struct.pack_into("<BB", page, 512, 0x66, 0x44)
            struct.pack_into("<I", page, 516, 1)
        elif structure == 0 and namespace == 1:
            struct.pack_into("<QQQ", page, 0, self.options.blocks, self.options.blocks, 0)
            # Format 1 of two is in use.
            page[25], page[26] = 1, 1
            struct.pack_into("<I", page, 128, 12 << 16)
            struct.pack_into("<I", page, 132, self.options.metadata_bytes | self.options.block_shift << 16)
        return page

    # NVM command set (3.2 and 3.3).
    async def _io(self, opcode, namespace, entry, words):
        if namespace != 1:
            self.breach(f"namespace {namespace}")
        if opcode == FLUSH:
            self.durable.append(len(self.log))
            return 0, 0
        if opcode == DATASET_MANAGEMENT:
            return await self._manage(entry, words)
        if opcode not in (WRITE, READ):
            return 0, INVALID_OPCODE
        first, count = words[0] | words[1] << 32, (words[2] & 0xFFFF) + 1
        if first + count > self.options.blocks:
            return 0, LBA_OUT_OF_RANGE
        block = 1 << self.options.block_shift
        if self.options.mdts and count * block > PAGE << self.options.mdts:
            self.breach(f"{count * block} bytes are beyond MDTS {self.options.mdts}")
            return 0, INVALID_FIELD
        pieces = await self._pieces(*struct.unpack_from("<QQ", entry, 24), count * block)
        if opcode == WRITE:
            data = await self._gather(pieces)
            for n in range(count):
                self.blocks[first + n] = data[n * block : (n + 1) * block]
        else:
            self._scatter(pieces, b"".join(self.blocks.get(first + n, bytes(block)) for n in range(count)))
        self.log.append((opcode, first, count))
        return 0, 0

    async def _manage(self, entry, words):
        """Dataset Management (NVM Command Set, 3.2.3): ranges of 16 bytes in one page; Deallocate clears their blocks."""
        count = (words[0] & 0xFF) + 1
        data = await self._read_host(struct.unpack_from("<Q", entry, 24)[0], 16 * count)
        for attributes, blocks, first in struct.iter_unpack("<IIQ", data):
            if first + blocks > self.options.blocks:
                return 0, LBA_OUT_OF_RANGE
            self.trimmed.append((attributes, first, blocks))
            if words[1] & 4:
                for block in [block for block in self.blocks if first <= block < first + blocks]:
                    del self.blocks[block]
        return 0, 0

    async def _pieces(self, first, second, length):
        """Addresses and lengths of a command's pages by its PRP entries (4.1.1)."""
        pieces = [(first, min(length, PAGE - first % PAGE))]
        left = length - pieces[0][1]
        if 0 < left <= PAGE:
            pieces.append((second, left))
        elif left:
            entries = await self._list(second, -(-left // PAGE))
            for address in entries:
                pieces.append((address, min(left, PAGE)))
                left -= pieces[-1][1]
        if any(address % PAGE for address, _ in pieces[1:]) or first % 4:
            self.breach(f"PRP entries {pieces}")
        return pieces

    async def _list(self, address, count):
        size, data = self.options.list_bytes, b""
        if address % PAGE + 8 * count > PAGE:
            self.breach(f"PRP list at {address:#x} leaves its page")
        while len(data) < 8 * count:
            at = address + len(data)
            data += await self._read_host(at, size - at % size if size else 8 * count)
        return struct.unpack_from(f"<{count}Q", data)

    def _requests(self, pieces, size):
        """Pieces cut at multiples of `size`, with their places in the data."""
        requests, place = [], 0
        for address, length in pieces:
            end = address + length
            while address < end:
                part = min(size - address % size, end - address)
                requests.append((address, part, place))
                address, place = address + part, place + part
        if self.options.shuffled:
            self.rng.shuffle(requests)
        return requests

    async def _gather(self, pieces):
        requests = self._requests(pieces, 128 << (self.endpoint.read(0x78) >> 12 & 7))
        data = bytearray(sum(length for _, length in pieces))

        async def lane():
            while requests:
                address, length, place = requests.pop(0)
                data[place : place + length] = await self._read_host(address, length)

        lanes = [cocotb.start_soon(lane()) for _ in range(self.options.in_flight)]
        for task in lanes:
            await task
        return bytes(data)

    def _scatter(self, pieces, data):
        for address, length, place in self._requests(pieces, 128 << (self.endpoint.read(0x78) >> 5 & 7)):
            self._write_host(address, data[place : place + length])

    # ---- For tests

    def content(self, address, length):
        block = 1 << self.options.block_shift
        return b"".join(self.blocks.get(address // block + n, bytes(block)) for n in range(-(-length // block)))

    def fill(self, address, data):
        block = 1 << self.options.block_shift
        for at in range(0, len(data), block):
            self.blocks[(address + at) // block] = data[at : at + block].ljust(block, b"\0")
