//! QEMU Machine Protocol (QMP) client.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::guest::LIMIT;

pub struct Qmp {
    from: BufReader<UnixStream>,
    to: UnixStream,
}

impl Qmp {
    /// Over QEMU's connection.
    ///
    /// # Errors
    /// When QEMU sends no greeting, for example because it rejected its options.
    pub fn new(to: UnixStream) -> Result<Qmp, String> {
        to.set_read_timeout(Some(LIMIT)).unwrap();
        let mut qmp = Qmp { from: BufReader::new(to.try_clone().unwrap()), to };
        let greeting = qmp.document()?;
        if greeting.get("QMP").is_none() {
            return Err(format!("instead of a greeting: {greeting}"));
        }
        qmp.ask("qmp_capabilities", json!({}))?;
        Ok(qmp)
    }

    /// Runs a command that must succeed; returns its result.
    #[track_caller]
    pub fn execute(&mut self, command: &str, arguments: Value) -> Value {
        self.ask(command, arguments).unwrap()
    }

    /// Change a property of a device that was given this id.
    #[track_caller]
    pub fn set(&mut self, id: &str, property: &str, value: Value) {
        let path = format!("/machine/peripheral/{id}");
        self.execute("qom-set", json!({ "path": path, "property": property, "value": value }));
    }

    fn ask(&mut self, command: &str, arguments: Value) -> Result<Value, String> {
        let words = json!({ "execute": command, "arguments": arguments });
        writeln!(self.to, "{words}").map_err(|e| format!("{words}: {e}"))?;
        loop {
            let mut document = self.document()?;
            if document.get("event").is_some() {
                continue;
            }
            return match document.get_mut("return") {
                Some(value) => Ok(value.take()),
                None => Err(format!("{words}: {document}")),
            };
        }
    }

    fn document(&mut self) -> Result<Value, String> {
        let mut line = String::new();
        self.from.read_line(&mut line).map_err(|e| e.to_string())?;
        serde_json::from_str(&line).map_err(|e| format!("QEMU said {line:?}: {e}"))
    }
}
