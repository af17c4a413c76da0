/* jpeg_decoder.h - declarations shared by the parts of the JPEG decoder. */
#ifndef SDD_JPEG_DECODER_H
#define SDD_JPEG_DECODER_H

#include "CJPEG.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>
#include <jerror.h>

#include "../CSystem/work_clock.h"

/* Bytes [start, end) of the body that are hidden from libjpeg. */
typedef struct sddj_gap {
    size_t start;
    size_t end;
} sddj_gap;

/* The identifiers of the components of a picture, by their order in its frame header. */
struct sddj_frame {
    int ids[MAX_COMPONENTS];
    int count;
};

enum sddj_stage {
    STAGE_CLOSED,
    STAGE_HEADER, /* the header is not complete yet */
    STAGE_READY,  /* the header has been read, and nothing is decoded yet */
    STAGE_SCANS,  /* reading scans in libjpeg's buffered-image mode */
    STAGE_ROWS    /* writing rows of the final picture */
};

struct sddj_decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf escape;
    sddj_status status;
    enum sddj_stage stage; /* STAGE_CLOSED: `jpeg` owns no memory */
    sddj_rules rules;
    sddsys_work_clock clock;

    /* Input so far, set by sddj_give(). */
    const uint8_t *bytes;
    size_t size;
    bool is_last;
    size_t to_skip;    /* bytes that libjpeg skips and that have not arrived yet */
    bool source_ended; /* libjpeg has asked for bytes past the end of the body */
    sddj_gap *gaps;    /* in file order; allocated from libjpeg's image pool */
    size_t gap_count;
    size_t next_gap;

    sddj_colours colours;
    struct sddj_frame frame;
    /* per component, the coefficients that the output size uses: one bit per zigzag position */
    uint64_t needed[MAX_COMPONENTS];
    bool needs_all;   /* the output size uses every coefficient */
    bool is_complete; /* no later scan changes a pixel */
    bool is_showing;  /* a preview's output pass has begun and is not finished */
    bool has_detail;  /* complete scans have more of every component than the mean of each block */
    bool is_in_scan;  /* libjpeg has read a scan's header, but not all of the scan's data */
    /* libjpeg needed more input where it cannot suspend: the whole body has to be decoded anew */
    bool must_begin_again;
    size_t searched;     /* offset up to which the end of this scan's data was searched for */
    uint32_t final_rows; /* see sddj_final_preview_rows() */
    size_t used;         /* bytes of input that the scans so far take up */
    int shown;           /* number of the scan that the last preview showed */
    int scans;           /* number of complete scans */
    uint8_t *row_group;  /* buffer for the row callbacks; allocated from libjpeg's image pool */

    struct sddj_array *arrays[MAX_COMPONENTS]; /* by component */
    int array_count;
    uint32_t means_only; /* components of which only the means of blocks are kept: one bit each */
    void *coefficients;  /* memory of the others, from the rules */
    size_t coefficients_size;
    void (*realize)(j_common_ptr); /* libjpeg's own */

    bool bytes_skipped; /* libjpeg passed over bytes that belong to no marker and no scan */
    bool is_partial;
    uint32_t rows;
    uint32_t good_rows; /* rows that were written before the first loss of pixels, in a picture with one scan */
    int32_t warnings;
    char message[JMSG_LENGTH_MAX];
};

/* Fails the picture by longjmp. Call it only from code that libjpeg or a setjmp half runs. */
_Noreturn void sddj_leave(sddj_decoder *d, sddj_status status, const char *message);

/* sddj_make_source() fills in libjpeg's source manager. sddj_show() points it at the bytes from offset `at` on. */
void sddj_make_source(sddj_decoder *d);
void sddj_show(sddj_decoder *d, size_t at);

/* Makes libjpeg keep coefficients in arrays of this library. sddj_free_coefficients() comes after libjpeg's object has
   been destroyed. */
void sddj_manage_coefficients(sddj_decoder *d);
void sddj_free_coefficients(sddj_decoder *d);

/* Records that libjpeg has read the header of a scan. */
void sddj_scan_begins(sddj_decoder *d);

/* Whether libjpeg may continue. Its arithmetic decoder cannot suspend within a scan, so the whole scan must be
   present, up to the marker that follows it. Also true if no more bytes will come. */
bool sddj_may_consume(sddj_decoder *d);

/* Returns sddj_final_preview_rows() for a preview that begins now. */
uint32_t sddj_final_rows(const sddj_decoder *d);

/* Computes `needed` from the output size that libjpeg has been given. */
void sddj_find_needed(sddj_decoder *d);

/* Whether all needed coefficients have their final precision. Call it at the end of a scan. */
bool sddj_has_needed(const sddj_decoder *d);

/* Whether every component of a progressive picture has more than the mean of each block. Call it at the end of a scan. */
bool sddj_has_detail(const sddj_decoder *d);

/* Whether a needed coefficient of the component is missing or lacks precision. */
bool sddj_lacks_needed(const sddj_decoder *d, int component);

/* Checks for missing scans after the last available one was read. A missing scan is an error, or sets is_partial
   if the rules are lenient. */
void sddj_check_scans(sddj_decoder *d);

/* Turns the scans that the output size does not need into gaps. Only for a progressive picture whose whole body is
   present, after its header was read and before anything else is. Leaves by longjmp when out of memory, as libjpeg
   does. Returns false if the rest of the body is not a regular sequence of scans up to the end marker; then no
   scan may be skipped. Finds the components of which only means have to be kept. */
bool sddj_drop_scans(sddj_decoder *d);

/* Whether the bytes after the scans read so far are a regular sequence of scans up to the end marker. Also works
   after libjpeg's memory has been freed. */
bool sddj_has_end(const sddj_decoder *d, const uint8_t *bytes, size_t size);

#endif
