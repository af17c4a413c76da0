/*
 * raw_replies.h - the table of test_raw_replies.c: raw replies, and the expected result of a request for each. Section
 * numbers in comments are of RFC 9112 unless another RFC is named.
 */
#ifndef RAW_REPLIES_H
#define RAW_REPLIES_H

#include "check.h"
#include "raw_packed.h"

struct row {
    const char *name;
    const char *reply;
    size_t size;
    sdd_status error;
    int32_t detail;
    const char *says; /* part of the message, for a failure */
    const char *body; /* for a success */
    size_t body_size;
    int closes;       /* the server closes the connection after the reply */
    int32_t status;   /* HTTP status of the result; 0: not checked */
    const char *method; /* NULL for GET */
    /* What another version of libcurl leads to; NULL or 0: the same. */
    const char *or_says, *or_body;
    sdd_status or_error;
};

#define R(text) .reply = text, .size = sizeof(text) - 1
#define BODY(text) .body = text, .body_size = sizeof(text) - 1
#define CLOSES .closes = 1
#define OK11 "HTTP/1.1 200 OK\r\n"
#define TWO "Content-Length: 2\r\n\r\nok"
#define CHUNKED OK11 "Transfer-Encoding: chunked\r\n\r\n"

/* A success with that body, and the most common failures. */
#define GOOD(text, what, ...) { text, R(what), SDD_OK, __VA_ARGS__ }
#define BAD(text, what, words, ...) { text, R(what), SDD_ERROR_PROTOCOL, 0, words, __VA_ARGS__ }
#define CUT(text, what, ...) { text, R(what), SDD_ERROR_TRUNCATED_BODY, 0, "end", CLOSES, __VA_ARGS__ }
#define LOST(text, what, words, ...) { text, R(what), SDD_ERROR_CONNECTION_LOST, 0, words, CLOSES, __VA_ARGS__ }

#define NOT_HTTP "is not HTTP"
#define PACKED(coding, data) OK11 "Content-Encoding: " coding "\r\nContent-Length: " data##_LENGTH "\r\n\r\n" data
#define UNPACKS "does not unpack"

