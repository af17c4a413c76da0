//! Measures the two ways in which this crate could be told of an event: by callbacks on the library's thread, as it is,
//! or by a thread of its own that waits on the event descriptor and drains. README.md has the figures.
//!
//!     cargo run --release --example delivery
//!
//! Each request is a data: URL, so that neither network nor decoding hides the cost of the delivery.

use sdd::sys::{self, *};
use std::os::raw::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

const URL: &[u8] = b"data:,body\0";
const REQUESTS: usize = 50_000;

/// The state of one way: who is woken, and how many requests have ended.
struct Ends {
    waiting: Thread,
    count: AtomicUsize,
    is_over: AtomicBool,
}

impl Ends {
    fn add(&self, count: usize) {
        self.count.fetch_add(count, Ordering::SeqCst);
        self.waiting.unpark();
    }
}

extern "C" fn on_completed(_: *const sdd_result, ends: *mut c_void) {
    unsafe { &*ends.cast::<Ends>() }.add(1); // SAFETY: `measure` waits for every end
}

/// Takes events until the end, on a thread of its own.
fn drain(downloader: usize, ends: &Ends) {
    let mut events = vec![sys::sized!(sdd_event); 64];
    while !ends.is_over.load(Ordering::SeqCst) {
        let mut count = 0;
        // SAFETY: `measure` destroys the downloader after this thread; the events are lent until the next call.
        unsafe { sdd_downloader_wait(downloader as *mut _, events.as_mut_ptr(), events.len(), 100, &mut count) };
        ends.add(count);
    }
}

/// Returns the processor time of this process so far.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name: Vec<_> = text.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks = |index: usize| after_name[index].parse::<u64>().unwrap();
    Duration::from_millis((ticks(11) + ticks(12)) * 10) // utime and stime, in hundredths of a second
}

fn measure(name: &str, delivery: i32, in_flight: usize) {
    let mut downloader = ptr::null_mut();
    let config = sdd_downloader_config { delivery, ..sys::sized!(sdd_downloader_config) };
    assert_eq!(unsafe { sdd_downloader_create(&config, &mut downloader) }, SDD_OK); // SAFETY: copied
    let ends = Ends { waiting: thread::current(), count: AtomicUsize::new(0), is_over: AtomicBool::new(false) };
    let handle = downloader as usize;
    let (start, processor) = (Instant::now(), processor_time());
    thread::scope(|scope| {
        if delivery == SDD_DELIVERY_APPLICATION {
            scope.spawn(|| drain(handle, &ends));
        }
        for submitted in 0..REQUESTS {
            while submitted - ends.count.load(Ordering::SeqCst) >= in_flight {
                thread::park();
            }
            let ends = &ends as *const Ends as *mut c_void;
            // SAFETY: the URL ends with NUL; `ends` lives until every request has ended.
            let token = unsafe {
                sdd_download(downloader, URL.as_ptr().cast(), SDD_OPTION_BYTES_ONLY, None, Some(on_completed), ends)
            };
            assert_ne!(token, 0);
        }
        while ends.count.load(Ordering::SeqCst) < REQUESTS {
            thread::park();
        }
        ends.is_over.store(true, Ordering::SeqCst);
    });
    let (wall, used) = (start.elapsed(), processor_time() - processor);
    unsafe { sdd_downloader_destroy(downloader) }; // SAFETY: ours
    let each = |time: Duration| time.as_secs_f64() * 1e6 / REQUESTS as f64;
    println!("{name:<20} {in_flight:>4} at a time: {:5.1} us wall, {:5.1} us processor", each(wall), each(used));
}

fn main() {
    for _ in 0..3 {
        for in_flight in [1, 64] {
            measure("callbacks", SDD_DELIVERY_THREAD, in_flight);
            measure("thread and drain", SDD_DELIVERY_APPLICATION, in_flight);
        }
    }
}
