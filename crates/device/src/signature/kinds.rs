//! The types that `wipefs`, `blkid` and this program know.

/// Those of libblkid (`superblocks/`, `partitions/`) and of this program, separated by commas.
pub const KINDS: &str = "adaptec_raid_member, aix, apfs, assay-recording, atari, bcache, \
    bcachefs, befs, BitLocker, bluefs, bsd, btrfs, ceph_bluestore, cramfs, crypto_LUKS, \
    cs_fvault2, ddf_raid_member, \
    DM_integrity, DM_snapshot_cow, DM_verity_hash, dos, drbd, drbd_proxy_datalog, erofs, exfat, \
    ext2, ext3, ext4, ext4dev, f2fs, gfs, gfs2, gpt, hfs, hfsplus, \
    highpoint_raid_member, hpfs, iso9660, isw_raid_member, jbd, jfs, jmicron_raid_member, \
    linux_raid_member, lsi_mega_raid_member, LVM1_member, LVM2_member, mac, minix, mpool, \
    nilfs2, nss, ntfs, nvidia_raid_member, ocfs, ocfs2, oracleasm, PMBR, \
    promise_fasttrack_raid_member, ReFS, reiser4, reiserfs, romfs, scoutfs_data, scoutfs_meta, \
    sgi, silicon_medley_raid_member, solaris_x86, squashfs, squashfs3, stratis, sun, swap, \
    swsuspend, sysv, ubi, ubifs, udf, ufs, ultrix, unixware, vdo, vfat, via_raid_member, VMFS, \
    VMFS_volume_member, vxfs, xenix, xfs, xfs_external_log, zfs_member, zonefs";

/// Without case, as `--destroy` is compared.
pub fn is_kind(name: &str) -> bool {
    let mut kinds = KINDS.split(',').map(str::trim);
    kinds.any(|kind| kind.eq_ignore_ascii_case(name))
}
