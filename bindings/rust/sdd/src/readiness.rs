//! Wakes tasks when a descriptor can be read: one thread of this crate waits for all of them with epoll(7).

use crate::border::{guard, lock};
use crate::Error;
use std::collections::HashMap;
use std::io;
use std::os::unix::io::RawFd;
use std::process;
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::thread;

/// Wakes a task when a descriptor can be read.
pub(crate) struct Readiness {
    fd: RawFd,
    watch: Option<(Arc<Watcher>, u64)>,
}

impl Readiness {
    /// SAFETY: the descriptor is open until the object is dropped.
    pub(crate) unsafe fn of(fd: RawFd) -> Self {
        Readiness { fd, watch: None }
    }

    /// Wakes a task once, as soon as the descriptor can be read. It replaces the waker before.
    pub(crate) fn wake(&mut self, waker: Waker) -> Result<(), Error> {
        let failed = |error: io::Error| {
            Error::made(crate::sys::SDD_ERROR_NO_RESOURCES, format!("No descriptor can be watched: {error}."))
        };
        let (operation, (watcher, id)) = match self.watch.take() {
            Some(watch) => (EPOLL_CTL_MOD, watch),
            None => {
                let watcher = Watcher::shared().map_err(failed)?;
                let id = watcher.next_id();
                (EPOLL_CTL_ADD, (watcher, id))
            }
        };
        drop(watcher.set_waker(id, Some(waker)));
        let watched = watcher.control(operation, self.fd, id).map_err(failed);
        self.watch = Some((watcher, id)); // to be dropped, if it is not watched
        watched
    }
}

impl Drop for Readiness {
    fn drop(&mut self) {
        if let Some((watcher, id)) = self.watch.take() {
            let _ = watcher.control(EPOLL_CTL_DEL, self.fd, id);
            drop(watcher.set_waker(id, None));
        }
    }
}

/// The thread and its epoll descriptor. There is one in each process, from the first use on.
struct Watcher {
    epoll: RawFd,
    process: u32,
    wakers: Mutex<Wakers>,
}

#[derive(Default)]
struct Wakers {
    next_id: u64,
    by_id: HashMap<u64, Waker>,
}

impl Watcher {
    fn shared() -> io::Result<Arc<Watcher>> {
        static SHARED: Mutex<Option<Arc<Watcher>>> = Mutex::new(None);
        let mut shared = lock(&SHARED);
        match &*shared {
            // The child of a fork has no such thread.
            Some(watcher) if watcher.process == process::id() => return Ok(watcher.clone()),
            _ => {}
        }
        let epoll = unsafe { epoll_create1(EPOLL_CLOEXEC) }; // SAFETY: no memory is passed
        if epoll < 0 {
            return Err(io::Error::last_os_error());
        }
        let watcher = Arc::new(Watcher { epoll, process: process::id(), wakers: Mutex::default() });
        let kept = watcher.clone();
        thread::Builder::new().name("sdd-wake".into()).spawn(move || kept.run())?;
        *shared = Some(watcher.clone());
        Ok(watcher)
    }

    fn next_id(&self) -> u64 {
        let mut wakers = lock(&self.wakers);
        wakers.next_id += 1;
        wakers.next_id
    }

    /// Returns the waker before: its code is the application's, so it is dropped without the lock.
    fn set_waker(&self, id: u64, waker: Option<Waker>) -> Option<Waker> {
        let mut wakers = lock(&self.wakers);
        match waker {
            Some(waker) => wakers.by_id.insert(id, waker),
            None => wakers.by_id.remove(&id),
        }
    }

    fn control(&self, operation: i32, fd: RawFd, id: u64) -> io::Result<()> {
        if self.process != process::id() {
            return Err(io::ErrorKind::NotConnected.into()); // a child of a fork shares the descriptor with its parent
        }
        let mut event = EpollEvent { events: EPOLLIN | EPOLLONESHOT, data: id };
        // SAFETY: the event is read before the call returns.
        match unsafe { epoll_ctl(self.epoll, operation, fd, &mut event) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn run(&self) {
        let mut events = [EpollEvent { events: 0, data: 0 }; 16];
        loop {
            // SAFETY: there is room for as many events.
            let count = unsafe { epoll_wait(self.epoll, events.as_mut_ptr(), events.len() as i32, -1) };
            for event in events.iter().take(usize::try_from(count).unwrap_or(0)) {
                let id = event.data;
                if let Some(waker) = self.set_waker(id, None) {
                    let _ = guard(|| waker.wake());
                }
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        unsafe { close(self.epoll) }; // SAFETY: ours, and used by nobody any more
    }
}

// The part of the system's C library that the standard library lacks.

const EPOLL_CLOEXEC: i32 = 0o2000000;
const EPOLL_CTL_ADD: i32 = 1;
const EPOLL_CTL_DEL: i32 = 2;
const EPOLL_CTL_MOD: i32 = 3;
const EPOLLIN: u32 = 1;
const EPOLLONESHOT: u32 = 1 << 30;

/// struct epoll_event, which is packed on x86-64 alone.
#[derive(Clone, Copy)]
#[cfg_attr(target_arch = "x86_64", repr(C, packed))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C))]
struct EpollEvent {
    events: u32,
    data: u64,
}

extern "C" {
    fn epoll_create1(flags: i32) -> i32;
    fn epoll_ctl(epoll: i32, operation: i32, fd: i32, event: *mut EpollEvent) -> i32;
    fn epoll_wait(epoll: i32, events: *mut EpollEvent, count: i32, timeout: i32) -> i32;
    fn close(fd: i32) -> i32;
}
