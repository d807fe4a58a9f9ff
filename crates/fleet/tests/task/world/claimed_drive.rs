//! Custodies of a task: claims, shipments, and orders that wait for the store.

use std::collections::VecDeque;
use std::sync::Arc;

use assay_fleet::Serial;
use assay_fleet::claim::{ClaimError, ClaimState, Holder, SuiteOutcome};
use assay_fleet::shared_store::SharedStore;
use assay_fleet::task::claimed_drive::{Assignment, ClaimedDrive, TakeError};
use assay_fleet::task::machine::Event;

use super::{FOLDERS, World, host_name};

/// A claimed drive of a task.
pub(super) struct Held {
    pub(super) claimed_drive: ClaimedDrive,
    /// Seals and the release that wait for the store, in order.
    pub(super) orders: VecDeque<Order>,
}

/// What is written to the store, when it can be.
#[derive(Clone)]
pub(super) enum Order {
    Activate(usize),
    Seal(usize, SuiteOutcome),
    Count(usize, u32),
    Release(ClaimState, Option<String>),
}

impl World {
    pub(super) fn claim(&mut self, index: usize, serial: &Serial) -> Event {
        let task = &self.tasks[index];
        let assignment = Assignment {
            store: Arc::clone(&self.store) as Arc<dyn SharedStore>,
            plan: self.plan.clone(),
            serial: serial.clone(),
            folders: FOLDERS.map(str::to_owned).to_vec(),
            local: self.local(task.host, serial),
            holder: Holder {
                host: host_name(task.host),
                boot_id: None,
                slot: None,
                job: None,
                token: format!("task{}", task.number),
            },
        };
        let serial = serial.clone();
        match ClaimedDrive::take(assignment) {
            Ok(claimed_drive) => {
                let suites = claimed_drive.progress();
                let sources = (0..FOLDERS.len()).map(|suite| claimed_drive.source(suite));
                let sources = sources.collect();
                self.tasks[index].sources.insert(serial.clone(), sources);
                let orders = VecDeque::new();
                let held = Held { claimed_drive, orders };
                self.tasks[index].held.insert(serial.clone(), held);
                Event::Claimed { serial, suites }
            }
            Err(TakeError::Finished(serial, state)) => Event::AlreadyFinished { serial, state },
            Err(error) if error.is_temporary() => {
                Event::ClaimFailed { serial, why: error.to_string() }
            }
            Err(error @ TakeError::TwoHosts { .. }) => {
                Event::Refused { serial, why: error.to_string() }
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub(super) fn order(&mut self, index: usize, serial: &Serial, order: Order) {
        let task = &mut self.tasks[index];
        match (task.held.get_mut(serial), &order) {
            (Some(held), _) => held.orders.push_back(order),
            (None, Order::Release(..)) => {
                let serial = serial.clone();
                task.inbox.push_back(Event::Released { serial });
            }
            _ => {}
        }
    }

    /// Ship, and what waits for it.
    pub(super) fn ship(&mut self, index: usize) {
        let serials: Vec<Serial> = self.tasks[index].held.keys().cloned().collect();
        for serial in serials {
            let held = self.tasks[index].held.get_mut(&serial).unwrap();
            let shipped = held.claimed_drive.ship(&[]);
            self.settle(index, &serial, shipped);
        }
        self.work_on_orders(index);
    }

    /// Whether the order is carried out; a lost claim ends the claimed_drive.
    pub(super) fn settle(
        &mut self,
        index: usize,
        serial: &Serial,
        done: Result<(), TakeError>,
    ) -> bool {
        let task = &mut self.tasks[index];
        match done {
            Ok(()) => true,
            Err(error) if error.is_temporary() => false,
            Err(error) => {
                assert!(matches!(error, TakeError::Claim(ClaimError::Fenced { .. })), "{error}");
                let held = task.held.remove(serial);
                let orders = held.map(|held| held.orders).unwrap_or_default();
                let (serial, why) = (serial.clone(), error.to_string());
                task.inbox.push_back(Event::Fenced { serial: serial.clone(), why });
                if orders.iter().any(|order| matches!(order, Order::Release(..))) {
                    task.inbox.push_back(Event::Released { serial });
                }
                false
            }
        }
    }

    pub(super) fn work_on_orders(&mut self, index: usize) {
        let serials: Vec<Serial> = self.tasks[index].held.keys().cloned().collect();
        for serial in serials {
            while let Some(held) = self.tasks[index].held.get_mut(&serial) {
                let Some(order) = held.orders.front().cloned() else {
                    break;
                };
                let claimed_drive = &mut held.claimed_drive;
                let done = match &order {
                    Order::Activate(suite) => {
                        claimed_drive.activate(*suite);
                        Ok(())
                    }
                    Order::Seal(suite, outcome) => claimed_drive.seal(*suite, *outcome),
                    Order::Count(suite, total) => {
                        claimed_drive.count_io_error(*suite, *total).map_err(TakeError::from)
                    }
                    Order::Release(state, reason) => {
                        claimed_drive.release(*state, reason.as_deref())
                    }
                };
                if !self.settle(index, &serial, done) {
                    break;
                }
                let task = &mut self.tasks[index];
                if let Some(held) = task.held.get_mut(&serial) {
                    held.orders.pop_front();
                }
                match order {
                    Order::Seal(suite, _) => {
                        let name = format!("{serial} {suite}");
                        assert!(self.sealed.insert(name), "{serial}: sealed twice");
                    }
                    Order::Release(..) => {
                        task.held.remove(&serial);
                        let serial = serial.clone();
                        task.inbox.push_back(Event::Released { serial });
                    }
                    _ => {}
                }
            }
        }
    }
}
