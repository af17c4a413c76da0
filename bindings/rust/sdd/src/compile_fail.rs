//! Programs that the compiler must refuse, as tests of the documentation. Each stands after one that it accepts.

/// A draft stays on the thread of its modifier.
///
/// ```
/// sdd::Modifiers::new().request(|draft| draft.set_header("X", None).map_err(|_| sdd::Refused));
/// ```
///
/// ```compile_fail,E0277
/// sdd::Modifiers::new().request(|draft| {
///     std::thread::scope(|scope| scope.spawn(|| draft.set_header("X", None).is_ok()).join().unwrap());
///     Ok(())
/// });
/// ```
///
/// Closures of requests run on another thread, so they cannot hold what stays on one.
///
/// ```
/// let shared = std::sync::Arc::new(7);
/// sdd::Callbacks::new().progress(move |_| assert_eq!(*shared, 7));
/// ```
///
/// ```compile_fail,E0277
/// let shared = std::rc::Rc::new(7);
/// sdd::Callbacks::new().progress(move |_| assert_eq!(*shared, 7));
/// ```
///
/// They may run after the function that made them has returned.
///
/// ```compile_fail,E0597
/// let counter = std::sync::atomic::AtomicU32::new(0);
/// let counter = &counter;
/// sdd::Callbacks::new().progress(move |_| drop(counter.load(std::sync::atomic::Ordering::SeqCst)));
/// ```
///
/// ```compile_fail,E0277
/// let shared = std::rc::Rc::new(7);
/// sdd::Loader::shared().load("https://host/").on_end(move |_| assert_eq!(*shared, 7));
/// ```
///
/// Modifiers, decisions and transforms may run on several threads at a time.
///
/// ```compile_fail,E0277
/// let count = std::cell::Cell::new(0);
/// sdd::Transform::custom("key", move |_| { count.set(1); None });
/// ```
///
/// ```compile_fail,E0277
/// let count = std::cell::Cell::new(0);
/// sdd::Loader::builder().should_download(move |_| { count.set(1); true });
/// ```
///
/// ```compile_fail,E0277
/// struct Counting(std::cell::Cell<u32>);
/// impl sdd::Transport for Counting {
///     fn start(&self, _: sdd::Transfer, _: &sdd::TransferRequest<'_>) {}
/// }
/// ```
///
/// A decoder may move from one thread to another between two calls.
///
/// ```compile_fail,E0277
/// struct Shared(std::rc::Rc<u32>);
/// impl sdd::Decoder for Shared {
///     fn feed(&mut self, _: &[u8], _: bool) -> Result<(), sdd::CoderError> { Ok(()) }
///     fn next(&mut self) -> Result<Option<sdd::Frame<'_>>, sdd::CoderError> { Ok(None) }
/// }
/// ```
///
/// So may the URLs of a batch, and stores of a cache are used by several threads at a time.
///
/// ```
/// drop(sdd::Downloader::shared().batch(std::iter::empty::<String>()).images());
/// ```
///
/// ```compile_fail,E0277
/// let url = std::rc::Rc::new(String::new());
/// drop(sdd::Downloader::shared().batch((0..1).map(move |_| url.to_string())).images());
/// ```
///
/// ```compile_fail,E0597
/// let urls = vec![String::new()];
/// drop(sdd::Downloader::shared().batch(urls.iter().map(|url| url.as_str())).images());
/// ```
///
/// ```compile_fail,E0277
/// struct Counting(std::cell::Cell<u32>);
/// impl sdd::MemoryStore for Counting {
///     fn get(&self, _: &str) -> Option<sdd::Image> { None }
///     fn put(&self, _: &str, _: sdd::Image, _: u64) {}
///     fn remove(&self, _: &str) {}
///     fn clear(&self) {}
/// }
/// ```
///
/// ```compile_fail,E0277
/// struct Counting(std::cell::Cell<u32>);
/// unsafe impl sdd::PixelAllocator for Counting {
///     fn allocate(&self, _: std::alloc::Layout) -> Option<std::ptr::NonNull<u8>> { None }
///     unsafe fn release(&self, _: std::ptr::NonNull<u8>, _: usize) {}
/// }
/// ```
///
/// Callbacks, prefetch lists and results may move to another thread, but not be shared.
///
/// ```
/// fn send<T: Send>() {}
/// send::<(sdd::Callbacks, sdd::PrefetchList, sdd::Results<sdd::Picture>)>();
/// ```
///
/// ```compile_fail,E0277
/// fn sync<T: Sync>() {}
/// sync::<sdd::Callbacks>();
/// ```
///
/// ```compile_fail,E0277
/// fn sync<T: Sync>() {}
/// sync::<sdd::Results<sdd::Picture>>();
/// ```
mod threads {}

