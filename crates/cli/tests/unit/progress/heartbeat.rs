use super::*;

/// A log that can be read while it is written.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

#[test]
fn the_latest_status_is_printed_every_period_until_the_end() {
    let log = Log::default();
    let heart = Heartbeat::start(Duration::from_millis(5), log.clone());
    heart.set("cell 3 of 11".to_owned());
    while log.text().lines().count() < 2 {
        std::thread::yield_now();
    }
    drop(heart);
    let text = log.text();
    assert!(text.lines().all(|line| line == "cell 3 of 11"), "{text}");
}

#[test]
fn nothing_is_printed_before_there_is_a_status_or_within_a_period() {
    let log = Log::default();
    let heart = Heartbeat::start(Duration::from_secs(3600), log.clone());
    heart.set("cell 1 of 2".to_owned());
    heart.postpone();
    drop(heart);
    assert_eq!(log.text(), "");
}
