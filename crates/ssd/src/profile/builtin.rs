//! Built-in profiles, as text. One line per drive; the file is `profiles/NAME.toml`.

macro_rules! builtin {
    ($($name:literal,)*) => {
        pub(super) const BUILTIN: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../../profiles/", $name, ".toml"))),)*
        ];
    };
}

builtin! {
    "samsung-951",
    "intel-600p",
    "samsung-960-evo",
    "toshiba-rd400",
    "wd-black",
    "mydigitalssd-bpx",
    "plextor-m8pe-g",
    "plextor-m8pe-y",
    "plextor-m8pe-gn",
    "mle-brief-960gb",
    "memblaze-pblaze5-c900",
    "memblaze-pblaze5-c916",
    "intel-p4510",
    "samsung-983-dct",
    "intel-optane-p4800x",
    "intel-optane-memory-32gb",
    "intel-p3700",
    "crucial-mx300",
    "samsung-983-zet",
    "samsung-980-pro",
    "samsung-pm9d3a",
    "solidigm-d5-p5336",
}
