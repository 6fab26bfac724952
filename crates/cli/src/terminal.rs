//! The two streams: data on stdout, talk on stderr. A reader that goes away is not an error.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use harp_report::{Style, Table};

use crate::failure::Failure;

/// Whether a JSON document was printed: stdout never holds a second one.
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// How this call talks: what it may colour, whether it prints JSON, whether it talks at all.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Results as JSON.
    pub json: bool,
    /// No talk on stderr but errors.
    pub quiet: bool,
    /// What stdout can show.
    pub style: Style,
    /// What stderr can show.
    pub talk_style: Style,
    /// Width of stdout in cells.
    pub width: usize,
    /// Width sentences on stderr are broken to; none where nobody said how wide it is.
    pub talk_width: Option<usize>,
}

/// Narrower than this nothing can be shown in order.
const NARROWEST: usize = 40;

/// When to colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Terminal {
    /// Finds out what the streams can show.
    pub fn new(json: bool, quiet: bool, colour: Colour) -> Terminal {
        let style = |is_terminal: bool, choice: anstream::ColorChoice| {
            let coloured = match colour {
                Colour::Always => true,
                Colour::Never => false,
                Colour::Auto => is_terminal && choice != anstream::ColorChoice::Never,
            };
            Style { colour: coloured, unicode: locale_is_unicode() }
        };
        let columns = |size: rustix::io::Result<rustix::termios::Winsize>| {
            size.ok().map(|size| usize::from(size.ws_col)).filter(|&width| width > 0)
        };
        let from_environment =
            || std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|&width| width > 0);
        let width = columns(rustix::termios::tcgetwinsize(io::stdout())).or_else(from_environment);
        let talk_width = columns(rustix::termios::tcgetwinsize(io::stderr())).or_else(from_environment);
        Terminal {
            json,
            quiet,
            style: style(io::stdout().is_terminal(), anstream::AutoStream::choice(&io::stdout())),
            talk_style: style(io::stderr().is_terminal(), anstream::AutoStream::choice(&io::stderr())),
            width: width.unwrap_or(100).max(NARROWEST),
            talk_width: talk_width.map(|width| width.max(NARROWEST)),
        }
    }

    /// One that says nothing, for work done on the way to something else.
    pub fn silent() -> Terminal {
        Terminal {
            json: false,
            quiet: true,
            style: Style::plain(),
            talk_style: Style::plain(),
            width: 100,
            talk_width: None,
        }
    }

    /// Prints a result. A closed pipe ends the process quietly, as `head` expects.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        let text = if self.style.unicode || self.json {
            std::borrow::Cow::Borrowed(text)
        } else {
            harp_report::to_ascii(text).into()
        };
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| {
            if text.ends_with('\n') { Ok(()) } else { stdout.write_all(b"\n") }.and_then(|()| stdout.flush())
        });
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
            Err(error) => Err(Failure::bad_input(format!("cannot write the result: {error}"))),
            Ok(()) => Ok(()),
        }
    }

    /// Prints a result as JSON.
    pub fn print_json<T: serde::Serialize>(&self, result: &T) -> Result<(), Failure> {
        let text = harp_report::to_json(result)
            .map_err(|error| Failure::bad_input(format!("cannot write the result as JSON: {error}")))?;
        ANSWERED.store(true, Ordering::Relaxed);
        self.print(&text)
    }

    /// Prints an error as JSON, unless the answer before it says what there is to say.
    pub fn print_json_error(&self, failure: &Failure) {
        if self.json && !ANSWERED.load(Ordering::Relaxed) {
            // The message has been said on stderr; a reader that is gone misses nothing.
            let _ = self.print_json(&failure.to_json());
        }
    }

    /// Prints a table fitted to the terminal.
    pub fn print_table(&self, table: &Table) -> Result<(), Failure> {
        self.print(&table.to_terminal(self.width, &self.style))
    }

    /// Prints sentences, broken to the terminal's width.
    pub fn print_text(&self, text: &str) -> Result<(), Failure> {
        self.print(&harp_report::wrapped(text, self.width))
    }

    /// Says something that is not a result. Nothing can be done if stderr is gone.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            self.say_even_if_quiet(text);
        }
    }

    /// Says what must not be missed.
    pub fn say_even_if_quiet(&self, text: &str) {
        let text = if self.talk_style.unicode { text.to_owned() } else { harp_report::to_ascii(text) };
        let text = self.talk_width.map_or_else(|| text.clone(), |width| harp_report::wrapped(&text, width));
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}

/// Whether the locale speaks UTF-8; without any setting it is assumed to.
fn locale_is_unicode() -> bool {
    let setting = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty());
    setting.is_none_or(|value| value != "C" && value != "POSIX")
}
