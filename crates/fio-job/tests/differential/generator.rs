//! Random job files. None makes a file longer than it is, which fio does and assay does not; none
//! depends on time but by its end.

use assay_units::Rng;

mod sections;

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
