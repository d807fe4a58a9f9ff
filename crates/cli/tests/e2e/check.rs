//! `assay check` and the statuses of `--gate`.

use crate::fixture::Fixture;

#[test]
fn a_simulated_drive_is_judged_and_marked_and_a_file_is_not_judged() {
    let fixture = Fixture::on_disk();
    let text = fixture.ok("check sim:samsung-951 --gate").stdout;
    assert!(text.contains("this drive (simulated): as expected"), "{text}");
    let check = fixture.json("check sim:samsung-951 --out kept --report page.html");
    assert_eq!(check["simulated"], true);
    assert_eq!(check["rating"], "as_expected", "{check:#}");
    assert!(fixture.text("page.html").contains("simulated"));
    // The sheet promises ten times what the drive does.
    fixture.write(
        "sheet.toml",
        "[[facts]]\ndrive = \"samsung-951\"\nsource = \"mine\"\nrated = { random_read_iops = 3000000 }\n",
    );
    let slow = "check sim:samsung-951 --datasheet sheet.toml";
    assert_eq!(fixture.json_status(slow, 0)["rating"], "far_below");
    fixture.run(&format!("{slow} --gate")).expect(1);
    fixture.noise("disk.img", 4 << 20);
    let file = fixture.json("check disk.img --gate");
    assert_eq!(file["rating"], "cannot_be_judged", "{file:#}");
}

#[test]
fn gates_of_run_and_verdict() {
    let fixture = Fixture::in_memory();
    fixture.ok("run quick sim:samsung-951 --gate --scale 0.1 --out run");
    fixture.write(
        "strict.toml",
        "[[rule]]\nabout = \"reads\"\nsuite = \"quick\"\nstep = \"random-read-most\"\nfigure = \
         \"iops\"\ngood = 9e9\nbad = 8e9\nadvice = \"slow\"\n",
    );
    fixture.ok("verdict run --policy strict.toml");
    fixture.run("verdict run --policy strict.toml --gate").expect(1);
}
