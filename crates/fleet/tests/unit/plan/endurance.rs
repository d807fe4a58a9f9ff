use assay_units::Nanos;
use assay_units::endurance::RatedEndurance;

use super::*;
use crate::assignment::tests::inventory;
use crate::inventory::Wear;

fn plan(drives: &str) -> Plan {
    let text = format!(
        "name = \"x\"\nsuites = [{{ suite = \"quick\" }}]\n[drives]\nmodel = \
         \"M\"\n{drives}\n[store]\nat = \"/s\"\n"
    );
    Plan::parse("plan.toml", &text, &|_| Err(std::io::ErrorKind::NotFound.into())).unwrap()
}

fn drive(rated_bytes: Option<u64>, interface_bytes_per_s: Option<u64>) -> InventoryDrive {
    let rated = rated_bytes
        .map(|media_bytes| RatedEndurance { source: CounterSource::EnduranceGroup, media_bytes });
    InventoryDrive {
        interface_bytes_per_s,
        wear: Some(Wear { percentage_used: 3, written_bytes: 1, rated }),
        ..inventory("h", &["A1"]).drives.remove(0)
    }
}

/// 1 TB by size and a minute of writing.
const ESTIMATE: Estimate = Estimate {
    span: Nanos(0),
    cells: 2,
    written_bytes: 1_000_000_000_000,
    writing: Nanos(60_000_000_000),
};

#[test]
fn shares_of_size_and_of_the_interface() {
    let drive = drive(Some(100_000_000_000_000), Some(2_000_000_000));
    let share = EnduranceShare::new(&plan(""), &drive, &ESTIMATE);
    assert_eq!(share.most_bytes, Some(1_120_000_000_000));
    assert_eq!(share.percent(share.by_size_bytes), Some(1.0));
    let most_pct = share.percent(1_120_000_000_000).unwrap();
    assert!((most_pct - 1.12).abs() < 1e-9, "{most_pct}");
    assert_eq!(share.rated_by, Some(CounterSource::EnduranceGroup));
    assert_eq!(share.keeps(1.13), Ok(()));
    let over = share.keeps(1.0).unwrap_err();
    assert_eq!(over.code(), "over_endurance_limit");
    assert!(over.to_string().contains("could write 1.1 % of its rated endurance"), "{over}");
    // The plan's rating precedes the log's.
    let share = EnduranceShare::new(&plan("endurance_tb = 10"), &drive, &ESTIMATE);
    assert_eq!((share.rated_bytes, share.rated_by), (Some(10_000_000_000_000), None));
    assert_eq!(share.percent(share.by_size_bytes), Some(10.0));
    let text = share.to_string();
    assert!(text.ends_with("of 9.09 TiB rated by the plan; 3 % used before"), "{text}");
}

#[test]
fn a_limit_that_cannot_be_judged_is_not_kept() {
    let of = |rated, rate, estimate: &Estimate| {
        let share = EnduranceShare::new(&plan(""), &drive(rated, rate), estimate);
        share.keeps(50.0).map_err(|why| why.code())
    };
    let rated = Some(100_000_000_000_000);
    assert_eq!(of(None, Some(1), &ESTIMATE), Err("no_rated_endurance"));
    assert_eq!(of(Some(0), Some(1), &ESTIMATE), Err("no_rated_endurance"));
    assert_eq!(of(rated, None, &ESTIMATE), Err("no_write_bound"));
    let by_size = Estimate { writing: Nanos(0), ..ESTIMATE };
    assert_eq!(of(rated, None, &by_size), Ok(()));
    let read_only = Estimate { written_bytes: 0, ..by_size };
    assert_eq!(of(None, None, &read_only), Ok(()));
    // Sums that exceed 64 bits stay at their maximum.
    let huge = Estimate { writing: Nanos(u64::MAX), ..ESTIMATE };
    assert_eq!(of(rated, Some(u64::MAX), &huge), Err("over_endurance_limit"));
}
