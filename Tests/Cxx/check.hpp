// The common base of the programs in this folder: the checks and the servers of Tests/C, URLs as std::string, and a
// handler that collects the exceptions of callbacks.
#ifndef CHECK_HPP
#define CHECK_HPP

#include <server.h>

#include <sdd/sdd.hpp>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// A URL of the fault server.
inline std::string url_of(const std::string &path) { return std::string(setting("SDD_TEST_SERVER")) + path; }

// A request on hold under a name: it ends only after release(name), whatever the order.
inline std::string held(const std::string &name) { return url_of("/hold/" + name + "?file=png/rgb8.png"); }
inline void wait_for_held(const std::string &name) { wait_for_requests(("/hold/" + name).c_str(), 1); }

// Two pictures of Tests/Fixtures.
inline std::string jpeg_url() { return url_of("/file/jpeg/baseline-420.jpg"); } // 37 x 29
inline std::string png_url() { return url_of("/file/png/rgb8.png"); }           // 19 x 13

inline std::string fixture_of(const char *name)
{
    size_t size = 0;
    uint8_t *bytes = fixture(name, &size);
    std::string made(reinterpret_cast<const char *>(bytes), size);
    free(bytes);
    return made;
}

// Collects what callbacks have thrown, as "CALLBACK: SENTENCE", while it exists.
class Thrown {
public:
    Thrown()
    {
        sdd::set_exception_handler([this](std::exception_ptr thrown, const char *callback) {
            const std::lock_guard<std::mutex> lock(mutex);
            texts.push_back(callback + (": " + sdd::detail::describe(thrown)));
        });
    }
    ~Thrown() { sdd::set_exception_handler(nullptr); }
    Thrown(const Thrown &) = delete;
    Thrown &operator=(const Thrown &) = delete;

    std::vector<std::string> take()
    {
        const std::lock_guard<std::mutex> lock(mutex);
        return std::exchange(texts, {});
    }

private:
    std::mutex mutex;
    std::vector<std::string> texts;
};

#define CHECK_THROWN(thrown, ...) CHECK((thrown).take() == (std::vector<std::string>{__VA_ARGS__}))

// Runs a statement that must throw an sdd::error with that status.
#define CHECK_RAISES(expected, statement) \
    do { \
        sdd_status raised_ = SDD_OK; \
        try { \
            statement; \
        } catch (const sdd::error &raised) { \
            raised_ = raised.status(); \
        } \
        CHECK_STATUS(raised_, expected); \
    } while (0)

#endif
