// Processes that decode pictures apart from the application: how one is started, what it is asked and answers, and the
// sandbox that it enters. It includes no header of the C library but the basic ones, like CSystem.h.
#ifndef SDD_CHELPER_H
#define SDD_CHELPER_H

#include <stdbool.h>
#include <stdint.h>

/// The descriptors of a helper, the same in each of them.
enum { SDDHELPER_SOCKET = 0, SDDHELPER_BODY = 1, SDDHELPER_PIXELS = 3 };

/// A running helper, as the application's process sees it. Descriptors that are not open are -1.
struct sddhelper_process {
    int32_t pid;
    /// Refers to the process even after its number was used again; -1 on systems without pidfd_open(2).
    int32_t pidfd;
    /// Carries requests and replies, each as one packet.
    int32_t socket;
    /// A file in memory with the bytes of a body. This process writes it. Neither process can make it smaller.
    int32_t body;
    /// A file in memory with pixels. The helper writes it. Neither process can make it smaller.
    int32_t pixels;
};

/// Starts a helper: `program library limit object`.
/// - Parameters:
///   - library: the path of libsdd, which the helper loads.
///   - memory: bytes that the helper may take.
///   - object: the path of a coder's shared object; NULL for the formats of the library.
/// - Returns: 0, or an error number.
int32_t sddhelper_start(const char *program, const char *library, uint64_t memory, const char *object,
                        struct sddhelper_process *process);

/// Kills a helper and waits for its end.
/// - Returns: the signal that ended it; 0 if it ended by itself; -1 if that is unknown.
int32_t sddhelper_kill(struct sddhelper_process *process);

/// Closes the descriptors of a helper without killing it: in a child of a fork, whose parent it belongs to.
void sddhelper_close(struct sddhelper_process *process);

/// Returns the CPU time that a process has taken, in microseconds; -1 if it is unknown.
int64_t sddhelper_cpu_time(int32_t pid);

/// Sends a packet. Never blocks for long, as one packet is on the way at a time.
/// - Returns: 0, or an error number.
int32_t sddhelper_send(int32_t socket, const void *packet, uint64_t size);

/// Sets how long `sddhelper_receive` waits, in milliseconds; -1 for ever, as at the beginning.
/// - Returns: 0, or an error number.
int32_t sddhelper_set_patience(int32_t socket, int32_t milliseconds);

/// Receives a packet.
/// - Returns: its size; 0 if the peer has ended; -1 if the time is over; -2 on another error.
int64_t sddhelper_receive(int32_t socket, void *packet, uint64_t size);

/// Adds to the time that the calling thread has waited for helpers, in microseconds.
void sddhelper_add_time(int64_t microseconds);

/// Returns the time that the calling thread has waited for helpers, in microseconds.
int64_t sddhelper_time_of_helpers(void);

/// Gives up all rights of this process but computing, the memory it may take, and the descriptors above: no new file,
/// no network, no process, no other memory made executable. Works on x86-64 and AArch64.
/// - Parameter memory: bytes that may be taken beyond those that are taken now; 0 means no limit.
/// - Returns: 0, or an error number.
int32_t sddhelper_enter_sandbox(uint64_t memory);

/// Closes all descriptors but those of a helper.
void sddhelper_close_others(void);

/// What a helper is asked.
enum sddhelper_question {
    SDDHELPER_READ = 1,
    SDDHELPER_PREVIEW,
    SDDHELPER_IS_ENDED,
    SDDHELPER_NEXT,
    SDDHELPER_CAN_DECODE,
    SDDHELPER_ESTIMATE,
    /// Has no reply.
    SDDHELPER_CLOSE
};

/// A request. A reader is opened by the first request that names it, and kept unless that is `SDDHELPER_READ` with the
/// whole body.
struct sddhelper_request {
    uint32_t question;
    uint32_t reader;
    /// Bytes in the body file. They follow those that the reader has.
    uint64_t count;
    bool is_last;

    // The task of a reader of the library's own.
    bool is_lenient, is_exact, drops_scans, is_transposed, allows_enlarging, size_is_exact;
    int32_t format, wanted, row_alignment;
    int32_t fit;
    int64_t width, height, byte_limit;
    int64_t max_pixels, milliseconds, milliseconds_per_mib;
    uint32_t max_scans;

    /// The task of a coder's decoder, together with `max_pixels`.
    int64_t wanted_side;

    int64_t after_scans;
};

enum sddhelper_answer {
    /// More bytes are needed, or there is nothing to show. For `SDDHELPER_CAN_DECODE`: undecided.
    SDDHELPER_NOTHING = 1,
    SDDHELPER_GIVEN,
    /// There are no more frames. For the two questions with yes or no: no. For `SDDHELPER_ESTIMATE`: the coder makes
    /// none.
    SDDHELPER_NO,
    /// The body can only be decoded as a whole; the frame may have sizes.
    SDDHELPER_WHOLE_ONLY,
    SDDHELPER_FAILED
};

struct sddhelper_reply {
    uint32_t answer;
    /// A `CoderError.Kind`, for `SDDHELPER_FAILED`.
    int32_t error;
    /// Pixels in the pixel file: `height` rows, `stride` bytes apart.
    uint64_t offset, stride;
    int32_t width, height, pixel_format;
    bool has_pixels;
    /// -1: all of them, or not stated.
    int64_t good_rows;

    /// CPU time that the answer took, in microseconds.
    int64_t cpu_time;

    // The rest of a coder's frame.
    int32_t picture_width, picture_height, orientation, frame_count, loop_count;
    int64_t duration;

    /// For `SDDHELPER_ESTIMATE`: bytes of memory that the decoder takes, with the size of the picture.
    int64_t decode_bytes;

    char reason[400];
};

#endif
