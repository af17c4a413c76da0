# Made from include/sdd/*.h by tools/make_ctypes.py: `make bindings` makes it anew. Nothing is changed by hand.
"""The C interface of libsdd (sdd/sdd.h) for ctypes. What the calls and fields do stands in the header.

`lib` is the library with its calls, under their names in C. SDD_LIBRARY in the environment names the file to load;
without it the dynamic loader looks for libsdd.so.0 in its usual places. Other names lack the "sdd_" and "SDD_" of C:

    sdd_download_request    DownloadRequest     A struct that begins with struct_size has all defaults when it is made,
                                                but for the fields given by name. Elements of an array are all zero.
    sdd_image               Image               A handle: a class of its own, so that no call takes another kind. None
                                                is NULL; so is Image(), which is false. A call that gives a handle by an
                                                argument takes such an object. A callback returns its `value`.
    sdd_completed_fn        CompletedFn         A function type: CompletedFn(f) is f for C, and CompletedFn() is NULL.
    start, of sdd_transport TransportStartFn    A field whose type has no name in C has one here, too.
    SDD_ERROR_TLS           ERROR_TLS           A number.

Text is bytes. A pointer to void or to bytes (uint8_t) is an address, a number or None.

ctypes takes the GIL for a callback, on whichever thread it comes. Keep a reference to the callback object for as long
as the library may call it.
"""

import os
from ctypes import (CDLL, CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t,
                    c_uint32, c_uint64, c_void_p, sizeof)

VERSION_STRING = b"0.3.0"
AGE_NOTHING = -2
NO_TIMEOUT = -1
VERSION_MAJOR = 0
VERSION_MINOR = 3
VERSION_PATCH = 0

OK = 0
ERROR_INVALID_URL = 1000
ERROR_BAD_IMAGE_DATA = 1001
ERROR_NOT_MODIFIED = 1002
ERROR_BLOCKED = 1003
ERROR_NOT_CACHED = 1004
ERROR_INVALID_DOWNLOAD_OPERATION = 2000
ERROR_INVALID_DOWNLOAD_STATUS_CODE = 2001
ERROR_CANCELLED = 2002
ERROR_INVALID_DOWNLOAD_RESPONSE = 2003
ERROR_INVALID_DOWNLOAD_CONTENT_TYPE = 2004
ERROR_TRANSPORT = 3000
ERROR_RESOLVE = 3001
ERROR_CONNECT = 3002
ERROR_TLS = 3003
ERROR_TIMEOUT = 3004
ERROR_CONNECTION_LOST = 3005
ERROR_TOO_MANY_REDIRECTS = 3006
ERROR_PROTOCOL = 3007
ERROR_BODY_TOO_LARGE = 3008
ERROR_TRUNCATED_BODY = 3009
ERROR_REDIRECT_REFUSED = 3010
ERROR_CONTENT_ENCODING = 3011
ERROR_FILE_NOT_READABLE = 3012
ERROR_ADDRESS_REFUSED = 3013
ERROR_HEADERS_TOO_LARGE = 3014
ERROR_PROXY = 3015
ERROR_SINK = 3016
ERROR_INVALID_ARGUMENT = 4000
ERROR_UNSUPPORTED = 4001
ERROR_NOT_FOUND = 4002
ERROR_CLOSED = 4003
ERROR_FORKED = 4004
ERROR_WRONG_DELIVERY = 4005
ERROR_BUSY = 4006
ERROR_WOULD_DEADLOCK = 4007
ERROR_TIMED_OUT = 4008
ERROR_NO_RESOURCES = 4009
ERROR_BUFFER_TOO_SMALL = 4010
ERROR_INCOMPLETE = 4011
ERROR_DOES_NOT_FIT = 4012
ERROR_CACHE = 4013

DETAIL_NONE = 0
DETAIL_URL_NULL = 100001
DETAIL_URL_EMPTY = 100002
DETAIL_URL_TOO_LONG = 100003
DETAIL_URL_NOT_UTF8 = 100004
DETAIL_URL_MALFORMED = 100005
DETAIL_URL_SCHEME = 100006
DETAIL_IMAGE_EMPTY = 100101
DETAIL_IMAGE_UNKNOWN_FORMAT = 100102
DETAIL_IMAGE_CORRUPT = 100103
DETAIL_IMAGE_TRUNCATED = 100104
DETAIL_IMAGE_ZERO_PIXELS = 100105
DETAIL_IMAGE_TOO_MANY_PIXELS = 100106
DETAIL_IMAGE_UNSUPPORTED = 100107
DETAIL_IMAGE_NO_MEMORY = 100108
DETAIL_IMAGE_TOO_MANY_SCANS = 100109
DETAIL_IMAGE_TRANSFORM = 100110
DETAIL_IMAGE_TOO_SLOW = 100111
DETAIL_IMAGE_TOO_MANY_FRAMES = 100112
DETAIL_IMAGE_CHUNK_TOO_LARGE = 100113
DETAIL_IMAGE_TOO_MUCH_MEMORY = 100114
DETAIL_IMAGE_BUFFER_TOO_SMALL = 100115
DETAIL_IMAGE_CODER = 100116
DETAIL_IMAGE_INTEGRITY = 100117
DETAIL_IMAGE_DECODER = 100118
DETAIL_OPERATION_CLOSED = 200001
DETAIL_OPERATION_UNKNOWN_OPTIONS = 200002
DETAIL_OPERATION_BAD_HEADER = 200003
DETAIL_OPERATION_BAD_METHOD = 200004
DETAIL_OPERATION_BAD_BODY = 200005
DETAIL_OPERATION_NO_TRANSFER = 200006
DETAIL_OPERATION_MODIFIER = 200007
DETAIL_OPERATION_BAD_ACCEPT = 200008
DETAIL_OPERATION_BAD_CREDENTIAL = 200009
DETAIL_OPERATION_BAD_RANGE = 200010
DETAIL_OPERATION_BAD_NUMBER = 200011
DETAIL_OPERATION_BAD_SINK = 200012
DETAIL_OPERATION_BAD_DECODE = 200013
DETAIL_OPERATION_BAD_INTEGRITY = 200014
DETAIL_CANCELLED_WAITING = 200201
DETAIL_CANCELLED_SENDING = 200202
DETAIL_CANCELLED_DECODING = 200203
DETAIL_CANCELLED_BACKGROUND = 200204
DETAIL_CANCELLED_CACHE = 200205
DETAIL_TLS_HANDSHAKE = 300301
DETAIL_TLS_EXPIRED = 300302
DETAIL_TLS_WRONG_HOST = 300303
DETAIL_TLS_SELF_SIGNED = 300304
DETAIL_TLS_UNKNOWN_ISSUER = 300305
DETAIL_TLS_BAD_CERTIFICATE = 300306
DETAIL_TLS_CA_FILE = 300307
DETAIL_TLS_CLIENT_CERTIFICATE = 300308
DETAIL_TIMEOUT_CONNECT = 300401
DETAIL_TIMEOUT_STALL = 300402
DETAIL_TIMEOUT_QUEUE = 300403
DETAIL_TIMEOUT_FIRST_BYTE = 300404
DETAIL_TIMEOUT_TOTAL = 300405
DETAIL_TIMEOUT_SLOW = 300406
DETAIL_CONNECTION_NOT_PROCESSED = 300501
DETAIL_PROTOCOL_FLOOD = 300701
DETAIL_REDIRECT_SCHEME = 301001
DETAIL_REDIRECT_DOWNGRADE = 301002
DETAIL_REDIRECT_MALFORMED = 301003
DETAIL_REDIRECT_UNWANTED = 301004
DETAIL_SINK_BLOCKED = 301601
DETAIL_RESOURCES_DECODER = 400901
DETAIL_CACHE_DIRECTORY = 401301
DETAIL_CACHE_UNSAFE = 401302
DETAIL_CACHE_WRITE = 401303
DETAIL_CACHE_READ = 401304
DETAIL_CACHE_TOO_LARGE = 401305
DETAIL_CACHE_NOTHING = 401306
DETAIL_CACHE_DROPPED = 401307

