//! Rules by which cells of a view make up a section.

use assay_store::model::{CellKind, CellView};

use crate::axis::Axis;

/// Which cells share a section with those of the same step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRule {
    /// Variants of the same title.
    EqualTitles,
    /// Variants of the same title or the same workload.
    EqualWorkloads,
    /// All cells of the same view in a suite.
    AllSteps,
    /// All cells of the view in all suites.
    AllSuites,
}

/// The title of a section of this view, where it is not that of its step.
pub fn title(view: CellView) -> Option<&'static str> {
    Some(match view {
        CellView::Amplification => "Write amplification",
        CellView::Cache => "With a cold and a warm cache",
        CellView::Capacity => "Every block written and read back",
        CellView::CrossStimulus => "Change of the workload",
        CellView::Fill => "Bursts by state of fill",
        CellView::IdleRecovery => "Recovery by idle time",
        CellView::Interference => "Alone and beside other jobs",
        CellView::Placement => "Mixed, and separated by placement handles",
        CellView::ResponseTimes => "Response times at operating points",
        CellView::Peak | CellView::Continuous => "Streams: peak against continuous",
        _ => return None,
    })
}

pub fn merge_rule(view: Option<CellView>) -> MergeRule {
    match view {
        Some(CellView::Consistency | CellView::Saturation | CellView::Wake) => {
            MergeRule::EqualWorkloads
        }
        Some(CellView::Peak | CellView::Continuous) => MergeRule::AllSuites,
        // One title for all steps.
        Some(view) if title(view).is_some() => MergeRule::AllSteps,
        _ => MergeRule::EqualTitles,
    }
}

/// Preferred axes of the rows, best first.
pub fn row_axes(view: Option<CellView>, kind: CellKind) -> &'static [Axis] {
    match view.filter(|_| kind != CellKind::Idle) {
        Some(CellView::Deadlines) => &[Axis::Rate, Axis::BlockSize],
        Some(CellView::Knee) => &[Axis::TotalDepth, Axis::Threads, Axis::Depth],
        Some(CellView::Load) => &[Axis::LoadShare],
        Some(CellView::Queues) => &[Axis::Threads],
        Some(CellView::Rounds) => &[Axis::BlockSize],
        Some(CellView::TraceReplay) => &[Axis::Trace],
        _ => &[],
    }
}
