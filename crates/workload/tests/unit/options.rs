use super::*;

#[test]
fn the_nearer_options_win() {
    let near = JobOptions {
        bs: Some("4k".into()),
        ..JobOptions::default()
    };
    let far = JobOptions {
        bs: Some("8k".into()),
        iodepth: Some(3),
        ..JobOptions::default()
    };
    let both = near.or(&far);
    assert_eq!((both.bs.as_deref(), both.iodepth), (Some("4k"), Some(3)));
}

#[test]
fn the_command_line_repeats_the_job() {
    let options = JobOptions {
        rw: Some("randread".into()),
        bs: Some("4k".into()),
        iodepth: Some(32),
        direct: Some(false),
        verify: Some(true),
        split: Some(false),
        ..JobOptions::default()
    };
    assert_eq!(
        options.command_line(),
        "--rw randread --bs 4k --iodepth 32 --direct false --verify"
    );
    assert_eq!(JobOptions::default().command_line(), "");
}
