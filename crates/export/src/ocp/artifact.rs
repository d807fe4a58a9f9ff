//! Artifacts of the Test & Validation output 2.0; names as in its schema.

use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize)]
pub(super) struct SchemaVersion {
    pub(super) major: u8,
    pub(super) minor: u8,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Content<'a> {
    SchemaVersion(SchemaVersion),
    TestRunArtifact(OfRun<'a>),
    TestStepArtifact(OfStep<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(flatten)]
    pub(super) content: Content<'a>,
    pub(super) sequence_number: u64,
    pub(super) timestamp: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum OfRun<'a> {
    TestRunStart(Box<RunStart<'a>>),
    TestRunEnd(RunEnded),
    Log(Log<'a>),
    Error(Fault<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OfStep<'a> {
    pub(super) test_step_id: String,
    #[serde(flatten)]
    pub(super) content: StepContent<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum StepContent<'a> {
    TestStepStart(StepStart<'a>),
    TestStepEnd(StepEnd),
    Measurement(Measurement<'a>),
    MeasurementSeriesStart(SeriesStart<'a>),
    MeasurementSeriesElement(SeriesElement<'a>),
    MeasurementSeriesEnd(SeriesEnd<'a>),
    Diagnosis(Diagnosis<'a>),
    Log(Log<'a>),
    Error(Fault<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunStart<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    pub(super) command_line: String,
    pub(super) parameters: Map<String, Value>,
    pub(super) dut_info: DutInfo,
    pub(super) metadata: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DutInfo {
    pub(super) dut_info_id: String,
    pub(super) platform_infos: Vec<PlatformInfo>,
    pub(super) software_infos: Vec<SoftwareInfo>,
    pub(super) hardware_infos: Vec<HardwareInfo>,
}

#[derive(Serialize)]
pub(super) struct PlatformInfo {
    pub(super) info: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SoftwareInfo {
    pub(super) software_info_id: String,
    pub(super) name: String,
    pub(super) version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revision: Option<String>,
    pub(super) software_type: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HardwareInfo {
    pub(super) hardware_info_id: String,
    pub(super) name: String,
    pub(super) serial_number: String,
    pub(super) manufacturer_part_number: String,
    pub(super) part_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) location: Option<String>,
}

#[derive(Serialize)]
pub(super) struct RunEnded {
    pub(super) status: &'static str,
    pub(super) result: &'static str,
}

#[derive(Serialize)]
pub(super) struct StepStart<'a> {
    pub(super) name: &'a str,
}

#[derive(Serialize)]
pub(super) struct StepEnd {
    pub(super) status: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Measurement<'a> {
    pub(super) name: &'a str,
    pub(super) value: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unit: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) validators: Vec<Validator>,
    pub(super) hardware_info_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Value>,
}

#[derive(Serialize)]
pub(super) struct Validator {
    pub(super) name: &'static str,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) value: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeriesStart<'a> {
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
    pub(super) measurement_series_id: &'a str,
    pub(super) hardware_info_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeriesElement<'a> {
    pub(super) index: u64,
    pub(super) value: Value,
    pub(super) timestamp: String,
    pub(super) measurement_series_id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeriesEnd<'a> {
    pub(super) measurement_series_id: &'a str,
    pub(super) total_count: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Diagnosis<'a> {
    pub(super) verdict: &'a str,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) message: String,
    pub(super) hardware_info_id: String,
}

#[derive(Serialize)]
pub(super) struct Log<'a> {
    pub(super) severity: &'static str,
    pub(super) message: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fault<'a> {
    pub(super) symptom: &'a str,
    pub(super) message: &'a str,
}
