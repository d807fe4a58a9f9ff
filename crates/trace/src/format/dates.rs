//! Times as dates: `2026-01-05T12:00:00.25Z`, with `T` or a space between, with an offset from UTC
//! or in UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Digits of the date itself.
const DATE_LEN: usize = 10;

/// The time of day is in the column behind where blanks separate columns.
pub(super) fn since_1970_ns(date: &str, of_day: Option<&str>) -> Option<u64> {
    let joined;
    let text = match date.len() {
        DATE_LEN => {
            joined = format!("{date}T{}", of_day?);
            &joined
        }
        _ => date,
    };
    let in_utc = || {
        let zoned = text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC);
        Some(zoned.ok()?.timestamp())
    };
    let time = text.parse::<Timestamp>().ok().or_else(in_utc)?;
    u64::try_from(time.as_nanosecond()).ok()
}
