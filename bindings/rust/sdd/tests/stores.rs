//! Levels of a cache, and pixels, in memory of the application.

mod server;

use sdd::*;
use server::Server;
use std::alloc::{alloc, dealloc, Layout};
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<HashMap<String, Image>>>);

impl MemoryStore for Shelf {
    fn get(&self, key: &str) -> Option<Image> {
        self.0.lock().unwrap().get(key).cloned()
    }
    fn put(&self, key: &str, image: Image, cost: u64) {
        assert!(cost > u64::from(image.width() * image.height() * 4)); // and the encoded bytes
        self.0.lock().unwrap().insert(key.into(), image);
    }
    fn remove(&self, key: &str) {
        self.0.lock().unwrap().remove(key);
    }
    fn clear(&self) {
        self.0.lock().unwrap().clear();
    }
    fn trim(&self, trim: Trim) {
        assert_eq!(trim, Trim::All);
        self.clear();
    }
}

type Entries = HashMap<String, (Vec<u8>, Vec<u8>)>;

#[derive(Clone, Default)]
struct Table {
    entries: Arc<Mutex<Entries>>,
    trims: Arc<AtomicUsize>,
}

impl EntryStore for Table {
    const HAS_USAGE: bool = true;

    fn get(&self, key: &str) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        let copy = |bytes: &[u8]| Bytes::new(bytes).map_err(|_| StoreError);
        let entries = self.entries.lock().unwrap();
        entries.get(key).map(|(body, extra)| Ok((copy(body)?, copy(extra)?))).transpose()
    }
    fn put(&self, key: &str, body: &[u8], extra: &[u8]) -> Result<(), StoreError> {
        self.entries.lock().unwrap().insert(key.into(), (body.into(), extra.into()));
        Ok(())
    }
    fn remove(&self, key: &str) -> Result<(), StoreError> {
        self.entries.lock().unwrap().remove(key);
        Ok(())
    }
    fn clear(&self) -> Result<(), StoreError> {
        self.entries.lock().unwrap().clear();
        Ok(())
    }
    fn trim(&self, _: Option<u64>, _: Option<Duration>) -> Result<(), StoreError> {
        self.trims.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
    fn usage(&self) -> Result<(u64, u64), StoreError> {
        let entries = self.entries.lock().unwrap();
        Ok((entries.values().map(|(body, extra)| (body.len() + extra.len()) as u64).sum(), entries.len() as u64))
    }
}

fn directory(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("sdd-rust-{name}-{}", std::process::id()))
}

#[test]
fn levels_of_the_application() {
    let server = Server::new();
    let directory = directory("stores");
    let (shelf, table) = (Shelf::default(), Table::default());
    let builder = Cache::builder().directory(&directory).memory_store(shelf.clone()).entry_store(table.clone());
    let cache = builder.build().unwrap();
    let loader = Loader::builder().cache(&cache).build().unwrap();
    let request = LoadRequest::new(server.url("/a.png")).options(Options::WAIT_STORE_CACHE);
    assert_eq!(loader.load(&request).wait().unwrap().report.origin, Origin::Network);
    assert_eq!((shelf.0.lock().unwrap().len(), table.entries.lock().unwrap().len()), (1, 1));
    assert_eq!(loader.load(&request).wait().unwrap().report.origin, Origin::Memory);
    cache.trim_memory(Trim::All).unwrap();
    assert_eq!(loader.load(&request).wait().unwrap().report.origin, Origin::Disk);
    assert_eq!(cache.statistics().unwrap().disk_count, 1);
    cache.trim_disk().unwrap();
    assert!(table.trims.load(Ordering::SeqCst) > 0);
    // An entry that comes back changed is a miss.
    table.entries.lock().unwrap().values_mut().for_each(|(body, _)| body[20] ^= 1);
    cache.clear(Levels::Memory).unwrap();
    assert_eq!(loader.load(&request).wait().unwrap().report.origin, Origin::Network);
    cache.clear(Levels::All).unwrap();
    assert!(shelf.0.lock().unwrap().is_empty() && table.entries.lock().unwrap().is_empty());

    // Both are freed with the last cache and builder.
    let second = builder.build().unwrap();
    drop((loader, cache, second, builder));
    assert_eq!((Arc::strong_count(&shelf.0), Arc::strong_count(&table.entries)), (1, 1));
    std::fs::remove_dir_all(directory).unwrap();
    // One that is refused frees them as well.
    let builder = Cache::builder().name("a/b").memory_store(shelf.clone()).entry_store(table.clone());
    assert!(builder.build().is_err());
    drop(builder);
    assert_eq!((Arc::strong_count(&shelf.0), Arc::strong_count(&table.entries)), (1, 1));
}

struct Panicking;

impl MemoryStore for Panicking {
    fn get(&self, _: &str) -> Option<Image> {
        panic!()
    }
    fn put(&self, _: &str, _: Image, _: u64) {
        panic!()
    }
    fn remove(&self, _: &str) {
        panic!()
    }
    fn clear(&self) {
        panic!()
    }
}

