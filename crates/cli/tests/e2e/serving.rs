//! `assay serve` for one test, taken down whatever happens.

use std::io::{BufRead, BufReader};
use std::process::Child;

use rustix::process::Signal;
use serde_json::Value;

use crate::lab::{Done, Lab, send};

/// A server of one test. Its first document has been read.
pub struct Serving {
    pub child: Option<Child>,
    pub told: Value,
    words: String,
}

impl Serving {
    #[track_caller]
    pub fn start(lab: &Lab, words: &str) -> Serving {
        let words = format!("serve {words} --json");
        let mut child = lab.command(&words).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut text = String::new();
        let told = loop {
            let Some(line) = lines.next() else {
                panic!("{}", Done::of(&words, child));
            };
            text.push_str(&line.unwrap());
            if let Ok(told) = serde_json::from_str(&text) {
                break told;
            }
        };
        Serving {
            child: Some(child),
            told,
            words,
        }
    }

    pub fn uri(&self) -> &str {
        self.told["uri"].as_str().unwrap()
    }

    /// End it as Ctrl-C does; the document that it says then, behind what it said in words.
    #[track_caller]
    pub fn end(mut self, signal: Signal) -> Value {
        let child = self.child.take().unwrap();
        send(&child, signal);
        let done = Done::of(&self.words, child).expect(0);
        let document = done.stderr.find('{').map(|at| &done.stderr[at..]);
        serde_json::from_str(document.unwrap_or_default()).unwrap_or_else(|_| panic!("{done}"))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