CLASS_NONE = 0
CLASS_REQUEST = 1
CLASS_CANCELLED = 2
CLASS_RESPONSE = 3
CLASS_IMAGE = 4
CLASS_NETWORK = 5
CLASS_TLS = 6
CLASS_TIMEOUT = 7
CLASS_LIMIT = 8
CLASS_SYSTEM = 9

STAGE_NONE = 0
STAGE_SUBMIT = 1
STAGE_QUEUE = 2
STAGE_CONNECT = 3
STAGE_RESPONSE = 4
STAGE_BODY = 5
STAGE_DECODE = 6

PIXEL_FORMAT_RGBA8 = 1
PIXEL_FORMAT_RGBA8_PREMULTIPLIED = 2
PIXEL_FORMAT_BGRA8 = 3
PIXEL_FORMAT_BGRA8_PREMULTIPLIED = 4
PIXEL_FORMAT_RGB8 = 5
PIXEL_FORMAT_GREY8 = 6
PIXEL_FORMAT_RGBA16 = 7
PIXEL_FORMAT_RGBA16_PREMULTIPLIED = 8
PIXEL_FORMAT_RGB8_PLANAR = 9

IMAGE_FORMAT_JPEG = 1
IMAGE_FORMAT_PNG = 2
IMAGE_FORMAT_GIF = 3
IMAGE_FORMAT_WEBP = 4
IMAGE_FORMAT_AVIF = 5
IMAGE_FORMAT_HEIF = 6
IMAGE_FORMAT_TIFF = 7
IMAGE_FORMAT_BMP = 8
IMAGE_FORMAT_PDF = 9
IMAGE_FORMAT_SVG = 10
IMAGE_FORMAT_JXL = 11
IMAGE_FORMAT_APPLICATION = 1000

METADATA_ICC = 1
METADATA_EXIF = 2
METADATA_XMP = 3

ORIGIN_NETWORK = 0
ORIGIN_MEMORY = 1
ORIGIN_DISK = 2
ORIGIN_HTTP_FRESH = 3
ORIGIN_HTTP_REVALIDATED = 4
ORIGIN_HTTP_STALE = 5

FIT_INSIDE = 0
FIT_FILL = 1
FIT_STRETCH = 2

INTEGRITY_STRICT = 0
INTEGRITY_LENIENT = 1

SCALING_FAST = 0
SCALING_EXACT = 1

CHROMA_420 = 0
CHROMA_422 = 1
CHROMA_444 = 2

TRANSFORM_RESIZE = 1
TRANSFORM_CROP = 2
TRANSFORM_FLIP = 3
TRANSFORM_ROTATE = 4
TRANSFORM_ROUND_CORNERS = 5
TRANSFORM_CALLBACK = 6

FLIP_HORIZONTAL = 1 << 0
FLIP_VERTICAL = 1 << 1

CORNER_TOP_LEFT = 1 << 0
CORNER_TOP_RIGHT = 1 << 1
CORNER_BOTTOM_LEFT = 1 << 2
CORNER_BOTTOM_RIGHT = 1 << 3

OPTION_LOW_PRIORITY = 1 << 0
OPTION_HIGH_PRIORITY = 1 << 1
OPTION_HANDLE_COOKIES = 1 << 2
OPTION_ALLOW_INVALID_SSL_CERTIFICATES = 1 << 3
OPTION_CONTINUE_IN_BACKGROUND = 1 << 4
OPTION_RESUME = 1 << 5
OPTION_STOP_WHEN_COMPLETE = 1 << 6
OPTION_PROGRESSIVE_LOAD = 1 << 7
OPTION_PROGRESS_EVENTS = 1 << 8
OPTION_FACTS_EVENTS = 1 << 9
OPTION_BYTES_ONLY = 1 << 10
OPTION_SCALE_DOWN_LARGE_IMAGES = 1 << 11
OPTION_AVOID_DECODE_IMAGE = 1 << 12
OPTION_DECODE_FIRST_FRAME_ONLY = 1 << 13
OPTION_PRELOAD_ALL_FRAMES = 1 << 14
OPTION_TRANSFORM_ANIMATED_IMAGE = 1 << 15
OPTION_USE_HTTP_CACHE = 1 << 16
OPTION_IGNORE_CACHED_RESPONSE = 1 << 17
OPTION_RETRY_FAILED = 1 << 18
OPTION_REFRESH_CACHED = 1 << 19
OPTION_FROM_CACHE_ONLY = 1 << 20
OPTION_FROM_LOADER_ONLY = 1 << 21
OPTION_WAIT_STORE_CACHE = 1 << 22
OPTION_QUERY_MEMORY_DATA = 1 << 23
OPTION_QUERY_MEMORY_DATA_SYNC = 1 << 24
OPTION_QUERY_DISK_DATA_SYNC = 1 << 25
OPTION_BODY_AS_SENT = 1 << 26

REDIRECT_FOLLOW = 0
REDIRECT_HAND_OUT = 1
REDIRECT_REFUSE = 2

PRIORITY_DEFAULT = 0
PRIORITY_VERY_LOW = 1
PRIORITY_LOW = 2
PRIORITY_NORMAL = 3
PRIORITY_HIGH = 4
PRIORITY_VERY_HIGH = 5

SINK_MEMORY = 0
SINK_FD = 1
SINK_DISCARD = 2

AUTH_BASIC = 1 << 0
AUTH_DIGEST = 1 << 1
AUTH_NEGOTIATE = 1 << 2
AUTH_NTLM = 1 << 3

STATE_WAITING = 1
STATE_RUNNING = 2
STATE_RECEIVED = 3
STATE_DECODING = 4

DELIVERY_THREAD = 0
DELIVERY_APPLICATION = 1

ORDER_FIFO = 0
ORDER_LIFO = 1

ADDRESS_ANY = 0
ADDRESS_PUBLIC_ONLY = 1

DECODE_IN_PROCESS = 0
DECODE_ISOLATED = 1

IP_ANY = 0
IP_V4 = 4
IP_V6 = 6

HTTP_DEFAULT = 0
HTTP_1_0 = 10
HTTP_1_1 = 11
HTTP_2 = 20
HTTP_2_PRIOR_KNOWLEDGE = 21

TLS_DEFAULT = 0
TLS_1_0 = 10
TLS_1_1 = 11
TLS_1_2 = 12
TLS_1_3 = 13

PROXY_ENVIRONMENT = 0
PROXY_NONE = 1

CLOSE_CANCEL = 0
CLOSE_DRAIN = 1

CACHE_DEFAULT = 0
CACHE_MEMORY = 1
CACHE_DISK = 2
CACHE_ALL = 3
CACHE_NONE = -1

SYNC_NONE = 0
SYNC_DATA = 1
SYNC_FULL = 2

DATE_ACCESS = 0
DATE_MODIFICATION = 1

TRIM_HALF = 1
TRIM_ALL = 2

WANT_IMAGE = 1
WANT_BYTES = 2
WANT_BOTH = 3

ENTRY_GOOD = 0
ENTRY_EXPIRED = 1
ENTRY_DAMAGED = 2
ENTRY_FOREIGN = 3

LIST_CHECK = 1

LIST_NEXT = 0
LIST_STOP = 1
LIST_REMOVE = 2

FAIL_POLICY_BACK_OFF = 0
FAIL_POLICY_SDWEBIMAGE = 1
FAIL_POLICY_NONE = 2

PREFETCH_MEMORY = 0
PREFETCH_DISK = 1

BATCH_AS_COMPLETED = 0
BATCH_ORDERED = 1

TENSOR_HWC = 0
TENSOR_CHW = 1

TENSOR_FILL = 0
TENSOR_STRETCH = 1
TENSOR_INSIDE = 2

TENSOR_SLOT_OF_INDEX = 0
TENSOR_NEXT_SLOT = 1

LOG_NONE = 0
LOG_ERROR = 1
LOG_WARNING = 2
LOG_INFO = 3
LOG_DEBUG = 4

