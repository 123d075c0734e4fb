//! How far an export has come: a bar on a terminal, lines otherwise, on standard error.

use std::io::{IsTerminal as _, Write as _};

use lamina_env::{Clock as _, SystemClock};
use lamina_types::Micros;

/// How often a bar moves, and how often a line is written.
const BAR_US: i64 = 200_000;
const LINE_US: i64 = 10_000_000;
const BAR_CELLS: u64 = 30;
const SECOND_US: i64 = 1_000_000;

/// Counts bytes and lines while they pass.
pub(super) struct Meter {
    clock: SystemClock,
    began: Micros,
    shown: Micros,
    is_terminal: bool,
    bytes: u64,
    bytes_total: u64,
    /// Lines, where each is a record.
    lines: Option<u64>,
}

impl Meter {
    pub(super) fn start(bytes_total: u64, has_lines: bool) -> Meter {
        let clock = SystemClock::default();
        let began = clock.monotonic();
        let is_terminal = std::io::stderr().is_terminal();
        let lines = has_lines.then_some(0);
        Meter { clock, began, shown: began, is_terminal, bytes: 0, bytes_total, lines }
    }

    pub(super) fn advance(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if let Some(lines) = &mut self.lines {
            *lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        let now = self.clock.monotonic();
        let pause = if self.is_terminal { BAR_US } else { LINE_US };
        if now.0 - self.shown.0 >= pause {
            self.shown = now;
            let mut out = std::io::stderr().lock();
            let text = match self.is_terminal {
                true => format!("\r{} {}\x1b[K", self.bar(), self.rate(now)),
                false => format!("{}\n", self.rate(now)),
            };
            // A closed standard error is no reason to stop.
            drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
        }
    }

    /// The last line.
    pub(super) fn end(&self, path: &str) {
        let clear = if self.is_terminal { "\r\x1b[K" } else { "" };
        let place = if path == "-" { "standard output" } else { path };
        let line = format!("{clear}{} to {place}\n", self.rate(self.clock.monotonic()));
        drop(std::io::stderr().lock().write_all(line.as_bytes()));
    }

    fn bar(&self) -> String {
        let total = self.bytes_total.max(self.bytes).max(1);
        let full = self.bytes * BAR_CELLS / total;
        let cells: String =
            (0..BAR_CELLS).map(|cell| if cell < full { '#' } else { '.' }).collect();
        format!("[{cells}] {:>3} %", self.bytes * 100 / total)
    }

    fn rate(&self, now: Micros) -> String {
        let took = (now.0 - self.began.0).max(1);
        let per_second = |count: u64| {
            let each = i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(SECOND_US) / took;
            each.max(0)
        };
        let bytes = format!("{} bytes", self.bytes);
        match self.lines {
            Some(lines) => format!("{lines} lines, {bytes}, {} lines/s", per_second(lines)),
            None => format!("{bytes}, {} bytes/s", per_second(self.bytes)),
        }
    }
}
