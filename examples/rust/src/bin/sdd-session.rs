//! sdd-session: downloads pictures one after the other, with what a session needs, and tells what it was told.
//!
//!     sdd-session [-u USER:PASSWORD | -t TOKEN] [-l LOGIN_URL] [-b COOKIE_FILE] [-v] URL...
//!
//! -u answers the server's challenge, -t sends a bearer token. -l fetches a page first, for the cookies that it sets;
//! -b keeps cookies from one run to the next. -v says on standard error what each transfer does. Then come the cookies
//! and the counts of the downloader. Exit status 0: all worked.

use sdd::{Credential, DownloadRequest, Downloader, Network, Options};
use std::process::ExitCode;

const USAGE: &str = "usage: sdd-session [-u USER:PASSWORD | -t TOKEN] [-l LOGIN_URL] [-b COOKIE_FILE] [-v] URL...";

#[derive(Default)]
struct Arguments {
    credential: Option<Credential>,
    login: Option<String>,
    network: Network,
    talks: bool,
    urls: Vec<String>,
}

impl Arguments {
    /// Returns `None` for arguments that do not follow the usage.
    fn parse(mut from: impl Iterator<Item = String>) -> Option<Self> {
        let mut arguments = Arguments::default();
        while let Some(argument) = from.next() {
            match argument.as_str() {
                "-u" => {
                    let text = from.next()?;
                    let (user, password) = text.split_once(':')?;
                    arguments.credential = Some(Credential::password(user, password));
                }
                "-t" => arguments.credential = Some(Credential::bearer(&from.next()?)),
                "-l" => arguments.login = Some(from.next()?),
                "-b" => arguments.network = Network::new().cookie_file(from.next()?),
                "-v" => arguments.talks = true,
                _ if argument.starts_with('-') => return None,
                _ => arguments.urls.push(argument),
            }
        }
        (!arguments.urls.is_empty()).then_some(arguments)
    }
}

fn download(downloader: &Downloader, url: &str, credential: &Option<Credential>) -> Result<(), sdd::Error> {
    let mut request = DownloadRequest::new(url).options(Options::HANDLE_COOKIES);
    if let Some(credential) = credential {
        request = request.credential(credential.clone()); // for this URL's server alone
    }
    let picture = downloader.download(request).wait()?;
    let (width, height, status) = (picture.image.width(), picture.image.height(), picture.report.http_status);
    let response = picture.report.response.as_ref();
    let (kind, tag) = response.map_or(("", None), |response| (response.mime_type(), response.header("etag")));
    println!("{url}: {width} x {height}, HTTP {status}, {kind}, ETag {}", tag.as_deref().unwrap_or("none"));
    Ok(())
}

/// Says whether all worked.
fn run(arguments: &Arguments) -> Result<bool, sdd::Error> {
    let downloader = Downloader::builder().network(arguments.network.clone()).build()?;
    if arguments.talks {
        // It is called on a thread of the library, which waits for it.
        downloader.set_observer(|notice| {
            eprintln!("{} {} {}", format!("{:?}", notice.kind).to_lowercase(), notice.url, notice.http_status);
        })?;
    }
    if let Some(login) = &arguments.login {
        let request = DownloadRequest::new(login.as_str()).options(Options::HANDLE_COOKIES);
        downloader.download_bytes(request).wait()?;
    }
    for url in &arguments.urls {
        if let Err(error) = download(&downloader, url, &arguments.credential) {
            println!("{url}: {}, HTTP {}", error.status().name(), error.http_status().unwrap_or(0));
        }
    }
    for cookie in downloader.cookies()? {
        println!("cookie {}={} for {}{}", cookie.name, cookie.value, cookie.domain, cookie.path);
    }
    let counts = downloader.statistics()?;
    let (all, failed) = (counts.requests, counts.requests_failed);
    println!("{all} requests, {failed} failed, {} pictures, {} bytes", counts.images_decoded, counts.body_bytes);
    Ok(failed == 0)
} // the downloader goes, and writes the cookies into their file

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
