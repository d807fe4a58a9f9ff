use super::*;
use proptest::prelude::*;

const IMAGE_BYTES: usize = 4 << 20;

/// An image with some bytes written into it.
fn image(size: usize, pieces: &[(usize, &[u8])]) -> Vec<u8> {
    let mut image = vec![0; size];
    for (offset, bytes) in pieces {
        image[*offset..*offset + bytes.len()].copy_from_slice(bytes);
    }
    image
}

/// The window of an image in memory.
fn window_of(image: &[u8]) -> Window {
    let length = image.len().min(WINDOW_BYTES as usize);
    Window {
        head: image[..length].to_vec(),
        tail: image[image.len() - length..].to_vec(),
        size_bytes: image.len() as u64,
    }
}

fn words(pieces: &[(usize, &[u8])]) -> Vec<String> {
    detect(&window_of(&image(IMAGE_BYTES, pieces)))
        .into_iter()
        .inspect(|found| assert!(is_kind(&found.word), "{}", found.word))
        .map(|f| f.word)
        .collect()
}

/// Superblock fields: blocks, magic, and the three feature sets.
fn ext_words(compat: u32, incompat: u32, ro_compat: u32) -> Vec<String> {
    words(&[
        (0x404, &[1]),
        (0x438, &[0x53, 0xEF]),
        (0x45C, &compat.to_le_bytes()),
        (0x460, &incompat.to_le_bytes()),
        (0x464, &ro_compat.to_le_bytes()),
    ])
}

#[test]
fn no_signature_in_zeros_ones_or_an_empty_image() {
    assert_eq!(words(&[]), Vec::<String>::new());
    assert_eq!(detect(&window_of(&vec![0xFF; IMAGE_BYTES])), []);
    assert_eq!(detect(&window_of(&[])), []);
}

#[test]
fn the_ext_family() {
    assert_eq!(ext_words(0, 0x2, 0x3), ["ext2"]);
    assert_eq!(ext_words(0x4, 0x6, 0x3), ["ext3"]);
    // extents, 64bit, flex_bg: what mkfs.ext4 sets.
    assert_eq!(ext_words(0x3C, 0x2C2, 0x46B), ["ext4"]);
    assert_eq!(ext_words(0, 0x8, 0), ["jbd"]);
    // The two magic bytes alone, as in random data, are not a file system.
    let chance: &[(usize, &[u8])] =
        &[(0x404, &[1]), (0x438, &[0x53, 0xEF]), (0x418, &[200]), (0x44C, &[77])];
    assert_eq!(words(chance), Vec::<String>::new());
}