/// Borrowed pixels, texts and metadata end with their image.
///
/// ```compile_fail,E0597
/// let row: &[u8];
/// {
///     let image = sdd::Image::decode(&[]).unwrap();
///     row = image.pixels().unwrap().bytes().unwrap();
/// }
/// println!("{}", row.len());
/// ```
///
/// ```compile_fail,E0505
/// let image = sdd::Image::decode(&[]).unwrap();
/// let texts: Vec<_> = image.texts().collect();
/// drop(image);
/// println!("{}", texts.len());
/// ```
///
/// ```compile_fail,E0505
/// let image = sdd::Image::decode(&[]).unwrap();
/// let profile = image.metadata(sdd::Metadata::Icc).unwrap();
/// drop(image);
/// println!("{}", profile.is_some());
/// ```
///
/// The strings of a response end with it.
///
/// ```compile_fail,E0505
/// fn url(response: sdd::Response) {
///     let url = response.url();
///     drop(response);
///     println!("{}", url);
/// }
/// ```
///
/// A clone of an image keeps its pixels.
///
/// ```
/// let image = sdd::Image::from_pixels(1, 1, sdd::PixelFormat::Grey8, &[7], 1).unwrap();
/// let clone = image.clone();
/// drop(image);
/// assert_eq!(clone.pixels().unwrap().row(0), [7]);
/// ```
///
/// The strings of a draft end when it changes.
///
/// ```compile_fail,E0502
/// sdd::Modifiers::new().request(|draft| {
///     let url = draft.url();
///     draft.set_method("HEAD").unwrap();
///     println!("{}", url);
///     Ok(())
/// });
/// ```
///
/// The request of a transport ends with `start`.
///
/// ```compile_fail
/// struct Keeping(std::sync::Mutex<Vec<&'static str>>);
/// impl sdd::Transport for Keeping {
///     fn start(&self, _: sdd::Transfer, request: &sdd::TransferRequest<'_>) {
///         self.0.lock().unwrap().push(request.url);
///     }
/// }
/// ```
///
/// A frame's pixels live in its decoder.
///
/// ```compile_fail,E0515
/// struct Local;
/// impl sdd::Decoder for Local {
///     fn feed(&mut self, _: &[u8], _: bool) -> Result<(), sdd::CoderError> { Ok(()) }
///     fn next(&mut self) -> Result<Option<sdd::Frame<'_>>, sdd::CoderError> {
///         let pixels = vec![0];
///         Ok(Some(sdd::Frame::new(1, 1, sdd::PixelFormat::Grey8, &pixels)))
///     }
/// }
/// ```
///
/// A transfer ends once.
///
/// ```compile_fail,E0382
/// fn end(mut transfer: sdd::Transfer) {
///     transfer.finish();
///     transfer.write(b"late").unwrap();
/// }
/// ```
///
/// The pixels of a slot end when it is released, and with the next item; a slot is released once.
///
/// ```
/// fn sum(batch: &mut sdd::TensorBatch<'_>, slot: sdd::Slot) {
///     let pixels = batch.pixels(&slot);
///     println!("{}", pixels.len());
///     batch.release(slot).unwrap();
/// }
/// ```
///
/// ```compile_fail,E0502
/// fn sum(batch: &mut sdd::TensorBatch<'_>, slot: sdd::Slot, other: sdd::Slot) {
///     let pixels = batch.pixels(&slot);
///     batch.release(other).unwrap();
///     println!("{}", pixels.len());
/// }
/// ```
///
/// ```compile_fail,E0502
/// fn sum(batch: &mut sdd::TensorBatch<'_>, slot: sdd::Slot) {
///     let pixels = batch.pixels(&slot);
///     batch.next();
///     println!("{}", pixels.len());
/// }
/// ```
///
/// ```compile_fail,E0382
/// fn release(batch: &mut sdd::TensorBatch<'_>, slot: sdd::Slot) {
///     batch.release(slot).unwrap();
///     batch.release(slot).unwrap();
/// }
/// ```
///
/// A batch in a slice of the caller ends with its call: it cannot be kept, nor exchanged for another one.
///
/// ```
/// fn count(builder: sdd::BatchBuilder, pixels: &mut [u8]) -> Result<usize, sdd::Error> {
///     builder.fill(&sdd::Tensor::new(1, 1), pixels, |batch| batch.count())
/// }
/// ```
///
/// ```compile_fail
/// fn keep(builder: sdd::BatchBuilder, pixels: &mut [u8]) {
///     let mut kept = None;
///     builder.fill(&sdd::Tensor::new(1, 1), pixels, |batch| kept = Some(batch)).unwrap();
/// }
/// ```
///
/// ```compile_fail
/// fn exchange(one: sdd::BatchBuilder, other: sdd::BatchBuilder, pixels: &mut [u8], more: &mut [u8]) {
///     let tensor = sdd::Tensor::new(1, 1);
///     one.fill(&tensor, pixels, |outer| {
///         other.fill(&tensor, more, |inner| std::mem::swap(outer, inner)).unwrap()
///     })
///     .unwrap();
/// }
/// ```
///
/// What a closure is lent ends with its call: a URL that failed, why it did, and an entry of a cache.
///
/// ```
/// let failed = std::sync::Mutex::new(Vec::new());
/// sdd::Loader::builder().should_block_failed_url(move |url, error| {
///     failed.lock().unwrap().push((url.to_owned(), error.clone()));
///     None
/// });
/// ```
///
/// ```compile_fail
/// let failed = std::sync::Mutex::new(Vec::<&str>::new());
/// sdd::Loader::builder().should_block_failed_url(move |url, _| {
///     failed.lock().unwrap().push(url);
///     None
/// });
/// ```
///
/// ```compile_fail
/// let failed = std::sync::Mutex::new(Vec::<&sdd::Error>::new());
/// sdd::Loader::builder().should_block_failed_url(move |_, error| {
///     failed.lock().unwrap().push(error);
///     None
/// });
/// ```
///
/// ```
/// let mut keys = Vec::new();
/// drop(sdd::Cache::builder().levels(sdd::Levels::Memory).build().unwrap().list(false, |entry| {
///     keys.push(entry.file.clone().into_owned());
///     sdd::Listing::Next
/// }));
/// ```
///
/// ```compile_fail
/// let mut keys = Vec::new();
/// drop(sdd::Cache::builder().levels(sdd::Levels::Memory).build().unwrap().list(false, |entry| {
///     keys.push(&entry.file);
///     sdd::Listing::Next
/// }));
/// ```
///
/// A report and its response are the caller's own; what they lend ends with them.
///
/// ```
/// fn response(item: sdd::BatchItem<sdd::Image>) -> Option<sdd::Response> {
///     item.report.response
/// }
/// ```
///
/// ```compile_fail,E0505
/// fn address(picture: sdd::Picture) {
///     let address = picture.report.metrics.remote_address.as_str();
///     drop(picture);
///     println!("{}", address);
/// }
/// ```
///
/// ```compile_fail,E0515
/// fn kind<'a>(item: sdd::BatchItem<sdd::Image>) -> &'a str {
///     item.report.response.as_ref().map_or("", |response| response.mime_type())
/// }
/// ```
///
/// ```compile_fail,E0505
/// fn message(error: sdd::Error) {
///     let message = error.message();
///     drop(error);
///     println!("{}", message);
/// }
/// ```
///
/// A closure of a modifier cannot keep the draft.
///
/// ```compile_fail
/// let kept = std::sync::Mutex::new(Vec::new());
/// sdd::Modifiers::new().request(move |draft| {
///     kept.lock().unwrap().push(draft);
///     Ok(())
/// });
/// ```
mod lifetimes {}
