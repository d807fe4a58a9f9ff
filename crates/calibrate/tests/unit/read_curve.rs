//! Five numbers of a drive: what they say of cells that are known, near, far, and of no drive.

use super::*;

const CELLS: [(u32, u32); 6] =
    [(1, 4096), (16, 512), (16, 4096), (64, 4096), (64, 16_384), (64, 131_072)];

fn cell((threads, block): (u32, u32)) -> Cell {
    Cell { threads: threads.into(), in_flight: threads.into(), block_bytes: block.into() }
}

/// A drive that obeys the curve, with numbers a factor from the usual ones.
fn drive(factor: f64, rated: f64) -> DriveReads {
    let mut theta = START.map(f64::ln);
    (theta[0], theta[1]) = (theta[0] - factor.ln(), theta[1] + factor.ln());
    theta[2] += (rated * factor).ln();
    theta[3] += (5e3 * rated).ln();
    let known = CELLS.map(cell);
    let known = known.map(|cell| (cell, SHAPE.log_rate(&theta, &cell).exp()));
    DriveReads {
        rated: Some(Rated {
            random_iops: rated,
            sequential_bytes_per_s: 5e3 * rated,
            kind: Kind::Flash,
            capacity_gb: None,
        }),
        known: known.into(),
    }
}

fn population() -> Population {
    let factors = [0.8, 0.9, 1.0, 1.1, 1.2, 1.3];
    let drives = factors.map(|f| drive(f, 4e5 * f));
    Population::start(&drives).taught(&drives).0
}

#[test]
fn each_limit_sets_the_rate_where_the_others_are_far() {
    let theta = [1e-4, 1e9, 5e5, 3e9, 5e-6].map(f64::ln);
    let rate = |threads: f64, in_flight: f64, block_bytes: f64| {
        SHAPE.log_rate(&theta, &Cell { threads, in_flight, block_bytes }).exp()
    };
    let is_near = |rate: f64, limit: f64| (0.9..=1.001).contains(&(rate / limit));
    assert!(is_near(rate(1.0, 1.0, 4096.0), 1.0 / (1e-4 + 4096.0 / 1e9)));
    assert!(is_near(rate(64.0, 4096.0, 512.0), 5e5));
    assert!(is_near(rate(64.0, 4096.0, 1e6), 3e3));
    assert!(is_near(rate(1.0, 4096.0, 512.0), 2e5));
}

#[test]
fn known_cells_return_and_near_cells_have_narrower_intervals_than_far_ones() {
    let population = population();
    let mut known = drive(1.05, 3e5);
    let all = population.predict(&known, &CELLS.map(cell));
    for (found, (_, rate)) in all.iter().zip(&known.known) {
        assert!((found.centre - rate.ln()).abs() < 0.03, "{found:?} {rate}");
    }
    known.known.retain(|(cell, _)| cell.threads == 16.0);
    let [near, far] =
        [(16, 8192), (16, 262_144)].map(|c| population.predict(&known, &[cell(c)])[0]);
    assert!(near.half_width < far.half_width, "{near:?} {far:?}");
}

#[test]
fn ratings_move_the_prediction_of_an_unseen_drive_and_their_absence_widens_it() {
    let population = population();
    let at = |rated: Option<f64>| {
        let rated = rated.map(|iops| Rated {
            random_iops: iops,
            sequential_bytes_per_s: 5e3 * iops,
            kind: Kind::Flash,
            capacity_gb: None,
        });
        population.predict(&DriveReads { rated, known: Vec::new() }, &[cell((64, 512))])[0]
    };
    let (slow, fast, unknown) = (at(Some(1e5)), at(Some(4e5)), at(None));
    assert!(fast.centre > slow.centre + 0.3, "{slow:?} {fast:?}");
    assert!(unknown.half_width > fast.half_width, "{unknown:?} {fast:?}");
}

