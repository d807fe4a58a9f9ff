//! Text of a probe: groups of names and values.

use assay_units::text::{format_size, group_digits};

use super::health::Health;
use super::probe::{Namespace, PowerState, Probe, RegisterFacts};

/// Receives a group, a name and a value.
type Tell<'t> = &'t mut dyn FnMut(&'static str, String, String);

/// Emits the entries in order.
struct Facts<'t> {
    group: &'static str,
    tell: Tell<'t>,
}

impl Facts<'_> {
    fn group(&mut self, group: &'static str) {
        self.group = group;
    }

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
    if words.is_empty() {
        "none".to_owned()
    } else {
        words.join(", ")
    }
}

/// Formats milliwatts.
fn watts(mw: f64) -> String {
    if mw >= 1000.0 {
        format!("{:.2} W", mw / 1e3)
    } else {
        format!("{mw:.1} mW")
    }
}

/// Formats microseconds.
fn micros(us: Option<u32>) -> String {
    match us {
        None => "not reported".to_owned(),
        Some(us @ 0..10_000) => format!("{us} us"),
        Some(us) => format!("{:.0} ms", f64::from(us) / 1e3),
    }
}

/// Emits all entries of a probe: group, name, value.
pub fn facts(probe: &Probe, tell: &mut dyn FnMut(&'static str, String, String)) {
    let mut facts = Facts {
        group: "controller",
        tell,
    };
    facts.add("NVMe version", &probe.version);
    facts.add("model", &probe.model);
    facts.add("serial", &probe.serial);
    let slots = probe.firmware_slots.iter().map(|(slot, revision, active)| {
        let mark = if *active { ", active" } else { "" };
        format!("{revision} (slot {slot}{mark})")
    });
    let slots: Vec<String> = slots.collect();
    let firmware = if slots.is_empty() {
        probe.firmware.clone()
    } else {
        slots.join(", ")
    };
    facts.add("firmware", firmware);
    // A simulated drive without a bus.
    let vendor = match probe.pci_vendor {
        (0, 0) => "none".to_owned(),
        (vendor, subsystem) => format!("{vendor:#06x}, subsystem {subsystem:#06x}"),
    };
    facts.add("PCI vendor", format!("{vendor}; IEEE {}", probe.ieee_oui));
    facts.add(
        "largest command",
        probe
            .max_transfer_bytes
            .map_or_else(|| "no limit".to_owned(), format_size),
    );
    if let Some(bytes) = probe.total_capacity_bytes {
        facts.add("total capacity", format!("{} bytes", group_digits(bytes)));
    }
    facts.add("admin commands", listed(&probe.admin_commands));
    facts.add("I/O commands", listed(&probe.io_commands));
    facts.add("sanitize", listed(&probe.sanitize));

    facts.group("registers");
    match (&probe.registers, &probe.registers_missing) {
        (Some(registers), _) => register_facts(&mut facts, registers),
        (None, Some(why)) => facts.add("registers", format!("not read: {why}")),
        (None, None) => {}
    }

    facts.group("queues and interrupts");
    if let Some((submission, completion)) = probe.queues_granted {
        facts.add(
            "I/O queues granted",
            format!("{submission} submission, {completion} completion"),
        );
    }
    if let Some(vectors) = probe.interrupt_vectors {
        facts.add("interrupt vectors", vectors.to_string());
    }
    if let Some(c) = probe.coalescing {
        let value = if c.time_us == 0 || c.completions <= 1 {
            "off".to_owned()
        } else {
            format!("{} completions or {} us", c.completions, c.time_us)
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

    facts.group("power");
    for state in &probe.power_states {
        facts.add(
            format!(
                "state {}{}",
                state.state,
                if state.current { " (now)" } else { "" }
            ),
            power_state(state),
        );
    }
    facts.add(
        "autonomous transitions",
        match &probe.autonomous_power {
            None => "not supported".to_owned(),
            Some(a) if !a.enabled => "off".to_owned(),
            Some(a) => {
                let each = a
                    .transitions
                    .iter()
                    .map(|(from, ms, to)| format!("{from} to {to} after {ms} ms"));
                format!("on: {}", listed(&each.collect::<Vec<_>>()))
            }
        },
    );

    facts.group("temperature");
    facts.add("warning temperature", celsius(probe.thermal.warning_c));
    facts.add("critical temperature", celsius(probe.thermal.critical_c));
    facts.add("event threshold", celsius(probe.thermal.threshold_c));
    if let Some((low, high)) = probe.thermal.host_range_c {
        let set = |c: Option<i32>| c.map_or_else(|| "off".to_owned(), |c| format!("{c}"));
        let (light, heavy) = probe.thermal.host_set_c;
        facts.add(
            "host-set throttling",
            format!(
                "{low} to {high} degrees C; light {}, heavy {}",
                set(light),
                set(heavy)
            ),
        );
    }

    for namespace in &probe.namespaces {
        facts.group("namespaces");
        facts.add(
            format!("namespace {}", namespace.nsid),
            namespace_words(namespace),
        );
    }
    health_facts(&mut facts, &probe.health);
}

fn register_facts(facts: &mut Facts<'_>, r: &RegisterFacts) {
    facts.add("CAP", &r.cap);
    facts.add(
        "largest queue (MQES)",
        format!("{} entries", group_digits(u64::from(r.max_queue_entries))),
    );
    facts.add(
        "ready timeout (TO)",
        format!("{} s", f64::from(r.ready_timeout_ms) / 1e3),
    );
    facts.add(
        "doorbell stride (DSTRD)",
        format!("{} B", r.doorbell_stride_bytes),
    );
    facts.add("weighted round robin (AMS)", yes(r.weighted_round_robin));
    facts.add("contiguous queues required (CQR)", yes(r.contiguous_queues));
    facts.add("subsystem reset (NSSRS)", yes(r.subsystem_reset));
    facts.add("controller memory buffer (CMBS)", yes(r.memory_buffer));
    facts.add(
        "memory pages (MPSMIN, MPSMAX)",
        format!(
            "{} to {}",
            format_size(r.page_bytes.0),
            format_size(r.page_bytes.1)
        ),
    );
    facts.add("VS", &r.version);
    facts.add("CC", &r.cc);
    facts.add(
        "CSTS",
        match (r.ready, r.fatal) {
            (_, true) => "fatal",
            (true, false) => "ready",
            (false, false) => "not ready",
        },
    );
}

fn power_state(state: &PowerState) -> String {
    let mut words = format!(
        "at most {}, {}, enter {}, leave {}",
        watts(state.max_mw),
        if state.operational {
            "operational"
        } else {
            "non-operational"
        },
        micros(state.entry_us),
        micros(state.exit_us)
    );
    if let Some(idle) = state.idle_mw {
        words.push_str(&format!(", idle {}", watts(idle)));
    }
    if let Some(active) = state.active_mw {
        words.push_str(&format!(", active {}", watts(active)));
    }
    words
}

fn namespace_words(n: &Namespace) -> String {
    let formats = n.formats.iter().map(|f| {
        let metadata = match f.metadata_bytes {
            0 => String::new(),
            bytes => format!("+{bytes}"),
        };
        format!(
            "{}{metadata}{}",
            f.block_bytes,
            if f.in_use { " (in use)" } else { "" }
        )
    });
    let formats: Vec<String> = formats.collect();
    format!(
        "{} bytes, {} in use; formats {}{}",
        group_digits(n.size_bytes),
        group_digits(n.used_bytes),
        listed(&formats),
        match n.deallocated_zeroes {
            Some(true) => "; deallocated blocks read as zeroes",
            Some(false) => "; deallocated blocks read as ones",
            None => "",
        }
    )
}

fn health_facts(facts: &mut Facts<'_>, h: &Health) {
    facts.group("health");
    facts.add("critical warnings", listed(&h.critical_warnings));
    let sensors: Vec<String> = h
        .sensors_c
        .iter()
        .map(|(number, c)| format!("sensor {number}: {c}"))
        .collect();
    let further = if sensors.is_empty() {
        String::new()
    } else {
        format!(" ({})", sensors.join(", "))
    };
    facts.add(
        "temperature",
        format!("{} degrees C{further}", h.composite_c),
    );
    facts.add(
        "life used",
        format!(
            "{} %; spare {} % (threshold {} %)",
            h.percentage_used, h.available_spare_pct, h.spare_threshold_pct
        ),
    );
    facts.add(
        "read and written",
        format!(
            "{} and {} in {} and {} commands",
            format_size(h.read_bytes),
            format_size(h.written_bytes),
            group_digits(h.read_commands),
            group_digits(h.write_commands)
        ),
    );
    facts.add(
        "power",
        format!(
            "{} cycles, {} hours, {} unsafe shutdowns",
            group_digits(h.power_cycles),
            group_digits(h.power_on_hours),
            group_digits(h.unsafe_shutdowns)
        ),
    );
    facts.add(
        "errors",
        format!(
            "{} media and data integrity, {} error log entries",
            group_digits(h.media_errors),
            group_digits(h.error_log_entries)
        ),
    );
    facts.add(
        "time too hot",
        format!(
            "{} min over the warning, {} min over the critical temperature",
            h.warning_minutes, h.critical_minutes
        ),
    );
    let (light, heavy) = h.thermal_transitions;
    facts.add(
        "throttled",
        format!(
            "{light} times lightly ({} s), {heavy} times heavily ({} s)",
            h.thermal_s.0, h.thermal_s.1
        ),
    );
}
