//! Random job files. None makes a file longer than it is, which fio does and assay does not; none
//! depends on time but by its end.

use assay_units::Rng;

pub struct Section {
    file_bytes: u64,
    /// Lengths of further files, which take turns.
    further: Vec<u64>,
    options: Vec<String>,
}

pub struct JobText(Vec<Section>);

struct Draw {
    rng: Rng,
    /// Of options that came later, so that the others of a seed stay what they were.
    later: Rng,
    latest: Rng,
    /// The section, which then has one file.
    verifies: bool,
    options: Vec<String>,
}

/// One of these options, in one section of eight.
fn at_times<'a>(rng: &mut Rng, options: &[&'a str]) -> Option<&'a str> {
    (rng.below(8) == 0).then(|| options[rng.below(options.len() as u64) as usize])
}

impl Draw {
    fn one_in(&mut self, n: u64) -> bool {
        self.rng.below(n) == 0
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.rng.below(words.len() as u64) as usize]
    }

    fn add(&mut self, name: &str, value: impl std::fmt::Display) {
        self.options.push(format!("{name}={value}"));
    }

    /// One value for all directions, or two, or three.
    fn each(&mut self, one: impl Fn(&mut Draw) -> String) -> String {
        let count = [1, 1, 1, 2, 2, 3][self.rng.below(6) as usize];
        let values: Vec<String> = (0..count).map(|_| one(self)).collect();
        values.join(",")
    }

    fn size(&mut self) -> &'static str {
        self.one_of(&["4k", "4k", "8k", "512", "1k", "12k", "16k", "64k"])
    }

    fn sizes(&mut self) {
        let (name, value) = match self.rng.below(8) {
            0 => return,
            1..=4 => ("bs", self.each(|draw| draw.size().to_owned())),
            5 => {
                let range = |draw: &mut Draw| {
                    draw.one_of(&["4k-16k", "1k-4k", "512-8k", "3k-12k", "4k-4k", "8k-20k"])
                        .to_owned()
                };
                ("bsrange", self.each(range))
            }
            _ => {
                let split = |draw: &mut Draw| {
                    draw.one_of(&[
                        "4k/50:64k/50",
                        "4k/10:8k/30:16k/60",
                        "1k:2k/40:4k",
                        "8k/100",
                        "12k/70:4k/30",
                    ])
                    .to_owned()
                };
                ("bssplit", self.each(split))
            }
        };
        self.add(name, value);
        if self.one_in(12) {
            self.add("bs_is_seq_rand", 1);
        }
        if self.one_in(12) {
            self.add("bs_unaligned", 1);
        }
    }

    fn direction(&mut self) -> &'static str {
        let rw = self.one_of(&[
            "read",
            "write",
            "randread",
            "randwrite",
            "randread",
            "randwrite",
            "rw",
            "randrw",
            "randrw",
            "trimwrite",
            "randtrimwrite",
            "trim",
            "randtrim",
        ]);
        let suffix = match (self.one_in(6), rw.starts_with("rand"), rw.contains("trim")) {
            (true, true, false) => self.one_of(&[":2", ":8", ":3"]),
            (true, false, false) => self.one_of(&[":4k", ":8k", ":64k", ":-4k", ":-8k", ":-20k"]),
            _ => "",
        };
        self.add("rw", format!("{rw}{suffix}"));
        if rw.ends_with("rw") && self.one_in(2) {
            let percent = self.rng.below(101);
            let name = self.one_of(&["rwmixread", "rwmixwrite"]);
            self.add(name, percent);
        }
        if !suffix.is_empty() && self.one_in(3) {
            self.add("rw_sequencer", "identical");
        }
        rw
    }

    fn random(&mut self) {
        match self.rng.below(8) {
            0 => self.add("norandommap", 1),
            1 => {
                let kind = self.one_of(&["lfsr", "tausworthe64"]);
                self.add("random_generator", kind);
            }
            2 => {
                let law = self.one_of(&[
                    "zipf:1.2",
                    "zipf:0.8",
                    "zipf",
                    "pareto:0.2",
                    "pareto:0.9",
                    "normal:10",
                    "normal:1",
                    "normal:60",
                    "zipf:1.1:0.5",
                    "normal:5:0.25",
                    "pareto:0.3:0.1",
                ]);
                self.add("random_distribution", law);
            }
            3 => {
                let law = self.one_of(&[
                    "zoned:50/5:30/15:20/80",
                    "zoned:10/90:90/10",
                    "zoned:60/10:40/90",
                    "zoned_abs:70/64k:30/64k",
                ]);
                self.add("random_distribution", law);
            }
            4 => {
                let align = self.one_of(&["4k", "8k", "512", "16k,4k", "2k"]);
                self.add("ba", align);
            }
            _ => {}
        }
        if self.one_in(8) {
            let percent = self.each(|draw| draw.rng.below(101).to_string());
            self.add("percentage_random", percent);
        }
        if self.one_in(6) {
            let seed = self.rng.below(1 << 40);
            self.add("randseed", seed);
        }
        if self.one_in(10) {
            self.add("allrandrepeat", 1);
        }
    }

    /// Returns whether it is a part of the file.
    fn area(&mut self, file_bytes: u64) -> bool {
        let blocks = file_bytes / 4096;
        let clones = if self.one_in(5) { 2 + self.rng.below(3) } else { 1 };
        let (mut offset, mut increment) = (0, 0);
        let mut is_part = false;
        match self.rng.below(6) {
            0 => {
                offset = self.rng.below(blocks / 4 + 1) * 4096;
                self.add("offset", offset);
                is_part = true;
            }
            1 => {
                let percent = self.rng.below(40);
                offset = (file_bytes * percent).div_ceil(100) + (64 << 10);
                self.add("offset", format!("{percent}%"));
                is_part = true;
            }
            _ => {}
        }
        if self.one_in(8) {
            let align = self.one_of(&["512", "4k", "16k"]);
            self.add("offset_align", align);
        }
        if clones > 1 {
            self.add("numjobs", clones);
            match self.rng.below(3) {
                0 => {
                    increment = self.rng.below(blocks / 8 + 1) * 4096;
                    self.add("offset_increment", increment);
                    is_part = true;
                }
                1 => {
                    let percent = 1 + self.rng.below(12);
                    increment = (file_bytes * percent).div_ceil(100);
                    self.add("offset_increment", format!("{percent}%"));
                    is_part = true;
                }
                _ => {}
            }
        }
        let room = file_bytes.saturating_sub(offset + increment * clones + (64 << 10)) / 4096;
        match self.rng.below(8) {
            0 | 1 if room > 32 => {
                let blocks = 17 + self.rng.below(room - 17);
                self.add("size", blocks * 4096);
                is_part = true;
            }
            2 => {
                let percent = 20 + self.rng.below(81);
                self.add("size", format!("{percent}%"));
                is_part = true;
            }
            3 => {
                self.add("filesize", file_bytes);
                if self.one_in(2) {
                    let blocks = 17 + self.rng.below(blocks);
                    self.add("size", blocks * 4096);
                }
            }
            _ => {}
        }
        is_part
    }

    fn passes(&mut self, file_bytes: u64) {
        match self.rng.below(12) {
            0 => {
                let loops = 2 + self.rng.below(3);
                self.add("loops", loops);
            }
            1 => {
                let bytes = (1 + self.rng.below(3 * file_bytes / 4096)) * 4096;
                self.add("io_size", bytes);
            }
            2 => {
                let percent = 10 + self.rng.below(91);
                self.add("io_size", format!("{percent}%"));
            }
            3 | 4 => {
                let ios = 1 + self.rng.below(400);
                self.add("number_ios", ios);
                if self.one_in(3) {
                    self.add("loops", 2);
                }
            }
            5 => {
                self.options.push("time_based".to_owned());
                self.add("runtime", "300ms");
                if self.one_in(3) {
                    self.add("number_ios", 50);
                }
            }
            _ => {}
        }
    }
}

