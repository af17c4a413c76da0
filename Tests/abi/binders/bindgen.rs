// Uses bindgen's output for the header: a status compares with its constants, options with their bits, structs have
// their size, and requests end, with and without waiting.
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case, dead_code)]
include!(env!("BINDINGS"));

use std::ffi::CStr;
use std::os::raw::c_void;

unsafe extern "C" fn completed(result: *const sdd_result, user_data: *mut c_void) {
    *(user_data as *mut i32) += if (*result).failure.status == SDD_ERROR_INVALID_URL { 1 } else { 100 };
}

fn main() {
    unsafe {
        assert_eq!(CStr::from_ptr(sdd_version_string()).to_bytes_with_nul(), SDD_VERSION_STRING);
        let mut completions = 0i32;
        let mut request: sdd_download_request = std::mem::zeroed();
        request.struct_size = std::mem::size_of::<sdd_download_request>() as _;
        request.url = b"not a URL\0".as_ptr() as *const _;
        request.options = SDD_OPTION_BYTES_ONLY | SDD_OPTION_USE_HTTP_CACHE;
        request.priority = SDD_PRIORITY_HIGH;
        let mut result: *mut sdd_result = std::ptr::null_mut();
        let status: sdd_status = sdd_downloader_submit_wait(std::ptr::null_mut(), &request, 30000, &mut result);
        assert!(status == SDD_ERROR_INVALID_URL && (*result).failure.detail == SDD_DETAIL_URL_MALFORMED);
        sdd_result_release(result);
        request.completed = Some(completed);
        request.user_data = &mut completions as *mut i32 as *mut c_void;
        assert!(sdd_downloader_submit(std::ptr::null_mut(), &request) != 0);
        assert!(sdd_downloader_idle_wait(std::ptr::null_mut(), 30000) == SDD_OK);
        assert_eq!(completions, 1);
    }
    println!("ok bindgen");
}
