"""The C interface of libsdd (sdd/sdd.h) for ctypes: what these examples use of it, and little on top.

`lib` is the library, its functions declared. SDD_LIBRARY in the environment names the file to load;
without it the dynamic loader looks for libsdd.so.0 in its usual places. What the fields and functions do
stands in the header.
"""

import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64,
                    c_void_p)

OK = 0
ERROR_NOT_MODIFIED = 1002
ERROR_BLOCKED = 1003
ERROR_NOT_CACHED = 1004
ERROR_CANCELLED = 2002
ERROR_NOT_FOUND = 4002
OPTION_LOW_PRIORITY = 1 << 0
OPTION_HIGH_PRIORITY = 1 << 1
OPTION_HANDLE_COOKIES = 1 << 2
OPTION_PROGRESSIVE_LOAD = 1 << 7
OPTION_PROGRESS_EVENTS = 1 << 8
OPTION_BYTES_ONLY = 1 << 10
OPTION_SCALE_DOWN_LARGE_IMAGES = 1 << 11
OPTION_AVOID_DECODE_IMAGE = 1 << 12
OPTION_DECODE_FIRST_FRAME_ONLY = 1 << 13
OPTION_USE_HTTP_CACHE = 1 << 16
OPTION_RETRY_FAILED = 1 << 18
OPTION_REFRESH_CACHED = 1 << 19
OPTION_FROM_CACHE_ONLY = 1 << 20
OPTION_FROM_LOADER_ONLY = 1 << 21
OPTION_WAIT_STORE_CACHE = 1 << 22
OPTION_QUERY_MEMORY_DATA = 1 << 23
OPTION_QUERY_MEMORY_DATA_SYNC = 1 << 24
OPTION_QUERY_DISK_DATA_SYNC = 1 << 25
PRIORITY_DEFAULT, PRIORITY_VERY_LOW, PRIORITY_LOW, PRIORITY_NORMAL, PRIORITY_HIGH, PRIORITY_VERY_HIGH = range(6)
ORDER_FIFO, ORDER_LIFO = 0, 1
DELIVERY_THREAD, DELIVERY_APPLICATION = 0, 1
PIXEL_FORMAT_RGB8_PLANAR = 9
FIT_INSIDE, FIT_FILL, FIT_STRETCH = 0, 1, 2
CACHE_DEFAULT, CACHE_MEMORY, CACHE_DISK, CACHE_ALL = range(4)
CACHE_NONE = -1
WANT_IMAGE, WANT_BYTES, WANT_BOTH = 1, 2, 3
ORIGIN_NETWORK, ORIGIN_MEMORY, ORIGIN_DISK, ORIGIN_HTTP_FRESH, ORIGIN_HTTP_REVALIDATED, ORIGIN_HTTP_STALE = range(6)
BATCH_AS_COMPLETED, BATCH_ORDERED = 0, 1
TENSOR_HWC, TENSOR_CHW = 0, 1
TENSOR_FILL, TENSOR_STRETCH, TENSOR_INSIDE = 0, 1, 2
TENSOR_SLOT_OF_INDEX, TENSOR_NEXT_SLOT = 0, 1
EVENT_PROGRESS, EVENT_COMPLETED, EVENT_START, EVENT_RESPONSE, EVENT_FINISH, EVENT_STOP, EVENT_LOG = range(1, 8)
EVENT_PREVIEW, EVENT_FACTS, EVENT_RETRY, EVENT_CACHED = range(8, 12)
FAIL_POLICY_BACK_OFF, FAIL_POLICY_SDWEBIMAGE, FAIL_POLICY_NONE = range(3)
TRANSFORM_RESIZE, TRANSFORM_CROP, TRANSFORM_FLIP, TRANSFORM_ROTATE, TRANSFORM_ROUND_CORNERS = range(1, 6)


class Sized(Structure):
    """A struct that begins with struct_size: all defaults, but for the fields given by name.

    ctypes keeps the bytes objects of its c_char_p fields alive as long as the struct.
    """

    def __init__(self, **fields):
        super().__init__(ctypes.sizeof(self), **fields)


