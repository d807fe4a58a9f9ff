use super::*;

#[test]
fn sectors_and_units_of_addresses() {
    let unit = MapUnit::of_bytes(16_384);
    assert_eq!((unit.bytes(), unit.sectors()), (16_384, 4));
    assert_eq!((unit.at(16_383), unit.at(16_384)), (0, 1));
    assert_eq!((unit.from(0), unit.from(1), unit.from(16_384)), (0, 1, 1));
    assert_eq!(unit.start(3), 49_152);
    assert!(unit.is_aligned(32_768) && !unit.is_aligned(4096));
    assert!(MapUnit::of_bytes(4096).is_sector());
    assert_eq!(sectors_touched(0, 1), 1);
    assert_eq!(sectors_touched(4095, 4097), 2);
    assert_eq!(sectors_touched(4096, 12_288), 2);
}

#[test]
fn whole_units_are_rounded_inwards_but_for_the_cut_unit_at_the_end() {
    let unit = MapUnit::of_bytes(16_384);
    let capacity = 100 * 16_384 + 4096;
    assert_eq!(unit.whole(0..16_384, capacity), 0..16_384);
    assert_eq!(unit.whole(4096..49_152, capacity), 16_384..49_152);
    assert_eq!(unit.whole(4096..16_380, capacity), 16_384..16_384);
    assert_eq!(unit.whole(100 * 16_384..capacity, capacity), 100 * 16_384..capacity);
    let sector = MapUnit::of_bytes(4096);
    assert_eq!(sector.whole(512..1024, capacity), 512..1024);
}
