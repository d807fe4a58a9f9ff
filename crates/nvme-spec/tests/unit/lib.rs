//! Layout and accessors of all fields; parsers on arbitrary bytes.

use proptest::prelude::*;

use crate::data_pointer::{self, SglDescriptor, SglType};
use crate::identify::{self, IdentifyController, IdentifyNamespace, NamespaceIdType};
use crate::log::LogId;
use crate::wire::{FieldLayout, Wire};
use crate::{StatusCode, admin, entry, fabrics, fdp, feature, log, nvm, opcode, register};

/// Xorshift generator.
fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }
}

macro_rules! check_all {
    ($seed:expr; $($module:ident :: { $($name:ident),* $(,)? })*) => {
        $($({
            let mut random = noise($seed ^ stringify!($name).len() as u64);
            let (fields, copies) = ($module::$name::FIELDS, $module::$name::field_copies());
            check_fields(stringify!($name), fields, &copies, &mut random);
            assert_eq!($module::$name::read_from(&[0; $module::$name::SIZE - 1]), None);
        })*)*
    };
}

/// Copies each field between structures of random bytes: its bits change as in its layout, and no
/// others.
fn check_fields<T: Wire + std::fmt::Debug>(
    structure: &str,
    fields: &[FieldLayout],
    copies: &[fn(&T, &mut T)],
    random: &mut dyn FnMut() -> u64,
) {
    let mut bytes = || -> Vec<u8> { (0..T::BYTES).map(|_| random() as u8).collect() };
    let stored = |value: T| {
        let mut bytes = vec![0; T::BYTES];
        value.store(&mut bytes);
        bytes
    };
    assert_eq!(fields.len(), copies.len());
    for (field, copy) in fields.iter().zip(copies) {
        let (before, source) = (bytes(), bytes());
        let mut after = T::load(&before);
        copy(&T::load(&source), &mut after);
        assert_only(&before, &stored(after), &source, field);
    }
    let noise = bytes();
    assert_eq!(stored(T::load(&noise)), noise);
    assert!(!format!("{:?}", T::load(&noise)).is_empty());
    assert_disjoint(structure, fields);
}

/// Only the bits of the field changed, to those of `source`.
fn assert_only(before: &[u8], after: &[u8], source: &[u8], field: &FieldLayout) {
    let bit = |bytes: &[u8], bit: usize| bytes[bit / 8] >> (bit % 8) & 1;
    for at in 0..before.len() * 8 {
        let inside = (field.first_bit..field.first_bit + field.bits).contains(&at);
        let expected = bit(if inside { source } else { before }, at);
        assert_eq!(bit(after, at), expected, "field {}, bit {at}", field.name);
    }
}

/// No two fields share a bit.
fn assert_disjoint(structure: &str, fields: &[FieldLayout]) {
    let mut sorted = fields.to_vec();
    sorted.sort_by_key(|field| field.first_bit);
    for pair in sorted.windows(2) {
        let end = pair[0].first_bit + pair[0].bits;
        let names = (pair[0].name, pair[1].name);
        assert!(end <= pair[1].first_bit, "{structure}: overlap of {names:?}");
    }
}

#[test]
fn fields_have_their_layout() {
    for seed in 1..20 {
        check_all! { seed * 0x9e37_79b9;
            entry::{SubmissionEntry, CompletionEntry}
            admin::{
                CreateCompletionQueue, CreateSubmissionQueue, DeleteSubmissionQueue, DeleteCompletionQueue, IdentifyCommand, GetFeatures,
                SetFeatures, Abort, AsyncEventRequest, DeviceSelfTest, FormatNvm, Sanitize,
            }
            nvm::{Read, Write, Compare, Verify, Flush, DatasetManagement, DatasetRange}
            identify::{PowerStateDescriptor, LbaFormat, IndependentNamespace, NvmController}
            log::{
                ErrorEntry, FirmwareSlotLog, CommandEffect, TelemetryHeader, SanitizeLog, SupportedPage, SmartLog, SelfTestResult,
                SelfTestLog, OcpSmartLog, IntelSmartItem, IntelSmartLog, WdcStatisticsLog,
            }
            feature::{
                FeatureSwitch, PowerManagement, TemperatureThreshold, ErrorRecovery, NumberOfQueues, InterruptCoalescing, InterruptVector,
                AsyncEventConfig, AsyncEvent, AutonomousTransition, AutonomousTable, HostThermal, HostMemoryBuffer, HostMemoryDescriptor,
            }
            fdp::{
                FdpFeature, FdpConfigurationsHead, FdpConfiguration, HandleDescriptor, HandleUsageHead, HandleUsage, FdpStatistics,
                HandleStatusHead, HandleStatus, EnduranceGroupLog, IoManagementReceive, IoManagementSend, FdpEventsHead, FdpEvent,
                FdpEventsSelection, FdpEventDescriptor,
            }
            fabrics::{PduHeader, InitializePdu, TerminatePdu, DataPdu, Connect, ConnectError, Property}
            data_pointer::{SglDescriptor}
            register::{Capabilities, Version, Configuration, ControllerStatus, AdminQueueAttributes}
        }
    }
    // Large structures: fewer rounds.
    for seed in 1..4 {
        check_all! { seed;
            admin::{GetLogPage}
            nvm::{WriteZeroes}
            identify::{IdentifyController, IdentifyNamespace}
            log::{CommandEffectsLog, SupportedPagesLog}
            fabrics::{ConnectData, DiscoveryHead, DiscoveryEntry}
            feature::{Timestamp, HostMemoryAttributes}
        }
    }
}