class Timings(Sized):
    _fields_ = [("struct_size", c_size_t), ("queue_us", c_int64), ("name_lookup_us", c_int64),
                ("connect_us", c_int64), ("tls_us", c_int64), ("first_byte_us", c_int64),
                ("transfer_us", c_int64), ("decode_us", c_int64), ("total_us", c_int64), ("delivery_us", c_int64),
                ("cache_us", c_int64), ("store_us", c_int64)]


class Metrics(Sized):
    _fields_ = [("struct_size", c_size_t), ("request_bytes", c_int64), ("response_header_bytes", c_int64),
                ("response_body_bytes", c_int64), ("body_bytes", c_int64), ("http_version", c_int32),
                ("connection_reused", c_int32), ("redirects", c_int32), ("attempts", c_int32),
                ("remote_port", c_int32), ("reserved", c_int32), ("remote_address", c_char_p), ("saved_bytes", c_int64),
                ("resumed_bytes", c_int64)]


class SourceError(Sized):
    _fields_ = [("struct_size", c_size_t), ("url", c_char_p), ("error", c_int32), ("detail", c_int32),
                ("http_status", c_int32), ("retryable", c_int32), ("message", c_char_p)]


class Result(Sized):
    _fields_ = [("struct_size", c_size_t), ("token", c_uint64), ("url", c_char_p), ("image", c_void_p),
                ("bytes", c_void_p), ("error", c_int32), ("detail", c_int32), ("http_status", c_int32),
                ("curl_code", c_int32), ("system_error", c_int32), ("finished", c_int32),
                ("message", c_char_p), ("timings", POINTER(Timings)),
                ("response", c_void_p), ("metrics", POINTER(Metrics)), ("error_class", c_int32), ("stage", c_int32),
                ("retryable", c_int32), ("origin", c_int32), ("extended", c_void_p), ("sources", POINTER(SourceError)),
                ("source_count", c_size_t), ("end_unproven", c_int32), ("reserved", c_int32), ("transformed", c_int32),
                ("reserved2", c_int32)]


# ctypes takes the GIL for a callback, on whichever thread it comes. Keep a reference to the callback
# object for as long as the library may call it.
Completed = CFUNCTYPE(None, POINTER(Result), c_void_p)
Progress = CFUNCTYPE(None, c_uint64, c_int64, c_int64, c_char_p, c_void_p)
UserDataFree = CFUNCTYPE(None, c_void_p)


class Header(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class Credential(Sized):
    _fields_ = [("struct_size", c_size_t), ("username", c_char_p), ("password", c_char_p), ("schemes", c_uint64),
                ("bearer_token", c_char_p), ("client_certificate", c_char_p), ("client_key", c_char_p),
                ("client_key_password", c_char_p)]


class PixelAllocator(Sized):
    _fields_ = [("struct_size", c_size_t), ("allocate", c_void_p), ("release", c_void_p), ("user_data", c_void_p)]


class DecodeOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("pixel_format", c_int32), ("keep_orientation", c_int32),
                ("background", c_uint32), ("fit", c_int32), ("target_width", c_int32), ("target_height", c_int32),
                ("scale_down_limit_bytes", c_int64), ("row_alignment", c_int32), ("allow_enlarging", c_int32),
                ("allocator", POINTER(PixelAllocator)), ("pixels", c_void_p), ("pixels_size", c_size_t),
                ("pixels_stride", c_size_t), ("integrity", c_int32), ("format_hint", c_int32),
                ("scaling", c_int32), ("reserved", c_int32)]


class DownloadRequest(Sized):
    _fields_ = [("struct_size", c_size_t), ("url", c_char_p), ("options", c_uint64), ("method", c_char_p),
                ("headers", POINTER(Header)), ("header_count", c_size_t), ("body", c_void_p), ("body_size", c_size_t),
                ("progress", Progress), ("completed", Completed), ("user_data", c_void_p),
                ("user_data_free", UserDataFree),
                ("referrer", c_char_p), ("range", c_char_p), ("priority", c_int32), ("reserved", c_int32),
                ("queue_timeout_ms", c_int64), ("connect_timeout_ms", c_int64), ("first_byte_timeout_ms", c_int64),
                ("download_timeout_ms", c_int64), ("total_timeout_ms", c_int64), ("accepted_status_codes", c_char_p),
                ("accepted_content_types", c_char_p), ("credential", POINTER(Credential)), ("modifiers", c_void_p),
                ("sink", c_int32), ("sink_fd", c_int32), ("decode", POINTER(DecodeOptions)),
                ("preview", Completed), ("facts", c_void_p), ("integrity", c_char_p), ("expected_bytes", c_int64),
                ("max_attempts", c_int32), ("reserved2", c_int32), ("low_speed_limit", c_int64),
                ("low_speed_time_ms", c_int64), ("redirects", c_int32), ("max_redirects", c_int32),
                ("max_body_bytes", c_int64), ("ca_file", c_char_p)]


class CallbackOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("on_thread_start", UserDataFree), ("on_thread_stop", UserDataFree),
                ("thread_user_data", c_void_p), ("min_progress_interval", c_double),
                ("min_progress_interval_ms", c_int64), ("min_preview_interval_ms", c_int64),
                ("min_preview_bytes", c_int64), ("min_preview_scans", c_int32), ("reserved", c_int32)]


class NetworkOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("ca_file", c_char_p), ("ca_path", c_char_p), ("min_tls_version", c_int32),
                ("http_version", c_int32), ("max_redirects", c_int32), ("allow_downgrade", c_int32),
                ("allow_file_urls", c_int32), ("ip_version", c_int32), ("address_policy", c_int32),
                ("proxy_mode", c_int32), ("address_filter", c_void_p), ("address_filter_user_data", c_void_p),
                ("proxy", c_char_p), ("no_proxy", c_char_p), ("network_interface", c_char_p),
                ("unix_socket_path", c_char_p), ("resolve", POINTER(c_char_p)), ("resolve_count", c_size_t),
                ("dns_servers", c_char_p), ("dns_cache_ms", c_int64), ("max_connections", c_int32),
                ("max_connections_per_host", c_int32), ("max_idle_connections", c_int32), ("tcp_keepalive_s", c_int32),
                ("receive_buffer_bytes", c_int32), ("reserved", c_int32), ("cookie_file", c_char_p),
                ("address_exceptions", POINTER(c_char_p)), ("address_exception_count", c_size_t),
                ("no_data_urls", c_int32), ("reserved2", c_int32)]


class Limits(Sized):
    _fields_ = [("struct_size", c_size_t), ("queue_timeout_ms", c_int64), ("connect_timeout_ms", c_int64),
                ("first_byte_timeout_ms", c_int64), ("download_timeout_ms", c_int64), ("total_timeout_ms", c_int64),
                ("low_speed_limit", c_int64), ("low_speed_time_ms", c_int64), ("max_body_bytes", c_int64),
                ("max_header_bytes", c_int64), ("max_header_count", c_int32), ("max_scans", c_int32),
                ("max_pixels", c_int64), ("decode_time_ms", c_int64), ("decode_time_ms_per_mib", c_int64),
                ("max_decode_bytes", c_int64), ("max_decode_ratio", c_int64)]


class RetryOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("max_attempts", c_int32), ("budget", c_int32), ("delay_ms", c_int64),
                ("max_delay_ms", c_int64)]


class Config(Sized):
    _fields_ = [("struct_size", c_size_t), ("delivery", c_int32), ("max_concurrent_downloads", c_int32),
                ("max_concurrent_per_host", c_int32), ("decode_threads", c_int32), ("execution_order", c_int32),
                ("reserved_urgent_slots", c_int32), ("ageing_ms", c_int64), ("min_host_interval_ms", c_int64),
                ("accepted_status_codes", c_char_p), ("accepted_content_types", c_char_p),
                ("credential", POINTER(Credential)), ("modifiers", c_void_p), ("cache", c_void_p),
                ("http_cache", c_int32), ("resume", c_int32), ("callbacks", POINTER(CallbackOptions)),
                ("network", POINTER(NetworkOptions)), ("limits", POINTER(Limits)), ("retry", POINTER(RetryOptions))]


class TokenInfo(Sized):
    _fields_ = [("struct_size", c_size_t), ("state", c_int32), ("priority", c_int32), ("effective_priority", c_int32),
                ("http_status", c_int32), ("received_bytes", c_int64), ("expected_bytes", c_int64),
                ("waiting_us", c_int64), ("running_us", c_int64)]


