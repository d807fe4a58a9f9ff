use assay_nvme_spec::identify::LbaFormat;

use super::*;

fn namespace(metadata_bytes: u16, settings: u8) -> IdentifyNamespace {
    let mut formats = IdentifyNamespace::default().lba_formats();
    formats[0] = *LbaFormat::default().set_data_size(12).set_metadata_bytes(metadata_bytes);
    *IdentifyNamespace::default().set_lba_formats(formats).set_protection_settings(settings)
}

#[test]
fn only_formats_of_data_and_protection_information_are_taken() {
    let of = |metadata, settings| protection_of(&namespace(metadata, settings));
    assert_eq!(of(0, 0).unwrap(), None);
    let reference = |settings| of(8, settings).unwrap().unwrap().has_reference;
    assert!(reference(1) && reference(2) && !reference(3));
    // Bit 3: protection information is first.
    assert!(reference(0b1001));
    for (metadata, settings, word) in [
        (8, 0, "8 bytes of metadata, which"),
        (16, 1, "16 bytes of metadata around protection information"),
        (64, 0, "64 bytes of metadata"),
    ] {
        let error = of(metadata, settings).unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("nothing was sent"), "{error}");
    }
}
