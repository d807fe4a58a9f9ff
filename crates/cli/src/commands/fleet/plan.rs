//! `assay fleet plan`.

use std::fmt::Write;

use assay_fleet::PlanId;
use assay_fleet::assignment::{AssignedDrive, Assignment, assign};
use assay_fleet::inventory::HostInventory;
use assay_fleet::plan::{EnduranceShare, Place, Plan, Share, json_schema};
use assay_units::Nanos;
use assay_units::endurance::CounterSource;
use serde_json::{Value, json};

use crate::args::fleet::PlanArguments;
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

const NOTHING_FOUND: &str = "
No drive is found. drives.model must be how the model begins in `assay fleet inventory`. Without \
                             --here, drives are looked for
in the inventories of the shared store, which `assay fleet inventory --store AT` writes on each \
                             host.
";

/// A plan of more drives lists only the hosts.
const LISTED_DRIVES: usize = 64;

pub fn run(arguments: &PlanArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    if arguments.schema {
        let schema = json_schema();
        return output.show(|| format!("{schema:#}\n"), || schema.clone());
    }
    let Some(path) = &arguments.file else {
        bail_usage!("no plan given: assay fleet plan FILE");
    };
    let opened = super::open_plan(path)?;
    let here = &arguments.here;
    let inventories = super::inventories(&opened, here.here, &here.host)?;
    let assignment = assign(&opened.plan, &opened.id, &inventories);
    let preview = Preview {
        plan: &opened.plan,
        id: &opened.id,
        inventories: &inventories,
        assignment: &assignment,
    };
    output.show(|| preview.text(), || preview.json())
}

struct Preview<'a> {
    plan: &'a Plan,
    id: &'a PlanId,
    inventories: &'a [HostInventory],
    assignment: &'a Assignment,
}

