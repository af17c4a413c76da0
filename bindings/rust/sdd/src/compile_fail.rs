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
