//! Tests 00 and 11: PCIe link status.

use assay_device::identity::PcieLink;
use assay_device::session::DriveSession;

use super::context::{BenchRun, TestError, fail};
use super::{Links, TestDetail};

/// Text of a link: speed and width.
fn link_text(speed: Option<&String>, width: Option<u32>) -> String {
    let speed = speed.map_or("unknown speed", String::as_str);
    match width {
        Some(width) => format!("{speed} x{width}"),
        None => format!("{speed}, unknown width"),
    }
}

fn now(link: &PcieLink) -> String {
    link_text(link.speed.as_ref(), link.width)
}

/// Whether the link is up: a speed and a width.
fn is_up(link: &PcieLink) -> bool {
    let speed = link.speed.as_ref();
    speed.is_some_and(|speed| speed.starts_with(|c: char| c.is_ascii_digit()))
        && link.width.is_some_and(|width| width > 0)
}

fn names(drives: &[DriveSession]) -> Vec<String> {
    drives
        .iter()
        .map(|drive| drive.info().spec.clone())
        .collect()
}

fn look(bench: &mut BenchRun<'_>) -> Vec<Option<PcieLink>> {
    let drives = &*bench.drives;
    drives.iter().map(|drive| bench.setup.link(drive)).collect()
}

/// 00: link status.
pub(super) fn status(bench: &mut BenchRun<'_>, links: &mut Links) -> Result<TestDetail, TestError> {
    let found = look(bench);
    *links = Some(found.clone());
    let mut texts = Vec::new();
    for (name, link) in names(bench.drives).into_iter().zip(&found) {
        let Some(link) = link else { continue };
        if !is_up(link) {
            return fail(format!(
                "{name}: the link at {} is down ({})",
                link.address,
                now(link)
            ));
        }
        let most = link_text(link.max_speed.as_ref(), link.max_width);
        let less = if now(link) == most || link.max_speed.is_none() {
            String::new()
        } else {
            format!(", less than the {most} that the drive supports; check the slot")
        };
        let location = match link.address.as_str() {
            "simulated" => "(simulated)".to_owned(),
            address => format!("at {address}"),
        };
        texts.push(format!("{} {location}{less}", now(link)));
    }
    Ok(if texts.is_empty() {
        TestDetail::NotApplicable("not a PCIe drive".to_owned())
    } else {
        TestDetail::Pass(texts.join("; "))
    })
}

/// 11: link status, compared with test 00.
pub(super) fn again(bench: &mut BenchRun<'_>, links: &mut Links) -> Result<TestDetail, TestError> {
    let found = look(bench);
    let before = links.take().unwrap_or_default();
    let mut texts = Vec::new();
    let pairs = before.iter().zip(&found).zip(names(bench.drives));
    for ((before, after), name) in pairs {
        match (before, after) {
            (None, _) => {}
            (Some(link), None) => {
                return fail(format!(
                    "{name}: the link ({}) is no longer visible",
                    now(link)
                ));
            }
            (Some(before), Some(after)) if now(before) != now(after) => {
                return fail(format!(
                    "{name}: the link was {} and is {} now",
                    now(before),
                    now(after)
                ));
            }
            (Some(link), Some(_)) => texts.push(format!("still {}", now(link))),
        }
    }
    Ok(if texts.is_empty() {
        TestDetail::NotApplicable("not a PCIe drive".to_owned())
    } else {
        TestDetail::Pass(texts.join("; "))
    })
}
