//! Whole sections, of the parts that are drawn.

use super::{Draw, Section, at_times};

impl Draw {
    /// fio thinks of zones in a file. They divide it: fio 3.33 ends in an assertion where an area
    /// ends within a zone.
    fn on_zones(&mut self, rw: &str) -> Section {
        let zone = [64_u64 << 10, 128 << 10, 96 << 10][self.rng.below(3) as usize];
        let zones = 4 + self.rng.below(24);
        self.options.retain(|option| !option.starts_with("rw"));
        self.add("rw", rw);
        self.add("zonemode", "zbd");
        self.add("zonesize", zone);
        if self.one_in(3) {
            self.add("zonecapacity", zone - (16 << 10));
        }
        let sizes =
            self.one_of(&["bs=4k", "bs=16k", "bsrange=4k-16k", "bs=4k,8k", "bs=32k", "bs=12k"]);
        self.options.push(sizes.to_owned());
        if self.one_in(2) {
            let most = 1 + self.rng.below(6);
            self.add("max_open_zones", most);
            if self.one_in(3) {
                let own = 1 + self.rng.below(3);
                self.add("job_max_open_zones", own);
            }
        }
        if self.one_in(3) {
            self.add("zone_reset_frequency", "0.1");
            if self.one_in(2) {
                let share = self.one_of(&["0.2", "0.5", "0.9"]);
                self.add("zone_reset_threshold", share);
            }
        }
        if self.one_in(3) {
            self.add("read_beyond_wp", 1);
        }
        if !rw.starts_with("rand") && self.one_in(3) {
            let skip = self.one_of(&["1z", "2z"]);
            self.add("zoneskip", skip);
        }
        if self.one_in(3) {
            let first = self.rng.below(zones / 2);
            self.add("offset", format!("{first}z"));
            let count = 1 + self.rng.below(zones / 2);
            self.add("size", format!("{count}z"));
        }
        match self.rng.below(4) {
            0 => {
                let bytes = zones * zone * (1 + self.rng.below(3));
                self.add("io_size", bytes);
            }
            1 => self.add("loops", 2),
            2 => self.add("number_ios", 150),
            _ => {}
        }
        if rw.starts_with("rand") && self.one_in(2) {
            self.add("norandommap", 1);
        }
        Section {
            file_bytes: zones * zone,
            further: Vec::new(),
            options: std::mem::take(&mut self.options),
        }
    }

    pub(super) fn section(&mut self) -> Section {
        self.options.clear();
        self.verifies = false;
        let odd = if self.one_in(4) { 512 * self.rng.below(16) } else { 0 };
        let file_bytes = (256 << 10) + self.rng.below(480) * 4096 + odd;
        let rw = self.direction();
        if !rw.contains("trim") && self.one_in(5) {
            return self.on_zones(rw);
        }
        self.sizes();
        // fio trims no files, and its engine null knows no length but the size.
        let is_part = match rw.contains("trim") {
            true => {
                self.add("ioengine", "null");
                self.add("size", file_bytes);
                false
            }
            false => self.area(file_bytes),
        };
        self.passes(file_bytes);
        if rw.starts_with("rand") {
            self.random();
        } else if self.one_in(8) {
            let zone = self.one_of(&["16k", "64k"]);
            self.add("zonemode", "strided");
            self.add("zonesize", zone);
            let range = self.one_of(&["64k", "128k"]);
            self.add("zonerange", range);
            let skip = self.one_of(&["0", "64k", "16k"]);
            self.add("zoneskip", skip);
        }
        // fio 3.33 never flushes between trims and writes; later versions do.
        if !rw.contains("trimwrite") && self.one_in(6) {
            let name = self.one_of(&["fsync", "fdatasync"]);
            let every = 1 + self.rng.below(6);
            self.add(name, every);
        }
        let is_part = self.later_options(rw, file_bytes) || is_part;
        let names = |option: &String, name: &str| option.starts_with(name);
        let has = |options: &[String], name| options.iter().any(|option| names(option, name));
        // Clones share a log, which stays readable while each writes no more than a buffer of it.
        if has(&self.options, "numjobs") {
            let apart = ["time_based", "runtime", "number_ios", "loops", "fsync", "fdatasync"];
            self.options.retain(|option| !apart.iter().any(|name| names(option, name)));
            let ios = 1 + self.rng.below(200);
            self.add("number_ios", ios);
        }
        let zoned = has(&self.options, "zone") || has(&self.options, "random_distribution=zoned");
        let further = match !zoned && !self.verifies && !rw.contains("trim") && self.one_in(4) {
            true => self.further(file_bytes),
            false => Vec::new(),
        };
        // fio ends a random job early where a run or a sequential I/O comes to the end of a part.
        let is_part = is_part || !further.is_empty() && has(&self.options, "filesize");
        if is_part && rw.starts_with("rand") {
            // Where a size is longer than what is left, fio reads memory behind its map.
            let apart = ["percentage_random", "rw_seq", "bs_is_seq_rand"];
            self.options.retain(|option| !apart.iter().any(|name| names(option, name)));
            for option in &mut self.options {
                if names(option, "rw=") {
                    *option = format!("rw={rw}");
                }
            }
        }
        Section { file_bytes, further, options: std::mem::take(&mut self.options) }
    }