#[test]
fn fixed_signatures_at_their_offsets() {
    let cases: &[(&str, usize, &[u8])] = &[
        ("xfs", 0, b"XFSB"),
        ("btrfs", 65_600, b"_BHRfS_M"),
        ("f2fs", 1024, &[0x10, 0x20, 0xF5, 0xF2]),
        ("f2fs", 5120, &[0x10, 0x20, 0xF5, 0xF2]),
        ("erofs", 1024, &[0xE2, 0xE1, 0xF5, 0xE0]),
        ("squashfs", 0, b"hsqs"),
        ("exfat", 3, b"EXFAT   "),
        ("ntfs", 3, b"NTFS    "),
        ("squashfs3", 0, b"sqsh"),
        ("BitLocker", 3, b"-FVE-FS-"),
        ("iso9660", 32_769, b"CD001"),
        ("udf", 0x8801, b"NSR02"),
        ("udf", 0x8801, b"NSR03"),
        ("udf", 0x9001, b"NSR02"),
        ("udf", 0x9001, b"NSR03"),
        ("apfs", 32, b"NXSB"),
        ("bcache", 4096 + 24, b"\xC6\x85\x73\xF6\x4E\x1A\x45\xCA\x82\x65\xF5\x7F\x48\xBA\x6D\x81"),
        (
            "bcachefs",
            4096 + 24,
            b"\xC6\x85\x73\xF6\x66\xCE\x90\xA9\xD9\x6A\x60\xCF\x80\x3D\xF7\xEF",
        ),
        ("ceph_bluestore", 0, b"bluestore block device"),
        ("crypto_LUKS", 0, b"LUKS\xBA\xBE\x00\x01"),
        ("crypto_LUKS", 0, b"LUKS\xBA\xBE\x00\x02"),
        ("crypto_LUKS", 0x4000, b"SKUL\xBA\xBE"),
        ("swap", 4086, b"SWAPSPACE2"),
        ("swap", 65_526, b"SWAPSPACE2"),
        ("zfs_member", 128 << 10, &[0x0C, 0xB1, 0xBA, 0, 0, 0, 0, 0]),
        ("zfs_member", IMAGE_BYTES - (64 << 10), &[0, 0, 0, 0, 0, 0xBA, 0xB1, 0x0C]),
        ("linux_raid_member", 0, &[0xFC, 0x4E, 0x2B, 0xA9, 1, 0, 0, 0]),
        ("linux_raid_member", 4096, &[0xFC, 0x4E, 0x2B, 0xA9, 1, 0, 0, 0]),
        ("linux_raid_member", IMAGE_BYTES - 8192, &[0xFC, 0x4E, 0x2B, 0xA9, 1, 0, 0, 0]),
        ("linux_raid_member", IMAGE_BYTES - 65_536, &[0xFC, 0x4E, 0x2B, 0xA9, 0, 0, 0, 0]),
        ("linux_raid_member", IMAGE_BYTES - 65_536, &[0xA9, 0x2B, 0x4E, 0xFC, 0, 0, 0, 0]),
        ("gpt", 512, b"EFI PART"),
        ("gpt", 4096, b"EFI PART"),
        ("gpt", IMAGE_BYTES - 512, b"EFI PART"),
        ("gpt", IMAGE_BYTES - 4096, b"EFI PART"),
    ];
    for (word, offset, bytes) in cases {
        let found = detect(&window_of(&image(IMAGE_BYTES, &[(*offset, bytes)])));
        assert_eq!(found.len(), 1, "{word} at {offset}: {found:?}");
        assert_eq!((found[0].word.as_str(), found[0].offset_bytes), (*word, *offset as u64));
        // At an offset of one byte it is not a signature.
        assert_eq!(
            words(&[(*offset ^ 4, bytes)]),
            Vec::<String>::new(),
            "{word} at {}",
            offset ^ 4
        );
    }
    assert_eq!(words(&[(512, b"LABELONE"), (536, b"LVM2 001")]), ["LVM2_member"]);
    assert_eq!(words(&[(512, b"LABELONE")]), Vec::<String>::new());
}

#[test]
fn boot_sectors_are_distinguished() {
    let end: (usize, &[u8]) = (510, &[0x55, 0xAA]);
    assert_eq!(words(&[end]), ["dos"], "an empty table is one");
    assert_eq!(words(&[end, (0x1BE, &[0x80, 1, 1, 0, 0x83])]), ["dos"]);
    assert_eq!(
        words(&[end, (0x1BE, &[0x13])]),
        Vec::<String>::new(),
        "no boot indicator: code, not a table"
    );
    assert_eq!(words(&[end, (0x1C2, &[0xEE])]), ["gpt"]);
    assert_eq!(words(&[end, (0x1C2, &[0xEE]), (512, b"EFI PART")]), ["gpt"]);
    let fat: (usize, &[u8]) = (
        0,
        &[
            0xEB, 0x3C, 0x90, b'm', b'k', b'f', b's', b'.', b'f', b'a', b't', 0, 2, 4, 4, 0, 2, 0,
            2, 0, 8, 0xF8,
        ],
    );
    assert_eq!(words(&[end, fat]), ["vfat"]);
    assert_eq!(words(&[end, (3, b"NTFS    ")]), ["ntfs"]);
    assert_eq!(words(&[end, (3, b"EXFAT   ")]), ["exfat"]);
}

#[test]
fn the_window_reads_both_ends_and_nothing_between() {
    let bytes: Vec<u8> = (0..IMAGE_BYTES).map(|i| (i / 4096) as u8 ^ i as u8).collect();
    let window = window_of(&bytes);
    let mib = WINDOW_BYTES;
    assert_eq!(window.get(mib - 8, 8), bytes.get((mib - 8) as usize..mib as usize));
    assert_eq!(window.get(mib - 7, 8), None);
    assert_eq!(window.get(3 * mib, 8), bytes.get(3 << 20..(3 << 20) + 8));
    assert_eq!(window.get(4 * mib - 8, 8), bytes.get(bytes.len() - 8..));
    assert_eq!(window.get(4 * mib - 7, 8), None);
    assert_eq!(window.get(u64::MAX, usize::MAX), None);
}

