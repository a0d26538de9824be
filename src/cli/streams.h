// streams.h: `-`, pipes, and standard output as files. Place: cli.
#ifndef OXP_CLI_STREAMS_H
#define OXP_CLI_STREAMS_H

#include "cli/options.h"

// The most that is read from a pipe; it is put into a file without a name in the system's temporary folder.
#define OXP__STREAM_MAX_BYTES (UINT64_C(4) << 30)

// Readers look at a file in any order, which a pipe does not allow. Gives every word of the command line that names a file to read
// (an operand, the value of an option whose argument is FILE) a path where that can be done: standard input for `-`, and what comes
// out of a FIFO, are copied to a file without a name, which is gone with the arguments. OXP_BAD_ARGUMENT when standard input is a
// terminal, or is named twice.
oxp_status oxp__streams_open(oxp__arguments *arguments, oxp_error *error);

// Has an error call such a file what the command line calls it.
void oxp__streams_name(const oxp__arguments *arguments, oxp_error *error);

// Does this value of an option or operand stand for standard input or output?
bool oxp__is_stream(const char *value);

// Takes standard output for the bytes of one file: from here on results go to standard error, with the messages. *descriptor is for
// oxp__stream_write. OXP_BAD_ARGUMENT when it is a terminal.
oxp_status oxp__stream_take_output(int *descriptor, oxp_error *error);

// An oxp_write_function; `descriptor` is an int *.
oxp_status oxp__stream_write(void *descriptor, const void *bytes, size_t count, oxp_error *error);

// Closes it; nothing to do for -1.
void oxp__stream_close(int descriptor);

// Writes all that a file holds.
oxp_status oxp__stream_write_file(int descriptor, const char *path, oxp_error *error);

#endif
