//! Interface between the translation layer and a map on flash, see [`crate::map_cache`].

use super::Ftl;
use crate::nand::Sense;

#[derive(Clone, Debug, Default)]
pub(super) struct MapPages {
    moved: Option<(u32, Vec<u32>)>,
    /// Host data is programmed no earlier, so that its map pages are present.
    pub(super) known_ns: u64,
}

impl MapPages {
    #[inline]
    pub(super) fn note_moved(&mut self, units: &[u32]) {
        if let Some((shift, pages)) = &mut self.moved {
            for &unit in units {
                let page = unit >> *shift;
                if pages.last() != Some(&page) {
                    pages.push(page);
                }
            }
        }
    }
}

impl Ftl {
    /// A map page has 2^`shift` units.
    pub(crate) fn track_map_pages(&mut self, shift: u32) {
        self.map_pages.moved = Some((shift, Vec::new()));
    }

    /// Map pages changed since the last call, with repeats. `spare` is the next list's memory.
    pub(crate) fn take_moved_pages(&mut self, spare: Vec<u32>) -> Vec<u32> {
        match &mut self.map_pages.moved {
            Some((_, pages)) => std::mem::replace(pages, spare),
            None => spare,
        }
    }

    pub(crate) fn hold_programs_until(&mut self, known_ns: u64) {
        self.map_pages.known_ns = self.map_pages.known_ns.max(known_ns);
    }

    pub(crate) fn read_map_page(
        &mut self,
        now_ns: u64,
        issue_ns: u64,
        sense: Sense,
        sectors: u32,
    ) -> u64 {
        self.energy.read(1, 1, sectors);
        self.nand.read(now_ns, issue_ns, sense, sectors)
    }

    pub(crate) fn program_map_pages(
        &mut self,
        now_ns: u64,
        ready_ns: u64,
        die: u16,
        program_ns: u64,
    ) {
        let nand = &mut self.nand;
        let units = u64::from(nand.program_map_pages(now_ns, ready_ns, die, program_ns));
        self.counters.programmed_units += units;
        self.energy.program(units * u64::from(self.unit.sectors()));
    }
}
