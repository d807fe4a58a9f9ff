use std::io::Write;

use assay_stats::Interval;
use assay_store::model::TelemetryRecord;
use assay_units::Nanos;
use serde_json::json;

use super::artifact::{Log, SeriesElement, SeriesEnd, SeriesStart, StepContent, StepEnd};
use super::series::{Element, Figure};
use super::writer::{OcpWriter, Step};

impl<W: Write> OcpWriter<'_, W> {
    pub(super) fn interval(
        &mut self,
        cell: &str,
        drive: usize,
        interval: Interval,
    ) -> std::io::Result<()> {
        let Some(mut step) = self.open.remove(cell) else {
            return Ok(());
        };
        if step.is_soak {
            match step.pending.entry(drive).or_default().add(interval) {
                Some(elements) => self.elements(&mut step, drive, elements)?,
                None => step.late += 1,
            }
        }
        self.open.insert(cell.to_owned(), step);
        Ok(())
    }

    pub(super) fn telemetry(&mut self, record: &TelemetryRecord) -> std::io::Result<()> {
        let Some(celsius) = record.temperature_c else {
            return Ok(());
        };
        let Some(mut step) = self.open.remove(&record.cell) else {
            return Ok(());
        };
        let hottest = step.hottest_c.entry(record.drive).or_insert(celsius);
        *hottest = hottest.max(celsius);
        if step.is_soak {
            let element = Element { figure: Figure::TemperatureC, at: record.at, value: celsius };
            self.elements(&mut step, record.drive, vec![element])?;
        }
        self.open.insert(record.cell.clone(), step);
        Ok(())
    }

    pub(super) fn elements(
        &mut self,
        step: &mut Step,
        drive: usize,
        elements: Vec<Element>,
    ) -> std::io::Result<()> {
        for element in elements.into_iter().filter(|e| e.value.is_finite()) {
            let key = (drive, element.figure);
            if !step.series.contains_key(&key) {
                let series = self.series.to_string();
                self.series += 1;
                let start = SeriesStart {
                    name: &element.figure.name(),
                    unit: element.figure.unit(),
                    measurement_series_id: &series,
                    hardware_info_id: drive.to_string(),
                    metadata: self.simulated(drive),
                };
                self.of_step(&step.id, StepContent::MeasurementSeriesStart(start))?;
                step.series.insert(key, (series, 0));
            }
            let timestamp = date_of(step.began, element.at).unwrap_or_else(|| self.now.clone());
            let Some((series, count)) = step.series.get_mut(&key) else {
                continue;
            };
            let content = SeriesElement {
                index: *count,
                value: json!(element.value),
                timestamp,
                measurement_series_id: series,
            };
            *count += 1;
            self.of_step(&step.id, StepContent::MeasurementSeriesElement(content))?;
        }
        Ok(())
    }

    pub(super) fn close_step(
        &mut self,
        mut step: Step,
        status: &'static str,
    ) -> std::io::Result<()> {
        for (drive, mut pending) in std::mem::take(&mut step.pending) {
            let left = pending.end();
            self.elements(&mut step, drive, left)?;
        }
        if step.late > 0 {
            let (severity, message) = (
                "INFO",
                format!("{} parts of intervals came late and are not in the series", step.late),
            );
            let message = message.as_str();
            self.of_step(&step.id, StepContent::Log(Log { severity, message }))?;
        }
        for (series, total_count) in step.series.values() {
            let end = SeriesEnd { measurement_series_id: series, total_count: *total_count };
            self.of_step(&step.id, StepContent::MeasurementSeriesEnd(end))?;
        }
        self.of_step(&step.id, StepContent::TestStepEnd(StepEnd { status }))
    }
}

fn date_of(began: Option<jiff::Timestamp>, at: Nanos) -> Option<String> {
    let since = jiff::SignedDuration::from_nanos(i64::try_from(at.0).ok()?);
    Some(began?.checked_add(since).ok()?.to_string())
}