class Statistics(Sized):
    _fields_ = [("struct_size", c_size_t)] + [(name, c_int64) for name in (
        "requests", "requests_joined", "requests_succeeded", "requests_failed", "requests_cancelled",
        "transfers_started", "transfers_succeeded", "connections_opened", "request_bytes", "response_header_bytes",
        "response_body_bytes", "body_bytes", "images_decoded", "decode_us", "waiting", "running", "decoding",
        "receiving_bytes", "waiting_bytes", "undelivered_bytes", "decode_memory_bytes")]


class ImageFacts(Sized):
    _fields_ = [("struct_size", c_size_t)] + [(name, c_int32) for name in (
        "format", "width", "height", "channels", "depth", "is_progressive", "is_animated", "frame_count", "loop_count",
        "orientation")]


class ImageInfo(Sized):
    _fields_ = [("struct_size", c_size_t), ("stride", c_size_t), ("pixels_size", c_size_t)] + [
        (name, c_int32) for name in (
            "width", "height", "pixel_format", "format", "stored_width", "stored_height", "orientation", "depth",
            "has_alpha", "is_scaled", "good_rows", "is_preview", "is_partial", "is_decoded")]


class Cookie(Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("value", c_char_p), ("domain", c_char_p),
                ("path", c_char_p), ("expires", c_int64), ("include_subdomains", c_int32), ("secure", c_int32),
                ("http_only", c_int32), ("reserved", c_int32)]


class CacheConfig(Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("directory", c_char_p),
                ("read_only_directories", POINTER(c_char_p)), ("read_only_count", c_size_t), ("levels", c_int32),
                ("no_live_images", c_int32), ("max_memory_cost", c_int64), ("max_memory_count", c_int64),
                ("watch_memory_pressure", c_int32), ("sync", c_int32), ("max_disk_bytes", c_int64),
                ("max_disk_age_ms", c_int64), ("disk_date", c_int32), ("low_water_percent", c_int32),
                ("trim_interval_ms", c_int64), ("map_from_bytes", c_int64), ("share_wait_ms", c_int64),
                ("max_part_bytes", c_int64), ("max_part_age_ms", c_int64), ("ignored_query_parameters", c_char_p),
                ("key_filter", c_void_p), ("serializer", c_void_p), ("user_data", c_void_p),
                ("user_data_free", UserDataFree), ("max_queued_bytes", c_int64), ("destroy_timeout_ms", c_int64),
                ("memory_store", c_void_p), ("entry_store", c_void_p)]


class CacheItem(Sized):
    _fields_ = [("struct_size", c_size_t), ("key", c_char_p), ("image", c_void_p), ("bytes", c_void_p),
                ("extended", c_void_p), ("levels", c_int32), ("reserved", c_int32), ("completed", Completed),
                ("user_data", c_void_p), ("user_data_free", UserDataFree)]


class Query(Sized):
    _fields_ = [("struct_size", c_size_t), ("key", c_char_p), ("levels", c_int32), ("wants", c_int32),
                ("decode", POINTER(DecodeOptions)), ("options", c_uint64), ("completed", Completed),
                ("user_data", c_void_p), ("user_data_free", UserDataFree)]


class CacheStatistics(Sized):
    _fields_ = [("struct_size", c_size_t)] + [(name, c_int64) for name in (
        "memory_hits", "memory_misses", "disk_hits", "disk_misses", "disk_read_bytes", "disk_written_bytes",
        "entries_written", "entries_damaged", "errors", "trims", "entries_trimmed", "trimmed_bytes", "memory_evictions",
        "http_fresh", "http_revalidated", "http_stale", "http_misses", "shared_downloads", "resumed_downloads",
        "resumed_bytes", "memory_cost", "memory_count", "max_memory_cost", "disk_bytes", "disk_count")] + [
            ("last_error", c_int32), ("reserved", c_int32), ("writes_dropped", c_int64), ("queued_bytes", c_int64)]


class Tensor(Sized):
    _fields_ = [("struct_size", c_size_t), ("pixels", c_void_p), ("slot_count", c_size_t), ("slot_stride", c_size_t),
                ("width", c_int32), ("height", c_int32), ("pixel_format", c_int32), ("layout", c_int32),
                ("fit", c_int32), ("slot_choice", c_int32), ("background", c_uint32), ("reserved", c_int32)]


class BatchSource(Sized):
    _fields_ = [("struct_size", c_size_t), ("url", c_char_p), ("id", c_uint64)]


