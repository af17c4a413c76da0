//! Events on a thread of the application, by a descriptor that an event loop watches.

use crate::border::{is_inside_callback, lock};
use crate::error::check;
use crate::numbers::{microseconds, milliseconds, numbers};
use crate::{sys, Downloader, Error, Order, Status};
use std::future::Future;
use std::io::{Read, Write};
use std::os::unix::io::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::ptr;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

numbers! {
    /// Where the closures of a downloader are called, and the tasks are woken that wait for its requests.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// use sdd::{Delivery, Downloader};
    ///
    /// // An event loop of its own would watch downloader.event_fd().
    /// let downloader = Downloader::builder().delivery(Delivery::Application).build()?;
    /// let (sender, widths) = std::sync::mpsc::channel();
    /// let here = std::thread::current().id();
    /// downloader.download(server.url("/a.png")).on_end(move |outcome| {
    ///     assert_eq!(std::thread::current().id(), here);
    ///     sender.send(outcome.unwrap().image.width()).unwrap();
    /// });
    /// while widths.try_recv().is_err() {
    ///     downloader.wait_events(None)?;
    /// }
    /// # Ok::<(), sdd::Error>(())
    /// ```
    Delivery: Thread {
        /// On a thread of the downloader.
        Thread = SDD_DELIVERY_THREAD,
        /// On the thread that calls [`Downloader::dispatch`] or [`Downloader::wait_events`], or that waits for a
        /// request: its events wait until one does.
        Application = SDD_DELIVERY_APPLICATION,
    }
}

/// The settings of a downloader as they are now: [`Downloader::settings`].
///
/// ```
/// let downloader = sdd::Downloader::builder().max_concurrent_per_host(2).build()?;
/// downloader.set_max_concurrent_downloads(9)?;
/// let settings = downloader.settings()?;
/// assert_eq!((settings.max_concurrent_downloads, settings.max_concurrent_per_host), (9, 2));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Where closures are called.
    pub delivery: Delivery,
    /// Transfers at a time.
    pub max_concurrent_downloads: u32,
    /// Transfers at a time to one host and port.
    pub max_concurrent_per_host: u32,
    /// Decode threads.
    pub decode_threads: u32,
    /// The order in which requests of the same priority begin.
    pub execution_order: Order,
    /// Slots that are kept for urgent requests.
    pub reserved_urgent_slots: u32,
    /// The least time from one start of a transfer to the next to the same host.
    pub min_host_interval: Duration,
    /// The limit on the time without a byte.
    pub download_timeout: Duration,
}

impl Downloader {
    /// Returns this downloader if its events wait for the application.
    pub(crate) fn driver(&self) -> Option<Downloader> {
        (self.delivery() == Delivery::Application).then(|| self.clone())
    }