impl Preview<'_> {
    fn text(&self) -> String {
        let (plan, assignment) = (self.plan, self.assignment);
        let mut text = format!("Plan {}\n", self.id);
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "  {name:<11} {value}");
        };
        let suite = |suite: &assay_fleet::plan::PlanSuite| {
            let set = suite.set.iter().map(|(key, value)| format!(" {key}={value}"));
            format!("{}{}", suite.name, set.collect::<String>())
        };
        let suites: Vec<String> = plan.suites.iter().map(suite).collect();
        line("suites", suites.join(", "));
        let (drives, hosts) = (assignment.drives(), assignment.hosts.len());
        let left_out = match assignment.left_out.len() {
            0 => String::new(),
            count => format!("; {count} left out"),
        };
        line(
            "drives",
            format!("{} on {}{left_out}", counted(drives, "drive"), counted(hosts, "host")),
        );
        line("share", share(plan.run.share).to_owned());
        line("place", place(plan.run.place).to_owned());
        let longest = assignment.hosts.keys().map(|host| assignment.span(host, plan.run.share));
        if let Some(longest) = longest.max() {
            line("duration", format!("at most {} on the host with most to do", span(longest)));
        }
        let destroy = match &plan.drives.serials {
            Some(list) if plan.run.destroy => format!(
                "THE DATA OF {} IS DESTROYED; submit needs --destroy-count {}",
                counted(list.drives.len(), "DRIVE"),
                list.drives.len()
            ),
            _ => "nothing is written to real drives".to_owned(),
        };
        line("writes", destroy);
        if plan.run.destroy
            && let Some(written) = self.written()
        {
            line("written", written);
        }
        if drives == 0 {
            text.push_str(NOTHING_FOUND);
        }
        self.add_drives(&mut text);
        text
    }

    fn add_drives(&self, text: &mut String) {
        let assignment = self.assignment;
        for (host, drives) in &assignment.hosts {
            let longest = span(assignment.span(host, self.plan.run.share));
            let _ = writeln!(
                text,
                "\nHost {host}: {}, at most {longest}",
                counted(drives.len(), "drive")
            );
            if assignment.drives() > LISTED_DRIVES {
                continue;
            }
            for (index, assigned) in drives.iter().enumerate() {
                let drive = &assigned.drive;
                let group = assigned.group.as_ref().map(|group| format!("  group {group}"));
                let _ = writeln!(
                    text,
                    "  {:>3}. {:<24} {:<30} {:>3} cells, at most {}{}",
                    index + 1,
                    drive.serial,
                    drive.model,
                    assigned.estimate.cells,
                    span(assigned.estimate.span),
                    group.unwrap_or_default(),
                );
            }
        }
        if !assignment.left_out.is_empty() {
            text.push_str("\nLeft out\n");
        }
        for left_out in &assignment.left_out {
            let _ = writeln!(text, "  {:<24} {}", left_out.serial, left_out.why);
        }
    }

    /// Share of rated endurance that the plan writes to the drive it wears most; `None` without
    /// drives.
    fn written(&self) -> Option<String> {
        let drives = self.assignment.hosts.values().flatten();
        let bytes = |share: &EnduranceShare| share.most_bytes.unwrap_or(share.by_size_bytes);
        let most = drives.max_by(|a, b| {
            let key = |drive: &AssignedDrive| {
                let share = &drive.endurance;
                (share.percent(bytes(share)).unwrap_or(0.0), bytes(share) as f64)
            };
            let (a, b) = (key(a), key(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        })?;
        Some(format!("per drive, at most: {}", most.endurance))
    }

    fn json(&self) -> Value {
        let (plan, assignment) = (self.plan, self.assignment);
        let host = |(host, drives): (&assay_fleet::HostName, &Vec<_>)| {
            let drive = |assigned: &assay_fleet::assignment::AssignedDrive| {
                json!({
                    "serial": assigned.drive.serial,
                    "model": assigned.drive.model,
                    "firmware": assigned.drive.firmware,
                    "group": assigned.group,
                    "cells": assigned.estimate.cells,
                    "longest_ns": assigned.estimate.span.0,
                    "written_bytes": assigned.estimate.written_bytes,
                    "writing_ns": assigned.estimate.writing.0,
                    "endurance": endurance(&assigned.endurance),
                })
            };
            json!({
                "host": host,
                "longest_ns": assignment.span(host, plan.run.share).0,
                "drives": drives.iter().map(drive).collect::<Vec<Value>>(),
            })
        };
        json!({
            "plan": self.id,
            "name": plan.name,
            "suites": plan.suites.iter().map(|suite| &suite.name).collect::<Vec<_>>(),
            "destroy": plan.run.destroy,
            "share": share_word(plan.run.share),
            "place": place_word(plan.run.place),
            "store": plan.store.at,
            "inventories": self.inventories.iter().map(|i| &i.host).collect::<Vec<_>>(),
            "hosts": assignment.hosts.iter().map(host).collect::<Vec<Value>>(),
            "left_out": left_out(assignment),
        })
    }
}

fn endurance(share: &EnduranceShare) -> Value {
    let percent = |bytes: Option<u64>| bytes.and_then(|bytes| share.percent(bytes));
    json!({
        "rated_bytes": share.rated_bytes,
        "rated_by": share.rated_bytes.map(|_| share.rated_by.map_or("plan", CounterSource::name)),
        "percentage_used": share.percentage_used,
        "most_written_bytes": share.most_bytes,
        "by_size_pct": percent(Some(share.by_size_bytes)),
        "most_pct": percent(share.most_bytes),
    })
}

pub(super) fn left_out(assignment: &Assignment) -> Vec<Value> {
    let left_out = assignment.left_out.iter().map(|left_out| {
        json!({
            "serial": left_out.serial,
            "reason": left_out.why.code(),
            "message": left_out.why.to_string(),
        })
    });
    left_out.collect()
}

fn share_word(share: Share) -> &'static str {
    match share {
        Share::Alone => "alone",
        Share::Together => "together",
        Share::Cores => "cores",
    }
}

fn share(share: Share) -> &'static str {
    match share {
        Share::Alone => "alone: one drive of a host at a time",
        Share::Together => "together: all drives of a host at the same time",
        Share::Cores => "cores: all drives of a host, each with processors of its own NUMA node",
    }
}

fn place_word(place: Place) -> &'static str {
    match place {
        Place::Host => "host",
        Place::Drive => "drive",
    }
}

fn place(place: Place) -> &'static str {
    match place {
        Place::Host => "host: a job per host",
        Place::Drive => "drive: a job per drive",
    }
}

/// `1 drive`, `2 drives`.
pub(super) fn counted(count: usize, what: &str) -> String {
    let plural = match (count, what.ends_with(char::is_uppercase)) {
        (1, _) => "",
        (_, true) => "S",
        (_, false) => "s",
    };
    format!("{count} {what}{plural}")
}

pub(super) fn span(span: Nanos) -> String {
    let seconds = span.as_secs_f64();
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}
