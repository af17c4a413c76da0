// The part of the fork handling that must not be written in Swift: see fork.c.
#ifndef SDD_CFORK_H
#define SDD_CFORK_H

/// Functions to call before a fork, and after it in the parent and in the child.
struct sddfork_handlers {
    void (*before)(void);
    void (*in_parent)(void);
    void (*in_child)(void);
};

/// Kinds of work that is done once in a process.
enum sddfork_work { SDDFORK_FIRST_USE, SDDFORK_FIRST_DOWNLOADER, SDDFORK_WORK_COUNT };

/// Runs `work` once in a process. Other callers and forks wait until it has finished. Later calls cost one read of
/// memory. Callable from any thread, but not from within `work`.
void sddfork_once(enum sddfork_work which, void (*work)(void));

/// Sets the handlers that each later fork calls. Must be called from within `work`.
void sddfork_set_handlers(struct sddfork_handlers handlers);

#endif
