//! An `assay serve` process for one test, killed on drop.

use std::io::{BufRead, BufReader};
use std::process::Child;

use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::{Done, Fixture, send};

/// A running server with its first JSON document.
pub struct ServeProcess {
    pub child: Option<Child>,
    pub document: Value,
    arguments: String,
}

impl ServeProcess {
    #[track_caller]
    pub fn start(fixture: &Fixture, arguments: &str) -> ServeProcess {
        let arguments = format!("serve {arguments} --json");
        let mut child = fixture.command(&arguments).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut text = String::new();
        let document = loop {
            let Some(line) = lines.next() else {
                panic!("{}", Done::of(&arguments, child));
            };
            text.push_str(&line.unwrap());
            if let Ok(document) = serde_json::from_str(&text) {
                break document;
            }
        };
        ServeProcess {
            child: Some(child),
            document,
            arguments,
        }
    }

    pub fn uri(&self) -> &str {
        self.document["uri"].as_str().unwrap()
    }

    /// Ends it by a signal; returns the JSON document on stderr, which follows the messages.
    #[track_caller]
    pub fn end(mut self, signal: Signal) -> Value {
        let child = self.child.take().unwrap();
        send(&child, signal);
        let done = Done::of(&self.arguments, child).expect(0);
        let document = done.stderr.find('{').map(|at| &done.stderr[at..]);
        serde_json::from_str(document.unwrap_or_default()).unwrap_or_else(|_| panic!("{done}"))
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
