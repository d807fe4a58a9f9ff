//! Random reads of all sizes by synchronous threads, as they are predicted of a drive.

use super::{Cell, DriveReads, LogRate, Population};

/// Synchronous threads of the drives that teach: at other numbers nothing was ever tested.
const THREADS: [u32; 2] = [16, 64];
const SMALLEST_BYTES: u32 = 512;
const SIZES: u32 = 10;

/// Reads of one size by so many threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedReads {
    pub threads: u32,
    pub block_bytes: u32,
    /// Reads per second, and the ends of the interval of 90 %.
    pub iops: [f64; 3],
    /// It was measured, and is no prediction.
    pub is_known: bool,
}

impl Population {
    /// Reads per second of cells, and the ends of their intervals of 90 %.
    pub fn iops(&self, drive: &DriveReads, cells: &[Cell]) -> Vec<[f64; 3]> {
        let one = |(cell, rate): (&Cell, LogRate)| {
            let LogRate { centre, half_width } = rate;
            // No higher rate is expected.
            let most = drive.rated.map_or(f64::INFINITY, |rated| self.most(&rated, cell));
            let ends = [centre, centre - half_width, centre + half_width];
            ends.map(|log| log.exp().min(most))
        };
        let rates = self.predict(drive, cells);
        cells.iter().zip(rates).map(one).collect()
    }

    /// By block size, and of each size by threads.
    pub fn matrix(&self, drive: &DriveReads) -> Vec<PredictedReads> {
        let blocks = (0..SIZES).map(|n| SMALLEST_BYTES << n);
        let shapes = blocks.flat_map(|bytes| THREADS.map(|threads| (threads, bytes)));
        let shapes: Vec<(u32, u32)> = shapes.collect();
        let cells = shapes.iter().map(|(threads, bytes)| Cell::in_flight(*threads, *bytes));
        let cells: Vec<Cell> = cells.collect();
        let rates = self.iops(drive, &cells);
        let predicted =
            |(((threads, block_bytes), cell), iops): (((u32, u32), &Cell), [f64; 3])| {
                let known = drive.known.iter().find(|(known, _)| known == cell);
                PredictedReads {
                    threads,
                    block_bytes,
                    iops: known.map_or(iops, |(_, iops)| [*iops; 3]),
                    is_known: known.is_some(),
                }
            };
        let cells = shapes.iter().copied().zip(&cells).zip(rates);
        cells.map(predicted).collect()
    }
}
