//! sdd-session: downloads pictures one after the other, with what a session needs, and tells what it was told.
//!
//!     sdd-session [-u USER:PASSWORD | -t TOKEN] [-l LOGIN_URL] [-b COOKIE_FILE] [-v] URL...
//!
//! Does what python/session.py does: -u answers the server's challenge, -t sends a bearer token. -l fetches a page
//! first, for the cookies that it sets; -b keeps cookies from one run to the next. -v says on standard error what
//! each transfer does. Then come the cookies and the counts of the downloader. Exit status 0: all worked.

mod sdd;

use sdd::{Config, Credential, Downloader, Request};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::thread;

const USAGE: &str = "usage: sdd-session [-u USER:PASSWORD | -t TOKEN] [-l LOGIN_URL] [-b COOKIE_FILE] [-v] URL...";

#[derive(Default)]
struct Arguments {
    credential: Option<Credential>,
    login: Option<String>,
    cookie_file: Option<PathBuf>,
    talks: bool,
    urls: Vec<String>,
}

impl Arguments {
    /// None: not as the usage says.
    fn parse(mut from: impl Iterator<Item = String>) -> Option<Self> {
        let mut arguments = Arguments::default();
        while let Some(argument) = from.next() {
            match argument.as_str() {
                "-u" => {
                    let text = from.next()?;
                    let (user, password) = text.split_once(':')?;
                    arguments.credential = Some(Credential::Password { user: user.into(), password: password.into() });
                }
                "-t" => arguments.credential = Some(Credential::Bearer(from.next()?)),
                "-l" => arguments.login = Some(from.next()?),
                "-b" => arguments.cookie_file = Some(from.next()?.into()),
                "-v" => arguments.talks = true,
                _ if argument.starts_with('-') => return None,
                _ => arguments.urls.push(argument),
            }
        }
        (!arguments.urls.is_empty()).then_some(arguments)
    }
}

fn download(downloader: &Downloader, url: &str, credential: Option<&Credential>) -> Result<(), sdd::Error> {
    let mut request = Request::new(url).with_cookies();
    if let Some(credential) = credential {
        request = request.credential(credential.clone()); // for this URL's server alone
    }
    let picture = downloader.fetch(&request)?;
    let (width, height, status) = (picture.image.width(), picture.image.height(), picture.http_status);
    let (kind, tag) = picture.response.map_or_else(Default::default, |it| (it.mime_type(), it.header("etag")));
    println!("{url}: {width} x {height}, HTTP {status}, {kind}, ETag {}", tag.as_deref().unwrap_or("none"));
    Ok(())
}

/// Says whether all worked.
fn session(downloader: &Downloader, arguments: &Arguments) -> Result<bool, sdd::Error> {
    if let Some(login) = &arguments.login {
        downloader.get_bytes(login, true, None)?;
    }
    for url in &arguments.urls {
        if let Err(error) = download(downloader, url, arguments.credential.as_ref()) {
            println!("{url}: {}, HTTP {}", error.name(), error.http_status);
        }
    }
    for cookie in downloader.cookies()? {
        println!("cookie {}={} for {}{}", cookie.name, cookie.value, cookie.domain, cookie.path);
    }
    let statistics = downloader.statistics()?;
    println!(
        "{} requests, {} failed, {} pictures, {} bytes",
        statistics.requests, statistics.requests_failed, statistics.images_decoded, statistics.body_bytes
    );
    Ok(statistics.requests_failed == 0)
}

fn run(arguments: &Arguments) -> Result<bool, sdd::Error> {
    let config = Config { cookie_file: arguments.cookie_file.clone(), ..Default::default() };
    let downloader = Downloader::with_config(&config)?;
    let (sender, notices) = channel();
    if arguments.talks {
        downloader.observe(sender)?;
    } else {
        drop(sender);
    }
    thread::scope(|scope| {
        scope.spawn(|| {
            for notice in notices {
                let kind = format!("{:?}", notice.kind).to_lowercase();
                eprintln!("{kind} {} {}", notice.url, notice.http_status);
            }
        });
        let result = session(&downloader, arguments);
        drop(downloader); // writes the cookies, and ends the channel
        result
    })
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
            eprintln!("sdd-session: {error}");
            ExitCode::FAILURE
        }
    }
}