    /// Returns a descriptor that is readable while events wait, for poll(2), epoll(7) and event loops: call
    /// [`dispatch`](Downloader::dispatch) then. `None` with [`Delivery::Thread`].
    ///
    /// ```
    /// let shared = sdd::Downloader::shared();
    /// assert!(shared.event_fd().is_none());
    /// let own = sdd::Downloader::builder().delivery(sdd::Delivery::Application).build()?;
    /// assert!(own.event_fd().is_some());
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        let fd = unsafe { sys::sdd_downloader_event_fd(self.raw()) }; // SAFETY: any handle is allowed
        (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) }) // SAFETY: open until the downloader is destroyed
    }

    /// Delivers events that wait, without waiting for more: at most `max`, or all for 0. It returns their number.
    pub fn dispatch(&self, max: usize) -> Result<usize, Error> {
        let mut count = 0;
        // SAFETY: the number is written before the call returns.
        check(unsafe { sys::sdd_downloader_dispatch(self.raw(), max, &mut count) })?;
        Ok(count)
    }

    /// Waits for events and delivers them; `None`: without time limit. It returns their number, 0 after the limit.
    pub fn wait_events(&self, limit: impl Into<Option<Duration>>) -> Result<usize, Error> {
        if is_inside_callback() {
            return Err(Error::of_status(sys::SDD_ERROR_WOULD_DEADLOCK));
        }
        let limit = limit.into().map_or(-1, |limit| if limit.is_zero() { 0 } else { milliseconds(limit) });
        let mut count = 0;
        // SAFETY: without an array, events are delivered; the number is written before the call returns.
        match unsafe { sys::sdd_downloader_wait(self.raw(), ptr::null_mut(), 0, limit, &mut count) } {
            sys::SDD_ERROR_TIMEOUT => Ok(0),
            status => check(status).map(|()| count),
        }
    }

    /// Runs a future on this thread until it ends, without an executor, and delivers the events of this downloader
    /// meanwhile. The thread sleeps until the future is woken or the event descriptor is readable. It works with
    /// [`Delivery::Thread`], too. Inside a callback of the library it fails with [`Status::WOULD_DEADLOCK`].
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// let downloader = sdd::Downloader::builder().delivery(sdd::Delivery::Application).build()?;
    /// let sum = downloader.block_on(async {
    ///     let (a, b) = (downloader.download(server.url("/a.png")), downloader.download(server.url("/b.png")));
    ///     Ok::<_, sdd::Error>(a.await?.image.width() + b.await?.image.width())
    /// })??;
    /// assert_eq!(sum, 8);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output, Error> {
        if is_inside_callback() {
            return Err(Error::of_status(sys::SDD_ERROR_WOULD_DEADLOCK));
        }
        let (mut woken, wake) = UnixStream::pair()
            .and_then(|(woken, wake)| {
                [&woken, &wake].iter().try_for_each(|end| end.set_nonblocking(true)).map(|()| (woken, wake))
            })
            .map_err(|error| Error::made(sys::SDD_ERROR_NO_RESOURCES, format!("No descriptor: {error}.")))?;
        let waker = Waker::from(Arc::new(Alarm(Mutex::new(wake))));
        let mut future = Box::pin(future);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Ok(output);
            }
            let events = self.event_fd().map_or(-1, |fd| fd.as_raw_fd());
            let is_ready = wait_readable([woken.as_raw_fd(), events], -1);
            while matches!(woken.read(&mut [0; 64]), Ok(count) if count > 0) {}
            if is_ready[1] {
                match self.dispatch(0) {
                    // Another thread takes them, and then the future is woken.
                    Err(error) if error.status() == Status::BUSY => drop(wait_readable([woken.as_raw_fd(), -1], 20)),
                    other => drop(other?),
                }
            }
        }
    }

    /// Reads the settings.
    pub fn settings(&self) -> Result<Settings, Error> {
        let mut config = sys::sized!(sdd_downloader_config);
        // SAFETY: filled as struct_size says; the groups live as long as the downloader.
        let limits = unsafe {
            check(sys::sdd_downloader_get_config(self.raw(), &mut config))?;
            config.limits.as_ref().map_or(0, |limits| limits.download_timeout_ms)
        };
        let count = |number: i32| u32::try_from(number).unwrap_or(0);
        Ok(Settings {
            delivery: Delivery::of(config.delivery).unwrap_or_default(),
            max_concurrent_downloads: count(config.max_concurrent_downloads),
            max_concurrent_per_host: count(config.max_concurrent_per_host),
            decode_threads: count(config.decode_threads),
            execution_order: Order::of(config.execution_order).unwrap_or_default(),
            reserved_urgent_slots: count(config.reserved_urgent_slots),
            min_host_interval: microseconds(config.min_host_interval_ms.saturating_mul(1000)),
            download_timeout: microseconds(limits.saturating_mul(1000)),
        })
    }
}

/// Wakes a thread that waits for a socket.
struct Alarm(Mutex<UnixStream>);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let _ = lock(&self.0).write(&[1]); // a full socket wakes as well
    }
}

/// Waits until a descriptor is readable, or so many milliseconds; -1: no limit. A descriptor of -1 is not watched.
fn wait_readable(fds: [RawFd; 2], limit: i32) -> [bool; 2] {
    let mut records = fds.map(|fd| PollFd { fd, events: POLLIN, revents: 0 });
    // SAFETY: there are so many records. After an interruption none is ready.
    unsafe { poll(records.as_mut_ptr(), records.len() as std::os::raw::c_ulong, limit) };
    records.map(|record| record.revents != 0)
}

// The part of the system's C library that the standard library lacks.

const POLLIN: i16 = 1;

/// struct pollfd.
#[repr(C)]
struct PollFd {
    fd: i32,
    events: i16,
    revents: i16,
}

extern "C" {
    fn poll(records: *mut PollFd, count: std::os::raw::c_ulong, limit: i32) -> i32;
}
