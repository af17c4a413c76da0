// Processes that decode pictures apart from the application: how one is started, what it is asked and answers, and the
// sandbox that it enters. It includes no header of the C library but the basic ones, like CSystem.h.
#ifndef SDD_CHELPER_H
#define SDD_CHELPER_H

#include <stdbool.h>
#include <stdint.h>

/// The descriptors of a helper, the same in each of them.
enum { SDDHELPER_SOCKET = 0, SDDHELPER_BODY = 1, SDDHELPER_PIXELS = 3, SDDHELPER_LIFE = 4 };

/// The most memory and processor time that a helper may take; 0 means no limit.
struct sddhelper_limits {
    /// Bytes of address space beyond those that it has once everything is loaded.
    uint64_t memory;
    /// Bytes of its file of pixels, which may stay when they are not mapped any more.
    uint64_t pixels;
    /// Seconds of CPU time, in its whole life.
    uint64_t seconds;
};

/// A running helper, as the application's process sees it. Descriptors that are not open are -1.
struct sddhelper_process {
    int32_t pid;
    /// Refers to the process even after its number was used again; -1 on systems without pidfd_open(2).
    int32_t pidfd;
    /// Carries requests and replies, each as one packet.
    int32_t socket;
    /// A file in memory with the bytes of a body. This process writes it, and the helper can only read it.
    int32_t body;
    /// A file in memory with pixels. The helper writes it. Neither process can make it smaller.
    int32_t pixels;
    /// The end of a pipe that no other process has. The kernel kills the helper when it is closed.
    int32_t life;
    struct sddhelper_process *next;
};

/// Starts a helper: `program library memory pixels seconds object`.
/// - Parameters:
///   - library: the path of libsdd, which the helper loads.
///   - object: the path of a coder's shared object; NULL for the formats of the library.
///   - process: to be freed with `sddhelper_free`.
/// - Returns: 0, or an error number.
int32_t sddhelper_start(const char *program, const char *library, const struct sddhelper_limits *limits,
                        const char *object, struct sddhelper_process **process);

/// Kills a helper and waits for its end.
/// - Returns: the signal that ended it; 0 if it ended by itself; -1 if that is unknown.
int32_t sddhelper_kill(struct sddhelper_process *process);

/// Frees a helper that was killed, or in a child of a fork, whose parent it belongs to.
void sddhelper_free(struct sddhelper_process *process);

// The three steps of a fork. The child closes its copies of all descriptors: it must not keep helpers alive that belong
// to its parent.
void sddhelper_lock_for_fork(void);
void sddhelper_unlock_in_parent(void);
void sddhelper_reset_in_child(void);

/// Returns the CPU time that a process has taken, in microseconds; -1 if it is unknown.
int64_t sddhelper_cpu_time(int32_t pid);

/// How long `sddhelper_send` and `sddhelper_receive` of the application's process wait, in milliseconds.
enum { SDDHELPER_TURN = 200 };

/// Sends a packet.
/// - Parameter may_wait: whether it waits until there is room.
/// - Returns: 0, or an error number; EAGAIN if there is no room yet.
int32_t sddhelper_send(int32_t socket, const void *packet, uint64_t size, bool may_wait);

/// Receives a packet.
/// - Returns: its size; 0 if the peer has ended; -1 if there is none yet; -2 on another error.
int64_t sddhelper_receive(int32_t socket, void *packet, uint64_t size);

/// Adds to the time that the calling thread has waited for helpers, in microseconds.
void sddhelper_add_time(int64_t microseconds);

/// Returns the time that the calling thread has waited for helpers, in microseconds.
int64_t sddhelper_time_of_helpers(void);

/// Sets what tells the calling thread that nobody waits for its work any more; NULL for nothing.
void sddhelper_set_stop(const void *stop);
const void *sddhelper_stop(void);

/// Has the kernel kill this process when the application's process ends, however it ends, which nothing in this process
/// can undo later. Ends this process if that is so already.
/// - Returns: 0, or an error number.
int32_t sddhelper_follow_application(void);

/// Gives up all rights of this process but computing, the memory it may take, and the descriptors above: no new file,
/// no network, no process, no thread, no other memory made executable. Works on x86-64 and AArch64.
/// - Returns: 0, or an error number.
int32_t sddhelper_enter_sandbox(const struct sddhelper_limits *limits);

/// Closes all descriptors but those of a helper.
void sddhelper_close_others(void);

/// Numbers by which both sides know that they understand each other. Change the second one with the structs below.
enum { SDDHELPER_MAGIC = 0x73646430, SDDHELPER_PROTOCOL = 4 };

/// Why a helper cannot work.
enum sddhelper_flaw { SDDHELPER_READY, SDDHELPER_NO_CODER, SDDHELPER_NO_SANDBOX };

/// The first packet of a helper, before it has seen a byte of a body. A program that cannot load the library sends one
/// of any other size, a text that says why.
struct sddhelper_hello {
    uint32_t magic, protocol, request_size, reply_size;
    /// An `sddhelper_flaw`.
    int32_t flaw;
    char reason[400];
};

/// What a helper is asked.
enum sddhelper_question {
    SDDHELPER_READ = 1,
    SDDHELPER_PREVIEW,
    SDDHELPER_IS_ENDED,
    SDDHELPER_NEXT,
    SDDHELPER_CAN_DECODE,
    SDDHELPER_ESTIMATE,
    /// For a coder that draws: `width` and `height` are those of the frame.
    SDDHELPER_RESIZE,
    /// The body is an iCCP chunk of a PNG, whose profile is unpacked. No reader is opened.
    SDDHELPER_PROFILE,
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

    // The task of a reader of the library's own. A coder's decoder has `is_lenient`, too.
    bool is_lenient, is_exact, drops_scans, keeps_inks, is_transposed, allows_enlarging, size_is_exact;
    int32_t format, wanted, row_alignment;
    int32_t fit;
    int64_t width, height, byte_limit;
    int64_t max_pixels, milliseconds, milliseconds_per_mib;
    uint32_t max_scans;

    /// For `SDDHELPER_PROFILE`: whether the PNG is grey.
    bool is_grey;

    /// The task of a coder's decoder, together with `max_pixels`.
    int64_t wanted_side;

    int64_t after_scans;
};

enum sddhelper_answer {
    /// More bytes are needed, or there is nothing to show. For `SDDHELPER_CAN_DECODE`: undecided.
    SDDHELPER_NOTHING = 1,
    SDDHELPER_GIVEN,
    /// There are no more frames. For the two questions with yes or no: no. For `SDDHELPER_ESTIMATE`: the coder makes
    /// none. For `SDDHELPER_PROFILE`: it is damaged.
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
    /// -1: all of them, or not stated. 0 for a coder's frame: its body is whole.
    int64_t good_rows;

    /// CPU time that the answer took, in microseconds.
    int64_t cpu_time;

    // The rest of a coder's frame; the profile is also the answer to `SDDHELPER_PROFILE`.
    int32_t picture_width, picture_height, orientation, frame_count, loop_count;
    int64_t duration;
    /// A colour profile in the pixel file, and code points of ITU-T H.273.
    uint64_t profile_offset, profile_size;
    int32_t primaries, transfer;

    /// For `SDDHELPER_ESTIMATE`: bytes of memory that the decoder takes, with the size of the picture.
    int64_t decode_bytes;

    char reason[400];
};

#endif
