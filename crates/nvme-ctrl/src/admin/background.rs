//! What goes on while other commands are served: Format, Sanitize, self-test, and the watch over temperature.

use std::collections::VecDeque;

use assay_nvme_spec::admin::{
    DeviceSelfTest, FormatNvm, Sanitize, SanitizeAction, SecureErase, SelfTestCode,
};
use assay_nvme_spec::feature::{AsyncEvent, AsyncEventType, event};
use assay_nvme_spec::log::{
    LogId, SanitizeLog, SanitizeState, SelfTestLog, SelfTestResult, critical_warning,
};
use assay_nvme_spec::opcode::AdminOpcode;
use assay_nvme_spec::{NSID_ALL, StatusCode};
use assay_units::Nanos;

use super::{Answer, Outcome};
use crate::controller::Controller;
use crate::memory::HostMemory;

/// How often the firmware looks whether a temperature has crossed a threshold, in nanoseconds.
pub const HEALTH_PERIOD_NS: u64 = 1_000_000_000;
/// A short self-test's time in nanoseconds: the specification allows two minutes (Base 8.6.1).
pub const SHORT_TEST_NS: u64 = 60_000_000_000;
/// An extended self-test's time in minutes, as EDSTT says. Assumed.
pub const EXTENDED_TEST_MINUTES: u16 = 10;
/// The LBA formats: powers of two of bytes.
pub(crate) const LBA_SIZES: [u8; 2] = [9, 12];
/// Results that the self-test log keeps.
const RESULTS: usize = 20;

/// A sanitize operation.
#[derive(Clone, Copy, Debug)]
struct Sanitizing {
    begin_ns: u64,
    end_ns: u64,
    command: u32,
    /// Was its end told of?
    ended: bool,
    /// Bytes the host had written when it began.
    written_bytes: u64,
}

/// A self-test that goes on.
#[derive(Clone, Copy, Debug)]
struct Testing {
    code: SelfTestCode,
    begin_ns: u64,
    end_ns: u64,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Background {
    /// Until when the namespace is being formatted.
    formatting_until_ns: u64,
    sanitizing: Option<Sanitizing>,
    testing: Option<Testing>,
    results: VecDeque<SelfTestResult>,
    /// When temperature is looked at next.
    health_ns: u64,
    /// Was a threshold crossed when it was looked at last?
    crossed: bool,
}

impl Controller {
    /// When something in the background happens next.
    #[inline]
    pub(crate) fn next_background_ns(&self) -> u64 {
        let mut next = u64::MAX;
        if let Some(sanitizing) = &self.background.sanitizing
            && !sanitizing.ended
        {
            next = next.min(sanitizing.end_ns);
        }
        if let Some(testing) = &self.background.testing {
            next = next.min(testing.end_ns);
        }
        if self.watches_temperature() {
            next = next.min(self.background.health_ns);
        }
        next
    }

    /// Does anybody want to hear of temperatures?
    #[inline]
    fn watches_temperature(&self) -> bool {
        let wanted =
            self.features.async_events.critical_warnings() & critical_warning::TEMPERATURE != 0;
        wanted && self.is_working() && self.events.is_awaited(AsyncEventType::SMART)
    }

    /// What happened by then.
    #[inline]
    pub(crate) fn work_in_background<M: HostMemory>(&mut self, now_ns: u64, memory: &mut M) {
        if self.next_background_ns() <= now_ns {
            self.look_around(now_ns);
        }
        if self.events.has_answer() {
            self.tell_events(now_ns, memory);
        }
    }

    #[inline(never)]
    fn look_around(&mut self, now_ns: u64) {
        if let Some(sanitizing) = &mut self.background.sanitizing
            && !sanitizing.ended
            && sanitizing.end_ns <= now_ns
        {
            sanitizing.ended = true;
            let mut told = AsyncEvent::default();
            told.set_event_type(AsyncEventType::IO_SPECIFIC.0)
                .set_information(event::SANITIZE_COMPLETED)
                .set_lid(LogId::SANITIZE.0);
            self.events.raise(told);
        }
        if let Some(testing) = self.background.testing
            && testing.end_ns <= now_ns
        {
            self.background.testing = None;
            self.end_test(testing.code, testing.end_ns, None);
        }
        if self.watches_temperature() && self.background.health_ns <= now_ns {
            self.background.health_ns = now_ns + HEALTH_PERIOD_NS;
            let telemetry = self.drive.telemetry(Nanos(now_ns));
            let crossed = self.features.thresholds.is_crossed(&telemetry);
            if crossed && !self.background.crossed {
                let mut told = AsyncEvent::default();
                told.set_event_type(AsyncEventType::SMART.0)
                    .set_information(event::TEMPERATURE)
                    .set_lid(LogId::SMART.0);
                self.events.raise(told);
            }
            self.background.crossed = crossed;
        }
    }

