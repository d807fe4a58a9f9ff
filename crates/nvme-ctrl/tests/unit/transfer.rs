use super::*;
use crate::memory::FlatMemory;
use proptest::prelude::*;

const PAGE: u64 = 4096;
const SIZE: usize = 64 << 12;

fn entry(prp1: u64, prp2: u64) -> DataPointer {
    let mut entry = SubmissionEntry::default();
    entry.set_prps(prp1, prp2);
    DataPointer::new(&entry)
}

fn sgl(descriptor: SglDescriptor) -> DataPointer {
    let mut entry = SubmissionEntry::default();
    entry.set_sgl1(descriptor);
    DataPointer::new(&entry)
}

fn all(
    pointer: DataPointer,
    memory: &FlatMemory,
    len: u64,
) -> Result<Vec<(u64, usize)>, StatusCode> {
    let mut segments = pointer.segments(len, PAGE, true);
    let mut out = Vec::new();
    while let Some(segment) = segments.next(memory)? {
        out.push((if segment.is_bit_bucket { u64::MAX } else { segment.address }, segment.len));
    }
    Ok(out)
}

fn put(memory: &mut FlatMemory, at: u64, entries: &[u64]) {
    for (n, entry) in (0..).zip(entries) {
        memory.write(at + n * 8, &entry.to_le_bytes()).unwrap();
    }
}

fn put_sgl(memory: &mut FlatMemory, at: u64, list: &[SglDescriptor]) {
    for (n, descriptor) in (0..).zip(list) {
        memory.write(at + n * 16, descriptor.as_bytes()).unwrap();
    }
}

#[test]
fn one_page_two_pages_and_a_list() {
    let mut memory = FlatMemory::new(0, SIZE);
    assert_eq!(all(entry(0x1800, 0), &memory, 0x800), Ok(vec![(0x1800, 0x800)]));
    assert_eq!(
        all(entry(0x1800, 0x3000), &memory, 0x1000),
        Ok(vec![(0x1800, 0x800), (0x3000, 0x800)])
    );
    put(&mut memory, 0x5010, &[0x8000, 0x6000]);
    let expected = vec![(0x1ffc, 4), (0x8000, 4096), (0x6000, 100)];
    assert_eq!(all(entry(0x1ffc, 0x5010), &memory, 4200), Ok(expected));
    assert_eq!(entry(0x1800, 0).single(0x800, PAGE), Some(0x1800));
    assert_eq!(entry(0x1800, 0).single(0x801, PAGE), None);
    assert_eq!(entry(0x1801, 0).single(1, PAGE), None);
}

#[test]
fn a_prp_list_continues_in_another_page() {
    let mut memory = FlatMemory::new(0, SIZE);
    // Two entries are left in the first page of the list: one page, then the next page of the list.
    put(&mut memory, 0x5ff0, &[0x8000, 0x7000]);
    put(&mut memory, 0x7000, &[0x9000, 0xa000]);
    let expected: Vec<_> = [0x1000, 0x8000, 0x9000, 0xa000].map(|at| (at, 4096)).into();
    assert_eq!(all(entry(0x1000, 0x5ff0), &memory, 4 * PAGE), Ok(expected));
    // For one page less, the last entry of the page is one of data.
    let expected: Vec<_> = [0x1000, 0x8000, 0x7000].map(|at| (at, 4096)).into();
    assert_eq!(all(entry(0x1000, 0x5ff0), &memory, 3 * PAGE), Ok(expected));
}

#[test]
fn invalid_offsets_and_addresses_have_their_statuses() {
    let mut memory = FlatMemory::new(0, SIZE);
    let offset = Err(StatusCode::INVALID_PRP_OFFSET);
    assert_eq!(all(entry(0x1002, 0), &memory, 8), offset);
    assert_eq!(all(entry(0x1000, 0x2010), &memory, 2 * PAGE), offset);
    assert_eq!(
        all(entry(0x1000, 0x2004), &memory, 3 * PAGE),
        offset,
        "a list is aligned to 8 bytes"
    );
    put(&mut memory, 0x2000, &[0x3008]);
    assert_eq!(all(entry(0x1000, 0x2000), &memory, 3 * PAGE), offset);
    put(&mut memory, 0x2ff8, &[0x3008]);
    assert_eq!(
        all(entry(0x1000, 0x2ff8), &memory, 3 * PAGE),
        offset,
        "further pages of a list are page-aligned"
    );
    assert_eq!(
        all(entry(0x1000, 1 << 40), &memory, 3 * PAGE),
        Err(StatusCode::DATA_TRANSFER_ERROR)
    );
    assert_eq!(
        entry(1 << 40, 0).check(&memory, 512, PAGE, true),
        Err(StatusCode::DATA_TRANSFER_ERROR)
    );
}

