use super::{FoundSignature, WINDOW_BYTES, Window};

pub(super) fn all(window: &Window) -> Vec<FoundSignature> {
    let mut found = Vec::new();
    found.extend(ext(window));
    let fat = fat(window);
    // Boot sectors of NTFS, exFAT and FAT end like an MBR.
    let boot_sector = fat.is_some()
        || window.has(3, b"EXFAT   ")
        || window.has(3, b"NTFS    ")
        || window.has(3, b"-FVE-FS-");
    found.extend(fat);
    let gpt = gpt(window);
    if !boot_sector {
        found.extend(mbr(window, !gpt.is_empty()));
    }
    found.extend(gpt);
    found.extend(swap(window));
    found.extend(lvm(window));
    found.extend(linux_raid(window));
    found.extend(luks(window));
    found.extend(zfs(window));
    found.extend(recording(window));
    found
}

/// `assay_stream::index`: headers in the first and second block and in the last one of the range,
/// index blocks from the third on. Each tells of a recording of which the others are lost.
fn recording(window: &Window) -> Option<FoundSignature> {
    const BLOCK: u64 = 4096;
    const HEADER: &[u8] = b"ASSAYREC";
    const INDEX: &[u8] = b"ASSAYIDX";
    let at_start = [(0, HEADER), (BLOCK, HEADER), (2 * BLOCK, INDEX), (3 * BLOCK, INDEX)];
    let mut at_start = at_start.into_iter();
    let found = at_start.find(|(offset, magic)| window.has(*offset, magic));
    let found = found.map(|(offset, _)| offset).or_else(|| {
        // The range ends with a whole chunk, before the end of the drive.
        let last = window.size_bytes() / BLOCK * BLOCK;
        let blocks = (1..=WINDOW_BYTES / BLOCK).map_while(|back| last.checked_sub(back * BLOCK));
        blocks.into_iter().find(|offset| window.has(*offset, HEADER))
    })?;
    Some(FoundSignature::new("assay-recording", "a recording of assay", found))
}

/// fs/ext4/ext4.h, struct ext4_super_block at byte 1024: `s_magic` 0xEF53 at 0x38, feature sets
/// from 0x5C. As in libblkid (util-linux, superblocks/ext.c), whatever ext3 cannot mount is ext4.
fn ext(window: &Window) -> Option<FoundSignature> {
    const SUPERBLOCK: u64 = 1024;
    const COMPAT_HAS_JOURNAL: u32 = 0x4;
    const INCOMPAT_JOURNAL_DEV: u32 = 0x8;
    // fs/ext4/ext4.h, EXT3_FEATURE_{RO_COMPAT,INCOMPAT}_SUPP: sparse_super, large_file, btree_dir;
    // filetype, recover, meta_bg.
    const EXT3_RO_COMPAT: u32 = 0x1 | 0x2 | 0x4;
    const EXT3_INCOMPAT: u32 = 0x2 | 0x4 | 0x10;
    let field = |offset: u64| window.u32_le(SUPERBLOCK + offset);
    if window.u16_le(SUPERBLOCK + 0x38)? != 0xEF53 {
        return None;
    }
    // Block size at most 64 KiB (EXT4_MAX_BLOCK_LOG_SIZE), revision 0 or 1, and some blocks.
    if field(0x18)? > 6 || field(0x4C)? > 1 || field(0x4)? == 0 && field(0x150)? == 0 {
        return None;
    }
    let (compat, incompat, ro_compat) = (field(0x5C)?, field(0x60)?, field(0x64)?);
    let (word, what) = if incompat & INCOMPAT_JOURNAL_DEV != 0 {
        ("jbd", "an external ext4 journal")
    } else if incompat & !EXT3_INCOMPAT != 0 || ro_compat & !EXT3_RO_COMPAT != 0 {
        ("ext4", "an ext4 filesystem")
    } else if compat & COMPAT_HAS_JOURNAL != 0 {
        ("ext3", "an ext3 filesystem")
    } else {
        ("ext2", "an ext2 filesystem")
    };
    Some(FoundSignature::new(word, what, SUPERBLOCK + 0x38))
}