#[test]
fn a_region_of_a_file_reads_like_the_image_alone() {
    use std::io::Write;
    let inner = image(
        IMAGE_BYTES,
        &[(0x404, &[1]), (0x438, &[0x53, 0xEF]), (IMAGE_BYTES - 512, b"EFI PART")],
    );
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&[7; 12_288]).unwrap();
    file.write_all(&inner).unwrap();
    let window = Window::read(&file, 12_288, inner.len() as u64).unwrap();
    assert_eq!(window, window_of(&inner));
    assert_eq!(detect(&window).len(), 2);
    assert!(
        Window::read(&file, 12_288, inner.len() as u64 + 1).is_err(),
        "the file ends before the region"
    );
}

#[test]
fn wipefs_listings() {
    let json = br#"{"signatures": [{"device":"loop0","offset":"0x438","type":"ext4","uuid":"x","label":null},
        {"device":"loop0","offset":"0x1fe","type":"PMBR"},{"offset":"?","type":"newfs"},{"offset":"0x0","type":null}]}"#;
    let found = wipefs::parse(json);
    let words: Vec<(&str, u64)> = found.iter().map(|f| (f.word.as_str(), f.offset_bytes)).collect();
    assert_eq!(words, [("ext4", 0x438), ("gpt", 0x1FE), ("newfs", 0)]);
    for nothing in [&b""[..], b"{}", b"[]", b"wipefs: error", br#"{"signatures":3}"#] {
        assert_eq!(wipefs::parse(nothing), []);
    }
    let own = vec![FoundSignature::new("ext4", "an ext4 filesystem", 0x438)];
    let all = union(own.clone(), found);
    assert_eq!(all.iter().map(|f| f.word.as_str()).collect::<Vec<_>>(), ["ext4", "gpt", "newfs"]);
    assert_eq!(all[0], own[0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..20_000)) {
        detect(&window_of(&bytes));
    }

    /// Signatures truncated by the end, at any image size.
    #[test]
    fn truncated_signatures_never_panic(size in 0usize..70_000, offset in 0usize..70_000, mark in prop::sample::select(vec![
        &b"LABELONE"[..], b"EFI PART", b"SKUL\xBA\xBE", b"LUKS\xBA\xBE", b"\xFC\x4E\x2B\xA9\x01", b"\x53\xEF", b"\x55\xAA", b"SWAPSPACE2",
    ])) {
        let mut image = vec![0u8; size];
        for (to, from) in image.iter_mut().skip(offset).zip(mark) {
            *to = *from;
        }
        detect(&window_of(&image));
    }

    /// Random fills of assay must not be detected as user data.
    #[test]
    fn random_fills_have_no_signature(seed in any::<u64>()) {
        let mut rng = assay_units::Rng::new(seed);
        let mut image = vec![0u8; 1 << 20];
        rng.fill(&mut image);
        // 0x55AA with four valid boot indicators has a probability of 2^-44 per image.
        prop_assert_eq!(detect(&window_of(&image)), vec![]);
    }
}

#[test]
fn two_bytes_of_hfs_plus_are_a_file_system_with_a_version_only() {
    let plausible = |version: u16| {
        let volume = [b"H+", &version.to_be_bytes()[..]].concat();
        let window = window_of(&image(IMAGE_BYTES, &[(1024, &volume)]));
        is_plausible(&window, &FoundSignature::new("hfsplus", "", 1024))
    };
    assert!(plausible(4) && plausible(5));
    assert!(!plausible(0) && !plausible(0x9f31));
}

/// [`partitions`] of an image in memory.
fn partitions_of(image: &[u8]) -> Vec<(u64, u64)> {
    let read = |start: u64, length: u64| {
        let (start, end) = (start as usize, (start + length) as usize);
        Ok(window_of(&image[start..end]))
    };
    partitions(&read, image.len() as u64).unwrap()
}

