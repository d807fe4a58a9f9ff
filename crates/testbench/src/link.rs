use assay_device::identity::PcieLink;

use super::context::{BenchRun, TestError, fail};

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

fn is_up(link: &PcieLink) -> bool {
    let speed = link.speed.as_ref();
    speed.is_some_and(|speed| speed.starts_with(|c: char| c.is_ascii_digit()))
        && link.width.is_some_and(|width| width > 0)
}

fn links(bench: &mut BenchRun<'_>) -> Vec<(String, Option<PcieLink>)> {
    let drives = bench.host.drives().iter();
    let names: Vec<String> = drives.map(|drive| drive.extent.drive.clone()).collect();
    let named = names.into_iter().enumerate();
    let link = |(at, name)| (name, bench.host.link(at));
    named.map(link).collect()
}

fn outcome(texts: &[String]) -> Result<String, TestError> {
    if texts.is_empty() {
        return Err(TestError::NotApplicable("not a PCIe drive".to_owned()));
    }
    Ok(texts.join("; "))
}

pub(super) fn status(bench: &mut BenchRun<'_>) -> Result<String, TestError> {
    let found = links(bench);
    bench.context.links = found.iter().map(|(_, link)| link.clone()).collect();
    let mut texts = Vec::new();
    for (name, link) in &found {
        let Some(link) = link else { continue };
        let (now, address) = (now(link), &link.address);
        if !is_up(link) {
            return fail(format!("{name}: the link at {address} is down ({now})"));
        }
        let most = link_text(link.max_speed.as_ref(), link.max_width);
        let less = if now == most || link.max_speed.is_none() {
            String::new()
        } else {
            format!(", less than the {most} that the drive supports; check the slot")
        };
        texts.push(if address == "simulated" {
            format!("{now} (simulated){less}")
        } else {
            format!("{now} at {address}{less}")
        });
    }
    outcome(&texts)
}

/// 11: link status, compared with test 00.
pub(super) fn again(bench: &mut BenchRun<'_>) -> Result<String, TestError> {
    let found = links(bench);
    let mut texts = Vec::new();
    for (before, (name, after)) in bench.context.links.iter().zip(&found) {
        let Some(before) = before.as_ref().map(now) else {
            continue;
        };
        match after.as_ref().map(now) {
            None => return fail(format!("{name}: the link ({before}) is no longer visible")),
            Some(after) if before != after => {
                return fail(format!("{name}: the link was {before} and is {after} now"));
            }
            Some(_) => texts.push(format!("still {before}")),
        }
    }
    outcome(&texts)
}
