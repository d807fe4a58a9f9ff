use super::*;

/// Give the source's beats to a receiver that takes them every `every` cycles.
fn run(port: &mut SourcePort, cycles: u64, every: u64) -> Vec<(u64, Vec<u8>, bool)> {
    let (mut inputs, mut outputs) = (Inputs::ZERO, Outputs::ZERO);
    let mut beats = Vec::new();
    for cycle in 0..cycles {
        outputs.s_ready = u8::from(cycle % every == every - 1);
        port.step(cycle, &outputs, &mut inputs);
        if inputs.s_valid != 0 && outputs.s_ready != 0 {
            let count = inputs.s_keep.count_ones() as usize;
            let bytes = inputs.s_data[..count].to_vec();
            beats.push((cycle, bytes, inputs.s_last != 0));
        }
    }
    beats
}

#[test]
fn bytes_become_beats_with_the_rest_at_the_end() {
    let mut port = SourcePort::new(16, Pace::FULL);
    let bytes: Vec<u8> = (0..50).collect();
    port.push(&bytes[..20]);
    port.push(&bytes[20..]);
    let beats = run(&mut port, 10, 1);
    assert_eq!(beats.len(), 3, "2 bytes wait for more");
    assert!(port.is_drained());
    port.end();
    let rest = run(&mut port, 10, 1);
    assert_eq!(rest.len(), 1);
    assert_eq!((&rest[0].1[..], rest[0].2), (&bytes[48..], true));
    let all: Vec<u8> = beats.iter().chain(&rest).flat_map(|b| b.1.clone()).collect();
    assert_eq!(all, bytes);
    assert_eq!(port.taken_bytes(), 50);
    assert!(beats.iter().all(|beat| !beat.2));
}

#[test]
fn the_end_of_whole_beats_is_marked_on_the_last_or_on_an_empty_one() {
    let mut port = SourcePort::new(16, Pace::FULL);
    port.push(&[1; 32]);
    port.end();
    let beats = run(&mut port, 10, 1);
    let marks: Vec<bool> = beats.iter().map(|beat| beat.2).collect();
    assert_eq!(marks, [false, true]);
    port.clear();
    port.push(&[1; 32]);
    assert_eq!(run(&mut port, 10, 1).len(), 2);
    port.end();
    let beats = run(&mut port, 10, 1);
    assert_eq!(beats.len(), 1);
    assert_eq!((beats[0].1.len(), beats[0].2), (0, true));
}

#[test]
fn waits_are_kept_with_their_place() {
    let mut port = SourcePort::new(16, Pace::FULL);
    port.push(&[1; 32]);
    let beats = run(&mut port, 1000, 400);
    assert_eq!(beats.len(), 2);
    let waits = port.take_waits();
    let expected = [(0, 399, 0), (400, 399, 16)];
    let waits: Vec<_> = waits.iter().map(|w| (w.at_cycle, w.cycles, w.at_bytes)).collect();
    assert_eq!(waits, expected);
}

#[test]
fn clearing_keeps_the_beat_that_is_offered() {
    let mut port = SourcePort::new(16, Pace::FULL);
    port.push(&[1; 64]);
    let (mut inputs, mut outputs) = (Inputs::ZERO, Outputs::ZERO);
    port.step(0, &outputs, &mut inputs);
    let offered = inputs;
    port.clear();
    port.step(1, &outputs, &mut inputs);
    assert_eq!(inputs, offered);
    outputs.s_ready = 1;
    port.step(2, &outputs, &mut inputs);
    port.step(3, &outputs, &mut inputs);
    assert_eq!(inputs.s_valid, 0);
    assert!(!port.is_busy());
}

#[test]
fn the_sink_takes_bytes_and_packet_ends() {
    let mut port = SinkPort::new(16, Pace::FULL);
    let (mut inputs, mut outputs) = (Inputs::ZERO, Outputs::ZERO);
    outputs.m_valid = 1;
    outputs.m_data[..16].copy_from_slice(&[9; 16]);
    outputs.m_keep = 0xffff;
    port.set_open(false);
    port.step(0, &outputs, &mut inputs);
    assert_eq!((inputs.m_ready, port.bytes().len()), (0, 0));
    port.set_open(true);
    port.step(1, &outputs, &mut inputs);
    (outputs.m_keep, outputs.m_last) = (0x7, 1);
    port.step(2, &outputs, &mut inputs);
    assert_eq!((inputs.m_ready, port.bytes()), (1, &[9; 19][..]));
    assert_eq!(port.packet_end(), Some(19));
    port.remove(16);
    assert_eq!((port.bytes().len(), port.packet_end()), (3, Some(3)));
    port.remove(3);
    assert_eq!(port.packet_end(), None);
}
