//! Packets: what the drive sends, what arrives, and the core's register accesses.

use super::bar_port::{BarRequest, DECERR, OKAY};
use super::config_space::ConfigTarget;
use super::dev_port::{ADDRESS_MASK, ReadBurst, ReadProgress, WriteBurst};
use super::{Downstream, LOCAL_CYCLES, PcieDrive, Upstream};

const REGISTER_BYTES: u64 = 4;
/// The configuration space bit of `bar_*` addresses.
const ECAM: u32 = 1 << 31;

impl PcieDrive {
    pub(super) fn deliver(&mut self, cycle: u64) {
        while let Some((at, _)) = self.downstream.front()
            && *at <= cycle
            && let Some((_, packet)) = self.downstream.pop_front()
        {
            self.arrive_at_drive(cycle, packet);
        }
        while let Some((at, _)) = self.upstream.front()
            && *at <= cycle
            && let Some((_, packet)) = self.upstream.pop_front()
        {
            self.arrive_at_bridge(cycle, packet);
        }
        while let Some(&(at, bytes)) = self.posted_returns.front()
            && at <= cycle
        {
            self.posted_returns.pop_front();
            self.posted_bytes -= bytes;
        }
    }

    fn arrive_at_drive(&mut self, cycle: u64, packet: Downstream) {
        let is_present = self.endpoint.is_present();
        match packet {
            Downstream::ReadEnd { tag } => {
                let identity = self.endpoint.controller.drive().identity();
                let bytes = self.dev.buffer(tag);
                self.endpoint.fetcher.receive(tag, bytes, identity);
            }
            Downstream::ReadRefused { tag, len_bytes } => {
                let identity = self.endpoint.controller.drive().identity();
                let ones = vec![0xff; len_bytes as usize];
                self.endpoint.fetcher.receive(tag, &ones, identity);
            }
            _ if self.is_silent => {}
            Downstream::RegisterRead { address } => {
                let offset = self.config.bar_offset(address).filter(|_| is_present);
                let data = offset.map(|offset| self.endpoint.read_register(cycle, offset));
                self.reply(data);
            }
            Downstream::RegisterWrite { address, data } => {
                if let Some(offset) = self.config.bar_offset(address) {
                    self.endpoint.write_register(cycle, offset, data);
                }
            }
            Downstream::ConfigRead { address } => {
                let data = is_present.then(|| self.config.read_endpoint(address));
                self.reply(data);
            }
            Downstream::ConfigWrite { address, data, strobes } => {
                self.config.write_endpoint(address, data, strobes);
                let is_ok = is_present;
                self.replies.push_back(Upstream::ConfigWritten { is_ok });
            }
        }
    }

    fn reply(&mut self, data: Option<u32>) {
        self.replies.push_back(Upstream::RegisterData {
            data: data.unwrap_or(u32::MAX),
            is_ok: data.is_some(),
        });
    }

    fn arrive_at_bridge(&mut self, cycle: u64, packet: Upstream) {
        match packet {
            Upstream::RegisterData { data, is_ok } => {
                let code = self.code(is_ok);
                self.bar.end_read(cycle, data, code);
            }
            Upstream::ConfigWritten { is_ok } => {
                let code = self.code(is_ok);
                self.bar.end_write(cycle, code);
            }
            Upstream::Read { tag, address, len_bytes } => {
                if !self.is_accepted(address) {
                    self.counters.refused_requests += 1;
                    let packet = Downstream::ReadRefused { tag, len_bytes };
                    return self.send_down(cycle, 0, packet);
                }
                self.dev.read(ReadBurst { tag: Some(tag), id: tag % 16, address, len_bytes });
            }
            Upstream::Write { address, data, offset, len_bytes } => {
                let is_malformed = len_bytes > self.config.root_payload_bytes() as usize;
                if is_malformed || !self.is_accepted(address) {
                    self.counters.malformed_packets += u64::from(is_malformed);
                    self.counters.refused_requests += u64::from(!is_malformed);
                    self.posted_bytes -= len_bytes as u32;
                    return;
                }
                self.dev.write(WriteBurst { address, data, offset, len_bytes });
            }
        }
    }

    /// Whether the root port passes a request of the drive on to the core.
    fn is_accepted(&self, address: u64) -> bool {
        self.config.forwards_upstream() && address & !ADDRESS_MASK == self.options.bus_base
    }

    /// Depends on whether a device answered.
    fn code(&self, is_ok: bool) -> u8 {
        match is_ok || !self.options.link.error_responses {
            true => OKAY,
            false => DECERR,
        }
    }

    fn send_down(&mut self, cycle: u64, payload_bytes: u64, packet: Downstream) {
        let at = self.down.send(cycle, payload_bytes);
        self.downstream.push_back((at, packet));
    }

    fn send_up(&mut self, cycle: u64, payload_bytes: u64, packet: Upstream) {
        let at = self.up.send(cycle, payload_bytes);
        self.upstream.push_back((at, packet));
    }

    /// First cycle with something to send, apart from the link.
    pub(super) fn next_transmission(&self) -> Option<u64> {
        if !self.replies.is_empty() {
            return Some(0);
        }
        if !self.endpoint.is_working() || !self.config.is_bus_master() {
            return None;
        }
        let payload = self.config.endpoint_payload_bytes();
        let has_credits = self.has_credits(self.endpoint.posted.next_len(payload));
        let posted = self.endpoint.posted.next_cycle().filter(|_| has_credits);
        let reads = self.endpoint.fetcher.next_cycle();
        let tags = self.config.read_tags();
        let reads = reads.filter(|_| self.endpoint.fetcher.has_free_tag(tags));
        [posted, reads].into_iter().flatten().min()
    }