/// Bytes from the specification and from dumps of drives.
#[test]
fn well_known_bytes() {
    // Identify Controller, CID 7, PRP1 0x1234000.
    let mut command = admin::IdentifyCommand::new();
    command.set_cid(7).set_cns(1);
    let mut sqe = command.entry();
    sqe.set_prps(0x0123_4000, 0);
    let dwords: Vec<u32> = sqe.as_bytes().chunks(4).map(u32::load).collect();
    assert_eq!(dwords, [0x0007_0006, 0, 0, 0, 0, 0, 0x0123_4000, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
    // A read of 8 blocks from 0x1_0000_0002 with FUA.
    let mut read = nvm::Read::for_blocks(1, 0x1_0000_0002, 8);
    read.set_fua(true);
    let sqe = read.entry();
    assert_eq!(
        (sqe.opcode(), sqe.nsid(), sqe.cdw10(), sqe.cdw11(), sqe.cdw12()),
        (2, 1, 2, 1, 0x4000_0007)
    );
    // Write with placement identifier 3: Directive Type 2 and Directive Specific.
    let mut write = nvm::Write::for_blocks(1, 0, 1);
    write.set_directive(fdp::DATA_PLACEMENT).set_directive_specific(3);
    let sqe = write.entry();
    assert_eq!((sqe.cdw12(), sqe.cdw13()), (2 << 20, 3 << 16));
    // Unrecovered Read Error, phase 1, do not retry: 81h of type 2h.
    let mut cqe = entry::CompletionEntry::default();
    cqe.set_status(StatusCode::UNRECOVERED_READ_ERROR).set_phase(true).set_do_not_retry(true);
    assert_eq!(cqe.status_field(), 0x8503);
    // SMART: 307 K, 5 GB read, as nvme-cli's raw output has them.
    let mut smart = [0; 512];
    smart[1..3].copy_from_slice(&[0x33, 0x01]);
    smart[32] = 10;
    let smart = log::SmartLog::from_bytes(smart);
    assert_eq!((smart.composite_celsius(), smart.data_units_read()), (34, 10));
    // CAP of QEMU's controller: 2048 entries, contiguous, 7.5 s, NVM and admin-only sets, pages of
    // 4 KiB to 64 KiB.
    let cap = register::Capabilities::from_raw(0x0040_0020_0f01_07ff);
    assert_eq!(
        (cap.mqes(), cap.contiguous_queues(), cap.timeout(), cap.css(), cap.mps_max()),
        (0x7ff, true, 15, 1, 4)
    );
    assert_eq!(register::Version::parse("1.4").unwrap().raw(), 0x0001_0400);
    assert_eq!(register::Version::parse("1.2.1").unwrap().to_string(), "1.2.1");
    for bad in ["", "1", "SATA", "1.2.3.4", "1.x", "1.2.999"] {
        assert_eq!(register::Version::parse(bad), None, "{bad}");
    }
    assert_eq!((register::sq_doorbell(3, 0), register::cq_doorbell(3, 0)), (0x1018, 0x101c));
    assert_eq!(register::sq_doorbell(1, 2), 0x1020);
    assert_eq!(log::OCP_GUID[..3], [0xc5, 0xaf, 0x10]);
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = StatusCode::NAMED.iter().map(|code| code.name().unwrap()).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
    assert_eq!(StatusCode::new(2, 0x85).to_string(), "Compare Failure");
    assert_eq!(StatusCode::new(7, 0x85).to_string(), "0x785");
    assert!(StatusCode::SUCCESS.is_success() && !StatusCode::COMPARE_FAILURE.is_success());
    assert_eq!(opcode::NvmOpcode(0x0c).to_string(), "Verify");
    let warnings: Vec<_> = log::CriticalWarning::names(0b10_0010).collect();
    assert_eq!(warnings, ["temperature threshold exceeded", "persistent memory region unreliable"]);
}

#[test]
fn power_is_stored_in_the_finest_unit_that_fits() {
    let mut state = identify::PowerStateDescriptor::default();
    for milliwatts in [5, 70, 6_553, 6_554, 9_000, 25_000] {
        state.set_max_power_mw(milliwatts).set_idle_power_mw(milliwatts);
        let expected = if milliwatts > 6_553 {
            u64::from(milliwatts.div_ceil(10)) * 10_000
        } else {
            u64::from(milliwatts) * 1000
        };
        assert_eq!((state.max_power_uw(), state.idle_power_uw()), (expected, Some(expected)));
    }
    assert_eq!(state.active_power_uw(), None);
}

/// All parsers of external data.
fn parse_all(bytes: &[u8]) {
    if let Some(data) = IdentifyController::read_from(bytes) {
        let _ = (data.serial(), data.model(), data.firmware(), data.max_transfer_bytes(15));
        assert!((1..=32).contains(&data.power_state_descriptors().count()));
        for state in data.power_state_descriptors() {
            let _ = (state.max_power_uw(), state.idle_power_uw(), state.active_power_uw());
        }
        assert!(format!("{data:?}").contains("serial_number"));
    }
    if let Some(data) = IdentifyNamespace::read_from(bytes) {
        assert!(usize::from(data.format_index()) < identify::LBA_FORMATS);
        let _ = data.size_bytes();
        assert!(data.formats().filter_map(|format| format.block_bytes()).all(u64::is_power_of_two));
    }
    assert!(identify::namespace_list(bytes).count() <= 1024);
    let taken: usize =
        identify::namespace_descriptors(bytes).map(|descriptor| 4 + descriptor.id.len()).sum();
    assert!(taken <= bytes.len());
    if let Some(data) = log::SmartLog::read_from(bytes) {
        let _ = (data.composite_celsius(), data.sensors_celsius().count());
    }
    assert!(log::error_entries(bytes).count() <= bytes.len() / 64);
    for error in log::error_entries(bytes) {
        let _ = error.status().to_string();
    }
    if let Some(data) = log::FirmwareSlotLog::read_from(bytes) {
        assert!(
            data.slots().all(|(slot, revision)| (1..=7).contains(&slot) && revision.len() <= 8)
        );
    }
    if let Some(data) = log::OcpSmartLog::read_from(bytes) {
        let _ = data.is_ocp();
    }
    if let Some(data) = log::SanitizeLog::read_from(bytes) {
        let _ = data.sanitize_state().to_string();
    }
    if let Some(sqe) = entry::SubmissionEntry::read_from(bytes) {
        let _ = sqe.sgl1().sgl_type().to_string();
        let _ = (admin::GetLogPage::from(sqe).dwords(), admin::FormatNvm::from(sqe).lba_format());
        assert!((1..=65_536).contains(&nvm::Read::from(sqe).blocks()));
        assert_eq!(admin::FormatNvm::from(sqe).entry(), sqe);
    }
    if let Some(cqe) = entry::CompletionEntry::read_from(bytes) {
        let _ = (cqe.status().to_string(), cqe.status_field());
    }
}

/// A valid data structure.
fn valid_identify() -> Vec<u8> {
    let mut data = IdentifyController::default();
    data.set_power_states(4).set_mdts(5).set_serial_number(crate::wire::padded("S1"));
    let mut list = data.as_bytes().to_vec();
    list.truncate(64);
    identify::push_descriptor(&mut list, NamespaceIdType::NGUID, &[7; 16]);
    list.resize(4096, 0);
    list
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..5000)) {
        parse_all(&bytes);
    }

    #[test]
    fn mutated_pages_never_panic(changes in prop::collection::vec((0_usize..4096, any::<u8>()), 0..40), keep in 0_usize..=4096) {
        let mut bytes = valid_identify();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes.truncate(keep);
        parse_all(&bytes);
    }

    #[test]
    fn descriptors_round_trip(ids in prop::collection::vec((1_u8..5, prop::collection::vec(any::<u8>(), 1..40)), 0..20)) {
        let mut list = Vec::new();
        for (kind, id) in &ids {
            identify::push_descriptor(&mut list, NamespaceIdType(*kind), id);
        }
        list.resize(identify::DATA_BYTES.max(list.len()), 0);
        let back: Vec<_> = identify::namespace_descriptors(&list).map(|descriptor| (descriptor.kind.0, descriptor.id.to_vec())).collect();
        prop_assert_eq!(back, ids);
    }

    #[test]
    fn commands_have_the_fields_they_were_created_with(offset: u64, len in 1_u32..=u32::MAX, slba: u64, blocks in 1_u32..=65_536, index in 0_u8..64) {
        let get = admin::GetLogPage::for_log(LogId::SMART, offset, len);
        prop_assert_eq!((get.lid(), get.offset(), get.dwords()), (2, offset, u64::from(len.div_ceil(4))));
        prop_assert_eq!(get.entry().opcode(), 2);
        let write = nvm::Write::for_blocks(3, slba, blocks);
        prop_assert_eq!((write.slba(), write.blocks(), write.nsid()), (slba, blocks, 3));
        let mut format = admin::FormatNvm::new();
        format.set_lba_format(index);
        prop_assert_eq!(format.lba_format(), index);
        let mut sqe = write.entry();
        let descriptor = SglDescriptor::new(SglType::LAST_SEGMENT, slba, 48);
        sqe.set_sgl1(descriptor);
        prop_assert_eq!((sqe.sgl1(), sqe.psdt()), (descriptor, 1));
        let mut cqe = entry::CompletionEntry::default();
        cqe.set_status(StatusCode(index.into()));
        prop_assert_eq!(cqe.status(), StatusCode(index.into()));
    }
}