/// A GPT header with one entry of LBA 2048 to 4095.
fn gpt_at(header: usize, entries: usize) -> Vec<u8> {
    let mut image = image(IMAGE_BYTES, &[]);
    let fields: [(usize, &[u8]); 7] = [
        (header, b"EFI PART"),
        (header + 72, &(entries as u64 / 512).to_le_bytes()),
        (header + 80, &128u32.to_le_bytes()),
        (header + 84, &128u32.to_le_bytes()),
        (entries + 128, &[7; 16]),
        (entries + 128 + 32, &2048u64.to_le_bytes()),
        (entries + 128 + 40, &4095u64.to_le_bytes()),
    ];
    for (at, bytes) in fields {
        image[at..at + bytes.len()].copy_from_slice(bytes);
    }
    image
}

/// Entries of a boot record at this place: type, first LBA, blocks.
fn put_mbr(image: &mut [u8], at: usize, entries: &[(u8, u32, u32)]) {
    image[at + 510..at + 512].copy_from_slice(&[0x55, 0xAA]);
    for (n, (kind, first, blocks)) in entries.iter().enumerate() {
        let entry = at + 0x1BE + 16 * n;
        image[entry + 4] = *kind;
        image[entry + 8..entry + 12].copy_from_slice(&first.to_le_bytes());
        image[entry + 12..entry + 16].copy_from_slice(&blocks.to_le_bytes());
    }
}

const MIB: u64 = 1 << 20;

#[test]
fn partitions_of_a_gpt_and_of_an_mbr() {
    assert_eq!(partitions_of(&gpt_at(512, 1024)), [(MIB, MIB)]);
    // Only the copy at the end is left.
    let copy = gpt_at(IMAGE_BYTES - 512, IMAGE_BYTES - 512 - (32 << 10));
    assert_eq!(partitions_of(&copy), [(MIB, MIB)]);
    // No longer than the image.
    let mut mbr = image(IMAGE_BYTES, &[]);
    put_mbr(&mut mbr, 0, &[(0x83, 2048, u32::MAX)]);
    assert_eq!(partitions_of(&mbr), [(MIB, IMAGE_BYTES as u64 - MIB)]);
}

#[test]
fn partitions_within_partitions_and_logical_ones() {
    // A table in a partition.
    let mut nested = gpt_at(512, 1024);
    put_mbr(&mut nested, MIB as usize, &[(0x83, 8, 64)]);
    assert_eq!(partitions_of(&nested), [(MIB, MIB), (MIB + 4096, 64 * 512)]);
    // Three logical partitions: records count from the extended partition, partitions from records.
    let mut chain = image(IMAGE_BYTES, &[]);
    put_mbr(&mut chain, 0, &[(0x0F, 2048, 2048)]);
    let extended = MIB as usize;
    put_mbr(&mut chain, extended, &[(0x83, 8, 16), (0x05, 64, 64)]);
    put_mbr(&mut chain, extended + 64 * 512, &[(0x83, 8, 16), (0x05, 128, 64)]);
    // The last one leads back to the first.
    put_mbr(&mut chain, extended + 128 * 512, &[(0x83, 8, 16), (0x05, 64, 64)]);
    let found = partitions_of(&chain);
    for record in [0, 64, 128] {
        let logical = (MIB + (record + 8) * 512, 16 * 512);
        assert!(found.contains(&logical), "{found:?}");
    }
}

proptest! {
    #[test]
    fn partitions_of_any_table_lie_within_the_image(
        fields in proptest::collection::vec(any::<u64>(), 24),
        at in 0usize..2,
    ) {
        let bytes: Vec<u8> = fields.iter().flat_map(|f| f.to_le_bytes()).collect();
        let start = [512 + 8, 0x1BE][at];
        let mut image = image(1 << 16, &[(510, &[0x55, 0xAA]), (start, &bytes[..192 - 128 * at])]);
        if at == 0 {
            image[512..520].copy_from_slice(b"EFI PART");
        }
        for (from, length) in partitions_of(&image) {
            prop_assert!(from > 0 && length > 0 && from + length <= 1 << 16);
        }
    }
}

#[test]
fn kinds_are_compared_whole_and_without_case() {
    for kind in
        ["ext4", "EXT4", "LVM2_member", "lvm2_member", "crypto_LUKS", "PMBR", "assay-recording"]
    {
        assert!(is_kind(kind), "{kind}");
    }
    for other in ["", "ext", "ext5", "ext4, f2fs", " ext4"] {
        assert!(!is_kind(other), "{other:?}");
    }
}