    /// May I/O commands be served, or does something else go on?
    #[inline]
    pub(crate) fn check_background(&self, now_ns: u64) -> Result<(), StatusCode> {
        if now_ns < self.background.formatting_until_ns {
            return Err(StatusCode::FORMAT_IN_PROGRESS);
        }
        match &self.background.sanitizing {
            Some(sanitizing) if now_ns < sanitizing.end_ns => Err(StatusCode::SANITIZE_IN_PROGRESS),
            _ => Ok(()),
        }
    }

    /// Which admin commands are served while the drive is sanitized (Base 8.21).
    pub(crate) fn check_sanitize(
        &self,
        now_ns: u64,
        opcode: AdminOpcode,
    ) -> Result<(), StatusCode> {
        let goes_on = self
            .background
            .sanitizing
            .is_some_and(|sanitizing| now_ns < sanitizing.end_ns);
        let refused = matches!(
            opcode,
            AdminOpcode::FORMAT_NVM | AdminOpcode::SANITIZE | AdminOpcode::DEVICE_SELF_TEST
        );
        if goes_on && refused {
            return Err(StatusCode::SANITIZE_IN_PROGRESS);
        }
        Ok(())
    }

    /// Format NVM (Base 5.14): all data is forgotten, whatever kind of erase is asked for.
    pub(super) fn format(&mut self, now_ns: u64, command: FormatNvm) -> Answer {
        if !matches!(command.nsid(), crate::controller::NAMESPACE | NSID_ALL) {
            return Err(StatusCode::INVALID_NAMESPACE);
        }
        let size = LBA_SIZES.get(usize::from(command.lba_format()));
        let plain = command.protection() == 0 && !command.extended_metadata();
        let Some(&size) = size.filter(|_| plain) else {
            return Err(StatusCode::INVALID_FORMAT);
        };
        // FNA says that there is no cryptographic erase.
        if command.secure_erase() > SecureErase::USER_DATA.0 {
            return Err(StatusCode::INVALID_FIELD);
        }
        if now_ns < self.background.formatting_until_ns {
            return Err(StatusCode::FORMAT_IN_PROGRESS);
        }
        let end_ns = self
            .drive
            .purge(Nanos(now_ns))
            .ok_or(StatusCode::INTERNAL_ERROR)?
            .0;
        self.abort_test(now_ns, ABORTED_BY_FORMAT);
        self.drive.set_logical_block_bytes(1 << size);
        self.follow_blocks();
        self.background.formatting_until_ns = end_ns;
        Ok(Outcome::DoneAt(end_ns))
    }

    /// Sanitize (Base 5.24): block erase, in the background.
    pub(super) fn sanitize(&mut self, now_ns: u64, command: Sanitize) -> Answer {
        match SanitizeAction(command.action()) {
            // There is no failure to leave.
            SanitizeAction::EXIT_FAILURE_MODE => return Ok(Outcome::Done(0)),
            SanitizeAction::BLOCK_ERASE if !command.no_deallocate() => {}
            _ => return Err(StatusCode::INVALID_FIELD),
        }
        let written_bytes = self.drive.telemetry(Nanos(now_ns)).host_bytes_written;
        let end_ns = self
            .drive
            .purge(Nanos(now_ns))
            .ok_or(StatusCode::INTERNAL_ERROR)?
            .0;
        self.abort_test(now_ns, ABORTED_BY_SANITIZE);
        self.background.sanitizing = Some(Sanitizing {
            begin_ns: now_ns,
            end_ns: end_ns.max(now_ns + self.command_ns),
            command: u32::from(command.action()) | u32::from(command.unrestricted_exit()) << 3,
            ended: false,
            written_bytes,
        });
        Ok(Outcome::Done(0))
    }

    /// The Sanitize Status log (Base 5.16.1.25).
    pub(super) fn sanitize_log(&mut self, now_ns: u64) -> SanitizeLog {
        let mut log = SanitizeLog::default();
        let not_told = u32::MAX;
        log.set_progress(u16::MAX)
            .set_overwrite_s(not_told)
            .set_block_erase_s(not_told)
            .set_crypto_erase_s(not_told)
            .set_overwrite_kept_s(not_told)
            .set_block_erase_kept_s(not_told)
            .set_crypto_erase_kept_s(not_told);
        let Some(sanitizing) = self.background.sanitizing else {
            return log;
        };
        log.set_command(sanitizing.command);
        if now_ns < sanitizing.end_ns {
            let (done, all) = (
                now_ns.saturating_sub(sanitizing.begin_ns),
                sanitizing.end_ns - sanitizing.begin_ns,
            );
            let progress = u128::from(done) * 65_536 / u128::from(all.max(1));
            log.set_state(SanitizeState::IN_PROGRESS.0)
                .set_progress(progress.min(65_535) as u16);
        } else {
            let written_bytes = self.drive.telemetry(Nanos(now_ns)).host_bytes_written;
            log.set_state(SanitizeState::COMPLETED.0)
                .set_erased(written_bytes == sanitizing.written_bytes);
        }
        log
    }

