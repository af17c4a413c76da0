/* Handling of libjpeg's errors: nothing is printed, and an error leaves by longjmp(). Requires jpeglib.h. */
#ifndef JPEG_ERRORS_H
#define JPEG_ERRORS_H

#include <setjmp.h>

struct jpeg_errors {
    struct jpeg_error_mgr manager; /* the first field, because libjpeg passes a pointer to it */
    jmp_buf failed;                /* set with setjmp() before each call that may fail */
};

static inline void leave_jpeg(j_common_ptr jpeg) { longjmp(((struct jpeg_errors *)jpeg->err)->failed, 1); }

static inline void ignore_jpeg_message(j_common_ptr jpeg) { (void)jpeg; }

/* Returns the value for jpeg_decompress_struct.err. */
static inline struct jpeg_error_mgr *set_up_jpeg_errors(struct jpeg_errors *errors)
{
    jpeg_std_error(&errors->manager);
    errors->manager.error_exit = leave_jpeg;
    errors->manager.output_message = ignore_jpeg_message;
    return &errors->manager;
}

#endif
