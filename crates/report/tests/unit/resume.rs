use super::*;

fn command(folder: &str, line: &str) -> String {
    let words: Vec<String> = line.split('|').map(str::to_owned).collect();
    resume_command(Path::new(folder), &words)
}

#[test]
fn permission_and_power_meter_are_given_again_and_nothing_else() {
    let line = "assay|run|bandwidth|a.img|--destroy=a.img|--scale|0.\
                1|--destroy|ext4|--power-meter|read power|--out|r";
    assert_eq!(
        command("r", line),
        "assay run --resume r --destroy a.img --destroy ext4 --power-meter 'read power'"
    );
}

#[test]
fn a_run_that_only_reads_needs_its_folder_only() {
    assert_eq!(
        command("it's here", "assay|run|quick|sim:samsung-951"),
        r"assay run --resume 'it'\''s here'"
    );
}
