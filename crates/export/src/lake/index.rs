//! Which runs a lake has, and from which state of their folders.

use std::collections::BTreeMap;

use crate::ExportError;
use crate::lake::Lake;
use crate::lake::partition::Partition;
use crate::table::{Column, RunFacts, ValueType};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) manifest_sha256: String,
    pub(crate) journal_bytes: u64,
    /// Per drive of the run; without the plan, which is the partition's.
    pub(crate) drives: Vec<RunFacts>,
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) runs: BTreeMap<String, (Partition, Known)>,
}

impl Index {
    pub(crate) fn read(lake: &Lake) -> Result<Index, ExportError> {
        let text = |name: &str| (name.to_owned(), ValueType::Text);
        let count = |name: &str| (name.to_owned(), ValueType::Count);
        let wanted: [Column; 9] = [
            text("run_id"),
            text("manifest_sha256"),
            count("journal_bytes"),
            text("group"),
            text("lot"),
            text("host"),
            text("slot"),
            text("link"),
            count("attempt"),
        ];
        let mut index = Index::default();
        lake.read::<ExportError>("runs", &wanted, &mut |partition, row| {
            let text = |at: usize| row[at].text().map(str::to_owned);
            let (_, known) = index
                .runs
                .entry(text(0).unwrap_or_default())
                .or_insert_with(|| (partition.clone(), Known::default()));
            known.manifest_sha256 = text(1).unwrap_or_default();
            known.journal_bytes = row[2].count().unwrap_or(0);
            known.drives.push(RunFacts {
                plan: None,
                group: text(3),
                lot: text(4),
                host: text(5),
                slot: text(6),
                link: text(7),
                attempt: row[8].count(),
            });
            Ok(())
        })?;
        Ok(index)
    }
}
