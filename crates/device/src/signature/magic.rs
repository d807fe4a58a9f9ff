use super::{FoundSignature, Window};

/// Type, description, offset, bytes.
type Magic = (&'static str, &'static str, u64, &'static [u8]);

/// Each with its definition (Linux source tree unless another is named).
const MAGICS: &[Magic] = &[
    // fs/xfs/libxfs/xfs_format.h, XFS_SB_MAGIC at the start of the superblock.
    ("xfs", "an XFS filesystem", 0, b"XFSB"),
    // include/uapi/linux/btrfs_tree.h, BTRFS_MAGIC; superblock at 64 KiB, `magic` 64 bytes into it
    // (struct btrfs_super_block).
    ("btrfs", "a Btrfs filesystem", 0x1_0040, b"_BHRfS_M"),
    // include/linux/f2fs_fs.h, F2FS_SUPER_OFFSET 1024; include/uapi/linux/magic.h, F2FS_SUPER_MAGIC
    // 0xF2F52010. The second copy lies one 4 KiB block later.
    ("f2fs", "an F2FS filesystem", 0x400, &0xF2F5_2010u32.to_le_bytes()),
    ("f2fs", "an F2FS filesystem (second superblock)", 0x1400, &0xF2F5_2010u32.to_le_bytes()),
    // fs/erofs/erofs_fs.h, EROFS_SUPER_OFFSET 1024; magic.h, EROFS_SUPER_MAGIC_V1 0xE0F5E1E2.
    ("erofs", "an EROFS filesystem", 0x400, &0xE0F5_E1E2u32.to_le_bytes()),
    // fs/squashfs/squashfs_fs.h; magic.h, SQUASHFS_MAGIC 0x73717368 ("hsqs" little-endian; "sqsh"
    // is the old big-endian form).
    ("squashfs", "a SquashFS filesystem", 0, b"hsqs"),
    ("squashfs3", "a SquashFS filesystem (version 3, big-endian)", 0, b"sqsh"),
    // Microsoft, exFAT file system specification 3.1.2 (FileSystemName).
    ("exfat", "an exFAT filesystem", 3, b"EXFAT   "),
    // fs/ntfs3/ntfs.h, struct NTFS_BOOT, system_id.
    ("ntfs", "an NTFS filesystem", 3, b"NTFS    "),
    // libfvde/libbde format notes: BitLocker replaces the OEM identifier of the boot sector.
    ("BitLocker", "a BitLocker volume", 3, b"-FVE-FS-"),
    // ECMA-119 8.1.2: standard identifier of the volume descriptor in sector 16 of 2048 bytes.
    ("iso9660", "an ISO 9660 filesystem", 0x8001, b"CD001"),
    // ECMA-167 2/9.1 and OSTA UDF 2.60, 2.1.7: volume recognition sequence; NSR descriptor after
    // the beginning one.
    ("udf", "a UDF filesystem", 0x8801, b"NSR02"),
    ("udf", "a UDF filesystem", 0x8801, b"NSR03"),
    ("udf", "a UDF filesystem", 0x9001, b"NSR02"),
    ("udf", "a UDF filesystem", 0x9001, b"NSR03"),
    // Apple File System Reference: nx_magic of the container superblock, after the 32 byte object
    // header.
    ("apfs", "an APFS container", 32, b"NXSB"),
    // drivers/md/bcache/bcache_ondisk.h, SB_SECTOR 8 and struct cache_sb, `magic` after csum,
    // offset and version (24 bytes).
    (
        "bcache",
        "a bcache device",
        0x1018,
        &[
            0xC6, 0x85, 0x73, 0xF6, 0x4E, 0x1A, 0x45, 0xCA, 0x82, 0x65, 0xF5, 0x7F, 0x48, 0xBA,
            0x6D, 0x81,
        ],
    ),
    // fs/bcachefs/bcachefs_format.h, BCHFS_MAGIC at the same offset.
    (
        "bcachefs",
        "a bcachefs filesystem",
        0x1018,
        &[
            0xC6, 0x85, 0x73, 0xF6, 0x66, 0xCE, 0x90, 0xA9, 0xD9, 0x6A, 0x60, 0xCF, 0x80, 0x3D,
            0xF7, 0xEF,
        ],
    ),
    // Ceph, src/os/bluestore/bluestore_types.h: label at the start of the device.
    ("ceph_bluestore", "a Ceph BlueStore device", 0, b"bluestore block device"),
];

pub(super) fn fixed(window: &Window) -> Vec<FoundSignature> {
    MAGICS
        .iter()
        .filter(|(_, _, offset, bytes)| window.has(*offset, bytes))
        .map(|&(word, what, offset, _)| FoundSignature::new(word, what, offset))
        .collect()
}