#[test]
fn no_more_is_expected_of_ratings_than_any_drive_gave_of_its_own() {
    let mut drives = [drive(1.0, 4e5), drive(1.1, 5e5)];
    let rated = drives[0].rated.unwrap();
    let [small, long] = [cell((64, 512)), cell((64, 262_144))];
    let at = |drives: &[DriveReads], cell| Population::start(drives).most(&rated, cell);
    assert_eq!(at(&drives, &small), 4e5);
    assert_eq!(at(&drives, &long), 5e3 * 4e5 / 262_144.0);
    drives[1].known.push((small, 6e5));
    assert!((at(&drives, &small) - 4.8e5).abs() < 1.0);
}

#[test]
fn cells_that_contradict_the_curve_widen_the_intervals() {
    let population = population();
    let honest = drive(1.0, 4e5);
    let mut odd = honest.clone();
    for (place, (_, rate)) in odd.known.iter_mut().enumerate() {
        *rate *= if place % 2 == 0 { 1.6 } else { 0.6 };
    }
    let width = |d: &DriveReads| population.predict(d, &[cell((32, 8192))])[0].half_width;
    assert!(width(&odd) > 1.5 * width(&honest), "{} {}", width(&odd), width(&honest));
}

#[test]
fn the_shape_that_is_searched_has_no_less_evidence() {
    let drives: Vec<DriveReads> = [0.8, 1.0, 1.3].map(|f| drive(f, 4e5 * f)).into();
    let (_, least) = Population::start(&drives).taught(&drives);
    let searched = Population::searched(&drives);
    assert!(searched.taught(&drives).1 >= least - 0.5);
}

/// Drives that give a third of their ratings beside the cache, more or less.
fn beside_cache(share: f64) -> DriveReads {
    let iops = 6e5 * share;
    DriveReads {
        rated: Some(Rated::in_use(6e5, 3000.0, Kind::Cached)),
        known: vec![(cell((64, 512)), iops)],
    }
}

#[test]
fn reads_beside_a_cache_are_fewer_than_its_rating_and_others_stay_what_they_were() {
    let plain = population();
    let drives = [0.2, 0.25, 0.3, 0.35].map(beside_cache);
    let taught = plain.clone().with_kinds(&drives);
    let at = |population: &Population, bits: u32| {
        let rated = Some(Rated::in_use(6e5, 3000.0, Kind::of_flash(bits)));
        let drive = DriveReads { rated, known: Vec::new() };
        population.predict(&drive, &[cell((64, 512))])[0]
    };
    let (before, after) = (at(&plain, 3), at(&taught, 3));
    let truth = (0.27 * 6e5_f64).ln();
    assert!((after.centre - truth).abs() < 0.15, "{after:?} {truth}");
    assert!(before.centre > truth + 0.3, "{before:?}");
    assert_eq!(at(&plain, 2), at(&taught, 2));
    // Twice the capacity is twice the dies; as usual, it says what the rating says.
    let of_capacity = |gb, mut drive: DriveReads| {
        drive.rated.as_mut().unwrap().capacity_gb = Some(gb);
        drive
    };
    let drives = drives.clone().map(|drive| of_capacity(512.0, drive));
    let taught = plain.clone().with_kinds(&drives);
    let unseen = |gb| of_capacity(gb, rated(6e5, 3000.0, Kind::Cached, Vec::new()));
    let at_capacity = |gb| taught.predict(&unseen(gb), &[cell((64, 512))])[0];
    let [half, usual, twice] = [256.0, 512.0, 1024.0].map(at_capacity);
    assert!(half.centre + 0.2 < usual.centre && usual.centre + 0.1 < twice.centre);
    assert!((usual.centre - truth).abs() < 0.2, "{usual:?} {truth}");
    assert_eq!(taught.teachers(&drives[0]), plain.teachers(&drives[0]) + 4);
    assert!(plain.beside_cache(&drives[..1], true).is_none());
}

fn rated(iops: f64, mb: f64, kind: Kind, known: Vec<(Cell, f64)>) -> DriveReads {
    DriveReads { rated: Some(Rated::in_use(iops, mb, kind)), known }
}

