//! Background operations: Format, Sanitize, Device Self-test, temperature monitoring.

use std::collections::VecDeque;

use assay_nvme_spec::admin::{
    DeviceSelfTest, FormatNvm, Sanitize, SanitizeAction, SecureErase, SelfTestCode,
};
use assay_nvme_spec::feature::{AsyncEventType, event};
use assay_nvme_spec::log::{
    CriticalWarning, LogId, SanitizeLog, SanitizeState, SelfTestLog, SelfTestResult,
};
use assay_nvme_spec::opcode::AdminOpcode;
use assay_nvme_spec::{NSID_ALL, StatusCode};
use assay_units::Nanos;

use super::{AdminCommand, AdminOutcome, AdminResult};
use crate::controller::{Controller, NAMESPACE};
use crate::memory::HostMemory;

/// Interval of temperature monitoring.
pub const HEALTH_PERIOD_NS: u64 = 1_000_000_000;
/// At most two minutes (Base 8.6.1).
pub const SHORT_TEST_NS: u64 = 60_000_000_000;
/// EDSTT; assumed.
pub const EXTENDED_TEST_MINUTES: u16 = 10;
const RESULTS: usize = 20;

#[derive(Clone, Copy, Debug)]
struct SanitizeOperation {
    begin_ns: u64,
    end_ns: u64,
    /// SCDW10 of the log.
    command: u32,
    /// Whether the completion was reported.
    ended: bool,
    /// Bytes written by the host before the sanitize.
    written_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct SelfTest {
    code: SelfTestCode,
    begin_ns: u64,
    end_ns: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Background {
    formatting_until_ns: u64,
    sanitize: Option<SanitizeOperation>,
    self_test: Option<SelfTest>,
    results: VecDeque<SelfTestResult>,
    health_ns: u64,
    /// A threshold was crossed at the last check.
    crossed: bool,
}

impl Controller {
    /// `u64::MAX` for none.
    #[inline]
    pub(crate) fn next_background_ns(&self) -> u64 {
        let background = &self.background;
        let sanitize = background.sanitize.filter(|it| !it.ended);
        let events = [
            sanitize.map(|it| it.end_ns),
            background.self_test.map(|test| test.end_ns),
            self.monitors_temperature().then_some(background.health_ns),
        ];
        events.into_iter().flatten().min().unwrap_or(u64::MAX)
    }

    #[inline]
    fn monitors_temperature(&self) -> bool {
        let enabled =
            self.features.async_events.critical_warnings() & CriticalWarning::TEMPERATURE.0 != 0;
        enabled && self.is_operational() && self.events.is_awaited(AsyncEventType::SMART)
    }

    #[inline]
    pub(crate) fn run_background<M: HostMemory>(&mut self, now_ns: u64, memory: &mut M) {
        if self.next_background_ns() <= now_ns {
            self.process_background_events(now_ns);
        }
        if self.events.has_completion() {
            self.post_events(now_ns, memory);
        }
    }

    #[inline(never)]
    fn process_background_events(&mut self, now_ns: u64) {
        let due = |sanitize: &&mut SanitizeOperation| !sanitize.ended && sanitize.end_ns <= now_ns;
        if let Some(sanitize) = self.background.sanitize.as_mut().filter(due) {
            sanitize.ended = true;
            let completed = event::SANITIZE_COMPLETED;
            self.events.raise(AsyncEventType::IO_SPECIFIC, completed, LogId::SANITIZE);
        }
        let self_test = &mut self.background.self_test;
        if let Some(test) = self_test.take_if(|test| test.end_ns <= now_ns) {
            self.end_test(test.code, test.end_ns, None);
        }
        if self.monitors_temperature() && self.background.health_ns <= now_ns {
            self.background.health_ns = now_ns + HEALTH_PERIOD_NS;
            let telemetry = self.drive.telemetry(Nanos(now_ns));
            let crossed = self.features.thresholds.is_crossed(&telemetry);
            if crossed && !self.background.crossed {
                self.events.raise(AsyncEventType::SMART, event::TEMPERATURE, LogId::SMART);
            }
            self.background.crossed = crossed;
        }
    }

    /// Fails I/O commands during a format or sanitize.
    #[inline]
    pub(crate) fn check_media_access(&self, now_ns: u64) -> Result<(), StatusCode> {
        StatusCode::FORMAT_IN_PROGRESS.fail_if(now_ns < self.background.formatting_until_ns)?;
        StatusCode::SANITIZE_IN_PROGRESS.fail_if(self.is_sanitizing(now_ns))?;
        Ok(())
    }

    #[inline]
    fn is_sanitizing(&self, now_ns: u64) -> bool {
        let sanitize = &self.background.sanitize;
        sanitize.is_some_and(|sanitize| now_ns < sanitize.end_ns)
    }

    /// Base 8.21.
    pub(crate) fn check_sanitize(
        &self,
        now_ns: u64,
        opcode: AdminOpcode,
    ) -> Result<(), StatusCode> {
        use AdminOpcode as Op;
        let prohibited = matches!(opcode, Op::FORMAT_NVM | Op::SANITIZE | Op::DEVICE_SELF_TEST);
        StatusCode::SANITIZE_IN_PROGRESS.fail_if(prohibited && self.is_sanitizing(now_ns))?;
        Ok(())
    }

    /// Format NVM (Base 5.14): purges all data, with any Secure Erase Setting.
    pub(super) fn format(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let (now_ns, command): (u64, FormatNvm) = (command.now_ns, command.view());
        StatusCode::INVALID_NAMESPACE.fail_if(!matches!(command.nsid(), NAMESPACE | NSID_ALL))?;
        let size = self.lba_sizes.get(usize::from(command.lba_format()));
        let plain = command.protection() == 0 && !command.extended_metadata();
        let Some(&size) = size.filter(|_| plain) else {
            return Err(StatusCode::INVALID_FORMAT);
        };
        // FNA has no cryptographic erase.
        StatusCode::INVALID_FIELD.fail_if(command.secure_erase() > SecureErase::USER_DATA.0)?;
        StatusCode::FORMAT_IN_PROGRESS.fail_if(now_ns < self.background.formatting_until_ns)?;
        let end_ns = self.purge(now_ns)?;
        self.abort_test(now_ns, ABORTED_BY_FORMAT);
        self.drive.set_logical_block_bytes(1 << size);
        self.update_block_size();
        self.background.formatting_until_ns = end_ns;
        if self.features.async_events.namespace_attributes() {
            self.events.namespace_changed();
        }
        Ok(AdminOutcome::DoneAt(end_ns))
    }

    fn purge(&mut self, now_ns: u64) -> Result<u64, StatusCode> {
        let end = self.drive.purge(Nanos(now_ns));
        Ok(end.ok_or(StatusCode::INTERNAL_ERROR)?.0)
    }

    /// Sanitize (Base 5.24): block erase, in the background.
    pub(super) fn sanitize(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let (now_ns, command): (u64, Sanitize) = (command.now_ns, command.view());
        match SanitizeAction(command.action()) {
            // A sanitize of this drive never fails.
            SanitizeAction::EXIT_FAILURE_MODE => return Ok(AdminOutcome::Done(0)),
            SanitizeAction::BLOCK_ERASE if !command.no_deallocate() => {}
            _ => return Err(StatusCode::INVALID_FIELD),
        }
        let written_bytes = self.drive.telemetry(Nanos(now_ns)).host_bytes_written;
        let end_ns = self.purge(now_ns)?;
        self.abort_test(now_ns, ABORTED_BY_SANITIZE);
        self.background.sanitize = Some(SanitizeOperation {
            begin_ns: now_ns,
            end_ns: end_ns.max(now_ns + self.command_ns),
            command: u32::from(command.action()) | u32::from(command.unrestricted_exit()) << 3,
            ended: false,
            written_bytes,
        });
        Ok(AdminOutcome::Done(0))
    }

    /// Base 5.16.1.25.
    pub(super) fn sanitize_log(&mut self, now_ns: u64) -> SanitizeLog {
        let mut log = SanitizeLog::default();
        const NOT_REPORTED: u32 = u32::MAX;
        log.set_progress(u16::MAX).set_estimates_s([NOT_REPORTED; 6]);
        let Some(sanitize) = self.background.sanitize else {
            return log;
        };
        log.set_command(sanitize.command);
        if now_ns < sanitize.end_ns {
            let progress = progress(now_ns, sanitize.begin_ns, sanitize.end_ns, 65_536);
            log.set_state(SanitizeState::IN_PROGRESS.0).set_progress(progress as u16);
        } else {
            let written_bytes = self.drive.telemetry(Nanos(now_ns)).host_bytes_written;
            log.set_state(SanitizeState::COMPLETED.0)
                .set_erased(written_bytes == sanitize.written_bytes);
        }
        log
    }

    /// Base 5.9, 8.6.
    pub(super) fn self_test(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let (now_ns, command): (u64, DeviceSelfTest) = (command.now_ns, command.view());
        StatusCode::INVALID_NAMESPACE
            .fail_if(!matches!(command.nsid(), 0 | NAMESPACE | NSID_ALL))?;
        let code = SelfTestCode(command.code());
        let span_ns = match code {
            SelfTestCode::SHORT => SHORT_TEST_NS,
            SelfTestCode::EXTENDED => u64::from(EXTENDED_TEST_MINUTES) * 60_000_000_000,
            SelfTestCode::ABORT => {
                self.abort_test(now_ns, ABORTED_BY_COMMAND);
                return Ok(AdminOutcome::Done(0));
            }
            _ => return Err(StatusCode::INVALID_FIELD),
        };
        StatusCode::SELF_TEST_IN_PROGRESS.fail_if(self.background.self_test.is_some())?;
        self.background.self_test =
            Some(SelfTest { code, begin_ns: now_ns, end_ns: now_ns + span_ns });
        Ok(AdminOutcome::Done(0))
    }

    /// Base 8.6.1, 8.6.2.
    fn abort_test(&mut self, now_ns: u64, result: u8) {
        if let Some(test) = self.background.self_test.take() {
            self.end_test(test.code, now_ns, Some(result));
        }
    }

    /// Without `result`, an extended test reports the first media error of the drive.
    fn end_test(&mut self, code: SelfTestCode, now_ns: u64, result: Option<u8>) {
        let mut entry = SelfTestResult::default();
        entry.set_code(code.0).set_result(result.unwrap_or(0)).set_power_on_hours(now_ns / HOUR_NS);
        let bad = self.drive.first_bad_byte();
        if let (None, SelfTestCode::EXTENDED, Some(bad)) = (result, code, bad) {
            let status = StatusCode::UNRECOVERED_READ_ERROR;
            entry
                .set_result(FAILED_SEGMENT)
                .set_segment(MEDIA_SEGMENT)
                .set_nsid_valid(true)
                .set_nsid(NAMESPACE)
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

    /// Base 5.16.1.7.
    pub(super) fn self_test_log(&self, now_ns: u64) -> SelfTestLog {
        let mut log = SelfTestLog::default();
        if let Some(test) = &self.background.self_test {
            let percent = progress(now_ns, test.begin_ns, test.end_ns, 100);
            log.set_current(test.code.0).set_completion(percent as u8);
        }
        let mut unused = SelfTestResult::default();
        unused.set_result(UNUSED_RESULT);
        let results = &self.background.results;
        let entries = std::array::from_fn(|index| results.get(index).copied().unwrap_or(unused));
        log.set_results(entries);
        log
    }

    /// Controller reset: aborts a short self-test; everything else continues (Base 8.6.1, 8.21).
    pub(crate) fn reset_background(&mut self, now_ns: u64) {
        self.background.crossed = false;
        self.background.health_ns = now_ns;
        if self.background.self_test.is_some_and(|test| test.code == SelfTestCode::SHORT) {
            self.abort_test(now_ns, ABORTED_BY_RESET);
        }
    }
}

/// Elapsed part of an operation in `parts`, less than `parts`; `now_ns` is not before `begin_ns`.
fn progress(now_ns: u64, begin_ns: u64, end_ns: u64, parts: u64) -> u64 {
    let (elapsed, span) = (u128::from(now_ns - begin_ns), u128::from(end_ns - begin_ns));
    let progress = (elapsed * u128::from(parts)).checked_div(span);
    // A background event at the end may not have been processed yet.
    progress.map_or(parts - 1, |part| part.min(u128::from(parts - 1)) as u64)
}

pub(crate) const HOUR_NS: u64 = 3_600_000_000_000;
const ABORTED_BY_COMMAND: u8 = 0x1;
const ABORTED_BY_RESET: u8 = 0x2;
const ABORTED_BY_FORMAT: u8 = 0x4;
const ABORTED_BY_SANITIZE: u8 = 0x9;
const FAILED_SEGMENT: u8 = 0x7;
const UNUSED_RESULT: u8 = 0xf;
/// Vendor-specific segment number of the media read of an extended self-test.
const MEDIA_SEGMENT: u8 = 1;
