use super::*;

fn area(offset: Extent, size: Option<Extent>) -> FioArea {
    FioArea {
        capacity_bytes: 1 << 20,
        offset,
        increment: Extent::Bytes(0),
        size,
        file_bytes: None,
        file_sizes: None,
        io_percent: None,
        offset_align_bytes: 4096,
        least_bytes: 4096,
        first_clone: 0,
        threads: 4,
        split: None,
        whole_zones_bytes: None,
    }
}

#[test]
fn areas_are_rounded_and_limited_as_by_fio() {
    let part = |area: FioArea, worker| {
        let part = area.part(worker)?;
        Some((part.offset_bytes >> 10, part.area_bytes >> 10, part.pass_bytes >> 10))
    };
    let zero = Extent::Bytes(0);
    for (case, expected) in [
        (area(zero, None), Some((0, 1024, 1024))),
        // The offset up, the size down to a block.
        (area(Extent::Percent(33), None), Some((340, 684, 684))),
        (area(zero, Some(Extent::Percent(33))), Some((0, 336, 336))),
        (area(Extent::Bytes(512 << 10), Some(Extent::Percent(100))), Some((512, 512, 512))),
        (area(Extent::Bytes(768 << 10), Some(Extent::Bytes(512 << 10))), Some((768, 256, 256))),
        (area(Extent::Bytes(2 << 20), None), None),
    ] {
        assert_eq!(part(case, 0), expected, "{case:?}");
    }
    let increment = FioArea { increment: Extent::Percent(25), ..area(zero, None) };
    let offsets = [0, 1, 2, 3].map(|worker| part(increment, worker).unwrap().0);
    assert_eq!(offsets, [0, 768, 512, 256]);
    // A pass transfers less than the area.
    let file =
        FioArea { file_bytes: Some(512 << 10), ..area(zero, Some(Extent::Bytes(128 << 10))) };
    assert_eq!(part(file, 0), Some((0, 512, 128)));
}