EVENT_PROGRESS = 1
EVENT_COMPLETED = 2
EVENT_START = 3
EVENT_RESPONSE = 4
EVENT_FINISH = 5
EVENT_STOP = 6
EVENT_LOG = 7
EVENT_PREVIEW = 8
EVENT_FACTS = 9
EVENT_RETRY = 10
EVENT_CACHED = 11
EVENT_PREFETCHED = 12
EVENT_PREFETCH_COMPLETED = 13


class Handle(c_void_p):
    """An object of the library's. It neither retains nor releases anything."""

    @classmethod
    def from_param(cls, value):
        if value is None or isinstance(value, cls):
            return value
        raise TypeError(f"{cls.__name__} or None is expected, not {type(value).__name__}")

    def __eq__(self, other):
        return type(self) is type(other) and self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"{type(self).__name__}({self.value})"


class Struct(Structure):
    """A struct of the header."""

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        # ctypes gives a view of the struct's memory, which the library may use for something else later.
        return type(value)(value.value) if isinstance(value, Handle) else value


class Sized(Struct):
    """A struct that begins with struct_size: all defaults, but for the fields given by name.

    ctypes keeps the bytes objects of its c_char_p fields alive as long as the struct.
    """

    def __init__(self, **fields):
        super().__init__(sizeof(self), **fields)


class Downloader(Handle):
    pass


class Cache(Handle):
    pass


class Loader(Handle):
    pass


class Image(Handle):
    pass


class Bytes(Handle):
    pass


class Response(Handle):
    pass


class Cookies(Handle):
    pass


class Draft(Handle):
    pass


class Batch(Handle):
    pass


Token = c_uint64
Transfer = c_uint64
Status = c_int32


class Header(Struct):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class ImageInfo(Sized):
    _fields_ = [("struct_size", c_size_t), ("stride", c_size_t), ("pixels_size", c_size_t), ("width", c_int32),
                ("height", c_int32), ("pixel_format", c_int32), ("format", c_int32), ("stored_width", c_int32),
                ("stored_height", c_int32), ("orientation", c_int32), ("depth", c_int32), ("has_alpha", c_int32),
                ("is_scaled", c_int32), ("good_rows", c_int32), ("is_preview", c_int32), ("is_partial", c_int32),
                ("is_decoded", c_int32)]


class ImageFacts(Sized):
    _fields_ = [("struct_size", c_size_t), ("format", c_int32), ("width", c_int32), ("height", c_int32),
                ("channels", c_int32), ("depth", c_int32), ("is_progressive", c_int32), ("is_animated", c_int32),
                ("frame_count", c_int32), ("loop_count", c_int32), ("orientation", c_int32)]


class ImageText(Sized):
    _fields_ = [("struct_size", c_size_t), ("keyword", c_char_p), ("text", c_char_p), ("text_size", c_size_t),
                ("language", c_char_p), ("translated_keyword", c_char_p)]


class Timings(Sized):
    _fields_ = [("struct_size", c_size_t), ("queue_us", c_int64), ("name_lookup_us", c_int64), ("connect_us", c_int64),
                ("tls_us", c_int64), ("first_byte_us", c_int64), ("transfer_us", c_int64), ("decode_us", c_int64),
                ("total_us", c_int64), ("delivery_us", c_int64), ("cache_us", c_int64), ("store_us", c_int64)]


class Metrics(Sized):
    _fields_ = [("struct_size", c_size_t), ("request_bytes", c_int64), ("response_header_bytes", c_int64),
                ("response_body_bytes", c_int64), ("body_bytes", c_int64), ("http_version", c_int32),
                ("connection_reused", c_int32), ("redirects", c_int32), ("attempts", c_int32), ("remote_port", c_int32),
                ("reserved", c_int32), ("remote_address", c_char_p), ("saved_bytes", c_int64),
                ("resumed_bytes", c_int64)]


class SourceError(Sized):
    _fields_ = [("struct_size", c_size_t), ("url", c_char_p), ("error", Status), ("detail", c_int32),
                ("http_status", c_int32), ("retryable", c_int32), ("message", c_char_p)]


class Result(Sized):
    _fields_ = [("struct_size", c_size_t), ("token", Token), ("url", c_char_p), ("image", Image), ("bytes", Bytes),
                ("error", Status), ("detail", c_int32), ("http_status", c_int32), ("curl_code", c_int32),
                ("system_error", c_int32), ("finished", c_int32), ("message", c_char_p), ("timings", POINTER(Timings)),
                ("response", Response), ("metrics", POINTER(Metrics)), ("error_class", c_int32), ("stage", c_int32),
                ("retryable", c_int32), ("origin", c_int32), ("extended", Bytes), ("sources", POINTER(SourceError)),
                ("source_count", c_size_t), ("end_unproven", c_int32), ("reserved", c_int32), ("transformed", c_int32),
                ("reserved2", c_int32)]


PixelAllocatorAllocateFn = CFUNCTYPE(c_void_p, c_size_t, c_size_t, c_void_p)
PixelAllocatorReleaseFn = CFUNCTYPE(None, c_void_p, c_size_t, c_void_p)


class PixelAllocator(Sized):
    _fields_ = [("struct_size", c_size_t), ("allocate", PixelAllocatorAllocateFn), ("release", PixelAllocatorReleaseFn),
                ("user_data", c_void_p)]


class DecodeOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("pixel_format", c_int32), ("keep_orientation", c_int32),
                ("background", c_uint32), ("fit", c_int32), ("target_width", c_int32), ("target_height", c_int32),
                ("scale_down_limit_bytes", c_int64), ("row_alignment", c_int32), ("allow_enlarging", c_int32),
                ("allocator", POINTER(PixelAllocator)), ("pixels", c_void_p), ("pixels_size", c_size_t),
                ("pixels_stride", c_size_t), ("integrity", c_int32), ("format_hint", c_int32), ("scaling", c_int32),
                ("reserved", c_int32)]


class EncodeOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("format", c_int32), ("quality", c_int32), ("max_width", c_int32),
                ("max_height", c_int32), ("max_bytes", c_int64), ("background", c_uint32), ("progressive", c_int32),
                ("chroma", c_int32), ("reserved", c_int32)]


TransformFn = CFUNCTYPE(Image, Image, c_void_p)
TransformUserDataFreeFn = CFUNCTYPE(None, c_void_p)


class Transform(Sized):
    _fields_ = [("struct_size", c_size_t), ("kind", c_int32), ("fit", c_int32), ("x", c_int32), ("y", c_int32),
                ("width", c_int32), ("height", c_int32), ("flip", c_int32), ("degrees", c_int32), ("radius", c_int32),
                ("corners", c_int32), ("key", c_char_p), ("callback", TransformFn), ("user_data", c_void_p),
                ("user_data_free", TransformUserDataFreeFn), ("allow_enlarging", c_int32), ("reserved", c_int32)]


class ResponseChange(Sized):
    _fields_ = [("struct_size", c_size_t), ("http_status", c_int32), ("reserved", c_int32), ("mime_type", c_char_p),
                ("headers", POINTER(Header)), ("header_count", c_size_t)]


RequestModifierFn = CFUNCTYPE(Status, Draft, c_void_p)
ResponseModifierFn = CFUNCTYPE(Status, Response, POINTER(ResponseChange), c_void_p)
BodyTransformFn = CFUNCTYPE(Bytes, Bytes, Response, c_void_p)
ModifiersUserDataFreeFn = CFUNCTYPE(None, c_void_p)


class Modifiers(Sized):
    _fields_ = [("struct_size", c_size_t), ("request_modifier", RequestModifierFn),
                ("response_modifier", ResponseModifierFn), ("body_transform", BodyTransformFn), ("user_data", c_void_p),
                ("user_data_free", ModifiersUserDataFreeFn)]


class TransferRequest(Sized):
    _fields_ = [("struct_size", c_size_t), ("url", c_char_p), ("method", c_char_p), ("headers", POINTER(Header)),
                ("header_count", c_size_t), ("body", c_void_p), ("body_size", c_size_t), ("priority", c_int32),
                ("reserved", c_int32)]


