//! Configurations of the core, one table for `build.rs`, which makes a model of each, and the
//! crate.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    pub name: &'static str,
    /// 128, 256 or 512.
    pub data_width: u32,
    /// Pages of 4 KiB per chunk.
    pub chunk_pages: u32,
    /// Chunks in flight per drive and direction.
    pub slots: u32,
    pub drives: u32,
    /// Namespace identifier of each drive.
    pub namespace: u32,
    /// Built without the feature `all-configurations`.
    pub default: bool,
}

impl Configuration {
    const fn new(
        name: &'static str,
        data_width: u32,
        chunk_pages: u32,
        slots: u32,
        drives: u32,
    ) -> Configuration {
        Configuration { name, data_width, chunk_pages, slots, drives, namespace: 1, default: false }
    }

    pub fn beat_bytes(&self) -> usize {
        self.data_width as usize / 8
    }

    pub fn chunk_bytes(&self) -> u32 {
        self.chunk_pages * 4096
    }

    /// Memory behind `mem_*`: the ring without gaps.
    pub fn ring_bytes(&self) -> usize {
        2 * (self.drives * self.slots * self.chunk_bytes()) as usize
    }

    pub fn ring_address_bits(&self) -> u32 {
        1 + 2 + self.slots.ilog2() + self.chunk_pages.ilog2() + 12
    }

    pub fn named(name: &str) -> Option<&'static Configuration> {
        CONFIGURATIONS.iter().find(|one| one.name == name)
    }

    /// Whether the model belongs to this build, if any model does.
    pub fn is_built(&self) -> bool {
        self.default || cfg!(feature = "all-configurations")
    }

    const fn with_namespace(mut self, namespace: u32) -> Configuration {
        self.namespace = namespace;
        self
    }

    const fn by_default(mut self) -> Configuration {
        self.default = true;
        self
    }
}

/// `w`: data width, `c`: KiB per chunk (default 128), `d`: drives (default 1).
pub const CONFIGURATIONS: [Configuration; 7] = [
    Configuration::new("w128", 128, 32, 32, 1).by_default(),
    Configuration::new("w128c16", 128, 4, 8, 1).with_namespace(0x8001_0203).by_default(),
    Configuration::new("w128c16d2", 128, 4, 8, 2),
    Configuration::new("w128c16d3", 128, 4, 8, 3),
    Configuration::new("w256", 256, 32, 32, 1),
    Configuration::new("w512", 512, 32, 32, 1),
    Configuration::new("w512d4", 512, 32, 32, 4),
];
