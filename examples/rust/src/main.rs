//! sdd-get: downloads pictures, all at once, and writes the pixels of each into a file.
//!
//!     sdd-get [-o DIR] [-H "Name: value"]... [--ca-file FILE] [-j COUNT] URL...
//!
//! Does what c/get.c does: picture N goes to DIR/N-NAME.ppm, or, if it is not opaque, to
//! DIR/N-NAME.pam. --ca-file trusts the certificates in FILE, in place of the system's; -j says how many to
//! download at a time, six if it does not. Exit status 0: all worked.

mod sdd;

use sdd::{Config, Downloader, Event, Image, Picture};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::channel;

const USAGE: &str = "usage: sdd-get [-o DIR] [-H \"Name: value\"]... [--ca-file FILE] [-j COUNT] URL...";

#[derive(Default)]
struct Arguments {
    directory: PathBuf,
    headers: Vec<(String, String)>,
    config: Config,
    urls: Vec<String>,
}

impl Arguments {
    /// Returns `None` for arguments that do not follow the usage.
    fn parse(mut from: impl Iterator<Item = String>) -> Option<Self> {
        let mut arguments = Arguments { directory: ".".into(), ..Default::default() };
        while let Some(argument) = from.next() {
            match argument.as_str() {
                "-o" => arguments.directory = from.next()?.into(),
                "--ca-file" => arguments.config.ca_file = Some(from.next()?.into()),
                "-j" => arguments.config.max_concurrent_downloads = Some(from.next()?.parse().ok()?),
                "-H" => {
                    let field = from.next()?;
                    let (name, value) = field.split_once(':')?;
                    arguments.headers.push((name.into(), value.trim().into()));
                }
                _ if argument.starts_with('-') => return None,
                _ => arguments.urls.push(argument),
            }
        }
        (!arguments.urls.is_empty()).then_some(arguments)
    }
}

/// The last part of the URL's path, without characters that are unsafe in a file name or on a terminal.
fn name_of(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or("");
    let last = path.rsplit('/').next().unwrap_or("");
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    last.bytes().take(47).map(|byte| if keep(byte) { byte as char } else { '_' }).collect()
}

fn write_picture(directory: &Path, stem: &str, image: &Image) -> io::Result<()> {
    let (width, height) = (image.width(), image.height());
    let opaque = image.rows().all(|row| row.chunks_exact(4).all(|pixel| pixel[3] == 255));
    let path = directory.join(format!("{stem}.{}", if opaque { "ppm" } else { "pam" }));
    let mut file = BufWriter::new(File::create(path)?);
    if opaque {
        write!(file, "P6\n{width} {height}\n255\n")?;
    } else {
        write!(file, "P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n")?;
    }
    for pixel in image.rows().flat_map(|row| row.chunks_exact(4)) {
        file.write_all(&pixel[..if opaque { 3 } else { 4 }])?;
    }
    file.flush()
}

/// The downloads of one run.
struct Run {
    directory: PathBuf,
    names: Vec<String>,
    parts: Vec<f64>, // of each picture, what has arrived, 0 to 1
    finished: usize,
    failed: usize,
    on_terminal: bool,
}

impl Run {
    fn progress(&mut self, index: usize, received: i64, expected: Option<i64>) {
        if let Some(expected) = expected.filter(|&expected| expected > 0) {
            self.parts[index] = received as f64 / expected as f64;
        }
        if self.on_terminal {
            let share = self.parts.iter().sum::<f64>() / self.parts.len() as f64;
            let bar = "=".repeat((share * 40.0) as usize);
            eprint!("\r\x1b[K[{bar:40}] {} of {}", self.finished, self.names.len());
        }
    }

    fn completed(&mut self, index: usize, result: Result<Picture, sdd::Error>) {
        self.parts[index] = 1.0;
        self.finished += 1;
        let line = result.map_err(|error| error.to_string()).and_then(|picture| self.keep(index, &picture));
        self.failed += usize::from(line.is_err());
        if self.on_terminal {
            eprint!("\r\x1b[K");
        }
        println!("{:20} {}", self.names[index], line.unwrap_or_else(|error| error));
    }

    /// Writes the picture and returns its line.
    fn keep(&self, index: usize, picture: &Picture) -> Result<String, String> {
        let Picture { image, encoded_bytes, http_status, milliseconds, .. } = picture;
        let stem = format!("{}-{}", index + 1, self.names[index]);
        write_picture(&self.directory, &stem, image).map_err(|error| error.to_string())?;
        let (width, height) = (image.width(), image.height());
        Ok(format!("{width:5} x {height:<5} {encoded_bytes:9} bytes {milliseconds:6} ms  HTTP {http_status}"))
    }
}

fn run(arguments: Arguments) -> Result<bool, sdd::Error> {
    let downloader = Downloader::with_config(&arguments.config)?;
    for (name, value) in &arguments.headers {
        downloader.set_header(name, value)?;
    }
    // One channel for all of them. It ends by itself: each download drops its sender when it has ended.
    let (sender, events) = channel();
    let mut index_of = HashMap::new();
    for (index, url) in arguments.urls.iter().enumerate() {
        index_of.insert(downloader.start(url, sender.clone())?, index);
    }
    drop(sender);

    let names: Vec<_> = arguments.urls.iter().map(|url| name_of(url)).collect();
    let mut run = Run {
        directory: arguments.directory,
        parts: vec![0.0; names.len()],
        names,
        finished: 0,
        failed: 0,
        on_terminal: io::stderr().is_terminal(),
    };
    for event in events {
        match event {
            Event::Progress { token, received, expected } => run.progress(index_of[&token], received, expected),
            Event::Completed { token, result, .. } => run.completed(index_of[&token], result),
        }
    }
    Ok(run.failed == 0)
}

fn main() -> ExitCode {
    let Some(arguments) = Arguments::parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("sdd-get: {error}");
            ExitCode::FAILURE
        }
    }
}