TransportStartFn = CFUNCTYPE(None, Transfer, POINTER(TransferRequest), c_void_p)
TransportCancelFn = CFUNCTYPE(None, Transfer, c_void_p)
TransportSetPriorityFn = CFUNCTYPE(None, Transfer, c_int32, c_void_p)
TransportUserDataFreeFn = CFUNCTYPE(None, c_void_p)
TransportCanLoadFn = CFUNCTYPE(c_int32, c_char_p, c_void_p)


class Transport(Sized):
    _fields_ = [("struct_size", c_size_t), ("scheme", c_char_p), ("start", TransportStartFn),
                ("cancel", TransportCancelFn), ("set_priority", TransportSetPriorityFn), ("user_data", c_void_p),
                ("user_data_free", TransportUserDataFreeFn), ("can_load", TransportCanLoadFn)]


class CoderTask(Sized):
    _fields_ = [("struct_size", c_size_t), ("max_pixels", c_int64), ("wanted_side", c_int32), ("reserved", c_int32)]


class CoderFrame(Sized):
    _fields_ = [("struct_size", c_size_t), ("pixels", c_void_p), ("stride", c_size_t), ("width", c_int32),
                ("height", c_int32), ("pixel_format", c_int32), ("orientation", c_int32), ("picture_width", c_int32),
                ("picture_height", c_int32), ("frame_count", c_int32), ("loop_count", c_int32),
                ("duration_us", c_int64)]


class CoderPreview(Sized):
    _fields_ = [("struct_size", c_size_t), ("frame", CoderFrame), ("good_rows", c_int32), ("is_refined", c_int32)]


class CoderEstimate(Sized):
    _fields_ = [("struct_size", c_size_t), ("width", c_int32), ("height", c_int32), ("decode_bytes", c_int64)]


CoderCanDecodeFn = CFUNCTYPE(c_int32, c_void_p, c_size_t, c_void_p)
CoderOpenFn = CFUNCTYPE(Status, POINTER(CoderTask), POINTER(c_void_p), c_void_p)
CoderFeedFn = CFUNCTYPE(Status, c_void_p, c_void_p, c_size_t, c_int32, c_void_p)
CoderNextFn = CFUNCTYPE(Status, c_void_p, POINTER(CoderFrame), c_void_p)
CoderCloseFn = CFUNCTYPE(None, c_void_p, c_void_p)
CoderWriteFn = CFUNCTYPE(Status, c_void_p, c_void_p, c_size_t)
CoderEncodeFn = CFUNCTYPE(Status, POINTER(CoderFrame), c_int32, CoderWriteFn, c_void_p, c_void_p)
CoderUserDataFreeFn = CFUNCTYPE(None, c_void_p)
CoderPreviewFn = CFUNCTYPE(Status, c_void_p, POINTER(CoderPreview), c_void_p)
CoderEstimateFn = CFUNCTYPE(Status, c_void_p, POINTER(CoderEstimate), c_void_p)


class Coder(Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("mime_type", c_char_p), ("format", c_int32),
                ("reserved", c_int32), ("can_decode", CoderCanDecodeFn), ("open", CoderOpenFn), ("feed", CoderFeedFn),
                ("next", CoderNextFn), ("close", CoderCloseFn), ("encode", CoderEncodeFn), ("user_data", c_void_p),
                ("user_data_free", CoderUserDataFreeFn), ("preview", CoderPreviewFn), ("estimate", CoderEstimateFn)]


class Credential(Sized):
    _fields_ = [("struct_size", c_size_t), ("username", c_char_p), ("password", c_char_p), ("schemes", c_uint64),
                ("bearer_token", c_char_p), ("client_certificate", c_char_p), ("client_key", c_char_p),
                ("client_key_password", c_char_p)]


ProgressFn = CFUNCTYPE(None, Token, c_int64, c_int64, c_char_p, c_void_p)
CompletedFn = CFUNCTYPE(None, POINTER(Result), c_void_p)
UserDataFreeFn = CFUNCTYPE(None, c_void_p)
FactsFn = CFUNCTYPE(None, Token, POINTER(ImageFacts), c_void_p)


class DownloadRequest(Sized):
    _fields_ = [("struct_size", c_size_t), ("url", c_char_p), ("options", c_uint64), ("method", c_char_p),
                ("headers", POINTER(Header)), ("header_count", c_size_t), ("body", c_void_p), ("body_size", c_size_t),
                ("progress", ProgressFn), ("completed", CompletedFn), ("user_data", c_void_p),
                ("user_data_free", UserDataFreeFn), ("referrer", c_char_p), ("range", c_char_p), ("priority", c_int32),
                ("reserved", c_int32), ("queue_timeout_ms", c_int64), ("connect_timeout_ms", c_int64),
                ("first_byte_timeout_ms", c_int64), ("download_timeout_ms", c_int64), ("total_timeout_ms", c_int64),
                ("accepted_status_codes", c_char_p), ("accepted_content_types", c_char_p),
                ("credential", POINTER(Credential)), ("modifiers", POINTER(Modifiers)), ("sink", c_int32),
                ("sink_fd", c_int32), ("decode", POINTER(DecodeOptions)), ("preview", CompletedFn), ("facts", FactsFn),
                ("integrity", c_char_p), ("expected_bytes", c_int64), ("max_attempts", c_int32), ("reserved2", c_int32),
                ("low_speed_limit", c_int64), ("low_speed_time_ms", c_int64), ("redirects", c_int32),
                ("max_redirects", c_int32), ("max_body_bytes", c_int64), ("ca_file", c_char_p)]


class TokenInfo(Sized):
    _fields_ = [("struct_size", c_size_t), ("state", c_int32), ("priority", c_int32), ("effective_priority", c_int32),
                ("http_status", c_int32), ("received_bytes", c_int64), ("expected_bytes", c_int64),
                ("waiting_us", c_int64), ("running_us", c_int64)]


CallbackOptionsOnThreadStartFn = CFUNCTYPE(None, c_void_p)
CallbackOptionsOnThreadStopFn = CFUNCTYPE(None, c_void_p)


class CallbackOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("on_thread_start", CallbackOptionsOnThreadStartFn),
                ("on_thread_stop", CallbackOptionsOnThreadStopFn), ("thread_user_data", c_void_p),
                ("min_progress_interval", c_double), ("min_progress_interval_ms", c_int64),
                ("min_preview_interval_ms", c_int64), ("min_preview_bytes", c_int64), ("min_preview_scans", c_int32),
                ("reserved", c_int32)]


AddressFilterFn = CFUNCTYPE(c_int32, c_char_p, c_int32, c_void_p)


class NetworkOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("ca_file", c_char_p), ("ca_path", c_char_p), ("min_tls_version", c_int32),
                ("http_version", c_int32), ("max_redirects", c_int32), ("allow_downgrade", c_int32),
                ("allow_file_urls", c_int32), ("ip_version", c_int32), ("address_policy", c_int32),
                ("proxy_mode", c_int32), ("address_filter", AddressFilterFn), ("address_filter_user_data", c_void_p),
                ("proxy", c_char_p), ("no_proxy", c_char_p), ("network_interface", c_char_p),
                ("unix_socket_path", c_char_p), ("resolve", POINTER(c_char_p)), ("resolve_count", c_size_t),
                ("dns_servers", c_char_p), ("dns_cache_ms", c_int64), ("max_connections", c_int32),
                ("max_connections_per_host", c_int32), ("max_idle_connections", c_int32), ("tcp_keepalive_s", c_int32),
                ("receive_buffer_bytes", c_int32), ("network_threads", c_int32), ("cookie_file", c_char_p),
                ("address_exceptions", POINTER(c_char_p)), ("address_exception_count", c_size_t),
                ("no_data_urls", c_int32), ("reserved", c_int32)]


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


