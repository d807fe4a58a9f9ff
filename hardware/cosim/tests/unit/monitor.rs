use super::*;

const DATA: [u8; 16] = [0; 16];
const QUIET: AxiSample<'static> = AxiSample {
    aw: (0, 0, 0, 0, 0),
    w: (0, 0, 0, 0),
    w_data: &DATA,
    b: (0, 0, 0, 0),
    ar: (0, 0, 0, 0, 0),
    r: (0, 0, 0, 0, 0),
    r_data: &DATA,
};

/// The rule that a sequence of cycles breaks, if any; and whether all is answered at the end.
fn axi(samples: &[AxiSample<'_>]) -> Result<(), String> {
    let mut monitor = AxiMonitor::new("x".to_owned(), 16);
    for (cycle, sample) in samples.iter().enumerate() {
        let result = monitor.observe(cycle as u64, sample);
        result.map_err(|violation| violation.rule)?;
    }
    monitor.check_idle(0).map_err(|violation| violation.rule)
}

fn aw(ready: u8, id: u8, address: u64, length: u8) -> AxiSample<'static> {
    AxiSample { aw: (1, ready, id, address, length), ..QUIET }
}

fn w(ready: u8, last: u8) -> AxiSample<'static> {
    AxiSample { w: (1, ready, 0xffff, last), ..QUIET }
}

fn b(id: u8) -> AxiSample<'static> {
    AxiSample { b: (1, 1, id, 0), ..QUIET }
}

fn ar(id: u8, address: u64, length: u8) -> AxiSample<'static> {
    AxiSample { ar: (1, 1, id, address, length), ..QUIET }
}

fn r(ready: u8, id: u8, last: u8) -> AxiSample<'static> {
    AxiSample { r: (1, ready, id, 0, last), ..QUIET }
}

#[test]
fn right_axi_sequences_pass() {
    let write = [aw(0, 3, 0, 1), aw(1, 3, 0, 1), w(1, 0), w(0, 1), w(1, 1), b(3)];
    assert_eq!(axi(&write), Ok(()));
    let data_first = [w(1, 0), w(1, 1), aw(1, 3, 0xfe0, 1), b(3)];
    assert_eq!(axi(&data_first), Ok(()));
    let two = [ar(1, 0, 1), ar(2, 0, 0), r(1, 2, 1), r(1, 1, 0), r(1, 1, 1)];
    assert_eq!(axi(&two), Ok(()));
}

