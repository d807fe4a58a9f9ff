//! Rates of the core with a drive without limits: cycles per chunk, recorded and replayed.
//!
//! Arguments: configuration, chunks, PCIe generation or 0 for a link without limits. For the speed
//! of the simulation, take the time of the whole program.

use assay_cosim::config::Configuration;
use assay_cosim::pcie_drive::{LinkOptions, PcieDrive, PcieDriveOptions, unlimited_profile};
use assay_cosim::streamer::CoreStreamer;
use assay_cosim::world::{World, WorldOptions};
use assay_ssd::DriveOptions;
use assay_stream::range::StreamRange;
use assay_stream::record::RecordOptions;
use assay_stream::registers::Registers;
use assay_stream::replay::ReplayOptions;
use assay_stream::source::{DiscardSink, SizedSource};
use assay_stream::streamer::Streamer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "w128".to_owned());
    let chunks: u64 = arguments.next().map_or(Ok(256), |text| text.parse())?;
    let generation: u8 = arguments.next().map_or(Ok(0), |text| text.parse())?;
    let monitors = arguments.next().is_none();
    let configuration = Configuration::named(&name).ok_or("no such configuration")?;
    let link = match generation {
        0 => LinkOptions::unlimited(),
        generation => LinkOptions::new(generation, 4),
    };
    let mut drives = Vec::new();
    for _ in 0..configuration.drives {
        let mut options = PcieDriveOptions::new(link, configuration.data_width);
        options.namespace = configuration.namespace;
        let drive = PcieDrive::from_profile(unlimited_profile(), DriveOptions::default(), options)?;
        drives.push(drive);
    }
    let options = WorldOptions { monitors, ..WorldOptions::default() };
    let world = World::new(configuration, drives, &options)?;
    let names = (0..configuration.drives).map(|drive| format!("drive {drive}"));
    let mut core = CoreStreamer::new(world, names.collect())?;
    core.bring_up()?;
    println!("ready in cycle {}", core.world().cycle());
    let chunk = u64::from(configuration.chunk_bytes());
    let drives = u64::from(configuration.drives);
    let range = StreamRange {
        first: 0,
        last: (chunks / drives - 1) * chunk,
        chunk_bytes: configuration.chunk_bytes(),
        drives: configuration.drives,
    };
    let ideal = chunk / configuration.beat_bytes() as u64;
    let registers = Registers::default();
    let mut source = SizedSource::uninit(range.bytes());
    let recorded = core.record(&range, &mut source, &RecordOptions::default(), &registers)?;
    let options = ReplayOptions::default();
    let replayed = core.replay(&range, None, &mut DiscardSink, options, &registers)?;
    for (what, status) in [("recorded", recorded.status), ("replayed", replayed.status)] {
        let cycles = status.elapsed_ns / assay_cosim::CYCLE_NS;
        println!(
            "{what}: {} bytes, {:?}, {:.0} cycles per chunk of {ideal} beats, {:.0} MiB/s",
            status.bytes,
            status.status,
            cycles as f64 / chunks as f64,
            status.rate_bytes_per_s() / f64::from(1 << 20)
        );
    }
    let world = core.world();
    let evaluated = world.cycle() - world.skipped_cycles();
    println!("{} cycles, {evaluated} evaluated", world.cycle());
    Ok(())
}
