use super::*;

#[test]
fn a_line_sends_at_its_rate_without_rounding_errors() {
    let options = LinkOptions::new(3, 4);
    let mut line = Line::new(&options);
    let (mut cycle, mut last) = (0, 0);
    let packets = 1_000_000;
    for _ in 0..packets {
        while !line.is_free(cycle) {
            cycle += 1;
        }
        let at = line.send(cycle, 256);
        assert!(at >= last && at > cycle + u64::from(options.flight_cycles));
        last = at;
    }
    let expected = packets as f64 * 256.0 / options.payload_bytes_per_second(256) as f64 / 4e-9;
    assert!((last as f64 / expected - 1.0).abs() < 1e-4, "{last} cycles, {expected}");
}

#[test]
fn rates_are_those_of_the_drive_model() {
    // Generation 3 x4 with payloads of 128 bytes: 3.23 to 3.41 GB/s measured with 20 to 28 bytes of
    // overhead.
    let rate = LinkOptions::new(3, 4).payload_bytes_per_second(128);
    assert!((3_230_000_000..3_410_000_000).contains(&rate), "{rate}");
    assert_eq!(LinkOptions::new(1, 2).bytes_per_second(), Some(500_000_000));
    assert_eq!(LinkOptions::unlimited().payload_bytes_per_second(128), u64::MAX);
    let mut line = Line::new(&LinkOptions::unlimited());
    assert!((0..9).all(|_| line.is_free(0) && line.send(0, 4096) == 2));
}

#[test]
fn back_pressure_is_random_as_often_as_asked() {
    let random = BackPressure { seed: 5, percent: 30 };
    let held = |channel| (0..10_000).filter(|&cycle| !random.allows(channel, cycle)).count();
    for channel in [Channel::ReadData, Channel::WriteData] {
        assert!((2_800..3_200).contains(&held(channel)), "{channel:?}: {}", held(channel));
    }
    let both = (0..10_000).filter(|&cycle| {
        !random.allows(Channel::ReadData, cycle) && !random.allows(Channel::WriteData, cycle)
    });
    assert!((750..1050).contains(&both.count()), "channels are independent");
}