/// Microsoft, FAT: General Overview of On-Disk Format 1.03, boot sector and BPB.
fn fat(window: &Window) -> Option<FoundSignature> {
    let sector = window.get(0, 512)?;
    if sector[510..] != [0x55, 0xAA] {
        return None;
    }
    let jump = (sector[0] == 0xEB && sector[2] == 0x90) || sector[0] == 0xE9;
    let bytes_per_sector = u16::from_le_bytes([sector[11], sector[12]]);
    let sectors_per_cluster = sector[13];
    let reserved_sectors = u16::from_le_bytes([sector[14], sector[15]]);
    let copies = sector[16];
    let media = sector[21];
    let bpb = bytes_per_sector.is_power_of_two()
        && (512..=4096).contains(&bytes_per_sector)
        && sectors_per_cluster.is_power_of_two()
        && reserved_sectors > 0
        && matches!(copies, 1 | 2)
        && (media == 0xF0 || media >= 0xF8);
    // BS_FilSysType is an optional label; with it, the jump instruction is not required.
    let labelled = sector[0x36..0x3B] == *b"FAT12"
        || sector[0x36..0x3B] == *b"FAT16"
        || sector[0x52..0x57] == *b"FAT32";
    (bpb && (jump || labelled)).then(|| FoundSignature::new("vfat", "a FAT filesystem", 510))
}

/// UEFI 2.10, 5.3.2: "EFI PART" in LBA 1 and in the last LBA, for logical blocks of 512 to 4096
/// bytes.
fn gpt(window: &Window) -> Vec<FoundSignature> {
    const BLOCK_SIZES: [u64; 4] = [512, 1024, 2048, 4096];
    let mut found: Vec<FoundSignature> = Vec::new();
    for block in BLOCK_SIZES {
        if window.has(block, b"EFI PART") {
            found.push(FoundSignature::new("gpt", "a GPT partition table", block));
        }
        let Some(last) = window.size_bytes().checked_sub(block) else {
            continue;
        };
        // On a tiny image the last block was checked already.
        if window.has(last, b"EFI PART") && !found.iter().any(|f| f.offset_bytes == last) {
            found.push(FoundSignature::new("gpt", "the backup of a GPT partition table", last));
        }
    }
    found
}

/// Four entries of 16 bytes from 0x1BE, then 0x55 0xAA (UEFI 2.10, 5.2.1). The two bytes end every
/// boot sector, so the boot indicators must be valid as well, as in libblkid. Type 0xEE means a GPT
/// (5.2.3).
fn mbr(window: &Window, has_gpt: bool) -> Option<FoundSignature> {
    let sector = window.get(0, 512)?;
    let entries = || sector[0x1BE..0x1FE].chunks_exact(16);
    if sector[510..] != [0x55, 0xAA] || entries().any(|entry| !matches!(entry[0], 0x00 | 0x80)) {
        return None;
    }
    let (word, what) = match entries().any(|entry| entry[4] == 0xEE) {
        true if has_gpt => return None,
        true => ("gpt", "the protective MBR of a GPT partition table"),
        false => ("dos", "an MBR (DOS) partition table"),
    };
    Some(FoundSignature::new(word, what, 510))
}

/// include/linux/swap.h, union swap_header: ten bytes at the end of the first page, whose size
/// depends on the machine that formatted it; "S1SUSPEND" (kernel/power/swap.c) while it holds a
/// hibernation image.
fn swap(window: &Window) -> Option<FoundSignature> {
    for page_bytes in [4096, 8192, 16_384, 32_768, 65_536u64] {
        let offset = page_bytes - 10;
        let (word, what) = match window.get(offset, 10)? {
            b"SWAPSPACE2" | b"SWAP-SPACE" => ("swap", "swap space"),
            mark if mark.starts_with(b"S1SUSPEND") || mark.starts_with(b"LINHIB0001") => {
                ("swsuspend", "a hibernated system in swap space")
            }
            _ => continue,
        };
        return Some(FoundSignature::new(word, what, offset));
    }
    None
}

/// LVM2, lib/label/label.h: "LABELONE" at the start of one of the first four sectors of 512 bytes,
/// "LVM2 001" 24 bytes on.
fn lvm(window: &Window) -> Option<FoundSignature> {
    (0..4u64)
        .map(|sector| sector * 512)
        .find(|&offset| window.has(offset, b"LABELONE") && window.has(offset + 24, b"LVM2 001"))
        .map(|offset| FoundSignature::new("LVM2_member", "an LVM2 physical volume", offset))
}

