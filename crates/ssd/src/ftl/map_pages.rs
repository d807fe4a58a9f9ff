//! What flash and its housekeeping have to do with a map that lies on flash, see [`crate::map_cache`].

use super::Ftl;

/// The part of it that is kept here. All zero where the map is in DRAM.
#[derive(Clone, Debug, Default)]
pub(super) struct MapPages {
    /// Pages of the map whose entries collection and folding changed, and the units of a page as a power of two.
    moved: Option<(u32, Vec<u32>)>,
    /// Host data is not programmed before this, in nanoseconds: by then the map pages are there that it changes.
    pub(super) known_ns: u64,
}

impl MapPages {
    /// These units are somewhere else now.
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
    /// Note from now on which map pages of so many units (a power of two) change when data is moved.
    pub(crate) fn follow_map_pages(&mut self, shift: u32) {
        self.map_pages.moved = Some((shift, Vec::new()));
    }

    /// Map pages that changed since the last call, some more than once. `spare` is what to note the next ones in.
    pub(crate) fn take_moved_pages(&mut self, spare: Vec<u32>) -> Vec<u32> {
        match &mut self.map_pages.moved {
            Some((_, pages)) => std::mem::replace(pages, spare),
            None => spare,
        }
    }

    /// Host data written from now on is not programmed before the map pages are there that it changes.
    pub(crate) fn hold_until(&mut self, known_ns: u64) {
        self.map_pages.known_ns = self.map_pages.known_ns.max(known_ns);
    }

    /// Sense a page of the map; returns when it is in the controller.
    pub(crate) fn read_map_page(
        &mut self,
        floor_ns: u64,
        issue_ns: u64,
        die: u16,
        read_ns: u64,
        units: u32,
    ) -> u64 {
        self.energy_nj += self.read_page_nj;
        self.nand
            .read_map_page(floor_ns, issue_ns, die, read_ns, units)
    }

    /// Program a group of map pages.
    pub(crate) fn program_map_pages(
        &mut self,
        floor_ns: u64,
        ready_ns: u64,
        die: u16,
        program_ns: u64,
    ) {
        let units = u64::from(
            self.nand
                .program_map_pages(floor_ns, ready_ns, die, program_ns),
        );
        self.counters.programmed_units += units;
        self.energy_nj += self.program_page_nj * (units / self.page_units);
    }
}
