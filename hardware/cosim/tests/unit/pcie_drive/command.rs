use assay_nvme_spec::nvm;
use assay_ssd::{Drive, DriveOptions, Profile};

use super::*;

fn identity() -> Identity {
    let profile = Profile::builtin("samsung-951").unwrap();
    let drive = Drive::new(profile, DriveOptions::default()).unwrap();
    drive.identity().clone()
}

fn write(bytes: u64, prp1: u64, prp2: u64) -> FetchedCommand {
    let mut entry = nvm::Write::for_blocks(1, 0, (bytes / 512) as u32).entry();
    entry.set_prps(prp1, prp2);
    FetchedCommand::new(1, 0, 0x2000, entry, &identity())
}

/// Reads everything, lists from `list`, data as zeroes; returns the pieces of data.
fn fetch(command: &mut FetchedCommand, limit: u32, list: impl Fn(u64) -> u64) -> Vec<(u64, u32)> {
    let mut pieces = Vec::new();
    while command.stage != Stage::Ready {
        let piece = command.next_piece(limit).expect("a piece");
        let mut bytes = vec![0; piece.len_bytes as usize];
        if command.stage == Stage::List {
            for (at, entry) in (piece.address..).step_by(8).zip(bytes.chunks_mut(8)) {
                entry.copy_from_slice(&list(at).to_le_bytes());
            }
        } else {
            pieces.push((piece.address, piece.len_bytes));
        }
        command.receive(&piece, &bytes);
    }
    assert_eq!(command.next_piece(limit), None);
    pieces
}

#[test]
fn one_and_two_pages_need_no_list() {
    let mut one = write(4096, 0x10_0000, 0);
    assert_eq!(fetch(&mut one, 4096, |_| 0), [(0x10_0000, 4096)]);
    let mut two = write(4096, 0x10_0200, 0x20_0000);
    assert_eq!(fetch(&mut two, 4096, |_| 0), [(0x10_0200, 0xe00), (0x20_0000, 0x200)]);
    let mut two = write(8192, 0x10_0000, 0x20_0000);
    assert_eq!(fetch(&mut two, 4096, |_| 0), [(0x10_0000, 4096), (0x20_0000, 4096)]);
}

#[test]
fn lists_are_read_in_pieces_and_continue_in_another_page() {
    // Six pages behind the first, in lists of two, two and three entries.
    let list = |at: u64| match at {
        0x1ff0 => 0x1_0000,
        0x1ff8 => 0x3000,
        _ => 0x10_0000 + (at - 0x3000) * 0x200,
    };
    let mut command = write(7 * 4096, 0x9000, 0x1ff0);
    let pieces = fetch(&mut command, 2048, list);
    assert_eq!(pieces.len(), 14);
    let pages: Vec<_> = command.bytes.pages.iter().map(|page| page.0).collect();
    let in_second = (0..5).map(|entry| 0x10_0000 + entry * 0x1000);
    let expected: Vec<u64> = [0x9000, 0x1_0000].into_iter().chain(in_second).collect();
    assert_eq!(pages, expected);
    let lists: Vec<_> = command.bytes.lists.iter().map(|(at, list)| (*at, list.len())).collect();
    assert_eq!(lists, [(0x1ff0, 16), (0x3000, 40)]);
}

#[test]
fn nothing_is_read_for_commands_that_the_controller_refuses() {
    let is_ready = |command: FetchedCommand| command.stage == Stage::Ready && !command.has_piece();
    assert!(is_ready(write(8192, 0x1001, 0x2000)), "unaligned data");
    assert!(is_ready(write(8192, 0x1000, 0x2004)), "unaligned page");
    assert!(is_ready(write(64 << 10, 0x1000, 0x2004)), "unaligned list");
    let far = nvm::Write::for_blocks(1, u64::MAX - 3, 8).entry();
    assert!(is_ready(FetchedCommand::new(1, 0, 0, far, &identity())), "beyond the end");
    let long = nvm::Write::for_blocks(1, 0, 65_536).entry();
    assert!(is_ready(FetchedCommand::new(1, 0, 0, long, &identity())), "beyond MDTS");
}
