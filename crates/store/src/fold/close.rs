//! The end of an attempt of a cell: what its intervals sum to.

use super::*;

impl Fold<'_> {
    /// Turns the complete intervals of the cell into series, distributions and the summed result.
    pub(super) fn close(&mut self, at: usize) -> Result<(), StoreError> {
        let open = std::mem::take(&mut self.cells[at].open);
        for (place, drive) in open.into_iter().enumerate() {
            let mut series = Vec::with_capacity(drive.points.len());
            let mut lines: Vec<(PointKey, u64)> = Vec::with_capacity(drive.points.len());
            for (key, mut point) in drive.points {
                lines.push((key, point.first));
                if !point.more.is_empty() {
                    lines.extend(point.more.iter().map(|&offset| (key, offset)));
                    point.more.insert(0, point.first);
                    point.figures.latency = self.latency_of(&[key], point.more)?;
                }
                series.push(point.figures);
            }
            let cell = &mut self.cells[at];
            let ramp = Nanos(cell.record.plan.workload.ramp_ns);
            let mut budget = SilentBudget::new(drive.spans.len());
            let series = silent::fill_gaps(series, &drive.spans, ramp, &mut budget);
            let target = &cell.record.drives[place];
            let target_drive = target.drive;
            let simulated = self.run.manifest.drives[target_drive].simulated;
            let host = (!simulated).then_some(&cell.host);
            let result = summed(target.drive, &drive.totals, &series, host);
            let minutes = self.minutes && cell.record.plan.kind == CellKind::Soak;
            let latency_of = |op, sources: Sources<'_>| {
                let keys = sources.indices.iter();
                let keys: Vec<PointKey> = keys.map(|&i| (i, !sources.ramp, op)).collect();
                let of_key = |key| {
                    let from = lines.partition_point(|(known, _)| known < key);
                    let found = lines[from..].iter().take_while(move |(known, _)| known == key);
                    found.map(|&(_, offset)| offset)
                };
                let mut offsets: Vec<u64> = keys.iter().flat_map(of_key).collect();
                offsets.sort_unstable();
                self.latency_of(&keys, offsets)
            };
            let series = match minutes {
                true => short::merge_minutes(series, latency_of)?,
                false => short::merge_short(series, latency_of)?,
            };
            self.cells[at].record.drives[place].result = result;
            let deadlines_ns = &self.cells[at].record.plan.deadlines_ns;
            let latencies = drive.totals.ops().filter_map(|op| {
                let latency = &drive.totals.counts(op)?.latency;
                (!latency.is_empty()).then(|| (op, thin(&latency.cumulative(), deadlines_ns)))
            });
            let distributions = latencies.collect();
            let target = &mut self.cells[at].record.drives[place];
            target.distributions = distributions;
            target.telemetry.sort_by_key(|record| record.at);
            target.series = series;
            if budget.refused > 0 {
                let (cell, drive) = (&self.cells[at].record.plan.id, target_drive);
                let text = format!(
                    "{JOURNAL_FILE}: cell {cell:?}, drive {drive}: {} intervals are missing \
                     between recorded ones, more than a stall explains; they are a gap and count \
                     as nothing",
                    budget.refused
                );
                self.note(text);
            }
            match &mut self.segments {
                Some(segments) => segments.take(at, place, drive.totals, self.sink),
                None => (self.sink)(at, place, &drive.totals),
            }
        }
        Ok(())
    }

    /// Merged latencies of intervals recorded in parts, one line per part, at ascending offsets.
    pub(super) fn latency_of(
        &mut self,
        wanted: &[PointKey],
        mut lines: Vec<u64>,
    ) -> Result<LatencySummary, StoreError> {
        let journal = self.run.path.join(JOURNAL_FILE);
        let reader = match &mut self.second_reader {
            Some(reader) => reader,
            none => none.insert(JournalReader::open(&journal)?),
        };
        let mut merged = Histogram::new();
        // Parts may share a line.
        lines.dedup();
        for offset in lines {
            let line = reader.line_at(offset);
            let line = line.map_err(StoreError::io("read", &journal))?;
            // If the file changed since the first pass, the summary lacks the line, as its sample
            // count shows.
            if let Some(LineContent::Entry(entry)) = line.map(|l| l.content)
                && let Entry::Interval(record) = *entry
            {
                let interval = record.interval();
                let parts = interval.ops.iter();
                parts
                    .filter(|(op, _)| wanted.contains(&key(&interval, *op)))
                    .for_each(|(_, counts)| merged.merge(&counts.latency));
            }
        }
        Ok(LatencySummary::new(&merged))
    }
}
