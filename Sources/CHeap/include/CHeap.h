// Nothing is called by name: the linker puts the functions of heap.c in the place of malloc() and its like.
#ifndef SDD_CHEAP_H
#define SDD_CHEAP_H
#endif