#[test]
fn kinds_of_which_the_drives_say_nothing_are_predicted_from_what_limits_them() {
    let sata = |iops, share| {
        let known = vec![(cell((32, 4096)), iops * share)];
        rated(iops, 560.0, Kind::Sata, known)
    };
    let drives = [sata(98e3, 1.0), sata(82e3, 0.9)];
    let plain = population();
    let all = plain.clone().with_kinds(&drives);
    // A SATA drive gives what it is rated for at any depth beyond its queue, the long reads what
    // the link carries.
    let unseen = rated(9e4, 540.0, Kind::Sata, Vec::new());
    let cells = [(16, 4096), (64, 4096), (64, 262_144)].map(cell);
    let [at_16, at_64, long] = [0, 1, 2].map(|n| all.iops(&unseen, &cells)[n]);
    assert!(at_64[0] > 0.85 * 9e4 && at_64[2] <= 1.06 * 9e4, "{at_64:?}");
    assert!(at_16[0] > 0.7 * 9e4, "{at_16:?}");
    assert!((0.8..1.05).contains(&(long[0] * 262_144.0 / 540e6)), "{long:?}");
    // 3D XPoint of which no drive is known: saturated at 16 in flight, by bytes; as wide as its
    // assumptions.
    let unseen = rated(5.5e5, 2400.0, Kind::XPoint, Vec::new());
    let [at_16, at_64, _] = [0, 1, 2].map(|n| all.iops(&unseen, &cells)[n]);
    assert!(at_16[0] > 4e5 && at_64[0] < 1.15 * at_16[0], "{at_16:?} {at_64:?}");
    assert!(at_64[1] < 0.75 * at_64[0] && at_64[2] <= 1.051 * 2400e6 / 4096.0);
    assert_eq!((all.teachers(&drives[0]), all.teachers(&unseen)), (2, 0));
    // The others stay what they were.
    let flash = rated(4e5, 3000.0, Kind::Flash, Vec::new());
    assert_eq!(all.iops(&flash, &cells), plain.iops(&flash, &cells));
}

/// Measured of drives with three bits per cell that teach nothing, since no source states both of
/// their ratings (reference/public/measurements.csv.zst): in flight, and thousands of reads/s.
const OF_DIES: [(&str, &[(u32, f64)]); 2] = [
    // A thread each.
    ("Sabrent_Rocket4Plus_2TB", &[(2, 27.1), (8, 89.0), (32, 212.5), (64, 352.0)]),
    // One process.
    ("Samsung_EVO_2TB_zns-study", &[(1, 12.2), (8, 101.1), (16, 189.5)]),
];
/// Whatever they are rated for: reads per second, MB/s.
const RATINGS: [(f64, f64); 3] = [(4e5, 3500.0), (6.5e5, 7100.0), (1e6, 7100.0)];

#[test]
fn reads_of_three_bits_per_cell_are_predicted_at_any_number_in_flight() {
    let population = Population::of_all().unwrap();
    for (drive, reads) in OF_DIES {
        for (iops, mb) in RATINGS {
            let mut unseen = rated(iops, mb, Kind::Cached, Vec::new());
            unseen.rated.as_mut().unwrap().capacity_gb = Some(2000.0);
            for &(in_flight, thousands) in reads {
                let cell = Cell::in_flight(in_flight, 4096);
                let LogRate { centre, half_width } = population.predict(&unseen, &[cell])[0];
                let error = (thousands * 1e3_f64).ln() - centre;
                let what = format!("{drive}, {iops} rated, {in_flight} in flight: {error:.2}");
                assert!(error.abs() < half_width.min(0.4), "{what}, {half_width:.2}");
            }
        }
    }
}

#[test]
fn dies_are_a_closed_network() {
    // As many equal servers as reads, one, and so many that none waits.
    assert_eq!([served(1.0, 8.0), served(8.0, 1.0)], [1.0, 1.0]);
    assert!((served(8.0, 8.0) - 64.0 / 15.0).abs() < 1e-12);
    assert!((served(16.0, 1e9) - 16.0).abs() < 1e-6);
}
