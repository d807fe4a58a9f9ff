use super::*;

const BEAT: usize = 16;

/// What a core would do: offers bursts, keeps offers until they are taken, collects answers.
#[derive(Default)]
struct Master {
    addresses: VecDeque<(u8, u64, u8)>,
    beats: VecDeque<([u8; 64], u64, bool)>,
    reads: VecDeque<(u8, u64, u8)>,
    acknowledged: Vec<(u64, u8)>,
    read: Vec<(u64, u8, Vec<u8>, bool)>,
    outputs: Outputs,
    inputs: Inputs,
    cycle: u64,
}

impl Master {
    fn write(&mut self, id: u8, address: u64, data: &[u8], strobes: u64) {
        let beats = data.chunks_exact(BEAT).count();
        self.addresses.push_back((id, address, (beats - 1) as u8));
        for (at, beat) in data.chunks_exact(BEAT).enumerate() {
            let mut word = [0; 64];
            word[..BEAT].copy_from_slice(beat);
            self.beats.push_back((word, strobes, at + 1 == beats));
        }
    }

    fn run(&mut self, memory: &mut RingMemory, cycles: u64) {
        for _ in 0..cycles {
            let o = &mut self.outputs;
            *o = Outputs::ZERO;
            (o.mem_b_ready, o.mem_r_ready) = (1, 1);
            if let Some(&(id, address, length)) = self.addresses.front() {
                (o.mem_aw_valid, o.mem_aw_id) = (1, id);
                (o.mem_aw_addr, o.mem_aw_len) = (address, length);
            }
            if let Some(&(data, strobes, last)) = self.beats.front() {
                (o.mem_w_valid, o.mem_w_data, o.mem_w_strb) = (1, data, strobes);
                o.mem_w_last = u8::from(last);
            }
            if let Some(&(id, address, length)) = self.reads.front() {
                (o.mem_ar_valid, o.mem_ar_id) = (1, id);
                (o.mem_ar_addr, o.mem_ar_len) = (address, length);
            }
            memory.step(self.cycle, o, &mut self.inputs);
            let i = &self.inputs;
            if i.mem_aw_ready != 0 {
                self.addresses.pop_front();
            }
            if i.mem_w_ready != 0 {
                self.beats.pop_front();
            }
            if i.mem_ar_ready != 0 {
                self.reads.pop_front();
            }
            if i.mem_b_valid != 0 {
                self.acknowledged.push((self.cycle, i.mem_b_id));
            }
            if i.mem_r_valid != 0 {
                let beat = i.mem_r_data[..BEAT].to_vec();
                self.read.push((self.cycle, i.mem_r_id, beat, i.mem_r_last != 0));
            }
            self.cycle += 1;
        }
    }
}

fn page(seed: u8) -> Vec<u8> {
    (0..4096).map(|at| (at / 16) as u8 ^ seed).collect()
}

#[test]
fn a_write_is_read_back_at_full_rate() {
    let options = MemoryOptions::default();
    let mut memory = RingMemory::new(1 << 16, BEAT, options);
    let mut master = Master::default();
    master.write(1, 0x2000, &page(3), 0xffff);
    master.run(&mut memory, 300);
    assert_eq!(master.acknowledged, [(255 + options.write_latency_cycles, 1)]);
    let begun = master.cycle;
    master.reads.push_back((2, 0x2000, 255));
    master.reads.push_back((2, 0x3000, 255));
    master.run(&mut memory, 600);
    let beats = &master.read;
    assert_eq!(beats.len(), 512);
    assert_eq!(beats[0].0, begun + options.read_latency_cycles);
    // One beat per cycle, also across bursts.
    assert_eq!(beats[511].0, beats[0].0 + 511);
    let data: Vec<u8> = beats[..256].iter().flat_map(|beat| beat.2.clone()).collect();
    assert_eq!(data, page(3));
    assert!(beats[256..].iter().all(|beat| beat.2 == [POISON; BEAT]));
    let last: Vec<usize> = (0..512).filter(|&at| beats[at].3).collect();
    assert_eq!(last, [255, 511]);
    assert!(memory.is_idle());
}

#[test]
fn strobes_select_bytes() {
    let mut memory = RingMemory::new(1 << 13, BEAT, MemoryOptions::default());
    let mut master = Master::default();
    master.write(0, 0x10, &[1; 16], 0x8001);
    master.run(&mut memory, 100);
    let mut expected = [POISON; 16];
    (expected[0], expected[15]) = (1, 1);
    assert_eq!(memory.bytes()[0x10..0x20], expected);
    assert_eq!(memory.bytes()[0x20], POISON);
}

#[test]
fn a_write_is_not_seen_before_its_response() {
    let options = MemoryOptions { write_latency_cycles: 100, ..MemoryOptions::default() };
    let mut memory = RingMemory::new(1 << 13, BEAT, options);
    let mut master = Master::default();
    master.write(0, 0, &[7; 16], 0xffff);
    master.run(&mut memory, 50);
    assert!(master.acknowledged.is_empty());
    master.reads.push_back((0, 0, 0));
    master.run(&mut memory, 200);
    assert_eq!(master.read[0].2, [POISON; BEAT], "read before the response");
    assert_eq!(memory.bytes()[..16], [7; 16]);
}

#[test]
fn answers_out_of_order_keep_the_order_of_an_identifier() {
    let pace = Pace { pauses: 100, seed: 5 };
    let options = MemoryOptions { reorder: true, pace, ..MemoryOptions::default() };
    let mut memory = RingMemory::new(1 << 16, BEAT, options);
    let mut master = Master::default();
    for at in 0..8 {
        let data = page(at as u8);
        master.write((at % 3) as u8, at * 4096, &data, 0xffff);
    }
    master.run(&mut memory, 10_000);
    let ids: Vec<u8> = master.acknowledged.iter().map(|one| one.1).collect();
    assert_eq!(ids.len(), 8);
    for at in 0..8 {
        master.reads.push_back(((at % 3) as u8, at * 4096, 255));
    }
    master.run(&mut memory, 20_000);
    assert_eq!(master.read.len(), 8 * 256);
    let mut next = [0, 1, 2];
    let mut order = Vec::new();
    for burst in master.read.chunks(256) {
        let id = usize::from(burst[0].1);
        assert!(burst.iter().all(|beat| usize::from(beat.1) == id));
        let data: Vec<u8> = burst.iter().flat_map(|beat| beat.2.clone()).collect();
        assert_eq!(data, page(next[id]), "identifier {id}");
        order.push(next[id]);
        next[id] += 3;
    }
    assert_ne!(order, [0, 1, 2, 3, 4, 5, 6, 7], "never out of order");
}