/// include/uapi/linux/raid/md_p.h: MD_SB_MAGIC 0xA92B4EFC, then the major version. Offsets: 0.90 in
/// the last whole 64 KiB but one (MD_NEW_SIZE_SECTORS), 1.0 at least 8 KiB before the end on a 4
/// KiB boundary, 1.1 at the start, 1.2 at 4 KiB (drivers/md/md.c, super_1_load). 0.90 is in the
/// byte order of its machine.
fn linux_raid(window: &Window) -> Vec<FoundSignature> {
    const MAGIC: u32 = 0xA92B_4EFC;
    let sectors = window.size_bytes() / 512;
    let v090 = (sectors & !127).checked_sub(128).map(|s| s * 512);
    let v10 = sectors.checked_sub(16).map(|s| (s & !7) * 512);
    let mut found: Vec<FoundSignature> = Vec::new();
    let mut push = |version: &str, offset: u64| {
        if !found.iter().any(|f| f.offset_bytes == offset) {
            found.push(FoundSignature::new(
                "linux_raid_member",
                format!("a member of a Linux RAID (metadata {version})"),
                offset,
            ));
        }
    };
    for (version, offset) in [("1.1", Some(0)), ("1.2", Some(4096)), ("1.0", v10)] {
        if let Some(offset) = offset
            && window.u32_le(offset) == Some(MAGIC)
            && window.u32_le(offset + 4) == Some(1)
        {
            push(version, offset);
        }
    }
    if let Some(offset) = v090 {
        let mark = window.array::<4>(offset);
        let major_is_zero = window.u32_le(offset + 4) == Some(0);
        if major_is_zero && (mark == Some(MAGIC.to_le_bytes()) || mark == Some(MAGIC.to_be_bytes()))
        {
            push("0.90", offset);
        }
    }
    found
}

/// LUKS1 On-Disk Format 1.2.3 and LUKS2 On-Disk Format 1.1.3: "LUKS" BA BE and a big-endian version
/// at the start; LUKS2 keeps a second header "SKUL" BA BE at one of these offsets.
fn luks(window: &Window) -> Option<FoundSignature> {
    const SECOND_HEADERS: [u64; 6] = [0x4000, 0x8000, 0x1_0000, 0x2_0000, 0x4_0000, 0x8_0000];
    let found = |version: u16, offset| {
        let what = format!("a LUKS{version} encrypted volume");
        FoundSignature::new("crypto_LUKS", what, offset)
    };
    if window.has(0, b"LUKS\xBA\xBE") {
        let version = window.array(6).map(u16::from_be_bytes);
        return Some(found(version.filter(|v| matches!(v, 1 | 2))?, 0));
    }
    SECOND_HEADERS
        .into_iter()
        .find(|&offset| window.has(offset, b"SKUL\xBA\xBE"))
        .map(|offset| found(2, offset))
}

/// OpenZFS, include/sys/vdev_impl.h and uberblock_impl.h: four labels of 256 KiB, two at each end
/// (the end rounded down to 256 KiB), each with a ring of uberblocks in its second half;
/// UBERBLOCK_MAGIC 0x00bab10c in either byte order, 64 bits wide.
fn zfs(window: &Window) -> Option<FoundSignature> {
    const LABEL_BYTES: u64 = 256 << 10;
    const RING_BYTES: u64 = 128 << 10;
    /// UBERBLOCK_SHIFT 10.
    const SLOT_BYTES: u64 = 1 << 10;
    const MAGIC: u64 = 0x00BA_B10C;
    let end = window.size_bytes() / LABEL_BYTES * LABEL_BYTES;
    let labels = [
        Some(0),
        Some(LABEL_BYTES),
        end.checked_sub(2 * LABEL_BYTES),
        end.checked_sub(LABEL_BYTES),
    ];
    for label in labels.into_iter().flatten() {
        let ring = label + LABEL_BYTES - RING_BYTES;
        for slot in 0..RING_BYTES / SLOT_BYTES {
            let offset = ring + slot * SLOT_BYTES;
            let mark = window.array::<8>(offset);
            if mark == Some(MAGIC.to_le_bytes()) || mark == Some(MAGIC.to_be_bytes()) {
                return Some(FoundSignature::new("zfs_member", "a member of a ZFS pool", offset));
            }
        }
    }
    None
}
