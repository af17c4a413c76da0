//! sdd-get: downloads pictures, all at once, and writes the pixels of each into a file.
//!
//!     sdd-get [-o DIR] [-H "Name: value"]... [--ca-file FILE] [-j COUNT] URL...
//!
//! Does what c/get.c does: picture N goes to DIR/N-NAME.ppm, or, if it is not opaque, to DIR/N-NAME.pam. --ca-file
//! trusts the certificates in FILE, in place of the system's; -j says how many to download at a time, six if it does
//! not. Exit status 0: all worked.

use sdd::{Callbacks, Downloader, Event, Image, Network, Picture, Progress};
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
    network: Network,
    jobs: u32, // 0: the library's default
    urls: Vec<String>,
}

impl Arguments {
    /// Returns `None` for arguments that do not follow the usage.
    fn parse(mut from: impl Iterator<Item = String>) -> Option<Self> {
        let mut arguments = Arguments { directory: ".".into(), ..Default::default() };
        while let Some(argument) = from.next() {
            match argument.as_str() {
                "-o" => arguments.directory = from.next()?.into(),
                "--ca-file" => arguments.network = Network::new().ca_file(from.next()?),
                "-j" => arguments.jobs = from.next()?.parse().ok()?,
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

fn write_picture(directory: &Path, stem: &str, image: &Image) -> Result<(), Box<dyn std::error::Error>> {
    let pixels = image.pixels()?; // RGBA: no other format was asked for
    let (width, height) = (pixels.width(), pixels.height());
    let opaque = pixels.rows().all(|row| row.chunks_exact(4).all(|pixel| pixel[3] == 255));
    let path = directory.join(format!("{stem}.{}", if opaque { "ppm" } else { "pam" }));
    let mut file = BufWriter::new(File::create(path)?);
    if opaque {
        write!(file, "P6\n{width} {height}\n255\n")?;
    } else {
        write!(file, "P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n")?;
    }
    for pixel in pixels.rows().flat_map(|row| row.chunks_exact(4)) {
        file.write_all(&pixel[..if opaque { 3 } else { 4 }])?;
    }
    Ok(file.flush()?)
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
    fn progress(&mut self, index: usize, progress: Progress) {
        if let Some(expected) = progress.expected.filter(|&expected| expected > 0) {
            self.parts[index] = progress.received as f64 / expected as f64;
        }
        if self.on_terminal {
            let share = self.parts.iter().sum::<f64>() / self.parts.len() as f64;
            let bar = "=".repeat((share * 40.0) as usize);
            eprint!("\r\x1b[K[{bar:40}] {} of {}", self.finished, self.names.len());
        }
    }

    fn completed(&mut self, index: usize, outcome: Result<Picture, sdd::Error>) {
        self.parts[index] = 1.0;
        self.finished += 1;
        let line = match outcome {
            Ok(picture) => self.keep(index, &picture).map_err(|error| error.to_string()),
            Err(error) => Err(format!("{}: {error}", error.status().name())),
        };
        self.failed += usize::from(line.is_err());
        if self.on_terminal {
            eprint!("\r\x1b[K");
        }
        println!("{:20} {}", self.names[index], line.unwrap_or_else(|error| error));
    }

    /// Writes the picture and returns its line.
    fn keep(&self, index: usize, picture: &Picture) -> Result<String, Box<dyn std::error::Error>> {
        write_picture(&self.directory, &format!("{}-{}", index + 1, self.names[index]), &picture.image)?;
        let (width, height) = (picture.image.width(), picture.image.height());
        let bytes = picture.bytes.as_ref().map_or(0, |bytes| bytes.len());
        let (milliseconds, status) = (picture.report.metrics.total.as_millis(), picture.report.http_status);
        Ok(format!("{width:5} x {height:<5} {bytes:9} bytes {milliseconds:6} ms  HTTP {status}"))
    }
}

fn run(arguments: Arguments) -> Result<bool, sdd::Error> {
    let downloader =
        Downloader::builder().max_concurrent_downloads(arguments.jobs).network(arguments.network).build()?;
    for (name, value) in &arguments.headers {
        downloader.set_header(name, Some(value))?;
    }
    // The closures run on a thread of the library, and send what happens to this one. The channel ends by itself: the
    // closures of each download are dropped with its end, and with them their senders.
    let (sender, events) = channel();
    for (index, url) in arguments.urls.iter().enumerate() {
        let (progress, end) = (sender.clone(), sender.clone());
        let callbacks = Callbacks::new().progress(move |now| drop(progress.send((index, Event::Progress(now)))));
        let request = downloader.download_with(url.as_str(), callbacks);
        request.on_end(move |outcome| drop(end.send((index, Event::Completed(outcome)))));
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
    for (index, event) in events {
        match event {
            Event::Progress(progress) => run.progress(index, progress),
            Event::Completed(outcome) => run.completed(index, outcome),
            _ => {}
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
