/*
 * sdd/cpp/config.hpp - The C struct of a configuration. For these headers alone.
 */
#ifndef SDD_CPP_CONFIG_HPP
#define SDD_CPP_CONFIG_HPP

#include "request.hpp"

SDD_CPP_BEGIN

namespace detail {

/* The functions of callback_options. */
struct thread_functions {
    std::function<void()> start, stop;
};

/* The C struct of a configuration, with everything that it points to. */
class c_config {
public:
    explicit c_config(const downloader_config &from) : modifiers_(from.modifiers) {
        set_plain(c, from);
        if (from.credential) {
            credential_ = c_credential(*from.credential);
            c.credential = &credential_;
        }
        c.modifiers = modifiers_.get();
        if (from.callbacks) fill_callbacks(*from.callbacks);
        if (from.network) fill_network(*from.network);
    }

    /* The library has accepted the struct, and frees the functions. */
    void taken() noexcept {
        modifiers_.taken();
        (void)functions_.release();
        (void)filter_.release();
    }

    sdd_downloader_config c = SDD_DOWNLOADER_CONFIG_INIT;

private:
    void fill_callbacks(const callback_options &from) {
        set_plain(callbacks_, from);
        if (from.on_thread_start)
            callbacks_.on_thread_start = [](void *user_data) noexcept {
                guarded("on_thread_start", static_cast<thread_functions *>(user_data)->start);
            };
        if (from.on_thread_stop)
            callbacks_.on_thread_stop = [](void *user_data) noexcept {
                guarded("on_thread_stop", static_cast<thread_functions *>(user_data)->stop);
            };
        functions_.reset(new thread_functions{from.on_thread_start, from.on_thread_stop});
        callbacks_.user_data = functions_.get();
        callbacks_.user_data_free = free_user_data<thread_functions>;
        c.callbacks = &callbacks_;
    }

    void fill_network(const network_options &from) {
        set_plain(network_, from);
        if (from.address_filter) {
            filter_ = std::make_unique<address_filter>(from.address_filter);
            network_.address_filter = [](const char *address, int32_t port,
                                         void *user_data) noexcept {
                return guarded("address_filter", int32_t{0}, [&] {
                    return int32_t{(*static_cast<address_filter *>(user_data))(address, port)};
                });
            };
            network_.user_data = filter_.get();
            network_.user_data_free = free_user_data<address_filter>;
        }
        exceptions_ = c_texts(from.address_exceptions);
        network_.address_exceptions = exceptions_.data();
        network_.address_exception_count = exceptions_.size();
        resolve_ = c_texts(from.resolve);
        network_.resolve = resolve_.data();
        network_.resolve_count = resolve_.size();
        c.network = &network_;
    }

    lent_modifiers modifiers_;
    sdd_credential credential_ = SDD_CREDENTIAL_INIT;
    sdd_callback_options callbacks_ = SDD_CALLBACK_OPTIONS_INIT;
    sdd_network_options network_ = SDD_NETWORK_OPTIONS_INIT;
    std::vector<const char *> resolve_, exceptions_;
    std::unique_ptr<thread_functions> functions_;
    std::unique_ptr<address_filter> filter_;
};

} // namespace detail

SDD_CPP_END

#endif /* SDD_CPP_CONFIG_HPP */
