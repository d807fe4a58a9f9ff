use assay_store::model::Warning;

use super::*;
use crate::rank::public::PublicTable;
use crate::rank::rank;
use crate::rank::tests::{measured, run};

/// A real drive's run; its serial, label, host and paths are the texts that must not get out.
fn own() -> Run {
    let mut own = measured(run("job", "randread", 123_456.0, 16 << 30));
    let drive = &mut own.manifest.drives[0];
    drive.kind = "block".to_owned();
    drive.serial = "SECRETSERIAL".to_owned();
    drive.label = "secretlabel".to_owned();
    drive.spec = "/dev/disk/by-id/secretpath".to_owned();
    own.path = "/home/secretuser/run".into();
    own.manifest.command_line = vec!["secretcommand".to_owned()];
    own.manifest.created = "2026-11-29T10:00:00Z".to_owned();
    own
}

#[test]
fn a_contribution_joins_the_table_and_names_nobody() {
    let found = contribution(&own()).unwrap();
    assert_eq!(found.figures, 2, "{}", found.csv);
    assert!(!found.csv.to_lowercase().contains("secret"), "{}", found.csv);
    let mut table = PublicTable::built_in().clone();
    let before = (table.drives.len(), table.figures.len());
    table.add(found.csv.as_bytes()).unwrap();
    assert_eq!((table.drives.len(), table.figures.len()), (before.0 + 1, before.1 + 2));
    // Another unit of the model stands beside it, the drive itself does not.
    let beside = |run: &Run| {
        let mut all = rank(run, 0, &table).figures.into_iter();
        all.find(|f| f.procedure.starts_with("contributed results"))
    };
    assert_eq!(beside(&own()), None);
    let mut other = own();
    other.manifest.drives[0].serial = "ANOTHER".to_owned();
    let found = beside(&other).unwrap();
    assert_eq!((found.of, found.rank, found.best.value), (2, 1, 123_456.0));
    assert_eq!(found.same_model, Some([123_456.0, 123_456.0]));
}

#[test]
fn what_is_no_measurement_of_a_drive_is_left_out() {
    let mut simulated = own();
    simulated.manifest.drives[0].simulated = true;
    let mut file = own();
    file.manifest.drives[0].kind = "file".to_owned();
    let mut warned = own();
    warned.warnings.push(Warning {
        code: code::SCALED.to_owned(),
        cell: None,
        drive: None,
        message: String::new(),
        advice: String::new(),
    });
    let mut zipf = own();
    zipf.cells[0].plan.workload.options.push_str(" --random_distribution zipf:1.2");
    for (other, reason) in [
        (simulated, "simulated"),
        (file, "not a drive"),
        (warned, "without a finished"),
        (zipf, "without a finished"),
    ] {
        let found = contribution(&other).unwrap();
        assert_eq!(found.figures, 0);
        assert!(found.left_out[0].contains(reason), "{:?}", found.left_out);
    }
}

#[test]
fn names_of_drives_are_no_formulas() {
    let mut own = own();
    own.manifest.drives[0].model = "=HYPERLINK(1)".to_owned();
    own.manifest.drives[0].firmware = "@1".to_owned();
    let csv = contribution(&own).unwrap().csv;
    assert!(csv.contains(",'=HYPERLINK(1),'@1,"), "{csv}");
    let fields = csv.split([',', '\n']);
    let formulas = fields.filter(|field| field.starts_with(['=', '@']));
    assert_eq!(formulas.count(), 0, "{csv}");
}

/// A refused file changes nothing.
#[test]
fn a_file_with_a_senseless_figure_is_refused() {
    let good = contribution(&own()).unwrap().csv;
    let mut table = PublicTable::default();
    for (text, reason) in [
        (good.replace("123456.0", "-1.0"), "line 2: no positive value"),
        (good.replace("123456.0", "nan"), "line 2: no positive value"),
        (good.replace("randread,4096", "randread,0"), "line 2: a block size of 0"),
        ("a,b\n1,2\n".to_owned(), "missing field"),
    ] {
        let error = table.add(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        assert!(table.drives.is_empty() && table.figures.is_empty());
    }
}
