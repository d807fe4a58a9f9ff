use super::*;

#[test]
fn statuses_map_to_block_layer_errors() {
    let result = |status: u16| NvmeCommands::decode(3 | 512 << 32, i32::from(status)).result;
    assert_eq!(result(0), 512);
    assert_eq!(result(StatusCode::UNRECOVERED_READ_ERROR.0), -libc::ENODATA);
    assert_eq!(result(StatusCode::LBA_OUT_OF_RANGE.0 | 0x4000), -libc::EREMOTEIO);
    assert_eq!(result(StatusCode::GUARD_CHECK_ERROR.0), -libc::EILSEQ);
    assert_eq!(result(StatusCode::INTERNAL_ERROR.0), -libc::EIO);
    assert_eq!(NvmeCommands::decode(3, -libc::EINVAL).result, -libc::EINVAL);
}

#[expect(clippy::disallowed_methods, reason = "a command is encoded, and no drive is opened")]
fn commands(protection: Option<Protection>) -> NvmeCommands {
    NvmeCommands {
        drive: DriveHandle::new("null", std::fs::File::open("/dev/null").unwrap(), 512).unwrap(),
        append_zone_bytes: None,
        nsid: 1,
        block_bytes: 512,
        protection,
        placement: None,
        ranges: vec![DatasetRange::default(); 4],
    }
}

#[test]
fn zone_append_names_the_begin_of_the_zone() {
    let io = Io {
        op: Op::Write,
        data: assay_units::DataClass::Incompressible,
        slot: 0,
        len_bytes: 4096,
        offset_bytes: (6 << 20) + 8192,
        fua: false,
        priority: 0,
    };
    let mut commands =
        NvmeCommands { append_zone_bytes: NonZeroU64::new(2 << 20), ..commands(None) };
    let built = commands.entry(&io, std::ptr::null_mut(), false);
    // SAFETY: an entry is 128 bytes of plain numbers.
    let bytes: [u8; 128] = unsafe { std::mem::transmute(built) };
    // struct nvme_uring_cmd: the opcode is its first byte, dword 10 of the command at byte 40.
    assert_eq!(bytes[48], 0x7d);
    let slba = u64::from_le_bytes(bytes[48 + 40..][..8].try_into().unwrap());
    assert_eq!(slba, (6 << 20) / 512);
}

#[test]
fn the_controller_inserts_and_strips_protection_information() {
    // The submission entry has the command from byte 48 on: dwords 12 and 14.
    let dwords = |op, protection| {
        let io = Io {
            op,
            data: assay_units::DataClass::Incompressible,
            slot: 0,
            len_bytes: 4096,
            offset_bytes: (1 << 41) + 4096,
            fua: false,
            priority: 0,
        };
        let built = commands(protection).entry(&io, std::ptr::null_mut(), false);
        // SAFETY: an entry is 128 bytes of plain numbers.
        let bytes: [u8; 128] = unsafe { std::mem::transmute(built) };
        let dword = |at: usize| u32::from_le_bytes(bytes[48 + at..][..4].try_into().unwrap());
        (dword(48) >> 26 & 15, dword(56))
    };
    let typed = |has_reference| Some(Protection { has_reference });
    for op in [Op::Read, Op::Write] {
        assert_eq!(dwords(op, None), (0, 0));
        // PRACT, guard and reference; the reference tag is the low half of the address.
        assert_eq!(dwords(op, typed(true)), (0b1101, 8));
        assert_eq!(dwords(op, typed(false)), (0b1100, 8));
    }
    assert_eq!(dwords(Op::WriteZeroes, typed(true)), (0b1000, 8));
    assert_eq!(dwords(Op::WriteZeroes, None), (0, 0));
}

#[test]
fn writes_have_their_placement_identifiers_in_turn() {
    let io = Io {
        op: Op::Write,
        data: assay_units::DataClass::Incompressible,
        slot: 0,
        len_bytes: 4096,
        offset_bytes: 0,
        fua: false,
        priority: 0,
    };
    let mut placed = commands(None);
    placed.placement = Some(PlacementIds::new(vec![3, 5], None));
    for id in [3, 5, 3] {
        // Command dwords 12 and 13 of the entry: Directive Type 2, Directive Specific.
        // SAFETY: an entry is 128 bytes of plain numbers.
        let bytes: [u8; 128] =
            unsafe { std::mem::transmute(placed.entry(&io, std::ptr::null_mut(), false)) };
        assert_eq!(bytes[48 + 50] >> 4, 2);
        assert_eq!(bytes[48 + 54..][..2], [id, 0]);
    }
}

#[test]
fn ranges_of_abandoned_commands_are_never_freed() {
    let mut commands = commands(None);
    let discard = Io {
        op: Op::Discard,
        data: assay_units::DataClass::Incompressible,
        slot: 3,
        len_bytes: 4096,
        offset_bytes: 1 << 20,
        fua: false,
        priority: 0,
    };
    commands.entry(&discard, std::ptr::null_mut(), false);
    commands.abandon();
    assert!(commands.ranges.is_empty(), "nothing is left that could be freed");
}
