use std::collections::BTreeMap;

use assay_units::text::did_you_mean;
use assay_workload::options::JobOption;

use super::{Place, Section, Support, options};
use crate::JobFileError;
use crate::line::NOT_OF_FIO;
use crate::number::{self, Size};

pub(super) struct Given<'a> {
    section: &'a str,
    section_place: &'a Place,
    values: BTreeMap<&'a str, (Option<&'a str>, &'a Place)>,
    pub(super) kb_base: u64,
}

impl<'a> Given<'a> {
    pub(super) fn new(section: &'a Section) -> Result<Given<'a>, JobFileError> {
        let mut given = Given {
            section: &section.name,
            section_place: &section.place,
            values: BTreeMap::new(),
            kb_base: 1024,
        };
        for option in &section.options {
            let name = options::main_name(&option.name);
            let value = option.value.as_deref();
            // The last one counts, but for `direct` and `buffered`, which set the same.
            if name == "direct" || name == "buffered" {
                given.values.remove(if name == "direct" { "buffered" } else { "direct" });
            }
            given.values.insert(name, (value, &option.place));
        }
        // First: the options of another engine are not what is wrong.
        super::targets::engine_of(&given)?;
        for (name, (value, place)) in &given.values {
            given.check(name, *value, place)?;
        }
        if let Some((base, place)) = given.text("kb_base") {
            given.kb_base = match base {
                "1024" => 1024,
                "1000" => 1000,
                _ => return Err(given.error(place, format!("kb_base={base}: 1000 or 1024"))),
            };
        }
        Ok(given)
    }

    fn check(&self, name: &str, value: Option<&str>, place: &Place) -> Result<(), JobFileError> {
        let shown = value.map_or_else(|| name.to_owned(), |value| format!("{name}={value}"));
        match options::find(name).map(|option| option.support) {
            Some(Support::Converted(_) | Support::NoEffect(_)) => Ok(()),
            Some(Support::Unsupported(harmless, _))
                if value.is_some_and(|v| harmless.contains(&v)) =>
            {
                Ok(())
            }
            Some(Support::Unsupported(_, instead)) => {
                let instead = match instead {
                    "" => String::new(),
                    instead => format!("; instead: {instead}"),
                };
                let message =
                    format!("{shown} is not supported{instead} (docs/fio.md lists what is)");
                Err(self.error(place, message))
            }
            None if JobOption::find(name).is_some() => {
                Err(self.error(place, format!("{shown} {NOT_OF_FIO}")))
            }
            None => {
                let known: Vec<&str> = options::names().collect();
                let similar = did_you_mean(name, &known.join(","));
                Err(self.error(
                    place,
                    format!(
                        "{shown} is no option that is known here{similar} (docs/fio.md lists them)"
                    ),
                ))
            }
        }
    }

    pub(super) fn places(&self) -> Vec<(String, Place)> {
        let values = self.values.iter();
        values.map(|(name, (_, place))| ((*name).to_owned(), (*place).clone())).collect()
    }

    /// Numbers with a decimal point do not mean what they seem to.
    pub(super) fn note_fractions(&self, note: &mut dyn FnMut(String)) {
        const READ_WHOLE: [&str; 14] = [
            "size",
            "io_size",
            "filesize",
            "offset",
            "offset_increment",
            "bs",
            "runtime",
            "ramp_time",
            "startdelay",
            "thinktime",
            "rate",
            "rate_iops",
            "zonesize",
            "log_avg_msec",
        ];
        for name in READ_WHOLE {
            if let Some((text, _)) = self.text(name)
                && let Some(whole) = number::before_point(text)
            {
                note(format!(
                    "{name}={text} means {whole}, as in fio: a number ends at the decimal point, \
                     and its unit with it"
                ));
            }
        }
    }

    pub(super) fn section(&self) -> &'a str {
        self.section
    }

    pub(super) fn error(&self, place: &Place, message: String) -> JobFileError {
        JobFileError { place: place.clone(), section: Some(self.section.to_owned()), message }
    }

    /// An error about an option, at its place; at the section's where it is absent.
    pub(super) fn wrong(&self, name: &str, message: String) -> JobFileError {
        self.error(self.place(name).unwrap_or(self.section_place), message)
    }

    /// The value of an option, and where it is; empty ones are absent.
    pub(super) fn text(&self, name: &str) -> Option<(&'a str, &'a Place)> {
        let (value, place) = self.values.get(name)?;
        value.filter(|value| !value.is_empty()).map(|value| (value, *place))
    }

    /// Where an option is, with or without a value.
    pub(super) fn place(&self, name: &str) -> Option<&'a Place> {
        self.values.get(name).map(|(_, place)| *place)
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, JobFileError> {
        self.flag_or(name, false)
    }