#[test]
fn scatter_gather_lists() {
    let mut memory = FlatMemory::new(0, SIZE);
    let data = |at, len| SglDescriptor::new(SglType::DATA_BLOCK, at, len);
    assert_eq!(
        all(sgl(data(0x1003, 600)), &memory, 512),
        Ok(vec![(0x1003, 512)]),
        "any address, longer than needed"
    );
    assert_eq!(all(sgl(data(0, 511)), &memory, 512), Err(StatusCode::INVALID_SGL_DATA_LENGTH));
    put_sgl(
        &mut memory,
        0x3000,
        &[data(1, 100), data(9, 0), SglDescriptor::new(SglType::SEGMENT, 0x4000, 48)],
    );
    let bucket = SglDescriptor::new(SglType::BIT_BUCKET, 0, 50);
    put_sgl(
        &mut memory,
        0x4000,
        &[bucket, data(500, 12), SglDescriptor::new(SglType::LAST_SEGMENT, 0x5000, 16)],
    );
    put_sgl(&mut memory, 0x5000, &[data(9000, 350)]);
    let first = sgl(SglDescriptor::new(SglType::SEGMENT, 0x3000, 48));
    assert_eq!(
        all(first, &memory, 512),
        Ok(vec![(1, 100), (u64::MAX, 50), (500, 12), (9000, 350)])
    );
    // A Bit Bucket is ignored in transfers to the controller.
    let mut bytes = [0; 462];
    assert_eq!(first.gather(&memory, &mut bytes, PAGE), Ok(()));
    let short = |descriptor| all(sgl(descriptor), &memory, 512);
    let wrong = Err(StatusCode::INVALID_SGL_SEGMENT);
    assert_eq!(short(SglDescriptor::new(SglType::SEGMENT, 0x3000, 0)), wrong);
    assert_eq!(short(SglDescriptor::new(SglType::LAST_SEGMENT, 0x3000, 40)), wrong);
    assert_eq!(
        short(SglDescriptor::new(SglType::LAST_SEGMENT, 0x3000, 48)),
        wrong,
        "the last segment has no successor"
    );
    assert_eq!(
        short(SglDescriptor::new(SglType::SEGMENT, 0x4000, 80)),
        Err(StatusCode::INVALID_SGL_SEGMENT),
        "not the last descriptor"
    );
    assert_eq!(
        short(SglDescriptor::new(SglType::KEYED_DATA_BLOCK, 0, 512)),
        Err(StatusCode::INVALID_SGL_TYPE)
    );
    let mut offset = data(0, 512);
    offset.set_sub_type(1);
    assert_eq!(short(offset), Err(StatusCode::INVALID_SGL_TYPE));
    assert_eq!(
        short(SglDescriptor::new(SglType::SEGMENT, 1 << 50, 16)),
        Err(StatusCode::DATA_TRANSFER_ERROR)
    );
}

#[test]
fn a_looping_sgl_ends() {
    let mut memory = FlatMemory::new(0, SIZE);
    put_sgl(&mut memory, 0x3000, &[SglDescriptor::new(SglType::SEGMENT, 0x3000, 16)]);
    let pointer = sgl(SglDescriptor::new(SglType::SEGMENT, 0x3000, 16));
    assert_eq!(all(pointer, &memory, 512), Err(StatusCode::INVALID_SGL_COUNT));
}

proptest! {
    /// A transfer by any PRP list equals a plain copy.
    #[test]
    fn prp_transfers_copy_bytes(offset in 0_u64..1024, len in 1_usize..200_000, order: u64) {
        let offset = offset * 4;
        let pages = prp_pages(offset, len);
        // The first half of memory holds the lists, the second half the pages in random order.
        let mut memory = FlatMemory::new(0, 1 << 21);
        let mut addresses: Vec<u64> = (0..pages as u64).map(|n| (1 << 20) + n * PAGE).collect();
        addresses.sort_by_key(|address| (address ^ order).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let pointer = match addresses[..] {
            [] => unreachable!(),
            [one] => entry(one + offset, 0),
            [one, two] => entry(one + offset, two),
            [one, ref rest @ ..] => {
                // A list that begins near the end of a page, so that it crosses into the next.
                put_chained(&mut memory, 0x1000 + PAGE - 8 * (1 + order % 64), rest);
                entry(one + offset, 0x1000 + PAGE - 8 * (1 + order % 64))
            }
        };
        let bytes: Vec<u8> = (0..len).map(|n| (n * 7 + n / 251) as u8).collect();
        prop_assert_eq!(pointer.check(&memory, len as u64, PAGE, true), Ok(()));
        pointer.scatter(&mut memory, &bytes, PAGE).unwrap();
        let mut back = vec![0; len];
        pointer.gather(&memory, &mut back, PAGE).unwrap();
        prop_assert_eq!(&back, &bytes);
        let mut plain = vec![0; len];
        let first = (PAGE - offset) as usize;
        let mut at = 0;
        for (n, address) in addresses.iter().enumerate() {
            let (from, room) = if n == 0 { (offset, first) } else { (0, 4096) };
            let part = room.min(len - at);
            memory.read(address + from, &mut plain[at..at + part]).unwrap();
            at += part;
        }
        prop_assert_eq!(plain, bytes);
    }
}

/// PRP entries of data at `offset`: only the first page may have one.
fn prp_pages(offset: u64, len: usize) -> usize {
    if len == 0 {
        return 0;
    }
    ((offset & (PAGE - 1)) + len as u64).div_ceil(PAGE) as usize
}

#[test]
fn counts_pages() {
    assert_eq!(prp_pages(0x1000, 0), 0);
    assert_eq!(prp_pages(0x1000, 4096), 1);
    assert_eq!(prp_pages(0x1200, 4096), 2);
    assert_eq!(prp_pages(0x1ffc, 5), 2);
    assert_eq!(prp_pages(0x1ffc, 4), 1);
}

/// A PRP list in consecutive pages from `at` on.
fn put_chained(memory: &mut FlatMemory, at: u64, addresses: &[u64]) {
    let mut at = at;
    for (n, address) in addresses.iter().enumerate() {
        let is_last_slot = at % PAGE == PAGE - 8;
        if is_last_slot && n + 1 < addresses.len() {
            put(memory, at, &[at + 8]);
            at += 8;
        }
        put(memory, at, &[*address]);
        at += 8;
    }
}