#[test]
fn wrong_axi_sequences_are_found() {
    let cases: [(&str, &[AxiSample<'_>]); 16] = [
        ("aw: valid fell", &[aw(0, 3, 0, 1), QUIET]),
        ("aw: the payload changed", &[aw(0, 3, 0, 1), aw(0, 3, 16, 1)]),
        ("w: valid fell", &[w(0, 0), QUIET]),
        ("w: the payload changed", &[w(0, 0), w(0, 1)]),
        ("r: valid fell", &[ar(0, 0, 1), r(0, 0, 0), QUIET]),
        ("r: last is 1 with 2", &[ar(0, 0, 1), r(1, 0, 1)]),
        ("r: last is 0 with 1", &[ar(0, 0, 0), r(1, 0, 0)]),
        ("r: data with identifier 1", &[ar(0, 0, 0), r(1, 1, 1)]),
        ("r: data with identifier 0", &[AxiSample { r: (1, 1, 0, 0, 1), ..ar(0, 0, 0) }]),
        ("b: response with identifier 1", &[aw(1, 0, 0, 0), w(1, 1), b(1)]),
        ("b: response with identifier 0", &[aw(1, 0, 0, 1), w(1, 0), b(0)]),
        ("ar: 2 beats from 0xff0 cross", &[ar(0, 0xff0, 1)]),
        ("w: last beat is number 1", &[aw(1, 0, 0, 1), w(1, 1)]),
        ("w: beat 1 of a burst of 1 is not", &[aw(1, 0, 0, 0), w(1, 0)]),
        ("1 writes and 0 reads", &[aw(1, 0, 0, 0), w(1, 1)]),
        ("w: strobes beyond", &[AxiSample { w: (1, 1, 0x1_0000, 0), ..QUIET }]),
    ];
    for (rule, samples) in cases {
        let found = axi(samples).expect_err(rule);
        assert!(found.starts_with(rule), "{rule}: {found}");
    }
}

fn lite(samples: &[LiteSample]) -> Result<(), String> {
    let mut monitor = LiteMonitor::new("x".to_owned());
    for (cycle, sample) in samples.iter().enumerate() {
        let result = monitor.observe(cycle as u64, sample);
        result.map_err(|violation| violation.rule)?;
    }
    monitor.check_idle(0).map_err(|violation| violation.rule)
}

#[test]
fn lite_sequences() {
    let quiet = LiteSample::default();
    let aw = LiteSample { aw: (1, 1, 4), ..quiet };
    let w = LiteSample { w: (1, 1, 9, 15), ..quiet };
    let b = LiteSample { b: (1, 1, 0), ..quiet };
    let ar = LiteSample { ar: (1, 1, 8), ..quiet };
    let r = LiteSample { r: (1, 1, 5, 0), ..quiet };
    assert_eq!(lite(&[aw, w, b, ar, r]), Ok(()));
    assert_eq!(lite(&[w, aw, b]), Ok(()));
    let waiting = |ready| LiteSample { ar: (1, ready, 8), ..quiet };
    let other = LiteSample { ar: (1, 0, 12), ..quiet };
    let cases: [(&str, &[LiteSample]); 7] = [
        ("b: response without", &[aw, b]),
        ("b: response without", &[w, b]),
        ("b: response without", &[aw, w, b, b]),
        ("r: data without", &[r]),
        ("ar: valid fell", &[waiting(0), quiet]),
        ("ar: the payload", &[waiting(0), other]),
        ("an access without", &[waiting(1)]),
    ];
    for (rule, samples) in cases {
        let found = lite(samples).expect_err(rule);
        assert!(found.starts_with(rule), "{rule}: {found}");
    }
}

#[test]
fn stream_beats() {
    let data = [1; 16];
    let other = [2; 16];
    let beat = |ready, keep, last| StreamSample { valid: 1, ready, data: &data, keep, last };
    let check = |samples: &[StreamSample<'_>]| {
        let mut monitor = StreamMonitor::new("x".to_owned(), 16);
        samples
            .iter()
            .try_for_each(|sample| monitor.observe(0, sample))
            .map_err(|violation| violation.rule)
    };
    assert_eq!(check(&[beat(0, 0xffff, 0), beat(1, 0xffff, 0)]), Ok(()));
    assert_eq!(check(&[beat(1, 0x7, 1), beat(1, 0, 1)]), Ok(()));
    let changed = StreamSample { data: &other, ..beat(1, 0xffff, 0) };
    let cases: [(&str, &[StreamSample<'_>]); 4] = [
        ("the bytes kept do not begin", &[beat(1, 0x6, 1)]),
        ("bytes kept beyond", &[beat(1, 0x1_ffff, 1)]),
        ("a partial beat", &[beat(1, 0x7, 0)]),
        ("the payload changed", &[beat(0, 0xffff, 0), changed]),
    ];
    for (rule, samples) in cases {
        let found = check(samples).expect_err(rule);
        assert!(found.starts_with(rule), "{rule}: {found}");
    }
}

/// The ports of a core are connected to the right monitors.
#[test]
fn every_interface_is_watched() {
    let configuration = Configuration::named("w128c16d2").expect("a configuration");
    type Offer = fn(&mut Inputs, &mut Outputs);
    let offers: [(&str, Offer); 13] = [
        ("s_reg", |i, _| i.s_reg_ar_valid = 1),
        ("s_reg", |i, _| i.s_reg_w_valid = 1),
        ("s", |i, _| (i.s_valid, i.s_keep) = (1, 0xffff)),
        ("m", |_, o| (o.m_valid, o.m_keep) = (1, 0xffff)),
        ("mem", |_, o| o.mem_aw_valid = 1),
        ("mem", |_, o| o.mem_w_valid = 1),
        ("mem", |_, o| o.mem_ar_valid = 1),
        ("dev[0]", |i, _| i.drives[0].dev_ar_valid = 1),
        ("dev[1]", |i, _| i.drives[1].dev_aw_valid = 1),
        ("dev[1]", |i, _| i.drives[1].dev_w_valid = 1),
        ("bar[0]", |_, o| o.drives[0].bar_aw_valid = 1),
        ("bar[1]", |_, o| o.drives[1].bar_ar_valid = 1),
        ("bar[1]", |_, o| o.drives[1].bar_w_valid = 1),
    ];
    for (interface, offer) in offers {
        let mut monitors = Monitors::new(configuration);
        let (mut inputs, mut outputs) = (Inputs::ZERO, Outputs::ZERO);
        offer(&mut inputs, &mut outputs);
        monitors.observe(0, &inputs, &outputs).expect("an offer is right");
        let found = monitors.observe(1, &Inputs::ZERO, &Outputs::ZERO);
        assert_eq!(found.expect_err("it was withdrawn").interface, interface);
    }
}