impl Section {
    fn names(&self, number: usize) -> impl Iterator<Item = String> {
        let further = (1..=self.further.len()).map(move |file| format!("f{number}.{file}"));
        std::iter::once(format!("f{number}")).chain(further)
    }
}

impl JobText {
    pub fn of_seed(seed: u64) -> JobText {
        let mut draw = Draw {
            rng: Rng::stream(seed, "job files"),
            later: Rng::stream(seed, "later options"),
            latest: Rng::stream(seed, "latest options"),
            verifies: false,
            options: Vec::new(),
        };
        let sections = 1 + draw.rng.below(3);
        JobText((0..sections).map(|_| draw.section()).collect())
    }

    fn text(&self, logs: bool) -> String {
        let mut text = "[global]\nioengine=psync\nthread\n".to_owned();
        for (number, section) in self.0.iter().enumerate() {
            let names: Vec<String> = section.names(number).collect();
            text += &format!(
                "[s{number}]\nfilename={}\n{}\n",
                names.join(":"),
                section.options.join("\n")
            );
            if logs {
                text += &format!("write_iolog=log{number}\n");
            }
        }
        text
    }

    pub fn for_fio(&self) -> String {
        self.text(true)
    }

    pub fn plain(&self) -> String {
        self.text(false)
    }

    /// Of each section.
    pub fn files(&self) -> Vec<Vec<(String, u64)>> {
        let sections = self.0.iter().enumerate();
        let files = |(number, section): (usize, &Section)| {
            let lengths = [section.file_bytes].into_iter();
            let lengths = lengths.chain(section.further.iter().copied());
            section.names(number).zip(lengths).collect()
        };
        sections.map(files).collect()
    }

    fn has(&self, section: usize, option: &str) -> bool {
        self.0[section].options.iter().any(|own| own.starts_with(option))
    }

    pub fn has_clones(&self, section: usize) -> bool {
        self.has(section, "numjobs")
    }

    pub fn is_zoned(&self, section: usize) -> bool {
        self.has(section, "zonemode=zbd")
    }

    pub fn ends_by_time(&self, section: usize) -> bool {
        self.has(section, "time_based")
    }
}

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

    fn section(&mut self) -> Section {
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