class BatchConfig(Sized):
    _fields_ = [("struct_size", c_size_t), ("downloader", c_void_p), ("loader", c_void_p),
                ("urls", POINTER(c_char_p)), ("ids", POINTER(c_uint64)), ("count", c_size_t), ("next", c_void_p), ("user_data", c_void_p),
                ("tensor", POINTER(Tensor)), ("decode", POINTER(DecodeOptions)), ("options", c_uint64),
                ("deadline_ms", c_int64), ("look_ahead", c_int32), ("order", c_int32), ("max_attempts", c_int32),
                ("reserved", c_int32), ("responses", c_int32), ("reserved2", c_int32)]


class BatchItem(Sized):
    _fields_ = [("struct_size", c_size_t), ("id", c_uint64), ("index", c_int64), ("slot", c_int64), ("error", c_int32),
                ("detail", c_int32), ("http_status", c_int32), ("origin", c_int32), ("width", c_int32),
                ("height", c_int32), ("image", c_void_p), ("bytes", c_void_p), ("time_us", c_int64),
                ("response", c_void_p), ("transformed", c_int32), ("reserved", c_int32), ("message", ctypes.c_char * 256)]


class BatchStatistics(Sized):
    _fields_ = [("struct_size", c_size_t)] + [(name, c_int64) for name in (
        "items", "succeeded", "failed", "cancelled", "bytes", "pixels", "elapsed_us")] + [
            ("items_per_second", c_double), ("bytes_per_second", c_double)]


class BatchStatus(Sized):
    _fields_ = [("struct_size", c_size_t), ("items", c_int64), ("error", c_int32), ("detail", c_int32),
                ("http_status", c_int32), ("reserved", c_int32)]


class BatchHost(Sized):
    _fields_ = [("struct_size", c_size_t), ("items", c_int64), ("failed", c_int64), ("bytes", c_int64),
                ("time_us", c_int64), ("host", ctypes.c_char * 256)]


class Transform(Sized):
    _fields_ = [("struct_size", c_size_t)] + [(name, c_int32) for name in (
        "kind", "fit", "x", "y", "width", "height", "flip", "degrees", "radius", "corners")] + [
            ("key", c_char_p), ("callback", c_void_p), ("user_data", c_void_p), ("allow_enlarging", c_int32),
            ("reserved", c_int32)]


class LoadRequest(Sized):
    _fields_ = [("struct_size", c_size_t), ("url", c_char_p), ("options", c_uint64), ("progress", Progress),
                ("completed", Completed), ("user_data", c_void_p), ("user_data_free", UserDataFree),
                ("decode", POINTER(DecodeOptions)), ("transforms", POINTER(Transform)), ("transform_count", c_size_t),
                ("alternatives", POINTER(c_char_p)), ("alternative_count", c_size_t), ("cache_key", c_char_p),
                ("query", c_int32), ("store", c_int32), ("original_query", c_int32), ("original_store", c_int32),
                ("priority", c_int32), ("reserved", c_int32), ("total_timeout_ms", c_int64),
                ("download", POINTER(DownloadRequest)), ("preview", Completed), ("facts", c_void_p),
                ("cached", Completed)]


class LoaderConfig(Sized):
    _fields_ = [("struct_size", c_size_t), ("downloader", c_void_p), ("cache", c_void_p), ("original_cache", c_void_p),
                ("no_cache", c_int32), ("fail_policy", c_int32), ("should_download", c_void_p),
                ("should_block_failed_url", c_void_p), ("options_processor", c_void_p), ("user_data", c_void_p),
                ("user_data_free", UserDataFree)]


class Notice(Sized):
    _fields_ = [("struct_size", c_size_t), ("kind", c_int32), ("level", c_int32), ("transfer", c_uint64),
                ("token", c_uint64), ("url", c_char_p), ("time_us", c_int64), ("http_status", c_int32),
                ("error", c_int32), ("message", c_char_p), ("attempt", c_int32), ("reserved", c_int32),
                ("delay_us", c_int64)]


class Event(Sized):
    _fields_ = [("struct_size", c_size_t), ("token", c_uint64), ("user_data", c_void_p), ("kind", c_int32),
                ("error", c_int32), ("image", c_void_p), ("bytes", c_void_p), ("received_bytes", c_int64),
                ("expected_bytes", c_int64), ("result", POINTER(Result)), ("notice", POINTER(Notice)),
                ("facts", POINTER(ImageFacts)), ("prefetch", c_void_p), ("index", c_size_t)]