class DownloaderConfig(Sized):
    _fields_ = [("struct_size", c_size_t), ("delivery", c_int32), ("max_concurrent_downloads", c_int32),
                ("max_concurrent_per_host", c_int32), ("decode_threads", c_int32), ("execution_order", c_int32),
                ("reserved_urgent_slots", c_int32), ("ageing_ms", c_int64), ("min_host_interval_ms", c_int64),
                ("accepted_status_codes", c_char_p), ("accepted_content_types", c_char_p),
                ("credential", POINTER(Credential)), ("modifiers", POINTER(Modifiers)), ("cache", Cache),
                ("http_cache", c_int32), ("resume", c_int32), ("callbacks", POINTER(CallbackOptions)),
                ("network", POINTER(NetworkOptions)), ("limits", POINTER(Limits)), ("retry", POINTER(RetryOptions)),
                ("no_installed_coders", c_int32), ("decode_mode", c_int32)]


class Cookie(Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("value", c_char_p), ("domain", c_char_p),
                ("path", c_char_p), ("expires", c_int64), ("include_subdomains", c_int32), ("secure", c_int32),
                ("http_only", c_int32), ("reserved", c_int32)]


MemoryStoreGetFn = CFUNCTYPE(Image, c_char_p, c_void_p)
MemoryStorePutFn = CFUNCTYPE(None, c_char_p, Image, c_int64, c_void_p)
MemoryStoreRemoveFn = CFUNCTYPE(None, c_char_p, c_void_p)
MemoryStoreClearFn = CFUNCTYPE(None, c_void_p)
MemoryStoreTrimFn = CFUNCTYPE(None, c_int32, c_void_p)
MemoryStoreUserDataFreeFn = CFUNCTYPE(None, c_void_p)


class MemoryStore(Sized):
    _fields_ = [("struct_size", c_size_t), ("get", MemoryStoreGetFn), ("put", MemoryStorePutFn),
                ("remove", MemoryStoreRemoveFn), ("clear", MemoryStoreClearFn), ("trim", MemoryStoreTrimFn),
                ("user_data", c_void_p), ("user_data_free", MemoryStoreUserDataFreeFn)]


EntryStoreGetFn = CFUNCTYPE(Status, c_char_p, POINTER(Bytes), POINTER(Bytes), c_void_p)
EntryStorePutFn = CFUNCTYPE(Status, c_char_p, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p)
EntryStoreRemoveFn = CFUNCTYPE(Status, c_char_p, c_void_p)
EntryStoreClearFn = CFUNCTYPE(Status, c_void_p)
EntryStoreTrimFn = CFUNCTYPE(Status, c_int64, c_int64, c_void_p)
EntryStoreUsageFn = CFUNCTYPE(Status, POINTER(c_int64), POINTER(c_int64), c_void_p)
EntryStoreUserDataFreeFn = CFUNCTYPE(None, c_void_p)


class EntryStore(Sized):
    _fields_ = [("struct_size", c_size_t), ("get", EntryStoreGetFn), ("put", EntryStorePutFn),
                ("remove", EntryStoreRemoveFn), ("clear", EntryStoreClearFn), ("trim", EntryStoreTrimFn),
                ("usage", EntryStoreUsageFn), ("user_data", c_void_p), ("user_data_free", EntryStoreUserDataFreeFn)]


CacheKeyFn = CFUNCTYPE(Bytes, c_char_p, c_void_p)
CacheSerializerFn = CFUNCTYPE(Bytes, Image, Bytes, c_char_p, c_void_p)
CacheConfigUserDataFreeFn = CFUNCTYPE(None, c_void_p)


class CacheConfig(Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("directory", c_char_p),
                ("read_only_directories", POINTER(c_char_p)), ("read_only_count", c_size_t), ("levels", c_int32),
                ("no_live_images", c_int32), ("max_memory_cost", c_int64), ("max_memory_count", c_int64),
                ("watch_memory_pressure", c_int32), ("sync", c_int32), ("max_disk_bytes", c_int64),
                ("max_disk_age_ms", c_int64), ("disk_date", c_int32), ("low_water_percent", c_int32),
                ("trim_interval_ms", c_int64), ("map_from_bytes", c_int64), ("share_wait_ms", c_int64),
                ("max_part_bytes", c_int64), ("max_part_age_ms", c_int64), ("ignored_query_parameters", c_char_p),
                ("key_filter", CacheKeyFn), ("serializer", CacheSerializerFn), ("user_data", c_void_p),
                ("user_data_free", CacheConfigUserDataFreeFn), ("max_queued_bytes", c_int64),
                ("destroy_timeout_ms", c_int64), ("memory_store", POINTER(MemoryStore)),
                ("entry_store", POINTER(EntryStore))]


class CacheStatistics(Sized):
    _fields_ = [("struct_size", c_size_t), ("memory_hits", c_int64), ("memory_misses", c_int64), ("disk_hits", c_int64),
                ("disk_misses", c_int64), ("disk_read_bytes", c_int64), ("disk_written_bytes", c_int64),
                ("entries_written", c_int64), ("entries_damaged", c_int64), ("errors", c_int64), ("trims", c_int64),
                ("entries_trimmed", c_int64), ("trimmed_bytes", c_int64), ("memory_evictions", c_int64),
                ("http_fresh", c_int64), ("http_revalidated", c_int64), ("http_stale", c_int64),
                ("http_misses", c_int64), ("shared_downloads", c_int64), ("resumed_downloads", c_int64),
                ("resumed_bytes", c_int64), ("memory_cost", c_int64), ("memory_count", c_int64),
                ("max_memory_cost", c_int64), ("disk_bytes", c_int64), ("disk_count", c_int64), ("last_error", c_int32),
                ("reserved", c_int32), ("writes_dropped", c_int64), ("queued_bytes", c_int64)]


class CacheItem(Sized):
    _fields_ = [("struct_size", c_size_t), ("key", c_char_p), ("image", Image), ("bytes", Bytes), ("extended", Bytes),
                ("levels", c_int32), ("reserved", c_int32), ("completed", CompletedFn), ("user_data", c_void_p),
                ("user_data_free", UserDataFreeFn)]


class Query(Sized):
    _fields_ = [("struct_size", c_size_t), ("key", c_char_p), ("levels", c_int32), ("wants", c_int32),
                ("decode", POINTER(DecodeOptions)), ("options", c_uint64), ("completed", CompletedFn),
                ("user_data", c_void_p), ("user_data_free", UserDataFreeFn)]


class CacheEntry(Sized):
    _fields_ = [("struct_size", c_size_t), ("key", c_char_p), ("file", c_char_p), ("body_bytes", c_int64),
                ("disk_bytes", c_int64), ("stored_ms", c_int64), ("used_ms", c_int64), ("state", c_int32),
                ("format", c_int32), ("is_private", c_int32), ("reserved", c_int32)]


class LoadRequest(Sized):
    _fields_ = [("struct_size", c_size_t), ("url", c_char_p), ("options", c_uint64), ("progress", ProgressFn),
                ("completed", CompletedFn), ("user_data", c_void_p), ("user_data_free", UserDataFreeFn),
                ("decode", POINTER(DecodeOptions)), ("transforms", POINTER(Transform)), ("transform_count", c_size_t),
                ("alternatives", POINTER(c_char_p)), ("alternative_count", c_size_t), ("cache_key", c_char_p),
                ("query", c_int32), ("store", c_int32), ("original_query", c_int32), ("original_store", c_int32),
                ("priority", c_int32), ("reserved", c_int32), ("total_timeout_ms", c_int64),
                ("download", POINTER(DownloadRequest)), ("preview", CompletedFn), ("facts", FactsFn),
                ("cached", CompletedFn)]


ShouldDownloadFn = CFUNCTYPE(c_int32, c_char_p, c_void_p)
ShouldBlockFn = CFUNCTYPE(c_int32, c_char_p, Status, c_int32, c_int32, c_void_p)
OptionsProcessorFn = CFUNCTYPE(None, POINTER(LoadRequest), c_void_p)
LoaderConfigUserDataFreeFn = CFUNCTYPE(None, c_void_p)


