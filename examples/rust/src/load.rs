//! sdd-load: loads a list of pictures twice, and tells where each came from.
//!
//!     sdd-load [-d DIRECTORY] [-i FILE] [-s PIXELS] URL...
//!
//! -i reads more URLs, one a line. -s makes them small, at most so many pixels a side. The cache is in DIRECTORY, or
//! $XDG_CACHE_HOME/sdd/default, and stays: so that a second run finds on disk what the first one had from the network.
//! Lines come in the order of the URLs, all of the first time and then all of the second. Exit status 0: all worked.

mod sdd;

use sdd::{Event, Load, Loader, LoaderConfig, Origin, Picture};
use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::mpsc::channel;

const USAGE: &str = "usage: sdd-load [-d DIRECTORY] [-i FILE] [-s PIXELS] URL...";

#[derive(Default)]
struct Arguments {
    config: LoaderConfig,
    side: Option<i32>,
    urls: Vec<String>,
}

impl Arguments {
    /// None: not as the usage says.
    fn parse(mut from: impl Iterator<Item = String>) -> Option<Self> {
        let mut arguments = Arguments::default();
        while let Some(argument) = from.next() {
            match argument.as_str() {
                "-d" => arguments.config.directory = Some(from.next()?.into()),
                "-s" => arguments.side = Some(from.next()?.parse().ok().filter(|&side| side > 0)?),
                "-i" => {
                    let text = std::fs::read_to_string(from.next()?).ok()?;
                    arguments.urls.extend(text.lines().filter(|line| !line.is_empty()).map(String::from));
                }
                _ if argument.starts_with('-') => return None,
                _ => arguments.urls.push(argument),
            }
        }
        (!arguments.urls.is_empty()).then_some(arguments)
    }
}

/// Loads all of them at once. The results are in the order of the URLs.
fn load_all(loader: &Loader, arguments: &Arguments) -> Result<Vec<Result<Picture, sdd::Error>>, sdd::Error> {
    let (sender, events) = channel();
    let mut index_of = HashMap::new();
    for (index, url) in arguments.urls.iter().enumerate() {
        let mut load = Load::new(url);
        if let Some(side) = arguments.side {
            load = load.inside(side, side);
        }
        index_of.insert(loader.submit(&load, sender.clone())?, index);
    }
    drop(sender); // each load has its own, and drops it with its end: then the channel ends
    let mut results: Vec<_> = events
        .into_iter()
        .filter_map(|event| match event {
            Event::Completed { token, result, .. } => Some((index_of[&token], result)),
            Event::Progress { .. } => None,
        })
        .collect();
    results.sort_by_key(|&(index, _)| index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

fn name_of(origin: Origin) -> &'static str {
    match origin {
        Origin::Network => "network",
        Origin::Memory => "memory",
        Origin::Disk => "disk",
        Origin::Http => "HTTP cache",
    }
}

fn run(arguments: &Arguments) -> Result<bool, sdd::Error> {
    let loader = Loader::with_config(&arguments.config)?;
    let mut failed = 0;
    for _ in 0..2 {
        let results = load_all(&loader, arguments)?;
        for (url, result) in arguments.urls.iter().zip(&results) {
            match result {
                Ok(Picture { image, origin, milliseconds, .. }) => {
                    let (width, height) = (image.width(), image.height());
                    println!("{url}: {width} x {height} from: {}, {milliseconds} ms", name_of(*origin));
                }
                Err(error) => println!("{url}: {error}"),
            }
        }
        failed += results.iter().filter(|result| result.is_err()).count();
    } // here the pictures go; the memory of the cache keeps them for the second time
    Ok(failed == 0)
}

fn main() -> ExitCode {
    let Some(arguments) = Arguments::parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("sdd-load: {error}");
            ExitCode::FAILURE
        }
    }
}