    /// Returns whether the area is a part of the file.
    fn later_options(&mut self, rw: &str, file_bytes: u64) -> bool {
        if !rw.starts_with("rand") && self.later.below(12) == 0 {
            self.add("random_generator", "tausworthe64");
        }
        let later = [
            "dedupe_percentage=40",
            "refill_buffers=1",
            "zero_buffers=1",
            "prio=5",
            "prioclass=3",
            "softrandommap=1",
            "gtod_reduce=1",
            "end_fsync=0",
        ];
        let latest = [
            "do_verify=0",
            "buffer_pattern=0xdeadbeef",
            "buffer_compress_percentage=30",
            "dedupe_percentage=60\ndedupe_mode=repeat",
            "dedupe_percentage=60\ndedupe_mode=working_set\ndedupe_working_set_percentage=40",
            "do_verify=0",
        ];
        let has_size =
            self.options.iter().any(|option| option.starts_with("size=") && !option.ends_with('%'));
        let plain = [at_times(&mut self.later, &later), at_times(&mut self.latest, &latest)];
        let fits = |option: &&str| has_size || !option.contains("working_set");
        let plain = plain.into_iter().flatten().filter(fits);
        self.options.extend(plain.map(str::to_owned));
        let has = |name: &str| self.options.iter().any(|option| option.starts_with(name));
        // Blocks of several sizes have headers of each, and a run may be written twice.
        let is_plain = !has("numjobs")
            && !has("dedupe")
            && !has("buffer")
            && !has("zone")
            && !has("percentage_random")
            && !has("norandommap")
            && !has("random_")
            && !has("bs_unaligned")
            // As without a random map.
            && !has("ba=")
            && !has("time_based")
            && !self
                .options
                .iter()
                .any(|option| option.starts_with("rw=") && option.contains(':'));
        let writes = ["write", "randwrite", "rw", "randrw"].contains(&rw);
        if writes && is_plain && self.latest.below(4) == 0 {
            self.options.push("verify=crc32c\nverify_interval=512".to_owned());
            self.verifies = true;
        }
        let fixed = self.options.iter_mut().find(|option| option.starts_with("filesize="));
        match fixed {
            Some(fixed) if self.later.below(2) == 0 => {
                let least = file_bytes - self.later.below(file_bytes / 16384) * 4096;
                let most = least + self.later.below(64) * 4096;
                *fixed = format!("filesize={least}-{most}");
                true
            }
            _ => false,
        }
    }

    /// Each file has room for what the job says of its first one.
    fn further(&mut self, file_bytes: u64) -> Vec<u64> {
        let count = 1 + self.rng.below(4);
        let lengths = (0..count).map(|_| file_bytes + self.rng.below(64) * 4096);
        let lengths: Vec<u64> = lengths.collect();
        if self.one_in(2) {
            let service =
                self.one_of(&["random", "sequential", "roundrobin:3", "random:4", "roundrobin"]);
            self.add("file_service_type", service);
        }
        if self.one_in(3) {
            let open = 1 + self.rng.below(count + 1);
            self.add("openfiles", open);
        }
        let laws = ["zipf", "zipf:0.7", "zipf:1.3:0.5", "pareto:0.4", "normal:20", "normal:3:0.2"];
        let is_free = |option: &String| !option.starts_with("random_distribution");
        if self.later.below(4) == 0 && self.options.iter().all(is_free) {
            self.options.retain(|option| !option.starts_with("file_service_type"));
            let law = laws[self.later.below(laws.len() as u64) as usize];
            self.add("file_service_type", law);
        }
        lengths
    }
}
