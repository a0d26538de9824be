// What the fuzz targets share: input bytes as a file, an archive's members as the unit of mutation, collected output. Each
// fuzz_<target>.c is one program with LLVMFuzzerTestOneInput; clang links it with libFuzzer, gcc with replay.c.
#ifndef OXP_TESTS_FUZZ_H
#define OXP_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size); // libFuzzer's own

// Makes the input the content of a regular file that has no other name than the returned path. One file per process: the next call
// replaces what is in it.
const char *fuzz_file(const uint8_t *data, size_t size);

// A path to write to, in a folder of this process alone; the caller removes what it wrote.
const char *fuzz_target(void);

// Ends the process with a message, as a finding, unless the condition holds.
#define FUZZ_CHECK(condition, text)                                                                                    \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      fuzz_fail(__FILE__, __LINE__, text);                                                                             \
  } while (0)
_Noreturn void fuzz_fail(const char *file, int line, const char *text);

// What every failing call owes its caller: the same status in both places, and a sentence in valid UTF-8 without a line break.
void fuzz_check_error(oxp_status status, const oxp_error *error);

// Opens a network and checks what comes with a failure. Where layers do not fit an input that was found out, or its shape is not
// known, tries some others.
oxp_status fuzz_open(const char *path, const oxp_open_options *options, oxp_network **network, oxp_error *error);

// An oxp_write_function that collects into an oxp__text.
oxp_status fuzz_collect(void *text, const void *bytes, size_t count, oxp_error *error);

// Mutates one member of a zip archive, or which members there are, and packs it again with right sizes and checksums, so that
// mutations reach what lies behind them; now and then the bytes as they are. Bytes that are no archive are mutated as bytes.
size_t fuzz_mutate_archive(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

#endif
