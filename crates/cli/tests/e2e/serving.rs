//! An `assay serve` process for one test, killed on drop.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::thread::JoinHandle;

use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::{Done, Fixture, pause, send};

/// A running server with its first JSON document.
pub struct ServeProcess {
    pub child: Option<Child>,
    pub document: Value,
    arguments: String,
    /// What it has written to stderr; read as it comes, so that the server never waits for it.
    messages: Option<JoinHandle<String>>,
}

impl ServeProcess {
    #[track_caller]
    pub fn start(fixture: &Fixture, arguments: &str) -> ServeProcess {
        let arguments = format!("serve {arguments} --json");
        let mut child = fixture.command(&arguments).spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let messages = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut text = String::new();
        let document = loop {
            let Some(line) = lines.next() else {
                let done = Done::new(&arguments, child);
                panic!("{done}{}", messages.join().unwrap());
            };
            text.push_str(&line.unwrap());
            if let Ok(document) = serde_json::from_str(&text) {
                break document;
            }
        };
        ServeProcess { child: Some(child), document, arguments, messages: Some(messages) }
    }

    pub fn uri(&self) -> &str {
        self.document["uri"].as_str().unwrap()
    }

    /// Ends it by a signal; returns the JSON document on stderr, which follows the messages.
    #[track_caller]
    pub fn end(self, signal: Signal) -> Value {
        let done = self.ended(signal);
        let document = done.stderr.find('{').map(|at| &done.stderr[at..]);
        serde_json::from_str(document.unwrap_or_default()).unwrap_or_else(|_| panic!("{done}"))
    }

    /// Ends it by a signal, expecting status 0.
    #[track_caller]
    pub fn ended(mut self, signal: Signal) -> Done {
        let child = self.child.take().unwrap();
        send(&child, signal);
        let mut done = Done::new(&self.arguments, child).expect(0);
        done.stderr = self.messages.take().unwrap().join().unwrap();
        assert!(!done.stderr.contains("panicked"), "{done}");
        done
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a server takes of the host.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    pub resident_kib: u64,
    /// The most it has ever been.
    pub peak_kib: u64,
    pub descriptors: usize,
    pub threads: u64,
}

impl Usage {
    /// After a first client, once the server has closed its connection: the same number of
    /// descriptors for a fifth of a second.
    pub fn after(serving: &ServeProcess, client: impl FnOnce()) -> Usage {
        client();
        let (mut usage, mut same) = (Usage::new(serving), 0);
        while same < 20 {
            pause(10);
            let now = Usage::new(serving);
            same = if now.descriptors == usage.descriptors { same + 1 } else { 0 };
            usage = now;
        }
        usage
    }

    pub fn new(serving: &ServeProcess) -> Usage {
        let folder = format!("/proc/{}", serving.child.as_ref().unwrap().id());
        let status = std::fs::read_to_string(format!("{folder}/status")).unwrap();
        let number = |key: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            let word = line.and_then(|line| line.split_whitespace().next());
            word.unwrap().parse().unwrap()
        };
        Usage {
            resident_kib: number("VmRSS:"),
            peak_kib: number("VmHWM:"),
            descriptors: std::fs::read_dir(format!("{folder}/fd")).unwrap().count(),
            threads: number("Threads:"),
        }
    }
}
