//! sdd-load: loads a list of pictures twice, and tells where each came from.
//!
//!     sdd-load [-d DIRECTORY] [-i FILE] [-s PIXELS] URL...
//!
//! -i reads more URLs, one a line. -s makes them small, at most so many pixels a side. The cache is in DIRECTORY, or
//! $XDG_CACHE_HOME/sdd/default, and stays: so that a second run finds on disk what the first one had from the network.
//! Lines come in the order of the URLs, all of the first time and then all of the second. Exit status 0: all worked.

use sdd::{Cache, DecodeOptions, LoadRequest, Loader, Origin};
use std::process::ExitCode;

const USAGE: &str = "usage: sdd-load [-d DIRECTORY] [-i FILE] [-s PIXELS] URL...";

#[derive(Default)]
struct Arguments {
    directory: Option<String>,
    side: Option<u32>,
    urls: Vec<String>,
}

impl Arguments {
    /// Returns `None` for arguments that do not follow the usage.
    fn parse(mut from: impl Iterator<Item = String>) -> Option<Self> {
        let mut arguments = Arguments::default();
        while let Some(argument) = from.next() {
            match argument.as_str() {
                "-d" => arguments.directory = Some(from.next()?),
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

    fn request(&self, url: &str) -> LoadRequest {
        let request = LoadRequest::new(url);
        match self.side {
            Some(side) => request.decode(DecodeOptions::new().inside(side, side)),
            None => request,
        }
    }
}

fn name_of(origin: Origin) -> &'static str {
    match origin {
        Origin::Network => "network",
        Origin::Memory => "memory",
        Origin::Disk => "disk",
        _ => "HTTP cache",
    }
}

fn run(arguments: &Arguments) -> Result<bool, sdd::Error> {
    let cache = match &arguments.directory {
        Some(directory) => Cache::builder().directory(directory).build()?,
        None => Cache::shared(),
    };
    let loader = Loader::builder().cache(&cache).build()?;
    let mut failed = 0;
    for _ in 0..2 {
        // All of them at once. They end in any order.
        let requests: Vec<_> = arguments.urls.iter().map(|url| arguments.request(url)).collect();
        let mut results: Vec<_> = loader.load_all(requests).look_ahead(arguments.urls.len()).collect();
        results.sort_by_key(|&(index, _)| index);
        for (index, result) in &results {
            let url = &arguments.urls[*index];
            match result {
                Ok(picture) => {
                    let (width, height) = (picture.image.width(), picture.image.height());
                    let (origin, time) = (name_of(picture.report.origin), picture.report.metrics.total.as_millis());
                    println!("{url}: {width} x {height} from: {origin}, {time} ms");
                }
                Err(error) => println!("{url}: {}: {error}", error.status().name()),
            }
        }
        failed += results.iter().filter(|(_, result)| result.is_err()).count();
    } // here the pictures go; the memory of the cache keeps them for the second time
    cache.flush(None)?; // the next run finds them on disk
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