class LoaderConfig(Sized):
    _fields_ = [("struct_size", c_size_t), ("downloader", Downloader), ("cache", Cache), ("original_cache", Cache),
                ("no_cache", c_int32), ("fail_policy", c_int32), ("should_download", ShouldDownloadFn),
                ("should_block_failed_url", ShouldBlockFn), ("options_processor", OptionsProcessorFn),
                ("user_data", c_void_p), ("user_data_free", LoaderConfigUserDataFreeFn)]


class Loaded(Sized):
    _fields_ = [("struct_size", c_size_t), ("error", Status), ("detail", c_int32), ("http_status", c_int32),
                ("origin", c_int32), ("transformed", c_int32), ("error_class", c_int32), ("stage", c_int32),
                ("retryable", c_int32), ("curl_code", c_int32), ("system_error", c_int32), ("image", Image),
                ("bytes", Bytes), ("response", Response), ("message", c_char * 512)]


class PrefetchOutcome(Struct):
    _fields_ = [("error", Status), ("detail", c_int32), ("http_status", c_int32), ("origin", c_int32),
                ("retryable", c_int32), ("reserved", c_int32)]


class PrefetchReport(Sized):
    _fields_ = [("struct_size", c_size_t), ("token", Token), ("error", Status), ("reserved", c_int32),
                ("total", c_size_t), ("finished", c_size_t), ("skipped", c_size_t), ("cancelled", c_size_t),
                ("outcomes", POINTER(PrefetchOutcome)), ("outcome_size", c_size_t)]


PrefetchEachFn = CFUNCTYPE(None, Token, c_size_t, POINTER(Result), c_void_p)
PrefetchProgressFn = CFUNCTYPE(None, Token, c_size_t, c_size_t, c_size_t, c_void_p)
PrefetchedFn = CFUNCTYPE(None, POINTER(PrefetchReport), c_void_p)


class PrefetchList(Sized):
    _fields_ = [("struct_size", c_size_t), ("urls", POINTER(c_char_p)), ("count", c_size_t), ("options", c_uint64),
                ("to", c_int32), ("reserved", c_int32), ("decode", POINTER(DecodeOptions)), ("each", PrefetchEachFn),
                ("progress", PrefetchProgressFn), ("completed", PrefetchedFn), ("user_data", c_void_p),
                ("user_data_free", UserDataFreeFn)]


class Tensor(Sized):
    _fields_ = [("struct_size", c_size_t), ("pixels", c_void_p), ("slot_count", c_size_t), ("slot_stride", c_size_t),
                ("width", c_int32), ("height", c_int32), ("pixel_format", c_int32), ("layout", c_int32),
                ("fit", c_int32), ("slot_choice", c_int32), ("background", c_uint32), ("reserved", c_int32)]


class BatchSource(Sized):
    _fields_ = [("struct_size", c_size_t), ("url", c_char_p), ("id", c_uint64)]


BatchNextFn = CFUNCTYPE(c_int32, POINTER(BatchSource), c_void_p)


class BatchConfig(Sized):
    _fields_ = [("struct_size", c_size_t), ("downloader", Downloader), ("loader", Loader), ("urls", POINTER(c_char_p)),
                ("ids", POINTER(c_uint64)), ("count", c_size_t), ("next", BatchNextFn), ("user_data", c_void_p),
                ("tensor", POINTER(Tensor)), ("decode", POINTER(DecodeOptions)), ("options", c_uint64),
                ("deadline_ms", c_int64), ("look_ahead", c_int32), ("order", c_int32), ("max_attempts", c_int32),
                ("reserved", c_int32), ("responses", c_int32), ("reserved2", c_int32)]


class BatchItem(Sized):
    _fields_ = [("struct_size", c_size_t), ("id", c_uint64), ("index", c_int64), ("slot", c_int64), ("error", Status),
                ("detail", c_int32), ("http_status", c_int32), ("origin", c_int32), ("width", c_int32),
                ("height", c_int32), ("image", Image), ("bytes", Bytes), ("time_us", c_int64), ("response", Response),
                ("transformed", c_int32), ("error_class", c_int32), ("stage", c_int32), ("retryable", c_int32),
                ("curl_code", c_int32), ("system_error", c_int32), ("message", c_char * 256)]


class BatchStatistics(Sized):
    _fields_ = [("struct_size", c_size_t), ("items", c_int64), ("succeeded", c_int64), ("failed", c_int64),
                ("cancelled", c_int64), ("bytes", c_int64), ("pixels", c_int64), ("elapsed_us", c_int64),
                ("items_per_second", c_double), ("bytes_per_second", c_double)]


class BatchStatus(Sized):
    _fields_ = [("struct_size", c_size_t), ("items", c_int64), ("error", Status), ("detail", c_int32),
                ("http_status", c_int32), ("reserved", c_int32)]


class BatchHost(Sized):
    _fields_ = [("struct_size", c_size_t), ("items", c_int64), ("failed", c_int64), ("bytes", c_int64),
                ("time_us", c_int64), ("host", c_char * 256)]


class Notice(Sized):
    _fields_ = [("struct_size", c_size_t), ("kind", c_int32), ("level", c_int32), ("transfer", c_uint64),
                ("token", Token), ("url", c_char_p), ("time_us", c_int64), ("http_status", c_int32), ("error", Status),
                ("message", c_char_p), ("attempt", c_int32), ("reserved", c_int32), ("delay_us", c_int64)]


class Statistics(Sized):
    _fields_ = [("struct_size", c_size_t), ("requests", c_int64), ("requests_joined", c_int64),
                ("requests_succeeded", c_int64), ("requests_failed", c_int64), ("requests_cancelled", c_int64),
                ("transfers_started", c_int64), ("transfers_succeeded", c_int64), ("connections_opened", c_int64),
                ("request_bytes", c_int64), ("response_header_bytes", c_int64), ("response_body_bytes", c_int64),
                ("body_bytes", c_int64), ("images_decoded", c_int64), ("decode_us", c_int64), ("waiting", c_int64),
                ("running", c_int64), ("decoding", c_int64), ("receiving_bytes", c_int64), ("waiting_bytes", c_int64),
                ("undelivered_bytes", c_int64), ("decode_memory_bytes", c_int64)]


class ProcessStatistics(Sized):
    _fields_ = [("struct_size", c_size_t), ("images", c_int64), ("pixel_bytes", c_int64), ("bytes_objects", c_int64),
                ("bytes_bytes", c_int64), ("prefetch_lists", c_int64)]


class Event(Sized):
    _fields_ = [("struct_size", c_size_t), ("token", Token), ("user_data", c_void_p), ("kind", c_int32),
                ("error", Status), ("image", Image), ("bytes", Bytes), ("received_bytes", c_int64),
                ("expected_bytes", c_int64), ("result", POINTER(Result)), ("notice", POINTER(Notice)),
                ("facts", POINTER(ImageFacts)), ("prefetch", POINTER(PrefetchReport)), ("index", c_size_t)]


CoderMainFn = CFUNCTYPE(POINTER(Coder))
CacheListFn = CFUNCTYPE(c_int32, POINTER(CacheEntry), c_void_p)
ObserverFn = CFUNCTYPE(None, POINTER(Notice), c_void_p)


# CDLL, not PyDLL: the GIL is released during every call, so that a call that waits lets callbacks run.
lib = CDLL(os.environ.get("SDD_LIBRARY", "libsdd.so.0"))


def _declare(name, result, /, **parameters):
    try:
        function = getattr(lib, name)
    except AttributeError:  # an older library: only who makes the call needs it
        return
    function.restype = result
    function.argtypes = tuple(parameters.values())


