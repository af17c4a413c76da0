/* jpeg_decoder.h - what the parts of the JPEG decoder share. */
#ifndef SDD_JPEG_DECODER_H
#define SDD_JPEG_DECODER_H

#include "CJPEG.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>
#include <jerror.h>

#include "../CSystem/work_clock.h"

/* Bytes [start, end) of the picture that libjpeg is not shown. */
typedef struct sddj_gap {
    size_t start;
    size_t end;
} sddj_gap;

enum sddj_stage {
    STAGE_CLOSED,
    STAGE_HEADER,  /* not yet complete */
    STAGE_READY,   /* nothing decoded yet */
    STAGE_SCANS,   /* reading one scan after the other */
    STAGE_ROWS     /* writing the picture */
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

    /* What was given. */
    const uint8_t *bytes;
    size_t size;
    bool is_last;
    size_t to_skip;        /* of what is still to come */
    bool source_ended;     /* libjpeg asked for more than there is */
    sddj_gap *gaps;        /* in order; libjpeg's own memory */
    size_t gap_count;
    size_t next_gap;

    sddj_colours colours;
    int component_ids[MAX_COMPONENTS];
    int component_count;
    uint64_t needed[MAX_COMPONENTS]; /* of each component, the coefficients its size uses: bits by zigzag position */
    bool needs_all;        /* as large as it is stored, or nearly so */
    bool is_complete;      /* no scan that is still to come changes a pixel */
    bool is_showing;       /* a preview's output pass is not finished yet */
    bool is_in_scan;       /* libjpeg has read a scan's header and not all of its data */
    bool must_begin_again; /* libjpeg had to wait where it cannot: the whole body is read anew */
    size_t searched;       /* up to where the end of this scan's data was looked for */
    uint32_t final_rows;   /* of the preview that was begun last: sddj_final_preview_rows() */
    size_t used;           /* of what was given, by the scans so far */
    int shown;             /* the last scan that a preview was made of */
    int scans;             /* that are complete */
    uint8_t *row_group;    /* for rows that nobody else has memory for; libjpeg's own memory */

    bool bytes_skipped;    /* bytes that belong to no marker and no scan were passed over */
    bool is_partial;
    uint32_t rows;
    int32_t warnings;
    char message[JMSG_LENGTH_MAX];
};

/* Ends the picture with an error, by longjmp: only from within libjpeg. */
_Noreturn void sddj_leave(sddj_decoder *d, sddj_status status, const char *message);

/* Fills in libjpeg's source manager; then what it is to see next: the bytes from `at` on. */
void sddj_make_source(sddj_decoder *d);
void sddj_show(sddj_decoder *d, size_t at);

/* The header of a scan has been read. */
void sddj_scan_begins(sddj_decoder *d);

/* Whether libjpeg may go on: it cannot wait within a scan of arithmetic coding, so all of that must be there, up to the
   marker behind it. True also where no more will come. */
bool sddj_may_consume(sddj_decoder *d);

/* sddj_final_preview_rows() of a preview that begins now. */
uint32_t sddj_final_rows(const sddj_decoder *d);

/* Which coefficients are used, from the size that libjpeg has been told. */
void sddj_find_needed(sddj_decoder *d);

/* Whether all of them are there as exactly as they will ever be. At the end of a scan. */
bool sddj_has_needed(const sddj_decoder *d);

/* Whether any of a component that are needed are not there. */
bool sddj_lacks_needed(const sddj_decoder *d, int component);

/* When all scans there are have been read: a loss, if some are missing. */
void sddj_check_scans(sddj_decoder *d);

/* Makes gaps of the scans that the size does not need. Of a progressive picture that is given whole, between its
   header and the rest. Leaves by longjmp without memory, as libjpeg does. False: what is there does not go on to the
   picture's end in the usual way, and must be looked at as a whole. */
bool sddj_drop_scans(sddj_decoder *d);

/* Whether what is behind the scans so far goes on to the picture's end in the usual way. Also when libjpeg has let go of
   the picture. */
bool sddj_has_end(const sddj_decoder *d, const uint8_t *bytes, size_t size);

#endif
