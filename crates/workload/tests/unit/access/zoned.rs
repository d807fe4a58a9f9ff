use super::*;

fn shares(text: &str) -> ZoneShares {
    text.parse().unwrap()
}

#[test]
fn fio_syntax_is_parsed() {
    let jesd219 = shares("50/5:30/15:20/80");
    assert_eq!(jesd219.entries(), [(50.0, 5.0), (30.0, 15.0), (20.0, 80.0)]);
    assert_eq!(shares("50/5:30/15:20/"), jesd219);
    assert_eq!(shares("/5:30/15:20%/80%").entries()[0], (50.0, 5.0));
    assert_eq!(jesd219.to_string().parse(), Ok(jesd219));
    assert_eq!(shares("100/100").entries().len(), 1);
    assert_eq!(shares("0/50:100/50").entries().len(), 2);
}

#[test]
fn inconsistent_zones_are_refused_with_a_reason() {
    for (text, message) in [
        ("", "ACCESS/SIZE"),
        ("50", "ACCESS/SIZE"),
        ("50/5", "accesses add up to 50"),
        ("50/50:50/40", "sizes add up to 90"),
        ("60/50:50/50", "accesses add up to 110"),
        ("60/x:40/50", "\"x\""),
        ("-1/50:101/50", "\"-1\""),
        ("nan/50:50/50", "\"nan\""),
        ("50/0:50/100", "zone 1"),
        ("50/100:50/", "zone 2"),
    ] {
        let error = text.parse::<ZoneShares>().unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
    let many = vec!["/"; MAX_ZONES + 1].join(":");
    assert!(many.parse::<ZoneShares>().is_err());
}

#[test]
fn a_zone_without_a_block_is_refused() {
    let law = |slots| ZoneSampler::new(&shares("50/5:50/95"), slots * 4096, 4096, slots);
    // 5 % of 20 blocks is one.
    assert_eq!(law(20).unwrap().zones[0].slots, 1);
    // A block across the end of a zone belongs to that zone.
    assert_eq!(law(30).unwrap().zones[0].slots, 2);
    let tight = ZoneSampler::new(&shares("50/95:50/5"), 8 * 4096, 4096, 8).unwrap_err();
    assert!(tight.to_string().contains("zone 2"), "{tight}");
}

/// Chi-squared of draws against the law: uniform within zones, the zones' shares between them.
#[test]
fn draws_follow_the_law() {
    for (text, seed) in [("50/5:30/15:20/80", 1), ("10/50:0/10:90/40", 2), ("25/20:25/30:50/50", 3)]
    {
        let (slots, draws) = (1000_u64, 400_000_u32);
        let law = ZoneSampler::new(&shares(text), slots * 512, 512, slots).unwrap();
        let mut rng = Rng::new(seed);
        let mut counts = vec![0_u32; slots as usize];
        for _ in 0..draws {
            counts[law.sample(&mut rng) as usize] += 1;
        }
        let (mut chi, mut cells, mut from) = (0.0, 0, 0);
        for &(access, size) in shares(text).entries() {
            let width = (size * slots as f64 / 100.0) as usize;
            let expected = access / 100.0 * f64::from(draws) / width as f64;
            for &count in &counts[from..from + width] {
                if access == 0.0 {
                    assert_eq!(count, 0, "{text}");
                } else {
                    chi += (f64::from(count) - expected).powi(2) / expected;
                    cells += 1;
                }
            }
            from += width;
        }
        // Mean cells - 1, variance twice that: five standard deviations.
        let free = f64::from(cells - 1);
        assert!((chi - free).abs() < 5.0 * (2.0 * free).sqrt(), "{text}: {chi} of {free}");
    }
}
