//! Erasing by the drive's own commands: Sanitize and Format NVM, and what each of them reaches.
//!
//! A Format erases one namespace, unless the controller says that it erases all of them (Identify Controller, FNA; Base 5.17.2.1). A Sanitize erases
//! the whole subsystem, always (Base 5.24). What is reached beside the drive that was named is somebody's data: it is found out first, and nothing is
//! sent that reaches what nobody named. A subsystem of several controllers (CMIC) may hold namespaces that this one does not show; where it cannot list
//! them, what reaches them all reaches more than anybody knows.

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::admin::{SanitizeAction, SecureErase};
use assay_nvme_spec::identify::{cmic, oacs, sanicap};
use assay_nvme_spec::log::SanitizeState;

use super::commands::Commands;
use super::{AdminPort, CommandError};
use assay_io::Nanos;
use assay_io::clock::Clock;

/// How to erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Sanitize, with this action.
    Sanitize(SanitizeAction),
    /// Format NVM with this secure erase setting, in the LBA format that there is.
    Format(SecureErase),
}

impl Method {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Method::Sanitize(SanitizeAction::CRYPTO_ERASE) => "sanitized (crypto erase)",
            Method::Sanitize(_) => "sanitized (block erase)",
            Method::Format(SecureErase::NONE) => "formatted without a secure erase",
            Method::Format(_) => "formatted with user data erase",
        }
    }

    /// Is it a sanitize?
    pub fn is_sanitize(self) -> bool {
        matches!(self, Method::Sanitize(_))
    }

    /// Is nothing left that could be read back? A plain format need not erase anything (Base 5.14, SES 0).
    pub fn is_complete(self) -> bool {
        self != Method::Format(SecureErase::NONE)
    }
}

/// A way to erase that the drive offers, and what it erases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// How.
    pub method: Method,
    /// Namespaces that lose their data, in order; the one that was asked for among them.
    pub reaches: Vec<u32>,
    /// Why there may be more of them than are known; `None` where those are all.
    pub beyond: Option<&'static str>,
}

impl Offer {
    /// Does it reach nothing but this namespace?
    pub fn reaches_only(&self, nsid: u32) -> bool {
        self.beyond.is_none() && self.reaches == [nsid]
    }
}

/// Identifiers in one list of namespaces (Base 5.17.2.2).
const LIST_MOST: usize = 1024;

/// What the controller offers for this namespace, the most thorough first.
///
/// # Errors
/// When it does not answer.
pub fn offers(port: &mut dyn AdminPort, nsid: u32) -> Result<Vec<Offer>, CommandError> {
    let mut commands = Commands::to(port);
    let controller = commands.identify_controller()?;
    let mut all = commands.active_namespaces()?;
    let mut lists_all = false;
    if controller.oacs() & oacs::NAMESPACES != 0 {
        // Those that exist and are attached elsewhere or nowhere lose their data too.
        match commands.allocated_namespaces() {
            Ok(allocated) => {
                lists_all = true;
                all.extend(allocated);
            }
            Err(error) if error.refused() => {}
            Err(error) => return Err(error),
        }
    }
    all.push(nsid);
    all.sort_unstable();
    all.dedup();
    let beyond = if all.len() >= LIST_MOST {
        Some("it has more namespaces than one list of them holds")
    } else if controller.cmic() & (cmic::CONTROLLERS | cmic::VIRTUAL_FUNCTION) != 0 && !lists_all {
        Some(
            "its subsystem has, or may have, other controllers, and it cannot list the namespaces that are attached to them alone",
        )
    } else {
        None
    };
    let mut offers = Vec::new();
    let capabilities = controller.sanitize_capabilities();
    for (bit, action) in [
        (sanicap::BLOCK_ERASE, SanitizeAction::BLOCK_ERASE),
        (sanicap::CRYPTO_ERASE, SanitizeAction::CRYPTO_ERASE),
    ] {
        if capabilities & bit != 0 {
            offers.push(Offer {
                method: Method::Sanitize(action),
                reaches: all.clone(),
                beyond,
            });
        }
    }
    if controller.oacs() & oacs::FORMAT != 0 {
        // FNA bit 0: a format, bit 1: a secure erase of one namespace is one of all.
        let attributes = controller.format_attributes();
        let everywhere = attributes & 0b11 != 0;
        offers.push(Offer {
            method: Method::Format(SecureErase::USER_DATA),
            reaches: if everywhere { all } else { vec![nsid] },
            beyond: beyond.filter(|_| everywhere),
        });
    }
    Ok(offers)
}

/// How often the progress of a sanitize is looked at.
const LOOK: Nanos = Nanos::from_millis(250);

/// Why erasing did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum EraseError {
    /// A command failed.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// A sanitize failed on the way.
    #[error(
        "{controller}: the sanitize operation failed: the drive may refuse everything but another sanitize now; try `nvme sanitize` with another action, or with \
         exit-failure-mode"
    )]
    SanitizeFailed {
        /// The controller.
        controller: String,
    },
    /// Told to stop waiting for a sanitize, which nothing stops.
    #[error(
        "{controller}: the sanitize operation goes on ({percent} % done), nothing can stop it, and the drive answers nothing else until it is through; \
         `nvme sanitize-log {controller}` shows its progress"
    )]
    StillGoing {
        /// The controller.
        controller: String,
        /// How far it is.
        percent: u32,
    },
}

/// Do it, and wait until it is done. `progress` is told the share that is done, 0 to 1, of a sanitize, and says whether to go on waiting.
///
/// Gives what was done: a controller that formats and says that it knows no such secure erase is told to format without one.
///
/// # Errors
/// When the drive refuses or fails it.
pub fn erase(
    port: &mut dyn AdminPort,
    nsid: u32,
    method: Method,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<Method, EraseError> {
    let mut commands = Commands::to(port);
    match method {
        Method::Format(setting) => {
            let namespace = commands.identify_namespace(nsid)?;
            match commands.format(nsid, &namespace, setting) {
                Err(error) if setting != SecureErase::NONE && is_unknown(&error) => {
                    commands.format(nsid, &namespace, SecureErase::NONE)?;
                    Ok(Method::Format(SecureErase::NONE))
                }
                done => Ok(done.map(|()| method)?),
            }
        }
        Method::Sanitize(action) => {
            commands.sanitize(action)?;
            let clock = Clock::monotonic();
            loop {
                let log = commands.sanitize_status()?;
                let controller = || commands.name().to_owned();
                match log.sanitize_state() {
                    SanitizeState::IN_PROGRESS => {
                        let done = f64::from(log.progress()) / 65_536.0;
                        if !progress(done) {
                            return Err(EraseError::StillGoing {
                                controller: controller(),
                                percent: (done * 100.0) as u32,
                            });
                        }
                        clock.wait_until(clock.now() + LOOK);
                    }
                    SanitizeState::FAILED => {
                        return Err(EraseError::SanitizeFailed {
                            controller: controller(),
                        });
                    }
                    _ => return Ok(method),
                }
            }
        }
    }
}

/// Does the controller not know what it was asked for? One that knows and fails (media errors, a security state, a format under way) is not to be asked for less.
fn is_unknown(error: &CommandError) -> bool {
    let CommandError::Status { status, .. } = error else {
        return false;
    };
    matches!(
        *status,
        StatusCode::INVALID_FIELD | StatusCode::INVALID_OPCODE | StatusCode::INVALID_FORMAT
    )
}
