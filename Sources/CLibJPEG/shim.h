// jpeglib.h needs these two first.
#include <stddef.h>
#include <stdio.h>
#include <jpeglib.h>
