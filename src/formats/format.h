// format.h: the row of one dialect, and how files are recognised. One file in this folder per dialect, `<name>.c`,
// defines `const oxp__format oxp__format_<name>`; the build lists the files. Containers (zip, npy, pickle, json) live in
// containers/ and know no dialect. Place: formats (after profiles).
#ifndef OXP_FORMATS_FORMAT_H
#define OXP_FORMATS_FORMAT_H

#include "core/output.h"
#include "core/resemble.h"
#include "net/network.h"

struct oxp__zip;

// A file that somebody must recognise: opened once, looked at by every format.
typedef struct oxp__candidate {
  const char *path; // as the user gave it
  oxp__file *file;  // NULL when no such file exists (a stem: PATH.json and PATH.npz)
  unsigned char head[OXP__RESEMBLE_BYTES];
  size_t head_count;
  struct oxp__zip *zip; // directory of a zip archive; NULL when it is none or damaged
  oxp_error zip_error;  // why, when it starts like a zip but is damaged
} oxp__candidate;

// Opens `path` for looking at, in `arena`; borrows `path`. That there is no such file is no failure: it may be a stem.
oxp_status oxp__candidate_open(oxp__arena *arena, const char *path, oxp__candidate *candidate, oxp_error *error);

// The failure that there is neither the candidate's file nor another one that its path stands for: what the system says, or OXP_IO when
// the file has appeared since it was looked for.
oxp_status oxp__candidate_fail_missing(const oxp__candidate *candidate, oxp_error *error);

typedef struct oxp__format {
  const char *name;     // = file name
  const char *doc;      // what it is, who writes it
  const char *suffixes; // what such files are usually called, for people: ".netcl"
  // How sure the format is that the file is its own: 0 (no) to 100. Looks at content, not at names. Never fails.
  int (*probe)(const oxp__candidate *candidate);
  // Fills the empty network with layers, weights, inputs and outputs through the builder functions; does not finish it.
  // What it opens goes into the network's arena.
  oxp_status (*read)(const oxp__candidate *candidate, const oxp_open_options *options, oxp_network *network,
                     oxp_error *error);
  // NULL when the format cannot be written. The network is finished. Every file is opened with the guard, so that none that the network
  // was read from is replaced.
  oxp_status (*write)(const oxp_network *network, const char *path, const oxp__output_guard *guard, oxp_error *error);
  bool is_pair;        // it writes two files, whatever of them the path names
  bool takes_variable; // `options->variable` says which part of a file is meant; elsewhere it is refused
} oxp__format;

extern const oxp__format *const oxp__formats[];
extern const size_t oxp__format_count;

// The row of that name; NULL when there is none.
const oxp__format *oxp__format_find(const char *name);

// Writes a network in a format: oxp_network_write for callers who have more sources than the network's own, or want to be asked whether
// to go on. `guard` may be NULL.
oxp_status oxp__network_write(const oxp_network *network, const char *path, const char *format,
                              const oxp__output_guard *guard, oxp_error *error);

// array_file.c: oxp_array_write, guarded.
oxp_status oxp__array_write(const oxp_array *array, const char *path, const oxp__output_guard *guard, oxp_error *error);

#endif
