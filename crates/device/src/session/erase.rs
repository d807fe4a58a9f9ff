//! Erasing an NVMe drive by its own commands: which way is taken, and leave to reach what is beside it.
//!
//! Written against an admin port and two questions (what is the block device of this name, and may it be overwritten?), so that tests ask it about
//! controllers and neighbours that no test machine has.

use crate::identity::DriveInfo;
use crate::interlock::Refusal;
use crate::nvme::AdminPort;
use crate::nvme::commands::Commands;
use crate::nvme::place::NvmePlace;
use crate::nvme::purge::{self as erasing, Offer};

use super::{PurgeHow, Purged, SessionError};

/// What is known of the machine around a drive.
pub(super) struct Around<'a, P> {
    /// The words of `--destroy`.
    pub words: &'a [String],
    /// The block device of a name, if it can be looked at.
    pub look: &'a dyn Fn(&str) -> Option<DriveInfo>,
    /// Leave to overwrite one; the permit claims it for as long as it lives.
    pub permit: &'a dyn Fn(&DriveInfo) -> Result<P, Refusal>,
}

/// Erase a namespace by the best command that was asked for. `None`, with nothing erased, where only other ways are left; an error, with nothing erased, where the
/// port leads to another drive by now.
pub(super) fn erase<P>(
    info: &DriveInfo,
    place: &NvmePlace,
    port: &mut dyn AdminPort,
    how: PurgeHow,
    around: &Around<'_, P>,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<Purged>, SessionError> {
    Commands::to(port).expect_drive(info)?;
    let offers = erasing::offers(port, place.nsid)?;
    let wanted = |offer: &&Offer| match how {
        PurgeHow::Best => offer.reaches_only(place.nsid),
        PurgeHow::Sanitize => offer.method.is_sanitize(),
        PurgeHow::Format => !offer.method.is_sanitize(),
        PurgeHow::Discard => false,
    };
    let Some(offer) = offers.iter().find(wanted) else {
        return match how {
            PurgeHow::Best | PurgeHow::Discard => Ok(None),
            PurgeHow::Sanitize | PurgeHow::Format => Err(SessionError::NotErasable {
                drive: info.spec.clone(),
                why: "the controller does not support that command".to_owned(),
            }),
        };
    };
    if let Some(why) = offer.beyond {
        let alone = offers.iter().any(|o| o.reaches_only(place.nsid));
        return Err(SessionError::ReachesUnknown {
            drive: info.spec.clone(),
            why,
            instead: if alone { "format" } else { "discard" },
        });
    }
    // Held until it is done: nothing can be mounted from them meanwhile.
    let _others = others(info, place, offer, around)?;
    let done = erasing::erase(port, place.nsid, offer.method, progress)?;
    let scope = match offer.reaches_only(place.nsid) {
        true => "this namespace",
        // What another command would have reached is not what this one did.
        false if done != offer.method => "this namespace, and maybe others of the drive",
        false => "all namespaces of the drive",
    };
    Ok(Some(Purged {
        how: done.words(),
        scope,
        complete: done.is_complete(),
    }))
}

/// Leave to erase what an offer reaches beside the drive that was named: each other namespace must have been named by its block device's name, and
/// pass the interlock itself.
fn others<P>(
    info: &DriveInfo,
    place: &NvmePlace,
    offer: &Offer,
    around: &Around<'_, P>,
) -> Result<Vec<P>, SessionError> {
    let mut permits = Vec::new();
    let mut seen = vec![place.nsid];
    let mut unnamed = Vec::new();
    for name in &place.namespaces {
        if *name == info.name {
            continue;
        }
        let Some(other) = (around.look)(name) else {
            continue;
        };
        let Some(nsid) = other.nvme.as_ref().map(|place| place.nsid) else {
            continue;
        };
        seen.push(nsid);
        if !offer.reaches.contains(&nsid) {
            continue;
        }
        if around.words.contains(name) {
            permits.push((around.permit)(&other)?);
        } else {
            unnamed.push(name.clone());
        }
    }
    let unseen = offer.reaches.iter().filter(|nsid| !seen.contains(nsid));
    let unseen: Vec<String> = unseen.map(|nsid| format!("namespace {nsid}")).collect();
    if unnamed.is_empty() && unseen.is_empty() {
        return Ok(permits);
    }
    let advice = match (unnamed.as_slice(), unseen.is_empty()) {
        (_, false) => "not all of it can be seen from here, so this is not done: attach what is missing (nvme attach-ns) and name its block device too, or take --how discard, which erases this namespace alone".to_owned(),
        (names, true) => {
            let named: Vec<String> = names.iter().map(|n| format!("--destroy {n}")).collect();
            format!("if that is what you want, add {}", named.join(" "))
        }
    };
    let reached: Vec<String> = unnamed.into_iter().chain(unseen).collect();
    Err(SessionError::ReachesOthers {
        drive: info.spec.clone(),
        others: reached.join(", "),
        advice,
    })
}

#[cfg(test)]
#[path = "../../tests/unit/session/erase.rs"]
mod tests;