Observer = CFUNCTYPE(None, POINTER(Notice), c_void_p)

# CDLL, not PyDLL: the GIL is released during every call, so that a call that waits lets callbacks run.
lib = ctypes.CDLL(os.environ.get("SDD_LIBRARY", "libsdd.so.0"))


def _declare(name, result, *arguments):
    function = getattr(lib, name)
    function.restype = result
    function.argtypes = arguments


_declare("sdd_version", c_uint32)
_declare("sdd_version_string", c_char_p)
_declare("sdd_status_name", c_char_p, c_int32)
_declare("sdd_status_message", c_char_p, c_int32)
_declare("sdd_last_error_message", c_char_p)
_declare("sdd_image_retain", c_void_p, c_void_p)
_declare("sdd_image_release", None, c_void_p)
_declare("sdd_image_width", c_int32, c_void_p)
_declare("sdd_image_height", c_int32, c_void_p)
_declare("sdd_image_stride", c_size_t, c_void_p)
_declare("sdd_image_pixels", c_void_p, c_void_p)
_declare("sdd_image_pixels_size", c_size_t, c_void_p)
_declare("sdd_image_get_info", c_int32, c_void_p, POINTER(ImageInfo))
_declare("sdd_image_decode", c_int32, c_char_p, c_size_t, POINTER(DecodeOptions), POINTER(c_void_p), POINTER(c_int32))
_declare("sdd_image_probe", c_int32, c_char_p, c_size_t, POINTER(ImageFacts))
_declare("sdd_bytes_create", c_void_p, c_char_p, c_size_t)
_declare("sdd_bytes_release", None, c_void_p)
_declare("sdd_bytes_data", c_void_p, c_void_p)
_declare("sdd_bytes_size", c_size_t, c_void_p)
_declare("sdd_response_mime_type", c_char_p, c_void_p)
_declare("sdd_response_header", c_char_p, c_void_p, c_char_p)
_declare("sdd_response_header_at", c_int32, c_void_p, c_size_t, POINTER(c_char_p), POINTER(c_char_p))
_declare("sdd_downloader_create", c_int32, POINTER(Config), POINTER(c_void_p))
_declare("sdd_downloader_destroy", c_int32, c_void_p)
_declare("sdd_set_header", c_int32, c_void_p, c_char_p, c_char_p)
_declare("sdd_download", c_uint64, c_void_p, c_char_p, c_uint64, Progress, Completed, c_void_p)
_declare("sdd_downloader_submit", c_uint64, c_void_p, POINTER(DownloadRequest), POINTER(c_int32))
_declare("sdd_cancel", c_int32, c_uint64)
_declare("sdd_set_priority", c_int32, c_uint64, c_int32)
_declare("sdd_token_get_info", c_int32, c_uint64, POINTER(TokenInfo))
_declare("sdd_get", c_int32, c_void_p, c_char_p, c_uint64, c_int64, POINTER(c_void_p), POINTER(c_void_p),
         POINTER(c_void_p))
_declare("sdd_downloader_get_statistics", c_int32, c_void_p, POINTER(Statistics))
_declare("sdd_downloader_set_cookie", c_int32, c_void_p, POINTER(Cookie))
_declare("sdd_downloader_get_cookies", c_int32, c_void_p, POINTER(c_void_p))
_declare("sdd_cookies_at", c_int32, c_void_p, c_size_t, POINTER(Cookie))
_declare("sdd_cookies_release", None, c_void_p)
_declare("sdd_downloader_clear_cookies", c_int32, c_void_p, c_char_p)
_declare("sdd_downloader_set_observer", c_int32, c_void_p, Observer, c_void_p, UserDataFree)
_declare("sdd_downloader_set_log", c_int32, c_void_p, c_int32, Observer, c_void_p, UserDataFree)
_declare("sdd_cache_create", c_int32, POINTER(CacheConfig), POINTER(c_void_p), POINTER(c_int32))
_declare("sdd_cache_destroy", c_int32, c_void_p)
_declare("sdd_cache_put", c_int32, c_void_p, POINTER(CacheItem), POINTER(c_int32))
_declare("sdd_cache_query", c_int32, c_void_p, POINTER(Query), POINTER(c_void_p), POINTER(c_void_p),
         POINTER(c_void_p), POINTER(c_int32))