_declare("sdd_version", c_uint32)
_declare("sdd_version_string", c_char_p)
_declare("sdd_bytes_retain", Bytes, bytes=Bytes)
_declare("sdd_bytes_release", None, bytes=Bytes)
_declare("sdd_bytes_data", c_void_p, bytes=Bytes)
_declare("sdd_bytes_size", c_size_t, bytes=Bytes)
_declare("sdd_bytes_create", Bytes, data=c_void_p, size=c_size_t)
_declare("sdd_status_name", c_char_p, status=Status)
_declare("sdd_status_message", c_char_p, status=Status)
_declare("sdd_last_error_message", c_char_p)
_declare("sdd_status_class", c_int32, status=Status, detail=c_int32)
_declare("sdd_image_retain", Image, image=Image)
_declare("sdd_image_release", None, image=Image)
_declare("sdd_image_width", c_int32, image=Image)
_declare("sdd_image_height", c_int32, image=Image)
_declare("sdd_image_stride", c_size_t, image=Image)
_declare("sdd_image_pixel_format", c_int32, image=Image)
_declare("sdd_image_format", c_int32, image=Image)
_declare("sdd_image_pixels", c_void_p, image=Image)
_declare("sdd_image_decode_pixels", Status, image=Image, detail=POINTER(c_int32))
_declare("sdd_image_good_rows", c_int32, image=Image)
_declare("sdd_image_is_preview", c_int32, image=Image)
_declare("sdd_image_pixels_size", c_size_t, image=Image)
_declare("sdd_image_get_info", Status, image=Image, info=POINTER(ImageInfo))
_declare("sdd_image_bytes", Bytes, image=Image)
_declare("sdd_image_probe", Status, bytes=c_void_p, size=c_size_t, facts=POINTER(ImageFacts))
_declare("sdd_image_sniff", c_int32, bytes=c_void_p, size=c_size_t)
_declare("sdd_image_get_facts", Status, image=Image, facts=POINTER(ImageFacts))
_declare("sdd_image_frame_count", c_int32, image=Image)
_declare("sdd_image_loop_count", c_int32, image=Image)
_declare("sdd_image_frame_duration_us", c_int64, image=Image, index=c_int32)
_declare("sdd_image_frame", Status, image=Image, index=c_int32, frame=POINTER(Image), detail=POINTER(c_int32))
_declare("sdd_image_metadata", Status, image=Image, kind=c_int32, data=POINTER(c_void_p), size=POINTER(c_size_t),
         detail=POINTER(c_int32))
_declare("sdd_image_text_count", c_size_t, image=Image)
_declare("sdd_image_text_at", Status, image=Image, index=c_size_t, text=POINTER(ImageText))
_declare("sdd_image_create", Status, width=c_int32, height=c_int32, pixel_format=c_int32, pixels=c_void_p,
         stride=c_size_t, out=POINTER(Image))
_declare("sdd_response_retain", Response, response=Response)
_declare("sdd_response_release", None, response=Response)
_declare("sdd_response_url", c_char_p, response=Response)
_declare("sdd_response_status", c_int32, response=Response)
_declare("sdd_response_mime_type", c_char_p, response=Response)
_declare("sdd_response_header", c_char_p, response=Response, name=c_char_p)
_declare("sdd_response_header_count", c_size_t, response=Response)
_declare("sdd_response_header_at", Status, response=Response, index=c_size_t, name=POINTER(c_char_p),
         value=POINTER(c_char_p))
_declare("sdd_image_decode", Status, bytes=c_void_p, size=c_size_t, options=POINTER(DecodeOptions),
         image=POINTER(Image), detail=POINTER(c_int32))
_declare("sdd_image_encode", Status, image=Image, options=POINTER(EncodeOptions), out=POINTER(Bytes))
_declare("sdd_image_encode_fd", Status, image=Image, options=POINTER(EncodeOptions), fd=c_int32,
         system_error=POINTER(c_int32))
_declare("sdd_image_encode_async", Token, image=Image, downloader=Downloader, options=POINTER(EncodeOptions),
         completed=CompletedFn, user_data=c_void_p, user_data_free=UserDataFreeFn, status=POINTER(Status))
_declare("sdd_image_transform", Status, image=Image, list=POINTER(Transform), count=c_size_t, out=POINTER(Image))
_declare("sdd_transform_key", Status, list=POINTER(Transform), count=c_size_t, buffer=POINTER(c_char),
         capacity=c_size_t, length=POINTER(c_size_t))
_declare("sdd_draft_url", c_char_p, draft=Draft)
_declare("sdd_draft_method", c_char_p, draft=Draft)
_declare("sdd_draft_header", c_char_p, draft=Draft, name=c_char_p)
_declare("sdd_draft_set_url", Status, draft=Draft, url=c_char_p)
_declare("sdd_draft_set_method", Status, draft=Draft, method=c_char_p)
_declare("sdd_draft_set_header", Status, draft=Draft, name=c_char_p, value=c_char_p)
_declare("sdd_draft_set_body", Status, draft=Draft, data=c_void_p, size=c_size_t)
_declare("sdd_downloader_add_transport", Status, downloader=Downloader, transport=POINTER(Transport),
         missing=POINTER(c_char_p))
_declare("sdd_downloader_remove_transport", Status, downloader=Downloader, scheme=c_char_p)
_declare("sdd_transfer_respond", Status, transfer=Transfer, http_status=c_int32, headers=POINTER(Header),
         header_count=c_size_t, expected_bytes=c_int64)
_declare("sdd_transfer_write", Status, transfer=Transfer, data=c_void_p, size=c_size_t)
_declare("sdd_transfer_finish", Status, transfer=Transfer, error=Status, message=c_char_p)
_declare("sdd_coder_register", Status, coder=POINTER(Coder), missing=POINTER(c_char_p))
_declare("sdd_coder_unregister", Status, name=c_char_p)
_declare("sdd_downloader_add_coder", Status, downloader=Downloader, coder=POINTER(Coder), missing=POINTER(c_char_p))
_declare("sdd_downloader_remove_coder", Status, downloader=Downloader, name=c_char_p)
_declare("sdd_coder_load", Status, path=c_char_p, message=POINTER(c_char), capacity=c_size_t)
_declare("sdd_download", Token, downloader=Downloader, url=c_char_p, options=c_uint64, progress=ProgressFn,
         completed=CompletedFn, user_data=c_void_p)
_declare("sdd_downloader_submit", Token, downloader=Downloader, request=POINTER(DownloadRequest),
         status=POINTER(Status))
_declare("sdd_cancel", Status, token=Token)
_declare("sdd_set_priority", Status, token=Token, priority=c_int32)
_declare("sdd_token_get_info", Status, token=Token, info=POINTER(TokenInfo))
_declare("sdd_token_get_url", Status, token=Token, buffer=POINTER(c_char), capacity=c_size_t, length=POINTER(c_size_t))
_declare("sdd_token_get_response", Status, token=Token, out=POINTER(Response))
_declare("sdd_get", Status, downloader=Downloader, url=c_char_p, options=c_uint64, timeout_ms=c_int64,
         image=POINTER(Image), bytes=POINTER(Bytes), response=POINTER(Response))
_declare("sdd_downloader_create", Status, config=POINTER(DownloaderConfig), out=POINTER(Downloader))
_declare("sdd_downloader_destroy", Status, downloader=Downloader)
_declare("sdd_downloader_close", Status, downloader=Downloader, mode=c_int32)
_declare("sdd_downloader_shared", Downloader)
_declare("sdd_set_header", Status, downloader=Downloader, name=c_char_p, value=c_char_p)
_declare("sdd_downloader_get_header", Status, downloader=Downloader, name=c_char_p, buffer=POINTER(c_char),
         capacity=c_size_t, length=POINTER(c_size_t))
