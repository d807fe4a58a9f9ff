//! The study's drives, and the naive figure.

use super::*;

#[test]
fn the_study_has_the_drives_with_columns_of_random_reads() {
    let study = Study::new(1, 1).unwrap();
    assert_eq!(study.drives().len(), 7);
    assert_eq!(study.others("wd-black").len(), 6);
    let class = |path| class(&study.hardware, "wd-black", path);
    assert_eq!(class("firmware.cores").as_deref(), Some("marvell-88ss1093"));
    assert_eq!(class("nand.read_ns").as_deref(), Some("sandisk-15nm-tlc"));
    assert_eq!(class("bench.host_overhead_ns"), None);
    // Without estimates of others, the prior is the wide one.
    let (template, _) = study.template("wd-black");
    assert_eq!(study.prior("wd-black", &template), template.wide);
}

#[test]
fn the_naive_figure_of_a_column_is_that_of_the_other_column() {
    let study = Study::new(1, 1).unwrap();
    let of = |threads| {
        let is = |m: &&Measurement| random_read(m).is_some_and(|w| w.threads == threads);
        study.figures["samsung-951"]
            .iter()
            .filter(is)
            .cloned()
            .collect::<Vec<_>>()
    };
    let (narrow, wide) = (of(16), of(64));
    for (m, known) in wide.iter().zip(&narrow) {
        assert_eq!(study.nearest("samsung-951", m, &narrow), Some(known.value));
    }
    // Without any, the geometric mean of the other drives.
    let sequential = study.figures["toshiba-rd400"]
        .iter()
        .find(|m| is_sequential(m))
        .unwrap();
    let mean = study.nearest("toshiba-rd400", sequential, &[]).unwrap();
    let others: [f64; 6] = [1090.0, 1500.0, 220.0, 338.0, 405.0, 1131.0];
    let by_hand = (others.iter().map(|v| v.ln()).sum::<f64>() / 6.0).exp();
    assert!((mean - by_hand).abs() < 1e-6, "{mean} {by_hand}");
}