    /// A flag that is set like this when absent.
    pub(super) fn flag_or(&self, name: &str, absent: bool) -> Result<bool, JobFileError> {
        match self.values.get(name) {
            None => Ok(absent),
            Some((None | Some("" | "1" | "true"), _)) => Ok(true),
            Some((Some("0" | "false"), _)) => Ok(false),
            Some((Some(other), place)) => Err(self.error(place, format!("{name}={other}: 0 or 1"))),
        }
    }

    pub(super) fn parsed<T>(
        &self,
        name: &str,
        form: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, JobFileError> {
        let Some((text, place)) = self.text(name) else {
            return Ok(None);
        };
        let value = read(text);
        value.map(Some).ok_or_else(|| self.error(place, format!("{name}={text} is not {form}")))
    }

    pub(super) fn bytes(&self, name: &str) -> Result<Option<u64>, JobFileError> {
        match self.zones(name)? {
            Some(Size::Bytes(bytes)) => return Ok(Some(bytes)),
            Some(size) => {
                let message = format!("{name}={}: zones need zonesize=", size.text());
                return Err(self.wrong(name, message));
            }
            None => {}
        }
        self.parsed(name, "a size such as 4k or 1g", |text| number::bytes(text, self.kb_base))
    }

    /// `filesize`, or the least and the most of a range.
    pub(super) fn file_sizes(&self) -> Result<Option<(u64, u64)>, JobFileError> {
        let form = "a size such as 4k, or a range such as 64k-128k";
        let sizes = self.parsed("filesize", form, |text| {
            let bytes = |text: &str| number::bytes(text, self.kb_base);
            match text.split_once(['-', ',', ':']) {
                None => bytes(text).map(|bytes| (bytes, bytes)),
                Some((low, high)) => Some((bytes(low)?, bytes(high)?)),
            }
        })?;
        if let Some((low, high)) = sizes.filter(|(low, high)| low > high) {
            return Err(self.wrong("filesize", format!("filesize: {low} is more than {high}")));
        }
        Ok(sizes.filter(|&(low, _)| low > 0))
    }

    /// `size=16z`: so many times `zonesize`, or zones of the drive.
    fn zones(&self, name: &str) -> Result<Option<Size>, JobFileError> {
        const IN_ZONES: [&str; 5] = ["size", "io_size", "offset", "offset_increment", "zoneskip"];
        let zones = self.text(name).filter(|_| IN_ZONES.contains(&name));
        let Some((text, place)) = zones.filter(|(text, _)| text.ends_with(['z', 'Z'])) else {
            return Ok(None);
        };
        let count: Option<u64> = text[..text.len() - 1].parse().ok();
        let size = count.and_then(|count| match self.bytes("zonesize").ok()? {
            Some(zone_bytes) if zone_bytes > 0 => count.checked_mul(zone_bytes).map(Size::Bytes),
            _ => Some(Size::Zones(count)),
        });
        size.map(Some).ok_or_else(|| {
            let message = format!("{name}={text}: a number of zones");
            self.error(place, message)
        })
    }

    pub(super) fn size(&self, name: &str) -> Result<Option<Size>, JobFileError> {
        if let Some(size) = self.zones(name)? {
            return Ok(Some(size));
        }
        self.parsed(name, "a size such as 4k or 1g, or a percentage", |text| {
            number::size(text, self.kb_base)
        })
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<u32>, JobFileError> {
        self.parsed(name, "a whole number below 2^32", |text| {
            number::bytes(text, self.kb_base)?.try_into().ok()
        })
    }

    /// Rates of reads, writes and trims; those without a value have none, trims the writes'.
    pub(super) fn rates(&self, name: &str) -> Result<Option<[u64; 3]>, JobFileError> {
        let form = "a number, or one each for reads, writes and trims";
        self.parsed(name, form, |text| {
            let parts: Vec<&str> = text.split(',').map(str::trim).collect();
            let one = |text: &str| match text {
                "" => Some(0),
                text => number::bytes(text, self.kb_base),
            };
            match parts.as_slice() {
                [all] => one(all).map(|all| [all; 3]),
                [reads, writes] => Some([one(reads)?, one(writes)?, one(writes)?]),
                [reads, writes, trims] => Some([one(reads)?, one(writes)?, one(trims)?]),
                _ => None,
            }
        })
    }

    pub(super) fn micros(&self, name: &str, default_us: f64) -> Result<Option<u64>, JobFileError> {
        self.parsed(name, "a time such as 500ms, 5s or 2m", |text| number::micros(text, default_us))
    }
}
