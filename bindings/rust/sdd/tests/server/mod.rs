// An HTTP server on 127.0.0.1 for tests and the examples in the documentation, which include this file.
//
//     /NAME.png           a picture of 4 x 3 pixels
//     /photo.png          one of 64 x 64 pixels whose bytes are not compressed well
//     /rows               "ROWS", two sides of 200, then 100 rows of 7 and 100 rows of 9
//     /echo               the request as it came
//     /hold/NAME          nothing until release(), then as /NAME
//     /steps/NAME         half of the body of /NAME, and the rest after release()
//     anything else       404

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::atomic::{AtomicBool, Ordering},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

pub struct Server {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    counts: Mutex<Counts>,
    changed: Condvar,
}

#[derive(Default)]
struct Counts {
    is_released: bool,
    /// Targets in the order in which they were requested.
    requested: Vec<String>,
    /// Held requests whose client has gone.
    abandoned: usize,
    /// Pictures that have been made, by their targets.
    pictures: HashMap<String, Vec<u8>>,
}

#[allow(dead_code)] // not every test needs all of it
impl Server {
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let shared = state.clone();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let state = shared.clone();
                thread::spawn(move || state.serve(connection));
            }
        });
        Server { port, state }
    }

    pub fn url(&self, target: &str) -> String {
        format!("http://127.0.0.1:{}{target}", self.port)
    }

    /// Lets held requests go on, now and from now on.
    pub fn release(&self) {
        self.state.counts.lock().unwrap().is_released = true;
        self.state.changed.notify_all();
    }

    pub fn requested(&self) -> Vec<String> {
        self.state.counts.lock().unwrap().requested.clone()
    }

    /// Waits until so many requests have arrived.
    pub fn wait_requested(&self, count: usize) {
        self.state.wait(|counts| counts.requested.len() >= count);
    }

    /// Waits until the clients of so many held requests have gone.
    pub fn wait_abandoned(&self, count: usize) {
        self.state.wait(|counts| counts.abandoned >= count);
    }
}

/// A picture as PNG, whose pixels differ with `seed`.
pub fn png(width: u32, height: u32, seed: u32) -> Vec<u8> {
    let mut number = seed;
    let mut next = || {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (number >> 24) as u8
    };
    let pixels: Vec<u8> = (0..width * height * 3).map(|_| next()).collect();
    let image = sdd::Image::from_pixels(width, height, sdd::PixelFormat::Rgb8, &pixels, width as usize * 3).unwrap();
    image.encode(&sdd::EncodeOptions::new().format(sdd::ImageFormat::PNG)).unwrap().to_vec()
}

impl State {
    fn wait(&self, mut is_enough: impl FnMut(&Counts) -> bool) {
        let counts = self.counts.lock().unwrap();
        let limit = Duration::from_secs(60);
        let (_counts, outcome) = self.changed.wait_timeout_while(counts, limit, |counts| !is_enough(counts)).unwrap();
        assert!(!outcome.timed_out(), "the server has waited for a minute");
    }

    fn serve(self: &Arc<Self>, connection: TcpStream) {
        let mut reader = BufReader::new(connection);
        while let Some((target, request)) = read_request(&mut reader) {
            let mut counts = self.counts.lock().unwrap();
            counts.requested.push(target.clone());
            drop(counts);
            self.changed.notify_all();
            if self.reply(reader.get_mut(), &target, &request).is_none() {
                return;
            }
        }
    }

    fn reply(self: &Arc<Self>, connection: &mut TcpStream, target: &str, request: &[u8]) -> Option<()> {
        if let Some(name) = target.strip_prefix("/hold") {
            self.hold(connection)?;
            return self.reply(connection, name, request);
        }
        let (target, is_in_steps) = match target.strip_prefix("/steps") {
            Some(name) => (name, true),
            None => (target, false),
        };
        let body = match target {
            "/echo" => Some(("text/plain", request.to_vec())),
            "/rows" => Some(("image/x-rows", [&b"ROWS\xc8\xc8"[..], &[7; 20_000], &[9; 20_000]].concat())),
            name if name.ends_with(".png") => Some(("image/png", self.picture(name))),
            _ => None,
        };
        let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
        let (media_type, body) = body.unwrap_or(("text/html", b"<!doctype html>not here".to_vec()));
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n", body.len());
        let mut reply = [head.as_bytes(), &body].concat();
        if is_in_steps {
            let rest = reply.split_off(head.len() + body.len() / 2);
            connection.write_all(&reply).ok()?;
            self.hold(connection)?;
            reply = rest;
        }
        connection.write_all(&reply).ok()
    }

    fn picture(&self, target: &str) -> Vec<u8> {
        let mut counts = self.counts.lock().unwrap();
        let made = counts.pictures.entry(target.to_owned()).or_insert_with(|| match target {
            "/photo.png" => png(64, 64, 7),
            name => png(4, 3, name.bytes().map(u32::from).sum()),
        });
        made.clone()
    }

    /// Returns when requests are released, or `None` when the client has gone.
    fn hold(self: &Arc<Self>, connection: &TcpStream) -> Option<()> {
        let (state, watched) = (self.clone(), connection.try_clone().ok()?);
        let is_gone = Arc::new(AtomicBool::new(false));
        let shared = is_gone.clone();
        thread::spawn(move || {
            if !matches!(watched.peek(&mut [0]), Ok(1)) {
                shared.store(true, Ordering::SeqCst);
                drop(state.counts.lock().unwrap()); // a thread that waits is now in wait_while, and is woken
                state.changed.notify_all();
            }
        });
        let counts = self.counts.lock().unwrap();
        let is_waiting = |counts: &mut Counts| !counts.is_released && !is_gone.load(Ordering::SeqCst);
        let mut counts = self.changed.wait_while(counts, is_waiting).unwrap();
        if counts.is_released {
            return Some(());
        }
        counts.abandoned += 1;
        drop(counts);
        self.changed.notify_all();
        None
    }
}

/// Reads one request: its target, and all of it. `None` at the end of the connection.
fn read_request(reader: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let (mut request, mut length) = (Vec::new(), 0);
    loop {
        let start = request.len();
        if reader.read_until(b'\n', &mut request).ok()? == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&request[start..]).trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let target = String::from_utf8_lossy(&request).split(' ').nth(1)?.to_owned();
    let head = request.len();
    request.resize(head + length, 0);
    reader.read_exact(&mut request[head..]).ok()?;
    Some((target, request))
}
