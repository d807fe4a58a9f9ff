use assay_nvme_spec::nvm::Read;

use super::*;

#[test]
fn commands_have_the_kernel_layout() {
    let mut entry = Read::for_blocks(7, 11 << 32 | 10, 13).entry();
    entry.set_cdw2(2).set_cdw3(3).set_cdw15(15);
    let command = KernelCommand::new(&entry, 0x1122_3344_5566_7788, 4096);
    let bytes = command.bytes();
    // SAFETY: the structure is plain numbers without padding, of this size.
    let raw: [u8; BYTES] = unsafe { std::mem::transmute(command) };
    assert_eq!(bytes[..BYTES], raw);
    assert_eq!(bytes[BYTES..], [0; 8]);
    // Offsets of the kernel's header.
    assert_eq!(raw[..8], [0x02, 0, 0, 0, 7, 0, 0, 0]);
    assert_eq!(raw[36..48], [0, 0x10, 0, 0, 10, 0, 0, 0, 11, 0, 0, 0]);
}