_declare("sdd_cache_get_statistics", c_int32, c_void_p, POINTER(CacheStatistics))
_declare("sdd_batch_create", c_int32, POINTER(BatchConfig), POINTER(c_void_p))
_declare("sdd_batch_destroy", c_int32, c_void_p)
_declare("sdd_batch_wait", c_int32, c_void_p, POINTER(BatchItem), c_size_t, c_int64, POINTER(c_size_t))
_declare("sdd_batch_get_statistics", c_int32, c_void_p, POINTER(BatchStatistics))
_declare("sdd_batch_get_status", c_int32, c_void_p, c_size_t, POINTER(BatchStatus))
_declare("sdd_batch_get_host", c_int32, c_void_p, c_size_t, POINTER(BatchHost))
_declare("sdd_cache_flush", c_int32, c_void_p, c_int64)
_declare("sdd_loader_create", c_int32, POINTER(LoaderConfig), POINTER(c_void_p))
_declare("sdd_loader_destroy", c_int32, c_void_p)
_declare("sdd_load", c_uint64, c_void_p, c_char_p, c_uint64, Progress, Completed, c_void_p)
_declare("sdd_loader_submit", c_uint64, c_void_p, POINTER(LoadRequest), POINTER(c_int32))
_declare("sdd_loader_running_count", c_int64, c_void_p)
_declare("sdd_loader_cancel_all", c_int32, c_void_p)
_declare("sdd_loader_remove_failed_url", c_int32, c_void_p, c_char_p)
_declare("sdd_loader_remove_all_failed_urls", c_int32, c_void_p)
_declare("sdd_loader_is_blocked", c_int32, c_void_p, c_char_p)
_declare("sdd_wait_idle", c_int32, c_void_p, c_int64)
_declare("sdd_event_fd", c_int32, c_void_p)
_declare("sdd_drain", c_int32, c_void_p, POINTER(Event), c_size_t, POINTER(c_size_t))


def status_name(status):
    """The spelling of a status: "SDD_ERROR_TLS" for 3003."""
    return lib.sdd_status_name(status).decode()


def check(status):
    """Raises RuntimeError if the call just made did not give SDD_OK, with its sentence on why."""
    if status != OK:
        raise RuntimeError(f"{status_name(status)}: {lib.sdd_last_error_message().decode()}")


def pixels(image):
    """The pixels of a borrowed or owned image, as rows of sdd_image_stride() bytes, without a copy.

    They may be read only while a reference to the image is held.
    """
    array = (ctypes.c_uint8 * lib.sdd_image_pixels_size(image)).from_address(lib.sdd_image_pixels(image))
    return memoryview(array).cast("B").toreadonly()


def headers(response):
    """The header fields of a borrowed response, as pairs of text; none for None."""
    name, value = c_char_p(), c_char_p()
    fields = []
    while lib.sdd_response_header_at(response, len(fields), name, value) == OK:
        fields.append((name.value.decode("latin-1"), value.value.decode("latin-1")))
    return fields


def cookies(downloader):
    """The cookies of a downloader, as dictionaries."""
    handle, cookie, found = c_void_p(), Cookie(), []
    check(lib.sdd_downloader_get_cookies(downloader, handle))
    while lib.sdd_cookies_at(handle, len(found), cookie) == OK:
        found.append({"name": cookie.name.decode(), "value": cookie.value.decode(), "domain": cookie.domain.decode(),
                      "path": cookie.path.decode(), "expires": cookie.expires, "secure": bool(cookie.secure)})
    lib.sdd_cookies_release(handle)
    return found


def get(url, downloader=None, options=0, timeout_ms=-1):
    """Downloads the body of one URL, and waits for it."""
    handle = c_void_p()
    check(lib.sdd_get(downloader, url.encode(), options | OPTION_BYTES_ONLY, timeout_ms, None, handle, None))
    try:
        return ctypes.string_at(lib.sdd_bytes_data(handle), lib.sdd_bytes_size(handle)) if handle else b""
    finally:
        lib.sdd_bytes_release(handle)