static const struct row rows[] = {
    /* Status lines, 4. */
    GOOD("a reason", "HTTP/1.1 200 All right\r\n" TWO, BODY("ok"), .status = 200),
    GOOD("no reason", "HTTP/1.1 200 \r\n" TWO, BODY("ok")),
    GOOD("no reason and no space", "HTTP/1.1 200\r\n" TWO, BODY("ok")),
    GOOD("two spaces", "HTTP/1.1  200 OK\r\n" TWO, BODY("ok"), .or_error = SDD_ERROR_PROTOCOL),
    GOOD("bytes over 127 in the reason", "HTTP/1.1 200 \xc3\xa4\r\n" TWO, BODY("ok")),
    GOOD("lines that end with LF alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", BODY("ok")),
    GOOD("HTTP/1.0", "HTTP/1.0 200 OK\r\n" TWO, BODY("ok"), CLOSES),
    GOOD("HTTP/1.0 that keeps the connection", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" TWO, BODY("ok")),
    GOOD("another success", "HTTP/1.1 203 X\r\n" TWO, BODY("ok"), .status = 203),
    GOOD("204", "HTTP/1.1 204 No Content\r\n\r\n", BODY(""), .status = 204),
    GOOD("204 with a length", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", BODY(""), .status = 204),
    GOOD("205", "HTTP/1.1 205 Reset\r\nContent-Length: 0\r\n\r\n", BODY(""), .status = 205),
    { "304 unasked", R("HTTP/1.1 304 Not Modified\r\n\r\n"), SDD_ERROR_NOT_MODIFIED, .status = 304 },
    { "404", R("HTTP/1.1 404 Not Found\r\n" TWO), SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, .status = 404 },
    { "416 unasked", R("HTTP/1.1 416 Range\r\n" TWO), SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, .status = 416 },
    { "500", R("HTTP/1.1 500 No\r\n" TWO), SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, .status = 500 },
    { "600", R("HTTP/1.1 600 No\r\n" TWO), SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, .status = 600 },
    { "999", R("HTTP/1.1 999 No\r\n" TWO), SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, .status = 999 },
    BAD("status 000", "HTTP/1.1 000 OK\r\n" TWO, NOT_HTTP, .or_says = "the status 0,"),
    BAD("status 099", "HTTP/1.1 099 OK\r\n" TWO, NOT_HTTP, .or_says = "the status 99,"),
    BAD("status 000 of HTTP/2's form", "HTTP/2 000 OK\r\n" TWO, "the status 0,", .or_says = NOT_HTTP),
    BAD("status 099 of HTTP/2's form", "HTTP/2 099 OK\r\n" TWO, "the status 99,", .or_says = NOT_HTTP),
    BAD("a status of two digits", "HTTP/1.1 20 OK\r\n" TWO, NOT_HTTP),
    BAD("a tab behind the status", "HTTP/1.1 200\tOK\r\n" TWO, NOT_HTTP),
    BAD("a status of four digits", "HTTP/1.1 2000 OK\r\n" TWO, NOT_HTTP),
    BAD("a negative status", "HTTP/1.1 -20 OK\r\n" TWO, NOT_HTTP),
    BAD("a status with a letter", "HTTP/1.1 2x0 OK\r\n" TWO, NOT_HTTP),
    BAD("no status", "HTTP/1.1\r\n" TWO, NOT_HTTP),
    BAD("HTTP/1.2", "HTTP/1.2 200 OK\r\n" TWO, NOT_HTTP),
    BAD("HTTP/3 in letters", "HTTP/3 200 OK\r\n" TWO, NOT_HTTP),
    BAD("HTTP/9.9", "HTTP/9.9 200 OK\r\n" TWO, NOT_HTTP),
    BAD("a tab for a space", "HTTP/1.1\t200 OK\r\n" TWO, NOT_HTTP),
    BAD("a space before it", " " OK11 TWO, NOT_HTTP),
    BAD("a blank line before it", "\r\n" OK11 TWO, NOT_HTTP),
    BAD("small letters", "http/1.1 404 OK\r\n" TWO, "status line"),
    BAD("no version", "HTTP 200 OK\r\n" TWO, NOT_HTTP),
    BAD("another protocol's", "ICY 200 OK\r\n" TWO, NOT_HTTP),
    BAD("SSH", "SSH-2.0-OpenSSH_9.2\r\n", NOT_HTTP, CLOSES),
    BAD("a TLS alert", "\x15\x03\x01\x00\x02\x02\x46", NOT_HTTP, CLOSES),
    BAD("HTTP/0.9", "ok, and nothing else", NOT_HTTP, CLOSES),
    BAD("a CR in the status line", "HTTP/1.1 200 O\rK\r\n" TWO, "carriage return", .or_says = NOT_HTTP),
    LOST("nothing", "", "without an answer"),
    LOST("the first letters", "HTT", "without an answer"),
    LOST("half a status line", "HTTP/1.1 20", "without an answer"),
    LOST("a status line alone", OK11, "within the header"),

    /* Fields, 5. */
    GOOD("no field", OK11 "\r\nok", BODY("ok"), CLOSES),
    GOOD("a field without a value", OK11 "X:\r\n" TWO, BODY("ok")),
    GOOD("no space behind the colon", OK11 "X:y\r\nContent-Length:2\r\n\r\nok", BODY("ok")),
    GOOD("white space around a value", OK11 "Content-Length: \t 2 \t \r\n\r\nok", BODY("ok")),
    GOOD("a name in capitals", OK11 "CONTENT-LENGTH: 2\r\n\r\nok", BODY("ok")),
    GOOD("bytes over 127 in a value", OK11 "X: \xe4\xff\r\n" TWO, BODY("ok")),
    GOOD("a space before an ordinary colon", OK11 "X-Y : z\r\n" TWO, BODY("ok")),
    GOOD("a folded value", OK11 "X: a\r\n b\r\n" TWO, BODY("ok")),
    GOOD("a value folded with a tab, twice", OK11 "X: a\r\n\tb\r\n\t c\r\n" TWO, BODY("ok")),
    GOOD("cookies that nobody keeps", OK11 "Set-Cookie: a=b\r\nSet-Cookie: c=d; Secure=x\r\n" TWO, BODY("ok")),
    GOOD("a cookie that is none", OK11 "Set-Cookie: ;;;=;\r\n" TWO, BODY("ok")),
    BAD("a fold before any field", OK11 " Date: x\r\n" TWO, "header line", .or_says = "continued line"),
    BAD("a fold with a tab before any field", OK11 "\tDate: x\r\n" TWO, "header line", .or_says = "continued line"),
    BAD("a folded length", OK11 "Content-Length: 2\r\n 0\r\n\r\nok", "more than one meaning", .or_says = NOT_HTTP),
    BAD("a folded transfer coding", OK11 "Transfer-Encoding: chunked\r\n , x\r\n\r\n0\r\n\r\n", "more than one meaning",
        .or_says = "not asked for"),
    BAD("a folded content coding", OK11 "Content-Encoding:\r\n gzip\r\n" TWO, "more than one meaning",
        .or_error = SDD_ERROR_CONTENT_ENCODING),
    BAD("a space before a length's colon", OK11 "Content-Length : 2\r\n\r\nok", "more than one meaning", CLOSES),
    BAD("a space before a coding's colon", OK11 "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "more than one meaning",
        CLOSES),
    BAD("a line without a colon", OK11 "what is this\r\n" TWO, NOT_HTTP),
    BAD("a NUL in a value", OK11 "X: a\0b\r\n" TWO, NOT_HTTP),
    BAD("a NUL in a name", OK11 "X\0: b\r\n" TWO, NOT_HTTP),
    BAD("a CR in a value", OK11 "X: a\rb\r\n" TWO, "carriage return", .or_says = NOT_HTTP),
    BAD("a CR that pretends to be a line", OK11 "X: a\rContent-Length: 9\r\n" TWO, "carriage return",
        .or_says = NOT_HTTP),
    BAD("a CR before the line's end", OK11 "X: a\r\r\n" TWO, "carriage return", .or_says = NOT_HTTP),
    BAD("a CR in a name", OK11 "X\rY: a\r\n" TWO, "header line", .or_says = NOT_HTTP),
    BAD("a line that begins with a CR", OK11 "\rX: a\r\n" TWO, "carriage return"),
    LOST("half a field", OK11 "Content-Leng", "within the header"),
    LOST("a header without its end", OK11 "Content-Length: 2\r\n", "within the header"),

    /* Lengths, 6.3. */
    GOOD("a length of 0", OK11 "Content-Length: 0\r\n\r\n", BODY("")),
    GOOD("a length with zeros before it", OK11 "Content-Length: 0002\r\n\r\nok", BODY("ok")),
    GOOD("the same length twice", OK11 "Content-Length: 2\r\nContent-Length: 2\r\n\r\nok", BODY("ok")),
    GOOD("a list of the same length", OK11 "Content-Length: 2, 2\r\n\r\nok", BODY("ok")),
    GOOD("the same length in a list and alone", OK11 "Content-Length: 2,2\r\nContent-Length: 2\r\n\r\nok", BODY("ok")),
    GOOD("more than the length", OK11 "Content-Length: 2\r\n\r\nok, and more", BODY("ok")),
    GOOD("no length", OK11 "\r\nok", BODY("ok"), CLOSES),
    GOOD("no length and nothing", OK11 "\r\n", BODY(""), CLOSES),
    GOOD("a bad length of no body", "HTTP/1.1 204 X\r\nContent-Length: 2x\r\n\r\n", BODY("")),
    GOOD("a length in answer to HEAD", OK11 "Content-Length: 44\r\n\r\n", BODY(""), .method = "HEAD"),
    GOOD("two lengths in answer to HEAD", OK11 "Content-Length: 44\r\nContent-Length: 6\r\n\r\n", BODY(""),
         .method = "HEAD", .or_error = SDD_ERROR_PROTOCOL),
    BAD("a length, then a smaller one", OK11 "Content-Length: 44\r\nContent-Length: 2\r\n\r\nok", "Content-Length",
        .or_says = NOT_HTTP),
    BAD("a length, then a larger one", OK11 "Content-Length: 2\r\nContent-Length: 44\r\n\r\nok", "Content-Length",
        .or_says = NOT_HTTP),
    BAD("a list of lengths", OK11 "Content-Length: 3, 2\r\n\r\noky", "Content-Length", .or_says = NOT_HTTP),
    BAD("a list with nothing behind the comma", OK11 "Content-Length: 2,\r\n\r\nok", "Content-Length",
        .or_says = NOT_HTTP),
    BAD("a length with a letter", OK11 "Content-Length: 2x\r\n\r\nok", "Content-Length", .or_says = NOT_HTTP),
    BAD("a length with a space in it", OK11 "Content-Length: 2 2\r\n\r\nok", "Content-Length", .or_says = NOT_HTTP),
    BAD("a length with a plus", OK11 "Content-Length: +2\r\n\r\nok", "Content-Length", .or_says = NOT_HTTP),
    BAD("a length with a point", OK11 "Content-Length: 2.0\r\n\r\nok", "Content-Length", .or_says = NOT_HTTP),
    BAD("a length with a parameter", OK11 "Content-Length: 2;x=y\r\n\r\nok", "Content-Length", .or_says = NOT_HTTP),
    BAD("a length in hexadecimal", OK11 "Content-Length: 0x2\r\n\r\nok", "Content-Length", .or_says = NOT_HTTP),
    BAD("a negative length", OK11 "Content-Length: -2\r\n\r\nok", NOT_HTTP),
    BAD("a length in letters", OK11 "Content-Length: two\r\n\r\nok", NOT_HTTP),
    BAD("an empty length", OK11 "Content-Length:\r\n\r\nok", NOT_HTTP),
    { "a length that no machine has", R(OK11 "Content-Length: 99999999999999999999\r\n\r\nok"),
      SDD_ERROR_BODY_TOO_LARGE, CLOSES },
    { "a length over the limit", R(OK11 "Content-Length: 9999999999\r\n\r\nok"), SDD_ERROR_BODY_TOO_LARGE, CLOSES },
    CUT("less than the length", OK11 "Content-Length: 20\r\n\r\nok"),
    CUT("nothing of the length", OK11 "Content-Length: 20\r\n\r\n"),

    /* Transfer codings, 6.1, and chunks, 7.1. */
    GOOD("one chunk", CHUNKED "2\r\nok\r\n0\r\n\r\n", BODY("ok")),
    GOOD("two chunks", CHUNKED "1\r\no\r\n1\r\nk\r\n0\r\n\r\n", BODY("ok")),
    GOOD("no chunk", CHUNKED "0\r\n\r\n", BODY("")),
    GOOD("a size in capitals", CHUNKED "A\r\n0123456789\r\n0\r\n\r\n", BODY("0123456789")),
    GOOD("a size with zeros", CHUNKED "0002\r\nok\r\n000\r\n\r\n", BODY("ok")),
    GOOD("an extension", CHUNKED "2;a=b;c=\"d e\"\r\nok\r\n0;x\r\n\r\n", BODY("ok")),
    GOOD("a trailer", CHUNKED "2\r\nok\r\n0\r\nX: y\r\nZ: z\r\n\r\n", BODY("ok")),
    GOOD("a folded trailer", CHUNKED "2\r\nok\r\n0\r\nX: y\r\n z\r\n\r\n", BODY("ok"), .or_error = SDD_ERROR_PROTOCOL),
    GOOD("a length in the trailer", CHUNKED "2\r\nok\r\n0\r\nContent-Length: 9x\r\n\r\n", BODY("ok")),
    GOOD("chunks in spite of a length", OK11 "Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
         BODY("ok")),
    GOOD("chunks in capitals", OK11 "Transfer-Encoding: CHUNKED\r\n\r\n2\r\nok\r\n0\r\n\r\n", BODY("ok")),
    GOOD("identity", OK11 "Transfer-Encoding: identity\r\nContent-Length: 1\r\n\r\nok", BODY("ok"), CLOSES,
         .or_body = "o"),
    GOOD("identity and chunks", OK11 "Transfer-Encoding: identity, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", BODY("ok")),
    BAD("chunked twice", OK11 "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", "transfer coding"),
    BAD("chunked in two fields", OK11 "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "transfer coding"),
    BAD("gzip and chunks", OK11 "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "transfer coding"),
    BAD("chunks and gzip", OK11 "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", "transfer coding"),
    BAD("gzip as a transfer coding", OK11 "Transfer-Encoding: gzip\r\n\r\nok", "transfer coding", CLOSES),
    BAD("a transfer coding that nobody knows", OK11 "Transfer-Encoding: x\r\n" TWO, "transfer coding"),
    BAD("xchunked", OK11 "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "transfer coding", CLOSES),
    BAD("a size of letters", CHUNKED "zz\r\nok\r\n0\r\n\r\n", "chunked"),
    BAD("an empty size", CHUNKED "\r\nok\r\n0\r\n\r\n", "chunked"),
    BAD("a negative size", CHUNKED "-2\r\nok\r\n0\r\n\r\n", "chunked"),
    BAD("a size that no machine has", CHUNKED "fffffffffffffffff\r\nok\r\n0\r\n\r\n", "chunked"),
    BAD("more than the size", CHUNKED "2\r\noky\r\n0\r\n\r\n", "chunked"),
    CUT("chunks cut in a size", CHUNKED "2\r\nok\r\n1"),
    CUT("chunks cut in a chunk", CHUNKED "9\r\nok"),
    CUT("chunks cut behind a chunk", CHUNKED "2\r\nok\r\n"),
    CUT("chunks cut in the last line", CHUNKED "2\r\nok\r\n0\r\n"),
    CUT("chunks cut in the trailer", CHUNKED "2\r\nok\r\n0\r\nX: y\r\n"),
    CUT("chunks that do not come", CHUNKED ""),

    /* Content codings: RFC 9110, 8.4. */
    GOOD("gzip", PACKED("gzip", GZIP), BODY(PLAIN)),
    GOOD("x-gzip", PACKED("x-gzip", GZIP), BODY(PLAIN)),
    GOOD("gzip in capitals", PACKED("GZIP", GZIP), BODY(PLAIN)),
    GOOD("gzip behind identity", PACKED("identity, gzip", GZIP), BODY(PLAIN)),
    GOOD("gzip in a chunk", OK11 "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
         "1e\r\n" GZIP "\r\n0\r\n\r\n", BODY(PLAIN)),
    GOOD("gzip that ends by closing", OK11 "Content-Encoding: gzip\r\n\r\n" GZIP, BODY(PLAIN), CLOSES),
    GOOD("deflate", PACKED("deflate", ZLIB), BODY(PLAIN)),
    GOOD("deflate without zlib's wrapping", PACKED("deflate", DEFLATE), BODY(PLAIN)),
    GOOD("deflate that ends by closing", OK11 "Content-Encoding: deflate\r\n\r\n" ZLIB, BODY(PLAIN), CLOSES),
    GOOD("br", PACKED("br", BROTLI), BODY(PLAIN)),
    GOOD("zstd", PACKED("zstd", ZSTD), BODY(PLAIN)),
    GOOD("zstd in two frames", OK11 "Content-Encoding: zstd\r\n\r\n" ZSTD ZSTD, BODY(PLAIN PLAIN), CLOSES),
    GOOD("packed nothing", OK11 "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", BODY("")),
    GOOD("a coding in answer to HEAD", OK11 "Content-Encoding: gzip\r\nContent-Length: 30\r\n\r\n", BODY(""),
         .method = "HEAD"),
    GOOD("identity", OK11 "Content-Encoding: identity\r\n" TWO, BODY("ok")),
    GOOD("none", OK11 "Content-Encoding: none\r\n" TWO, BODY("ok")),
    GOOD("an empty coding", OK11 "Content-Encoding:\r\n" TWO, BODY("ok")),
    GOOD("a coding that nobody knows", OK11 "Content-Encoding: x-what\r\n" TWO, BODY("ok")),
    GOOD("a coding that nobody knows, to be kept",
         OK11 "Cache-Control: max-age=1000\r\nContent-Encoding: x-what\r\n" TWO, BODY("ok")),
    GOOD("one that nobody knows, in chunks", OK11 "Content-Encoding: UTF-8\r\nTransfer-Encoding: chunked\r\n\r\n"
         "2\r\nok\r\n0\r\n\r\n", BODY("ok")),
    GOOD("one that nobody knows over gzip", PACKED("gzip, x-what", GZIP), BODY(GZIP)),
    GOOD("compress", OK11 "Content-Encoding: compress\r\n" TWO, BODY("ok")),
    GOOD("binary", OK11 "Content-Encoding: binary\r\n" TWO, BODY("ok")),
    GOOD("aws-chunked and gzip", OK11 "Content-Encoding: aws-chunked, gzip\r\n" TWO, BODY("ok")),
    CUT("gzip cut by a byte", PACKED("gzip", GZIP_SHORT)),
    CUT("gzip cut by half", PACKED("gzip", GZIP_HALF)),
    CUT("deflate cut by a byte", PACKED("deflate", ZLIB_SHORT)),
    CUT("deflate cut by half", PACKED("deflate", ZLIB_HALF)),
    CUT("deflate without wrapping cut by a byte", PACKED("deflate", DEFLATE_SHORT)),
    CUT("deflate without wrapping cut by half", PACKED("deflate", DEFLATE_HALF)),
    CUT("br cut by a byte", PACKED("br", BROTLI_SHORT)),
    CUT("br cut by half", PACKED("br", BROTLI_HALF)),
    CUT("zstd cut by a byte", PACKED("zstd", ZSTD_SHORT)),
    CUT("zstd cut by half", PACKED("zstd", ZSTD_HALF)),
    CUT("deflate cut by closing", OK11 "Content-Encoding: deflate\r\n\r\n" ZLIB_HALF),
    CUT("br cut by closing", OK11 "Content-Encoding: br\r\n\r\n" BROTLI_HALF),
#define ENCODING(text, what, words, ...) { text, R(what), SDD_ERROR_CONTENT_ENCODING, 0, words, __VA_ARGS__ }
    ENCODING("gzip of two members", OK11 "Content-Encoding: gzip\r\n\r\n" GZIP GZIP, "behind the end", CLOSES),
    ENCODING("gzip with bytes behind it", OK11 "Content-Encoding: gzip\r\n\r\n" GZIP "and more", "behind the end", CLOSES),
    ENCODING("deflate with bytes behind it", OK11 "Content-Encoding: deflate\r\n\r\n" ZLIB "more", "behind the end",
             CLOSES),
    ENCODING("br with bytes behind it", OK11 "Content-Encoding: br\r\n\r\n" BROTLI "more", "behind the end", CLOSES),
    ENCODING("zstd with bytes behind it", OK11 "Content-Encoding: zstd\r\n\r\n" ZSTD "more", UNPACKS, CLOSES),
    ENCODING("gzip that is none", OK11 "Content-Encoding: gzip\r\n" TWO, UNPACKS),
    ENCODING("deflate that is none", OK11 "Content-Encoding: deflate\r\nContent-Length: 4\r\n\r\n\xff\xff\xff\xff",
             UNPACKS),
    ENCODING("br that is none", OK11 "Content-Encoding: br\r\nContent-Length: 6\r\n\r\n\xff\xff\xff\xff\xff\xff", UNPACKS),
    ENCODING("zstd that is none", OK11 "Content-Encoding: zstd\r\nContent-Length: 8\r\n\r\nwhatever", UNPACKS),
    ENCODING("gzip twice", PACKED("gzip, gzip", GZIP), "more than once"),
    ENCODING("gzip and br", PACKED("br, gzip", GZIP), "more than once"),

    /* Interim responses: RFC 9110, 15.2. */
    GOOD("100 before it", "HTTP/1.1 100 Continue\r\n\r\n" OK11 TWO, BODY("ok"), .status = 200),
    GOOD("three before it", "HTTP/1.1 102 X\r\n\r\nHTTP/1.1 103 X\r\nLink: <x>\r\n\r\nHTTP/1.1 199 X\r\n\r\n" OK11 TWO,
         BODY("ok")),
    GOOD("100 with a length", "HTTP/1.1 100 X\r\nContent-Length: 2x2\r\n\r\n" OK11 TWO, BODY("ok")),
    BAD("100 with a CR", "HTTP/1.1 100 X\r\nX: a\rb\r\n\r\n" OK11 TWO, "carriage return", .or_says = NOT_HTTP),
    BAD("a fold before any field behind 103", "HTTP/1.1 103 X\r\nX: y\r\n\r\n" OK11 " Date: x\r\n" TWO, "continued line"),
    BAD("101 unasked", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nok", "another protocol"),
    LOST("100 and nothing", "HTTP/1.1 100 Continue\r\n\r\n", "without an answer"),

    /* Redirects: RFC 9110, 15.4. */
    GOOD("a redirect", "HTTP/1.1 302 X\r\nLocation: /good\r\nContent-Length: 0\r\n\r\n", BODY("good")),
    GOOD("a redirect to the same place twice",
         "HTTP/1.1 302 X\r\nLocation: /good\r\nLocation: /good\r\nContent-Length: 0\r\n\r\n", BODY("good")),
    GOOD("a redirect whose body is cut", "HTTP/1.1 301 X\r\nLocation: /good\r\nContent-Length: 9\r\n\r\nok", BODY("good"),
         CLOSES),
    GOOD("a redirect that ends by closing", "HTTP/1.1 307 X\r\nLocation: /good\r\n\r\nok", BODY("good"), CLOSES),
    GOOD("a success with a location", "HTTP/1.1 201 X\r\nLocation: /good\r\n" TWO, BODY("ok")),
    GOOD("a success with one location twice", OK11 "Location: /good\r\nLocation: /good\r\n" TWO, BODY("ok")),
    BAD("a success with two locations", OK11 "Location: /good\r\nLocation: /to/1\r\n" TWO, "more than one Location",
        .or_says = NOT_HTTP),
    { "a redirect to two places", R("HTTP/1.1 302 X\r\nLocation: /good\r\nLocation: /to/1\r\nContent-Length: 0\r\n\r\n"),
      SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_MALFORMED, "more than one place",
      .or_error = SDD_ERROR_PROTOCOL },
    { "a redirect to a file", R("HTTP/1.1 302 X\r\nLocation: file:///x\r\nContent-Length: 0\r\n\r\n"),
      SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_SCHEME },
    { "a redirect to no URL", R("HTTP/1.1 302 X\r\nLocation: http://[::1/\r\nContent-Length: 0\r\n\r\n"),
      SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_MALFORMED },
    { "a redirect to nowhere", R("HTTP/1.1 302 X\r\nContent-Length: 0\r\n\r\n"),
      SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, .status = 302 },
    { "a redirect to an empty place", R("HTTP/1.1 302 X\r\nLocation:\r\nContent-Length: 0\r\n\r\n"),
      SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, .status = 302 },
    BAD("a redirect with a CR", "HTTP/1.1 302 X\r\nLocation: /go\rod\r\nContent-Length: 0\r\n\r\n", "carriage return",
        .or_says = NOT_HTTP),
    BAD("a redirect with two lengths", "HTTP/1.1 302 X\r\nLocation: /good\r\nContent-Length: 1, 2\r\n\r\nok",
        "Content-Length", .or_says = NOT_HTTP),

    /* Parts: RFC 9110, 15.3.7. */
    BAD("206 unasked", "HTTP/1.1 206 X\r\nContent-Range: bytes 0-1/9\r\n" TWO, "a part"),
    BAD("206 unasked, of the whole", "HTTP/1.1 206 X\r\nContent-Range: bytes 0-1/2\r\n" TWO, "a part"),
    BAD("206 unasked, without a range", "HTTP/1.1 206 X\r\n" TWO, "a part"),
    GOOD("200 with a range", OK11 "Content-Range: bytes 0-1/9\r\n" TWO, BODY("ok")),
};

enum { row_count = sizeof rows / sizeof *rows };

#endif
