// sources.h: the files that something was read from: none of them may be replaced or removed by what is written. Place: core.
#ifndef OXP_CORE_SOURCES_H
#define OXP_CORE_SOURCES_H

#include "core/file.h"

// Who a file is, under whatever name.
typedef struct oxp__source {
  uint64_t device, inode;
} oxp__source;

// All-zero is empty. After memory ran out `failed` stays true: who asks then has to fail.
typedef struct oxp__sources {
  oxp__source *at; // owned
  size_t count, capacity;
  bool failed;
} oxp__sources;

// The file that a path leads to; nothing when there is none.
void oxp__sources_add_path(oxp__sources *sources, const char *path);
// All files that are open in an arena.
void oxp__sources_add_arena(oxp__sources *sources, const oxp__arena *arena);
// The file that a tensor's bytes come from, if it is one.
void oxp__sources_add_tensor(oxp__sources *sources, const oxp_tensor *tensor);
// All of `others`, which may be NULL.
void oxp__sources_add_all(oxp__sources *sources, const oxp__sources *others);

// `sources` may be NULL.
bool oxp__sources_hold(const oxp__sources *sources, uint64_t device, uint64_t inode);
void oxp__sources_fini(oxp__sources *sources);

#endif
