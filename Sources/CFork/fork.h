#ifndef SDD_FORK_H
#define SDD_FORK_H

/// Number of forks between the process that loaded the library and this one.
extern unsigned sddfork_generation;

// Take, release and renew the lock of once.c around a fork.
void sddfork_hold_once(void);
void sddfork_let_once_go(void);
void sddfork_renew_once(void);

// Take, release and renew the lock of runtime.c around a fork. Only that of once.c is taken while it is held.
void sddfork_hold_runtime(void);
void sddfork_let_runtime_go(void);
void sddfork_renew_runtime(void);

#endif
