use super::*;

#[test]
fn every_profile_has_drives_of_lots() {
    for name in Profile::names() {
        let text = Profile::builtin_text(name).unwrap();
        let profile = Profile::builtin(name).unwrap();
        for seed in 0..50 {
            let drive = Profile::of_lot(text, 7, seed).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_ne!(drive, profile, "{name}");
            assert_eq!(drive.identity, profile.identity);
        }
    }
}

#[test]
fn factors_depend_on_lot_seed_and_path_alone() {
    assert_eq!(factors(7, 3), factors(7, 3));
    assert_ne!(factors(7, 3), factors(7, 4));
    assert_ne!(factors(7, 3), factors(8, 3));
    let all = factors(7, 3);
    let different = all.windows(2).filter(|pair| pair[0].factor != pair[1].factor);
    assert_eq!(different.count(), all.len() - 1);
}

#[test]
fn factors_have_the_spread_of_their_class() {
    for class in CLASSES {
        let path = class.paths[0];
        let factor = |seed| {
            let all = factors(1, seed);
            all.iter().find(|number| number.path == path).unwrap().factor.ln()
        };
        let logs: Vec<f64> = (0..2000).map(factor).collect();
        let mean = logs.iter().sum::<f64>() / 2000.0;
        let variance = logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1999.0;
        // Five standard errors, and 1.4 % for the tails cut off at three standard deviations.
        let (sigma, error) = (variance.sqrt(), class.sigma / 2000f64.sqrt());
        assert!(mean.abs() < 5.0 * error, "{}: {mean}", class.name);
        assert!((sigma / class.sigma - 1.0).abs() < 0.1, "{}: {sigma}", class.name);
        assert!(logs.iter().all(|x| x.abs() <= 3.0 * class.sigma + 1e-12));
    }
}

#[test]
fn every_path_is_a_number_of_some_profile() {
    let known: std::collections::BTreeSet<String> = Profile::names()
        .into_iter()
        .flat_map(|name| Profile::numbers(Profile::builtin_text(name).unwrap()).unwrap())
        .map(|number| number.path)
        .collect();
    for path in CLASSES.iter().flat_map(|class| class.paths) {
        assert!(known.contains(*path), "{path}");
    }
}

#[test]
fn the_spare_area_spreads_and_the_capacity_does_not() {
    let text = Profile::builtin_text("samsung-951").unwrap();
    let blocks = |seed| {
        let drive = Profile::of_lot(text, 5, seed).unwrap();
        drive.nand.blocks_per_plane.value
    };
    let blocks: std::collections::BTreeSet<u32> = (0..50).map(blocks).collect();
    assert!(blocks.len() > 3, "{blocks:?}");
}
