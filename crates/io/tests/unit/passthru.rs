use super::*;

#[test]
fn statuses_map_to_block_layer_errors() {
    let result = |status: u16| NvmeCommands::decode(3 | 512 << 32, i32::from(status)).result;
    assert_eq!(result(0), 512);
    assert_eq!(result(StatusCode::UNRECOVERED_READ_ERROR.0), -libc::ENODATA);
    assert_eq!(
        result(StatusCode::LBA_OUT_OF_RANGE.0 | 0x4000),
        -libc::EREMOTEIO
    );
    assert_eq!(result(StatusCode::INTERNAL_ERROR.0), -libc::EIO);
    assert_eq!(NvmeCommands::decode(3, -libc::EINVAL).result, -libc::EINVAL);
}

#[test]
fn ranges_of_abandoned_commands_are_never_freed() {
    let mut commands = NvmeCommands {
        _node: Arc::new(Ok(PassthruNode {
            file: std::fs::File::open("/dev/null").unwrap(),
            nsid: 1,
            max_command_bytes: None,
        })),
        nsid: 1,
        block_bytes: 512,
        ranges: vec![DatasetRange::default(); 4],
    };
    let discard = Io {
        op: Op::Discard,
        data: assay_units::DataClass::Incompressible,
        slot: 3,
        len_bytes: 4096,
        offset_bytes: 1 << 20,
        fua: false,
    };
    commands.entry(&discard, std::ptr::null_mut(), false);
    commands.abandon();
    assert!(
        commands.ranges.is_empty(),
        "nothing is left that could be freed"
    );
}
