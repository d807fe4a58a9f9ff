//! Erasure by Sanitize and Format NVM. A Format erases one namespace, unless FNA in Identify
//! Controller states that it erases all of them (Base 5.17.2.1); a Sanitize erases the whole
//! subsystem (Base 5.24). The affected namespaces are listed before any command is sent, so that
//! the caller can authorise them. A subsystem of several controllers (CMIC) may have namespaces
//! that this controller does not list; the offer then states that its scope is unknown.

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::admin::{SanitizeAction, SecureErase};
use assay_nvme_spec::identify::{cmic, oacs, sanicap};
use assay_nvme_spec::log::SanitizeState;

use super::commands::Commands;
use super::{AdminPort, CommandError};
use assay_io::Nanos;
use assay_io::clock::Clock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurgeMethod {
    Sanitize(SanitizeAction),
    /// With this secure erase setting, in the current LBA format.
    Format(SecureErase),
}

impl PurgeMethod {
    pub fn words(self) -> &'static str {
        match self {
            PurgeMethod::Sanitize(SanitizeAction::CRYPTO_ERASE) => "sanitized (crypto erase)",
            PurgeMethod::Sanitize(_) => "sanitized (block erase)",
            PurgeMethod::Format(SecureErase::NONE) => "formatted without a secure erase",
            PurgeMethod::Format(_) => "formatted with user data erase",
        }
    }

    pub fn is_sanitize(self) -> bool {
        matches!(self, PurgeMethod::Sanitize(_))
    }

    /// A plain format need not erase anything (Base 5.14, SES 0).
    pub fn is_complete(self) -> bool {
        self != PurgeMethod::Format(SecureErase::NONE)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub method: PurgeMethod,
    /// Sorted, the requested one included.
    pub reaches: Vec<u32>,
    /// Why there may be further namespaces; `None` when the list is complete.
    pub beyond: Option<&'static str>,
}

impl Offer {
    pub fn reaches_only(&self, nsid: u32) -> bool {
        self.beyond.is_none() && self.reaches == [nsid]
    }
}

/// Base 5.17.2.2.
const LIST_MOST: usize = 1024;

/// The most thorough method comes first.
pub fn offers(port: &mut dyn AdminPort, nsid: u32) -> Result<Vec<Offer>, CommandError> {
    let mut commands = Commands::to(port);
    let controller = commands.identify_controller()?;
    let mut all = commands.active_namespaces()?;
    let mut lists_all = false;
    if controller.oacs() & oacs::NAMESPACES != 0 {
        // Allocated namespaces that are attached elsewhere or nowhere are affected too.
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
        Some("it has more namespaces than one namespace list holds")
    } else if controller.cmic() & (cmic::CONTROLLERS | cmic::VIRTUAL_FUNCTION) != 0 && !lists_all {
        Some("its subsystem has, or may have, other controllers, whose namespaces it cannot list")
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
                method: PurgeMethod::Sanitize(action),
                reaches: all.clone(),
                beyond,
            });
        }
    }
    if controller.oacs() & oacs::FORMAT != 0 {
        // FNA bit 0: a format, bit 1: a secure erase affects all namespaces.
        let attributes = controller.format_attributes();
        let everywhere = attributes & 0b11 != 0;
        offers.push(Offer {
            method: PurgeMethod::Format(SecureErase::USER_DATA),
            reaches: if everywhere { all } else { vec![nsid] },
            beyond: beyond.filter(|_| everywhere),
        });
    }
    Ok(offers)
}

const POLL_INTERVAL: Nanos = Nanos::from_millis(250);

/// An erasure that did not complete.
#[derive(Debug, thiserror::Error)]
pub enum EraseError {
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(
        "{0}: the sanitize operation failed: the drive may reject all commands except another \
         sanitize; try `nvme sanitize` with another action, or with exit-failure-mode"
    )]
    SanitizeFailed(String),
    #[error(
        "{controller}: the sanitize operation continues ({percent} % done) and cannot be stopped; \
         the drive rejects other commands until it completes; `nvme sanitize-log {controller}` \
         shows its progress"
    )]
    StillGoing {
        controller: String,
        /// Progress, percent.
        percent: u32,
    },
}

impl EraseError {
    /// The controller does not support it for this namespace, and erased nothing.
    pub(crate) fn is_unsupported(&self) -> bool {
        matches!(self, EraseError::Command(error) if is_unknown(error))
    }
}

/// `progress` receives the completed share of a sanitize, 0 to 1, and returns whether to continue
/// waiting. Returns the method used: a controller that does not support the secure erase setting
/// formats without one.
pub fn erase(
    port: &mut dyn AdminPort,
    nsid: u32,
    method: PurgeMethod,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<PurgeMethod, EraseError> {
    let mut commands = Commands::to(port);
    match method {
        PurgeMethod::Format(setting) => {
            let namespace = commands.identify_namespace(nsid)?;
            match commands.format(nsid, &namespace, setting) {
                Err(error) if setting != SecureErase::NONE && is_unknown(&error) => {
                    commands.format(nsid, &namespace, SecureErase::NONE)?;
                    Ok(PurgeMethod::Format(SecureErase::NONE))
                }
                done => Ok(done.map(|()| method)?),
            }
        }
        PurgeMethod::Sanitize(action) => {
            commands.sanitize(action)?;
            let clock = Clock::monotonic();
            loop {
                let log = commands.sanitize_status()?;
                let controller = commands.name().to_owned();
                match log.sanitize_state() {
                    SanitizeState::IN_PROGRESS => {
                        let done = f64::from(log.progress()) / 65_536.0;
                        if !progress(done) {
                            let percent = (done * 100.0) as u32;
                            return Err(EraseError::StillGoing { controller, percent });
                        }
                        clock.wait_until(clock.now() + POLL_INTERVAL);
                    }
                    SanitizeState::FAILED => return Err(EraseError::SanitizeFailed(controller)),
                    _ => return Ok(method),
                }
            }
        }
    }
}

/// Whether the controller does not support the command or setting. After other failures (media
/// errors, security state) no weaker method is tried.
fn is_unknown(error: &CommandError) -> bool {
    use StatusCode as Code;
    let CommandError::Status { status, .. } = error else {
        return false;
    };
    [Code::INVALID_FIELD, Code::INVALID_OPCODE, Code::INVALID_FORMAT].contains(status)
}
