//! `prio`, `prioclass` and `priohint` of the threads, `cmdprio_*` of a share of their I/Os.

use assay_io::priority::IoPriority;

use super::given::Given;
use crate::JobFileError;
use crate::number;

type Note<'a> = dyn FnMut(String) + 'a;

const CLASSES: [&str; 4] = ["be", "rt", "be", "idle"];
const MAX_LEVEL: u32 = 7;
const MAX_HINT: u32 = 1023;
/// fio's `IOPRIO_CLASS_RT`.
const REAL_TIME: u32 = 1;
const OF_IOS: [&str; 5] =
    ["cmdprio_percentage", "cmdprio_bssplit", "cmdprio_class", "cmdprio", "cmdprio_hint"];

/// Value of `--ioprio`.
pub(super) fn of_threads(given: &Given<'_>) -> Result<Option<String>, JobFileError> {
    let number = |name: &str, most: u32| match given.number(name)? {
        Some(number) if number > most => {
            Err(given.wrong(name, format!("{name}={number}: from 0 to {most}")))
        }
        number => Ok(number.unwrap_or(0)),
    };
    let class = number("prioclass", 3)?;
    let (level, hint) = (number("prio", MAX_LEVEL)?, number("priohint", MAX_HINT)?);
    Ok(((class, level, hint) != (0, 0, 0)).then(|| text(class, level, hint)))
}

fn text(class: u32, level: u32, hint: u32) -> String {
    match (CLASSES[class as usize], level, hint) {
        ("idle", 0, 0) => "idle".to_owned(),
        (class, level, 0) => format!("{class}:{level}"),
        (class, level, hint) => format!("{class}:{level}:{hint}"),
    }
}

fn packed(class: u32, level: u32, hint: u32) -> Option<u16> {
    let priority: IoPriority = text(class, level, hint).parse().ok()?;
    Some(priority.packed())
}

/// Of reads and writes.
fn pair(given: &Given<'_>, name: &str, least: u32, most: u32) -> Result<[u32; 2], JobFileError> {
    let form = format!("a number from {least} to {most}, or one each for reads and writes");
    let pair = given.parsed(name, &form, |text| {
        let (reads, writes) = text.split_once(',').unwrap_or((text, text));
        let number = |text: &str| text.trim().parse().ok();
        let both = [number(reads)?, number(writes)?];
        both.iter().all(|number| (least..=most).contains(number)).then_some(both)
    })?;
    Ok(pair.unwrap_or_default())
}

/// What `--order` says of I/Os with a priority of their own; `None`: there are none.
pub(super) fn of_ios(
    given: &Given<'_>,
    note: &mut Note<'_>,
) -> Result<Option<String>, JobFileError> {
    let Some(first) = OF_IOS.into_iter().find(|name| given.place(name).is_some()) else {
        return Ok(None);
    };
    let engine = super::targets::engine_of(given)?.name;
    if !["libaio", "io_uring"].contains(&engine) {
        let message = format!(
            "{first}: ioengine={engine} gives its I/Os no priority; use ioengine=io_uring or libaio"
        );
        return Err(given.wrong(first, message));
    }
    let percent = pair(given, OF_IOS[0], 0, 100)?;
    let split = given.text(OF_IOS[1]);
    let classes = pair(given, OF_IOS[2], 1, 3)?.map(|class| class.max(REAL_TIME));
    let levels = pair(given, OF_IOS[3], 0, MAX_LEVEL)?;
    let hints = pair(given, OF_IOS[4], 0, MAX_HINT)?;
    let default = [0, 1].map(|of| packed(classes[of], levels[of], hints[of]).unwrap_or(0));
    let shares = match split {
        None if percent == [0, 0] => return Ok(None),
        None => [0, 1].map(|of| match percent[of] {
            0 => String::new(),
            percent => format!("0/{percent}/{}", default[of]),
        }),
        Some((_, place)) if percent != [0, 0] => {
            let message = "cmdprio_percentage and cmdprio_bssplit exclude one another".to_owned();
            return Err(given.error(place, message));
        }
        Some((split, place)) => by_size(given, split, default).ok_or_else(|| {
            let message = format!(
                "cmdprio_bssplit={split}: SIZE/PERCENT or SIZE/PERCENT/CLASS/LEVEL, separated by \
                 colons, at most 100 percent of a size"
            );
            given.error(place, message)
        })?,
    };
    note(
        "cmdprio: latencies of I/Os of all priorities are reported together; fio shows them apart, \
         too"
        .to_owned(),
    );
    let [reads, writes] = shares;
    Ok(Some(format!("{reads},{writes},")))
}

/// A trace has an order of its own.
pub(super) fn none_in_trace(given: &Given<'_>) -> Result<(), JobFileError> {
    let drawn = |name: &&&str| given.text(name).is_some();
    match OF_IOS[..2].iter().find(drawn) {
        None => Ok(()),
        Some(name) => {
            let message =
                format!("{name} with read_iolog is not supported; use prio and prioclass");
            Err(given.wrong(name, message))
        }
    }
}

/// Of reads and writes; `default` where an entry has no priority.
fn by_size(given: &Given<'_>, split: &str, default: [u16; 2]) -> Option<[String; 2]> {
    let mut directions = split.trim().splitn(3, ',');
    let reads = directions.next()?;
    let writes = directions.next().unwrap_or(reads);
    let of = |text: &str, default: u16| -> Option<String> {
        let mut shares: Vec<(u64, u32, u16)> = Vec::new();
        for entry in text.split(':').take_while(|entry| !entry.is_empty()) {
            let parts: Vec<&str> = entry.split('/').collect();
            let bytes = number::bytes(parts[0], given.kb_base)?;
            let numbers = parts[1..].iter().filter(|part| !part.is_empty());
            let numbers: Option<Vec<u32>> = numbers.map(|part| part.trim().parse().ok()).collect();
            let (percent, priority) = match *numbers? {
                [] => (0, default),
                [percent] => (percent, default),
                [percent, class, level] => (percent, packed(class.min(3), level.min(7), 0)?),
                [percent, class, level, hint] => {
                    (percent, packed(class.min(3), level.min(7), hint)?)
                }
                _ => return None,
            };
            shares.push((bytes, percent.min(100), priority));
        }
        shares.retain(|share| share.1 > 0);
        shares.sort_by_key(|share| share.0);
        let of_one_size = shares.chunk_by(|one, next| one.0 == next.0);
        let fits = |shares: &[(u64, u32, u16)]| shares.iter().map(|s| s.1).sum::<u32>() <= 100;
        of_one_size.into_iter().all(fits).then(|| {
            let shown = shares.iter().map(|(bytes, percent, priority)| {
                // 0 is any size here.
                format!("{}/{percent}/{priority}", (*bytes).max(1))
            });
            shown.collect::<Vec<_>>().join(":")
        })
    };
    Some([of(reads, default[0])?, of(writes, default[1])?])
}
