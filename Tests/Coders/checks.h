/* What the programs of this folder share. */
#ifndef CHECKS_H
#define CHECKS_H

#include <sdd/sdd.h>

#include <stdio.h>
#include <stdlib.h>

#include "../C/plain_check.h"

/* Makes a downloader that reads files, and decodes them where `mode` says. Ends the program if it cannot. */
static inline sdd_downloader *downloader_of(int32_t mode)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_downloader *made = NULL;
    network.allow_file_urls = 1;
    config.network = &network;
    config.decode_mode = mode;
    if (sdd_downloader_create(&config, &made) != SDD_OK) {
        fprintf(stderr, "%s\n", sdd_last_error_message());
        exit(1);
    }
    return made;
}

#endif
