use assay_units::text::{format_size, group_digits};

use super::health::Health;
use super::placement::Placement;
use super::probe::{Namespace, PowerStateLimits, Probe, RegisterFacts};

struct Facts<'t> {
    group: &'static str,
    tell: &'t mut dyn FnMut(&'static str, String, String),
}

impl Facts<'_> {
    fn add(&mut self, name: impl Into<String>, value: impl Into<String>) {
        (self.tell)(self.group, name.into(), value.into());
    }
}

fn yes(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

fn celsius(value: Option<i32>) -> String {
    value.map_or_else(|| "not reported".to_owned(), |c| format!("{c} degrees C"))
}

fn listed(words: &[String]) -> String {
    match words {
        [] => "none".to_owned(),
        words => words.join(", "),
    }
}

fn watts(mw: f64) -> String {
    if mw >= 1000.0 { format!("{:.2} W", mw / 1e3) } else { format!("{mw:.1} mW") }
}

fn micros(us: Option<u32>) -> String {
    match us {
        None => "not reported".to_owned(),
        Some(us @ 0..10_000) => format!("{us} \u{b5}s"),
        Some(us) => format!("{:.0} ms", f64::from(us) / 1e3),
    }
}

pub fn facts(probe: &Probe, tell: &mut dyn FnMut(&'static str, String, String)) {
    // A table: one entry per fact.
    let mut facts = Facts { group: "controller", tell };
    facts.add("NVMe version", &probe.version);
    facts.add("model", &probe.model);
    facts.add("serial", &probe.serial);
    let slots = probe.firmware_slots.iter().map(|(slot, revision, active)| {
        let mark = if *active { ", active" } else { "" };
        format!("{revision} (slot {slot}{mark})")
    });
    let slots = slots.collect::<Vec<_>>().join(", ");
    facts.add("firmware", if slots.is_empty() { &probe.firmware } else { &slots });
    // A simulated drive without a bus.
    let vendor = match probe.pci_vendor {
        (0, 0) => "none".to_owned(),
        (vendor, subsystem) => format!("{vendor:#06x}, subsystem {subsystem:#06x}"),
    };
    facts.add("PCI vendor", format!("{vendor}; IEEE {}", probe.ieee_oui));
    let largest = probe.max_transfer_bytes.map(format_size);
    facts.add("largest command", largest.unwrap_or("no limit".to_owned()));
    if let Some(bytes) = probe.total_capacity_bytes {
        facts.add("total capacity", format!("{} bytes", group_digits(bytes)));
    }
    facts.add("admin commands", listed(&probe.admin_commands));
    facts.add("I/O commands", listed(&probe.io_commands));
    facts.add("sanitize", listed(&probe.sanitize));

    facts.group = "registers";
    match (&probe.registers, &probe.registers_missing) {
        (Some(registers), _) => register_facts(&mut facts, registers),
        (None, Some(why)) => facts.add("registers", format!("not read: {why}")),
        (None, None) => {}
    }

    facts.group = "queues and interrupts";
    if let Some((submission, completion)) = probe.queues_granted {
        let granted = format!("{submission} submission, {completion} completion");
        facts.add("I/O queues granted", granted);
    }
    if let Some(vectors) = probe.interrupt_vectors {
        facts.add("interrupt vectors", vectors.to_string());
    }
    if let Some(c) = probe.coalescing {
        let value = match (c.time_us, c.completions) {
            (0, _) | (_, ..=1) => "off".to_owned(),
            (us, completions) => format!("{completions} completions or {us} \u{b5}s"),
        };
        facts.add("interrupt coalescing", value);
    }
    facts.add(
        "volatile write cache",
        match probe.write_cache_on {
            None => "none",
            Some(true) => "on",
            Some(false) => "off",
        },
    );

    facts.group = "power";
    for state in &probe.power_states {
        let mark = if state.current { " (now)" } else { "" };
        facts.add(format!("state {}{mark}", state.state), power_state(state));
    }
    let autonomous = match &probe.autonomous_power {
        None => "not supported".to_owned(),
        Some(a) if !a.enabled => "off".to_owned(),
        Some(a) => {
            let each = a.transitions.iter();
            let each = each.map(|(from, ms, to)| format!("{from} to {to} after {ms} ms"));
            format!("on: {}", listed(&each.collect::<Vec<_>>()))
        }
    };
    facts.add("autonomous transitions", autonomous);

    facts.group = "temperature";
    facts.add("warning temperature", celsius(probe.thermal.warning_c));
    facts.add("critical temperature", celsius(probe.thermal.critical_c));
    facts.add("event threshold", celsius(probe.thermal.threshold_c));
    if let Some((low, high)) = probe.thermal.host_range_c {
        let set = |c: Option<i32>| c.map_or_else(|| "off".to_owned(), |c| c.to_string());
        let (light, heavy) = probe.thermal.host_set_c;
        let (light, heavy) = (set(light), set(heavy));
        let value = format!("{low} to {high} degrees C; light {light}, heavy {heavy}");
        facts.add("host-set throttling", value);
    }

    for namespace in &probe.namespaces {
        facts.group = "namespaces";
        let name = format!("namespace {}", namespace.nsid);
        facts.add(name, namespace_words(namespace));
    }
    if let Some(placement) = &probe.placement {
        placement_facts(&mut facts, placement);
    }
    health_facts(&mut facts, &probe.health);
}

fn placement_facts(facts: &mut Facts<'_>, placement: &Placement) {
    facts.group = "data placement (FDP)";
    for (index, c) in (0_u8..).zip(&placement.configurations) {
        let mark = match placement.enabled == Some(index) {
            true => " (in use)",
            false => "",
        };
        let isolation = match c.mixes_when_moving {
            true => "initially isolated",
            false => "persistently isolated",
        };
        let value = format!(
            "{} reclaim unit handles, {isolation}; reclaim units of {} in {} group(s)",
            c.handles,
            format_size(c.unit_bytes),
            c.groups
        );
        facts.add(format!("configuration {index}{mark}"), value);
    }
    let Some(log) = &placement.statistics else {
        facts.add("enabled", yes(placement.enabled.is_some()));
        return;
    };
    let [host, media, erased] =
        [log.host_bytes, log.media_bytes, log.erased_bytes].map(format_size);
    let amplification = match log.host_bytes {
        0 => String::new(),
        bytes => format!(": {:.2} bytes per byte", log.media_bytes as f64 / bytes as f64),
    };
    let value = format!("{host} by the host, {media} to the media{amplification}; {erased} erased");
    facts.add("written since it is on", value);
}

fn register_facts(facts: &mut Facts<'_>, r: &RegisterFacts) {
    let entries = group_digits(u64::from(r.max_queue_entries));
    let (smallest, largest) = (format_size(r.page_bytes.0), format_size(r.page_bytes.1));
    let status = match (r.ready, r.fatal) {
        (_, true) => "fatal",
        (true, false) => "ready",
        (false, false) => "not ready",
    };
    let ready_s = f64::from(r.ready_timeout_ms) / 1e3;
    let stride = r.doorbell_stride_bytes;
    facts.add("CAP", &r.cap);
    facts.add("largest queue (MQES)", format!("{entries} entries"));
    facts.add("ready timeout (TO)", format!("{ready_s} s"));
    facts.add("doorbell stride (DSTRD)", format!("{stride} B"));
    facts.add("weighted round robin (AMS)", yes(r.weighted_round_robin));
    facts.add("contiguous queues required (CQR)", yes(r.contiguous_queues));
    facts.add("subsystem reset (NSSRS)", yes(r.subsystem_reset));
    facts.add("controller memory buffer (CMBS)", yes(r.memory_buffer));
    let pages = format!("{smallest} to {largest}");
    facts.add("memory pages (MPSMIN, MPSMAX)", pages);
    facts.add("VS", &r.version);
    facts.add("CC", &r.cc);
    facts.add("CSTS", status);
}

fn power_state(state: &PowerStateLimits) -> String {
    let operational = if state.operational { "operational" } else { "non-operational" };
    let (most, enter) = (watts(state.max_mw), micros(state.entry_us));
    let leave = micros(state.exit_us);
    let mut words = format!("at most {most}, {operational}, enter {enter}, leave {leave}");
    for (kind, mw) in [("idle", state.idle_mw), ("active", state.active_mw)] {
        if let Some(mw) = mw {
            words.push_str(&format!(", {kind} {}", watts(mw)));
        }
    }
    words
}

fn namespace_words(n: &Namespace) -> String {
    let formats = n.formats.iter().map(|f| {
        let metadata = match f.metadata_bytes {
            0 => String::new(),
            bytes => format!("+{bytes}"),
        };
        let mark = if f.in_use { " (in use)" } else { "" };
        format!("{}{metadata}{mark}", f.block_bytes)
    });
    let formats = listed(&formats.collect::<Vec<_>>());
    let deallocated = match n.deallocated_zeroes {
        Some(true) => "; deallocated blocks read as zeroes",
        Some(false) => "; deallocated blocks read as ones",
        None => "",
    };
    let (size, used) = (group_digits(n.size_bytes), group_digits(n.used_bytes));
    let preferred = n.preferred_writes.map_or(String::new(), |p| {
        let size = assay_units::text::format_size;
        format!(
            "; prefers writes of {} aligned to {} (NPWG, NPWA), best of {} (NOWS)",
            size(p.granularity_bytes),
            size(p.alignment_bytes),
            size(p.optimal_bytes)
        )
    });
    let metadata = match (n.protection_type, n.extended_blocks) {
        (0, false) => String::new(),
        (0, true) => "; metadata in extended blocks".to_owned(),
        (kind, extended) => {
            let place = if extended { " in extended blocks" } else { "" };
            format!("; protection information of type {kind}{place}")
        }
    };
    let boundary = n
        .atomic_boundary_bytes
        .map_or(String::new(), |bytes| format!(" within {}", format_size(bytes)));
    let (atomic, power_fail) = (n.atomic_bytes, n.atomic_power_fail_bytes);
    let [atomic, power_fail] = [atomic, power_fail].map(format_size);
    let compare = n
        .atomic_compare_bytes
        .map_or(String::new(), |bytes| format!(", compare and write of {}", format_size(bytes)));
    let atomic = format!(
        "; atomic writes of {atomic}, of {power_fail}{boundary} also when power fails{compare}"
    );
    let metadata = metadata + &atomic;
    format!("{size} bytes, {used} in use; formats {formats}{metadata}{deallocated}{preferred}")
}

fn health_facts(facts: &mut Facts<'_>, h: &Health) {
    // A table: one entry per fact.
    facts.group = "health";
    facts.add("critical warnings", listed(&h.critical_warnings));
    let sensor = |(number, c): &(u8, i32)| format!("sensor {number}: {c}");
    let sensors: Vec<String> = h.sensors_c.iter().map(sensor).collect();
    let further = match sensors.as_slice() {
        [] => String::new(),
        sensors => format!(" ({})", sensors.join(", ")),
    };
    facts.add("temperature", format!("{} degrees C{further}", h.composite_c));
    let (used, spare, threshold) =
        (h.percentage_used, h.available_spare_pct, h.spare_threshold_pct);
    let life = format!("{used} %; spare {spare} % (threshold {threshold} %)");
    facts.add("life used", life);
    let [read, written] = [h.read_bytes, h.written_bytes].map(format_size);
    let [reads, writes] = [h.read_commands, h.write_commands].map(group_digits);
    let moved = format!("{read} and {written} in {reads} and {writes} commands");
    facts.add("read and written", moved);
    if let Some(log) = &h.endurance {
        let written = format_size(log.media_written_bytes);
        let moved = match log.media_read_bytes {
            Some(read) => {
                ("media read and written", format!("{} and {written}", format_size(read)))
            }
            None => ("media written", written),
        };
        facts.add(moved.0, format!("{} (log {})", moved.1, log.media.source.name()));
        if let Some((least, most)) = h.write_amplification() {
            let (least, most) = (format!("{least:.2}"), format!("{most:.2}"));
            let value = match least == most {
                true => format!("{least} over its life"),
                false => format!("{least} to {most} over its life, by the units of its counters"),
            };
            facts.add("write amplification", value);
        }
        let bad = log.bad_blocks.map(|bad| format!("{} bad", group_digits(bad)));
        let free = log.free_blocks_pct;
        let free = free.map(|free| format!("{free} % of the spare ones free"));
        let erases = log.erases;
        let erases = erases.map(|(least, most)| format!("{least} to {most} erases"));
        let blocks: Vec<String> = [bad, free, erases].into_iter().flatten().collect();
        if !blocks.is_empty() {
            facts.add("blocks", blocks.join(", "));
        }
    }
    if let Some(rated) = &h.rated {
        let value = format!("{} written to the media", format_size(rated.media_bytes));
        facts.add("rated endurance", format!("{value} (log {})", rated.source.name()));
    }
    let [cycles, hours, unsafe_shutdowns] =
        [h.power_cycles, h.power_on_hours, h.unsafe_shutdowns].map(group_digits);
    let power = format!("{cycles} cycles, {hours} hours, {unsafe_shutdowns} unsafe shutdowns");
    facts.add("power", power);
    let [media, entries] = [h.media_errors, h.error_log_entries].map(group_digits);
    let errors = format!("{media} media and data integrity, {entries} error log entries");
    facts.add("errors", errors);
    let (warning, critical) = (h.warning_minutes, h.critical_minutes);
    let hot =
        format!("{warning} min over the warning, {critical} min over the critical temperature");
    facts.add("time too hot", hot);
    let ((light, heavy), (light_s, heavy_s)) = (h.thermal_transitions, h.thermal_s);
    let throttled =
        format!("{light} times lightly ({light_s} s), {heavy} times heavily ({heavy_s} s)");
    facts.add("throttled", throttled);
}