_declare("sdd_downloader_set_max_concurrent_downloads", Status, downloader=Downloader, count=c_int32)
_declare("sdd_downloader_set_max_concurrent_per_host", Status, downloader=Downloader, count=c_int32)
_declare("sdd_downloader_set_min_host_interval", Status, downloader=Downloader, milliseconds=c_int64)
_declare("sdd_downloader_set_reserved_urgent_slots", Status, downloader=Downloader, count=c_int32)
_declare("sdd_downloader_set_execution_order", Status, downloader=Downloader, order=c_int32)
_declare("sdd_downloader_set_download_timeout", Status, downloader=Downloader, timeout_ms=c_int64)
_declare("sdd_downloader_set_credential", Status, downloader=Downloader, credential=POINTER(Credential))
_declare("sdd_downloader_set_modifiers", Status, downloader=Downloader, modifiers=POINTER(Modifiers))
_declare("sdd_downloader_set_decode_options", Status, downloader=Downloader, options=POINTER(DecodeOptions))
_declare("sdd_process_set_decode_memory_limit", Status, bytes=c_int64)
_declare("sdd_decoder_main", c_int, argc=c_int, argv=POINTER(POINTER(c_char)))
_declare("sdd_downloader_get_config", Status, downloader=Downloader, config=POINTER(DownloaderConfig))
_declare("sdd_downloader_suspend", Status, downloader=Downloader)
_declare("sdd_downloader_resume", Status, downloader=Downloader)
_declare("sdd_downloader_is_suspended", c_int32, downloader=Downloader)
_declare("sdd_downloader_enter_background", Status, downloader=Downloader, grace_ms=c_int64)
_declare("sdd_downloader_enter_foreground", Status, downloader=Downloader)
_declare("sdd_downloader_cancel_all", Status, downloader=Downloader)
_declare("sdd_wait_idle", Status, downloader=Downloader, timeout_ms=c_int64)
_declare("sdd_downloader_current_download_count", c_int64, downloader=Downloader)
_declare("sdd_downloader_set_cookie", Status, downloader=Downloader, cookie=POINTER(Cookie))
_declare("sdd_downloader_get_cookies", Status, downloader=Downloader, out=POINTER(Cookies))
_declare("sdd_cookies_count", c_size_t, cookies=Cookies)
_declare("sdd_cookies_at", Status, cookies=Cookies, index=c_size_t, cookie=POINTER(Cookie))
_declare("sdd_cookies_release", None, cookies=Cookies)
_declare("sdd_downloader_clear_cookies", Status, downloader=Downloader, domain=c_char_p)
_declare("sdd_downloader_set_offline", Status, downloader=Downloader, is_offline=c_int32)
_declare("sdd_cache_create", Status, config=POINTER(CacheConfig), out=POINTER(Cache), detail=POINTER(c_int32))
_declare("sdd_cache_destroy", Status, cache=Cache)
_declare("sdd_cache_shared", Cache)
_declare("sdd_cache_flush", Status, cache=Cache, timeout_ms=c_int64)
_declare("sdd_cache_trim_memory", Status, cache=Cache, level=c_int32)
_declare("sdd_cache_trim_disk", Status, cache=Cache)
_declare("sdd_cache_merge", Status, cache=Cache, directory=c_char_p, merged=POINTER(c_int64))
_declare("sdd_cache_set_memory_limits", Status, cache=Cache, max_cost=c_int64, max_count=c_int64)
_declare("sdd_cache_set_disk_limits", Status, cache=Cache, max_bytes=c_int64, max_age_ms=c_int64)
_declare("sdd_cache_get_statistics", Status, cache=Cache, statistics=POINTER(CacheStatistics))
_declare("sdd_cache_put_async", Token, cache=Cache, downloader=Downloader, item=POINTER(CacheItem),
         status=POINTER(Status))
_declare("sdd_cache_put", Status, cache=Cache, item=POINTER(CacheItem), detail=POINTER(c_int32))
_declare("sdd_cache_query_async", Token, cache=Cache, downloader=Downloader, query=POINTER(Query),
         status=POINTER(Status))
_declare("sdd_cache_query", Status, cache=Cache, query=POINTER(Query), image=POINTER(Image), bytes=POINTER(Bytes),
         extended=POINTER(Bytes), origin=POINTER(c_int32))
_declare("sdd_cache_memory_image", Image, cache=Cache, key=c_char_p)
_declare("sdd_cache_contains", c_int32, cache=Cache, key=c_char_p, levels=c_int32)
_declare("sdd_cache_remove", Status, cache=Cache, key=c_char_p, levels=c_int32)
_declare("sdd_cache_clear", Status, cache=Cache, levels=c_int32)
_declare("sdd_cache_key", Status, cache=Cache, url=c_char_p, decode=POINTER(DecodeOptions),
         transforms=POINTER(Transform), transform_count=c_size_t, buffer=POINTER(c_char), capacity=c_size_t,
         length=POINTER(c_size_t))
_declare("sdd_cache_path", Status, cache=Cache, key=c_char_p, buffer=POINTER(c_char), capacity=c_size_t,
         length=POINTER(c_size_t))
_declare("sdd_cache_open", Status, cache=Cache, key=c_char_p, fd=POINTER(c_int32), size=POINTER(c_int64))
_declare("sdd_cache_list", Status, cache=Cache, flags=c_int32, entry_fn=CacheListFn, user_data=c_void_p)
_declare("sdd_loader_create", Status, config=POINTER(LoaderConfig), out=POINTER(Loader))
_declare("sdd_loader_destroy", Status, loader=Loader)
_declare("sdd_loader_shared", Loader)
_declare("sdd_load", Token, loader=Loader, url=c_char_p, options=c_uint64, progress=ProgressFn, completed=CompletedFn,
         user_data=c_void_p)
_declare("sdd_loader_submit", Token, loader=Loader, request=POINTER(LoadRequest), status=POINTER(Status))
_declare("sdd_loader_get", Status, loader=Loader, request=POINTER(LoadRequest), timeout_ms=c_int64,
         loaded=POINTER(Loaded))
_declare("sdd_loader_running_count", c_int64, loader=Loader)
_declare("sdd_loader_cancel_all", Status, loader=Loader)
_declare("sdd_loader_remove_failed_url", Status, loader=Loader, url=c_char_p)
_declare("sdd_loader_remove_all_failed_urls", Status, loader=Loader)
_declare("sdd_loader_is_blocked", c_int32, loader=Loader, url=c_char_p)
_declare("sdd_prefetch", Token, loader=Loader, list=POINTER(PrefetchList), status=POINTER(Status))
_declare("sdd_loader_set_max_concurrent_prefetches", Status, loader=Loader, count=c_int32)
_declare("sdd_batch_create", Status, config=POINTER(BatchConfig), out=POINTER(Batch))
_declare("sdd_batch_destroy", Status, batch=Batch)
_declare("sdd_batch_wait", Status, batch=Batch, items=POINTER(BatchItem), max=c_size_t, timeout_ms=c_int64,
         count=POINTER(c_size_t))
_declare("sdd_batch_release_slot", Status, batch=Batch, slot=c_int64)
_declare("sdd_batch_cancel", Status, batch=Batch)
_declare("sdd_batch_event_fd", c_int32, batch=Batch)
_declare("sdd_batch_get_statistics", Status, batch=Batch, statistics=POINTER(BatchStatistics))
_declare("sdd_batch_get_status", Status, batch=Batch, index=c_size_t, status=POINTER(BatchStatus))
_declare("sdd_batch_get_host", Status, batch=Batch, index=c_size_t, host=POINTER(BatchHost))
_declare("sdd_downloader_set_observer", Status, downloader=Downloader, observer=ObserverFn, user_data=c_void_p,
         user_data_free=UserDataFreeFn)
_declare("sdd_downloader_set_log", Status, downloader=Downloader, level=c_int32, observer=ObserverFn,
         user_data=c_void_p, user_data_free=UserDataFreeFn)
_declare("sdd_downloader_get_statistics", Status, downloader=Downloader, statistics=POINTER(Statistics))
_declare("sdd_process_get_statistics", Status, statistics=POINTER(ProcessStatistics))
_declare("sdd_event_fd", c_int32, downloader=Downloader)
_declare("sdd_dispatch", Status, downloader=Downloader, max=c_size_t, count=POINTER(c_size_t))
_declare("sdd_drain", Status, downloader=Downloader, events=POINTER(Event), max=c_size_t, count=POINTER(c_size_t))
_declare("sdd_wait", Status, downloader=Downloader, events=POINTER(Event), max=c_size_t, timeout_ms=c_int64,
         count=POINTER(c_size_t))
