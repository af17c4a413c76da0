// The part of test_mixed that run.sh builds as C++20 and with -fno-exceptions.
#include <sdd/sdd.hpp>

#if SDD_CPP_EXCEPTIONS || __cplusplus < 202002L
#error "run.sh builds this file as C++20 with -fno-exceptions"
#endif

int width_without_exceptions(sdd_downloader *downloader, const char *url);

int width_without_exceptions(sdd_downloader *downloader, const char *url)
{
    sdd::downloader lent(downloader, sdd::adopt);
    const auto loaded = lent.download({ .url = url }).get();
    (void)lent.release();
    return loaded ? loaded.value().image.width() : 0;
}