impl EntryStore for Panicking {
    fn get(&self, _: &str) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        panic!()
    }
    fn put(&self, _: &str, _: &[u8], _: &[u8]) -> Result<(), StoreError> {
        panic!()
    }
    fn remove(&self, _: &str) -> Result<(), StoreError> {
        panic!()
    }
    fn clear(&self) -> Result<(), StoreError> {
        panic!()
    }
}

impl Drop for Panicking {
    fn drop(&mut self) {
        panic!("in the destructor of a store");
    }
}

#[test]
fn stores_that_panic() {
    std::panic::set_hook(Box::new(|_| {}));
    let server = Server::new();
    let directory = directory("panicking-stores");
    let builder = Cache::builder().directory(&directory).memory_store(Panicking).entry_store(Panicking);
    let cache = builder.build().unwrap();
    std::mem::forget(builder); // its destructor would panic here
    let loader = Loader::builder().cache(&cache).build().unwrap();
    let request = LoadRequest::new(server.url("/a.png"));
    for _ in 0..3 {
        assert_eq!(loader.load(&request).wait().unwrap().image.width(), 4);
    }
    assert_eq!(cache.clear(Levels::Disk).unwrap_err().status(), Status::CACHE);
    assert!(cache.clear(Levels::Memory).is_ok());
    assert!(cache.remove("key", Levels::All).is_err());
    drop((loader, cache));
    std::fs::remove_dir_all(directory).unwrap();
}

/// Counts its memory, and gives none if it is to fail.
struct Pool {
    taken: Mutex<usize>,
    released: Condvar,
    fails: bool,
}

impl Pool {
    const fn new(fails: bool) -> Self {
        Pool { taken: Mutex::new(0), released: Condvar::new(), fails }
    }

    /// Waits until so many are left: the library has references of its own until its callbacks have returned.
    fn wait(&self, left: usize) {
        let limit = Duration::from_secs(60);
        let waited = self.released.wait_timeout_while(self.taken.lock().unwrap(), limit, |taken| *taken != left);
        assert!(!waited.unwrap().1.timed_out());
    }
}

const ALIGNMENT: usize = 256;

// SAFETY: the memory is that of the global allocator.
unsafe impl PixelAllocator for Pool {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        assert!(!self.fails, "no memory");
        let layout = Layout::from_size_align(layout.size(), layout.align().max(ALIGNMENT)).ok()?;
        *self.taken.lock().unwrap() += 1;
        NonNull::new(unsafe { alloc(layout) })
    }

    unsafe fn release(&self, pixels: NonNull<u8>, size: usize) {
        dealloc(pixels.as_ptr(), Layout::from_size_align(size, ALIGNMENT).unwrap());
        *self.taken.lock().unwrap() -= 1;
        self.released.notify_all();
    }
}

static POOL: Pool = Pool::new(false);
static EMPTY: Pool = Pool::new(true);

#[test]
fn pixels_of_the_application() {
    std::panic::set_hook(Box::new(|_| {}));
    let server = Server::new();
    let allocator = Allocator::new(&POOL);
    assert_eq!(allocator, Allocator::new(&POOL));
    assert_ne!(allocator, Allocator::new(&EMPTY));
    let options = DecodeOptions::new().allocator(allocator);
    let loader = Loader::without_cache().unwrap();
    let load = |options: DecodeOptions| loader.load(LoadRequest::new(server.url("/a.png")).decode(options));
    let images: Vec<_> = (0..3).map(|_| load(options).wait().unwrap().image).collect();
    let clone = images[0].clone();
    assert_eq!(clone.pixels().unwrap().row(0).as_ptr() as usize % ALIGNMENT, 0);
    POOL.wait(3);
    drop(images);
    POOL.wait(1);
    drop(clone);
    POOL.wait(0);

    // Decoded later, and batches.
    let lazy = LoadRequest::new(server.url("/b.png")).decode(options).options(Options::AVOID_DECODE_IMAGE);
    let lazy = loader.load(lazy).wait().unwrap().image;
    drop(loader.batch([server.url("/c.png")]).decode(options).images().unwrap());
    assert_eq!(lazy.pixels().unwrap().width(), 4);
    drop(lazy);
    POOL.wait(0);

    let error = load(DecodeOptions::new().allocator(Allocator::new(&EMPTY))).wait().unwrap_err();
    assert_eq!(error.detail(), sys::SDD_DETAIL_IMAGE_NO_MEMORY);
    assert!(matches!(error, Error::System(_)));
}

#[test]
fn statistics_tell_the_last_error() {
    let directory = directory("last-error");
    let cache = Cache::builder().directory(&directory).build().unwrap();
    assert_eq!(cache.statistics().unwrap().last_error, 0);
    // The cache's first trim may still write into the directory while it is being removed.
    let is_replaced = (0..1000).any(|_| {
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::write(&directory, "a file in its place").is_ok()
    });
    assert!(is_replaced);
    assert!(cache.store(&CacheItem::new("key").bytes(&Bytes::new(b"bytes").unwrap())).is_err());
    let statistics = cache.statistics().unwrap();
    assert!(statistics.errors > 0 && statistics.last_error > 0, "{statistics:?}");
    drop(cache);
    std::fs::remove_file(directory).unwrap();
}
