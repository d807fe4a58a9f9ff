//! The terminal of the live view: raw mode, alternate screen, and their end in every case. The
//! state before is kept in one place ([`restore`]), which the view, the panic hook and the signal
//! thread use: the first call restores it, and nothing is drawn afterwards.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};
use ratatui_core::style::{Color, Modifier};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize,
    tcsetattr,
};

/// Alternate screen, cursor off (xterm: DECSET 1049; DECTCEM, DECRST 25).
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
/// Colours off, cursor on, main screen.
const LEAVE: &str = "\x1b[0m\x1b[?25h\x1b[?1049l";
/// Size of a terminal that does not tell its own.
const USUAL: Size = Size { width: 80, height: 24 };
/// _POSIX_VDISABLE on Linux.
const DISABLED: u8 = 0;

/// A terminal in use by the view.
struct Saved {
    file: File,
    before: Termios,
}

static SAVED: Mutex<Option<Saved>> = Mutex::new(None);

fn saved() -> MutexGuard<'static, Option<Saved>> {
    SAVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Restores the terminal, if the view has it.
pub fn restore() {
    if let Some(mut terminal) = saved().take() {
        // A terminal that is gone needs nothing.
        let _ = terminal.file.write_all(LEAVE.as_bytes());
        let _ = tcsetattr(&terminal.file, OptionalActions::Flush, &terminal.before);
    }
}

pub fn is_in_use() -> bool {
    saved().is_some()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Pause,
    Skip,
    Quit,
    Help,
    /// Closes the help.
    Escape,
}

/// Control sequences (arrows, function keys) are no keys.
fn keys(bytes: &[u8]) -> Vec<Key> {
    if bytes.len() > 1 && bytes[0] == 0x1b {
        return Vec::new();
    }
    let key = |byte: &u8| match byte {
        b'p' | b'P' => Some(Key::Pause),
        b's' | b'S' => Some(Key::Skip),
        b'q' | b'Q' => Some(Key::Quit),
        b'?' | b'h' => Some(Key::Help),
        0x1b => Some(Key::Escape),
        _ => None,
    };
    bytes.iter().filter_map(key).collect()
}

#[derive(Debug)]
pub struct Tty {
    file: File,
}

impl Tty {
    /// Fails where there is no terminal, or where this process is in the background: it must not
    /// change the terminal of another.
    pub fn open() -> io::Result<Tty> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        if tcgetpgrp(&file)? != rustix::process::getpgrp() {
            return Err(io::Error::other("in the background"));
        }
        Ok(Tty { file })
    }

    pub fn size(&self) -> Size {
        match tcgetwinsize(&self.file) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                Size { width: size.ws_col, height: size.ws_row }
            }
            _ => USUAL,
        }
    }

    /// Raw mode but for Ctrl-C, and the alternate screen, until [`restore`].
    pub fn enter(&self, colour: bool) -> io::Result<TtyBackend> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                before(panic);
            }));
        });
        let before = tcgetattr(&self.file)?;
        let mut raw = before.clone();
        raw.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN;
        // A core dump or a stopped process would leave the terminal as it is now.
        raw.special_codes[SpecialCodeIndex::VSUSP] = DISABLED;
        raw.special_codes[SpecialCodeIndex::VQUIT] = DISABLED;
        raw.special_codes[SpecialCodeIndex::VMIN] = 0;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        let mut held = saved();
        let mut file = self.file.try_clone()?;
        tcsetattr(&file, OptionalActions::Flush, &raw)?;
        let entered = file.write_all(ENTER.as_bytes());
        *held = Some(Saved { file, before });
        drop(held);
        if let Err(error) = entered {
            restore();
            return Err(error);
        }
        Ok(TtyBackend {
            tty: Tty { file: self.file.try_clone()? },
            out: Vec::with_capacity(16 << 10),
            colour,
        })
    }

    pub fn keys(&mut self, within: Duration) -> Vec<Key> {
        let timeout =
            Timespec { tv_sec: within.as_secs() as i64, tv_nsec: i64::from(within.subsec_nanos()) };
        let mut ready = [PollFd::new(&self.file, PollFlags::IN)];
        match poll(&mut ready, Some(&timeout)) {
            Ok(1..) if ready[0].revents().contains(PollFlags::IN) => {}
            _ => return Vec::new(),
        }
        let mut bytes = [0; 64];
        let count = self.file.read(&mut bytes).unwrap_or(0);
        keys(&bytes[..count])
    }
}

/// ANSI sequences (ECMA-48).
#[derive(Debug)]
pub struct TtyBackend {
    tty: Tty,
    out: Vec<u8>,
    colour: bool,
}

/// Parameter of SGR for a colour of the 16 that every terminal has.
fn sgr(colour: Color) -> u8 {
    match colour {
        Color::Red => 31,
        Color::Green => 32,
        Color::Yellow => 33,
        Color::Blue => 34,
        Color::Magenta => 35,
        Color::Cyan => 36,
        Color::DarkGray => 90,
        _ => 39,
    }
}

impl TtyBackend {
    fn style(&mut self, cell: &Cell) {
        self.out.extend_from_slice(b"\x1b[0");
        for (modifier, code) in
            [(Modifier::BOLD, ";1"), (Modifier::DIM, ";2"), (Modifier::REVERSED, ";7")]
        {
            if cell.modifier.contains(modifier) {
                self.out.extend_from_slice(code.as_bytes());
            }
        }
        if self.colour && cell.fg != Color::Reset {
            self.out.extend_from_slice(format!(";{}", sgr(cell.fg)).as_bytes());
        }
        self.out.push(b'm');
    }
}

impl Backend for TtyBackend {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut at = None;
        let mut style = None;
        for (x, y, cell) in content {
            if at != Some((x, y)) {
                self.set_cursor_position(Position { x, y })?;
            }
            let wanted = (cell.fg, cell.modifier);
            if style != Some(wanted) {
                self.style(cell);
                style = Some(wanted);
            }
            self.out.extend_from_slice(cell.symbol().as_bytes());
            at = Some((x.saturating_add(1), y));
        }
        self.out.extend_from_slice(b"\x1b[0m");
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.out.extend_from_slice(b"\x1b[?25l");
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.out.extend_from_slice(b"\x1b[?25h");
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let Position { x, y } = position.into();
        let (row, column) = (u32::from(y) + 1, u32::from(x) + 1);
        write!(self.out, "\x1b[{row};{column}H")
    }

    fn clear(&mut self) -> io::Result<()> {
        self.out.extend_from_slice(b"\x1b[2J");
        Ok(())
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        let code = match clear_type {
            ClearType::All => "\x1b[2J",
            ClearType::AfterCursor => "\x1b[J",
            ClearType::BeforeCursor => "\x1b[1J",
            ClearType::CurrentLine => "\x1b[2K",
            ClearType::UntilNewLine => "\x1b[K",
        };
        self.out.extend_from_slice(code.as_bytes());
        Ok(())
    }

    fn size(&self) -> io::Result<Size> {
        Ok(self.tty.size())
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.tty.size(), pixels: Size::ZERO })
    }

    /// Nothing is drawn after the terminal was restored.
    fn flush(&mut self) -> io::Result<()> {
        if let Some(terminal) = &mut *saved() {
            terminal.file.write_all(&self.out)?;
        }
        self.out.clear();
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/live/tty.rs"]
mod tests;