    fn has_credits(&self, len_bytes: u32) -> bool {
        self.posted_bytes + len_bytes <= self.options.link.posted_buffer_bytes
    }

    /// Begins to send register data, then reads, then writes.
    pub(super) fn transmit(&mut self, cycle: u64) {
        // Even without a limit of the link, no more than a few packets per cycle.
        for _ in 0..4 {
            if !self.up.is_free(cycle) {
                return;
            }
            if let Some(reply) = self.replies.pop_front() {
                self.send_up(cycle, REGISTER_BYTES, reply);
                continue;
            }
            if !self.endpoint.is_working() || !self.config.is_bus_master() {
                return;
            }
            if !self.send_read(cycle) && !self.send_write(cycle) {
                return;
            }
        }
    }

    fn send_read(&mut self, cycle: u64) -> bool {
        let limit = self.config.read_request_bytes();
        let tags = self.config.read_tags();
        let Some(request) = self.endpoint.fetcher.next_read(cycle, limit, tags) else {
            return false;
        };
        self.counters.reads += 1;
        let packet = Upstream::Read {
            tag: request.tag,
            address: request.address,
            len_bytes: request.len_bytes,
        };
        self.send_up(cycle, 0, packet);
        true
    }

    fn send_write(&mut self, cycle: u64) -> bool {
        let payload = self.config.endpoint_payload_bytes();
        if !self.has_credits(self.endpoint.posted.next_len(payload)) {
            return false;
        }
        let combines = self.options.link.combine_completions;
        let Some(packet) = self.endpoint.posted.take(payload, combines) else {
            return false;
        };
        self.counters.writes += 1;
        self.posted_bytes += packet.len_bytes as u32;
        let (len_bytes, packet) = (
            packet.len_bytes as u64,
            Upstream::Write {
                address: packet.address,
                data: packet.data,
                offset: packet.offset,
                len_bytes: packet.len_bytes,
            },
        );
        self.send_up(cycle, len_bytes, packet);
        true
    }

    /// A beat of read data arrived from the core: completions that it fills are sent.
    pub(super) fn complete_read(&mut self, cycle: u64, read: ReadProgress) {
        let ReadBurst { tag, address, len_bytes, .. } = read.burst;
        let Some(tag) = tag else {
            return;
        };
        let beat_bytes = u64::from(self.options.data_width / 8);
        let size = self.options.link.read_completion_bytes;
        let size = u64::from(size.min(self.config.root_payload_bytes()));
        let (first, end) = (address, address + u64::from(read.received_bytes));
        let is_last = read.received_bytes == len_bytes;
        if !is_last && !end.is_multiple_of(size) {
            return;
        }
        let begin = first.max((end - 1) / size * size);
        assert!(size >= beat_bytes, "completions of {size} bytes");
        let payload = end - begin;
        self.counters.read_bytes += payload;
        if payload > u64::from(self.config.endpoint_payload_bytes()) {
            // The endpoint drops the packet, so the read never ends.
            self.counters.malformed_packets += 1;
            self.dev.orphan_tag(tag);
            return;
        }
        match is_last {
            true => self.send_down(cycle, payload, Downstream::ReadEnd { tag }),
            false => {
                self.down.send(cycle, payload);
            }
        }
    }

    pub(super) fn access(&mut self, cycle: u64, request: BarRequest) {
        let local = cycle + LOCAL_CYCLES;
        match request {
            BarRequest::Read { address } => {
                self.counters.register_reads += 1;
                let is_config = address & ECAM != 0;
                match self.target(address) {
                    ConfigTarget::Root => {
                        self.bar.end_read(local, self.config.read_root(address), OKAY)
                    }
                    ConfigTarget::Endpoint if is_config => {
                        self.send_down(cycle, 0, Downstream::ConfigRead { address });
                    }
                    ConfigTarget::Endpoint => {
                        self.send_down(cycle, 0, Downstream::RegisterRead { address });
                    }
                    ConfigTarget::Nothing => {
                        let code = self.code(false);
                        self.bar.end_read(local, u32::MAX, code);
                    }
                }
            }
            BarRequest::Write { address, data, strobes } => {
                self.counters.register_writes += 1;
                let is_config = address & ECAM != 0;
                match self.target(address) {
                    ConfigTarget::Root => {
                        self.config.write_root(address, data, strobes);
                        self.bar.end_write(local, OKAY);
                    }
                    ConfigTarget::Endpoint if is_config => {
                        let packet = Downstream::ConfigWrite { address, data, strobes };
                        self.send_down(cycle, REGISTER_BYTES, packet);
                    }
                    // Posted, so the bridge answers it.
                    ConfigTarget::Endpoint => {
                        let packet = Downstream::RegisterWrite { address, data };
                        self.send_down(cycle, REGISTER_BYTES, packet);
                        self.bar.end_write(local, OKAY);
                    }
                    ConfigTarget::Nothing => {
                        let code = self.code(false);
                        self.bar.end_write(local, code);
                    }
                }
            }
        }
    }

    fn target(&self, address: u32) -> ConfigTarget {
        let target = match address & ECAM != 0 {
            true => self.config.target(address & !ECAM),
            false if self.config.is_in_window(address) => ConfigTarget::Endpoint,
            false => ConfigTarget::Nothing,
        };
        match target {
            ConfigTarget::Endpoint if !self.is_up => ConfigTarget::Nothing,
            target => target,
        }
    }

    /// The link went down: what waits for the endpoint ends as without one.
    pub(super) fn end_access_absent(&mut self, cycle: u64) {
        let code = self.code(false);
        self.bar.end_read(cycle + LOCAL_CYCLES, u32::MAX, code);
        self.bar.end_write(cycle + LOCAL_CYCLES, code);
    }
}
