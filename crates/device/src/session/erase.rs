//! Erasing a namespace by Sanitize or Format, and authorisation of the others that it erases.
//! Written against an admin port and callbacks, so that tests cover controllers that no test
//! machine has.

use crate::identity::DriveInfo;
use crate::interlock::Refusal;
use crate::nvme::AdminPort;
use crate::nvme::commands::Commands;
use crate::nvme::location::NvmeLocation;
use crate::nvme::purge::{self as erasing, Offer};

use super::{PurgeHow, Purged, SessionError};

pub(super) struct EraseContext<'a, P> {
    pub destroy: &'a [String],
    pub identify: &'a dyn Fn(&str) -> Option<DriveInfo>,
    /// The permit holds the claim.
    pub authorise: &'a dyn Fn(&DriveInfo) -> Result<P, Refusal>,
}

/// Uses the best allowed command. `None` where no command is available; an error where the port is
/// another drive by now; nothing is erased in either case.
pub(super) fn erase<P>(
    info: &DriveInfo,
    place: &NvmeLocation,
    port: &mut dyn AdminPort,
    how: PurgeHow,
    context: &EraseContext<'_, P>,
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
                why: "the controller does not support that command",
            }),
        };
    };
    if let Some(why) = offer.beyond {
        let alone = offers.iter().any(|o| o.reaches_only(place.nsid));
        let instead = if alone { "format" } else { "discard" };
        return Err(SessionError::ErasesMore {
            drive: info.spec.clone(),
            what: format!(
                "may also erase namespaces that this controller does not list: {why}; --how \
                 {instead} erases this namespace alone"
            ),
        });
    }
    // No mount is possible until the end.
    let _others = others(info, place, offer, context)?;
    let done = erasing::erase(port, place.nsid, offer.method, progress)?;
    let scope = match offer.reaches_only(place.nsid) {
        true => "this namespace",
        // Another command may have another scope.
        false if done != offer.method => "this namespace, possibly others of the drive",
        false => "all namespaces of the drive",
    };
    Ok(Some(Purged { how: done.words(), scope, complete: done.is_complete() }))
}

/// Each must be named by its block device's name and pass the interlock.
fn others<P>(
    info: &DriveInfo,
    place: &NvmeLocation,
    offer: &Offer,
    context: &EraseContext<'_, P>,
) -> Result<Vec<P>, SessionError> {
    let mut permits = Vec::new();
    let mut seen = vec![place.nsid];
    let mut unnamed = Vec::new();
    for name in &place.namespaces {
        if *name == info.name {
            continue;
        }
        let Some(other) = (context.identify)(name) else {
            continue;
        };
        let Some(nsid) = other.nvme.as_ref().map(|place| place.nsid) else {
            continue;
        };
        seen.push(nsid);
        if !offer.reaches.contains(&nsid) {
            continue;
        }
        if context.destroy.contains(name) {
            permits.push((context.authorise)(&other)?);
        } else {
            unnamed.push(name.clone());
        }
    }
    let unseen = offer.reaches.iter().filter(|nsid| !seen.contains(nsid));
    let unseen: Vec<String> = unseen.map(|nsid| format!("namespace {nsid}")).collect();
    if unnamed.is_empty() && unseen.is_empty() {
        return Ok(permits);
    }
    let advice = match unseen.is_empty() {
        false => "not all of them are attached here, so nothing was erased: attach the missing \
                  ones (nvme attach-ns) and name their block devices too, or use --how discard, \
                  which erases this namespace alone"
            .to_owned(),
        true => format!("if that is what you want, add --destroy {}", unnamed.join(" --destroy ")),
    };
    let reached: Vec<String> = unnamed.into_iter().chain(unseen).collect();
    let others = reached.join(", ");
    Err(SessionError::ErasesMore {
        drive: info.spec.clone(),
        what: format!("would also erase {others}, which is not named; {advice}"),
    })
}

#[cfg(test)]
#[path = "../../tests/unit/session/erase.rs"]
mod tests;
