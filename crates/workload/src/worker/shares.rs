use std::sync::Arc;

use super::{Searchers, Worker};
use crate::coverage::{CoverageMap, CoverageNotes};
use crate::exit::ExitShare;
use crate::flow::FlowShare;

impl Worker {
    /// The same worker, which searches its depth together with the other threads of its job.
    #[must_use]
    pub fn with_searchers(mut self, searchers: Option<Searchers>) -> Worker {
        let search = self.depth_search.take();
        self.depth_search = search.map(|search| search.with_searchers(searchers));
        self
    }

    /// The depth that its latency target allows, as [`DepthSearch::found`].
    pub fn found_depth(&self) -> Option<u32> {
        self.depth_search.as_ref()?.found()
    }

    /// The same worker for job number `job` of several in one I/O loop.
    #[must_use]
    pub fn of_job(self, job: usize) -> Worker {
        Worker { job, ..self }
    }

    /// The same worker with a part in the flow of its group.
    #[must_use]
    pub fn with_flow(self, flow: Option<FlowShare>) -> Worker {
        Worker { flow, ..self }
    }

    /// The same worker with a part in the ends of its group.
    #[must_use]
    pub fn with_exit(self, exit: Option<ExitShare>) -> Worker {
        Worker { exit, ..self }
    }

    /// The same worker, which counts the blocks it writes in its job's map.
    #[must_use]
    pub fn with_coverage(self, coverage: Option<Arc<CoverageMap>>) -> Worker {
        Worker { coverage: coverage.map(CoverageNotes::new), ..self }
    }
}