    /// Device Self-test (Base 5.9, 8.6).
    pub(super) fn self_test(&mut self, now_ns: u64, command: DeviceSelfTest) -> Answer {
        if !matches!(command.nsid(), 0 | crate::controller::NAMESPACE | NSID_ALL) {
            return Err(StatusCode::INVALID_NAMESPACE);
        }
        let code = SelfTestCode(command.code());
        let span_ns = match code {
            SelfTestCode::SHORT => SHORT_TEST_NS,
            SelfTestCode::EXTENDED => u64::from(EXTENDED_TEST_MINUTES) * 60_000_000_000,
            SelfTestCode::ABORT => {
                self.abort_test(now_ns, ABORTED_BY_COMMAND);
                return Ok(Outcome::Done(0));
            }
            _ => return Err(StatusCode::INVALID_FIELD),
        };
        if self.background.testing.is_some() {
            return Err(StatusCode::SELF_TEST_IN_PROGRESS);
        }
        self.background.testing = Some(Testing {
            code,
            begin_ns: now_ns,
            end_ns: now_ns + span_ns,
        });
        Ok(Outcome::Done(0))
    }

    /// A self-test that goes on ends with `result` (Base 8.6.1, 8.6.2).
    fn abort_test(&mut self, now_ns: u64, result: u8) {
        if let Some(testing) = self.background.testing.take() {
            self.end_test(testing.code, now_ns, Some(result));
        }
    }

    /// A self-test ends: with `result`, or with what an extended one found on the medium.
    fn end_test(&mut self, code: SelfTestCode, now_ns: u64, result: Option<u8>) {
        let mut entry = SelfTestResult::default();
        entry
            .set_code(code.0)
            .set_result(result.unwrap_or(0))
            .set_power_on_hours(now_ns / HOUR_NS);
        let bad = self.drive.first_bad_byte();
        if let (None, SelfTestCode::EXTENDED, Some(bad)) = (result, code, bad) {
            let status = StatusCode::UNRECOVERED_READ_ERROR;
            entry
                .set_result(FAILED_SEGMENT)
                .set_segment(MEDIA_SEGMENT)
                .set_nsid_valid(true)
                .set_nsid(crate::controller::NAMESPACE)
                .set_lba_valid(true)
                .set_failing_lba(bad >> self.block_shift)
                .set_sct_valid(true)
                .set_sct(status.sct())
                .set_sc_valid(true)
                .set_sc(status.sc());
        }
        self.background.results.truncate(RESULTS - 1);
        self.background.results.push_front(entry);
    }

    /// The Device Self-test log (Base 5.16.1.7).
    pub(super) fn self_test_log(&self, now_ns: u64) -> SelfTestLog {
        let mut log = SelfTestLog::default();
        if let Some(testing) = &self.background.testing {
            let (done, all) = (
                now_ns.saturating_sub(testing.begin_ns),
                testing.end_ns - testing.begin_ns,
            );
            let percent = (u128::from(done) * 100 / u128::from(all.max(1))).min(99);
            log.set_current(testing.code.0)
                .set_completion(percent as u8);
        }
        let mut unused = SelfTestResult::default();
        unused.set_result(UNUSED_RESULT);
        let results =
            std::array::from_fn(|at| self.background.results.get(at).copied().unwrap_or(unused));
        log.set_results(results);
        log
    }

    /// A controller reset: a short self-test does not survive it, everything else goes on (Base 8.6.1, 8.21).
    pub(crate) fn reset_background(&mut self, now_ns: u64) {
        self.background.crossed = false;
        self.background.health_ns = now_ns;
        if let Some(testing) = self.background.testing
            && testing.code == SelfTestCode::SHORT
        {
            self.abort_test(now_ns, ABORTED_BY_RESET);
        }
    }
}

/// One hour in nanoseconds.
pub(crate) const HOUR_NS: u64 = 3_600_000_000_000;
/// Results of self-tests (Base 5.16.1.7).
const ABORTED_BY_COMMAND: u8 = 0x1;
const ABORTED_BY_RESET: u8 = 0x2;
const ABORTED_BY_FORMAT: u8 = 0x4;
const ABORTED_BY_SANITIZE: u8 = 0x9;
const FAILED_SEGMENT: u8 = 0x7;
const UNUSED_RESULT: u8 = 0xf;
/// The segment of an extended self-test that reads the medium, of this maker's numbering.
const MEDIA_SEGMENT: u8 = 1;
