// streams_absent.c: see streams.h. Takes the place of streams.c where descriptors cannot be copied (WebAssembly): `-` is refused.
// Place: cli.
#include "cli/streams.h"

#include <string.h>

bool oxp__is_stream(const char *value)
{
  return value && strcmp(value, "-") == 0;
}

static oxp_status stream_refuse(oxp_error *error)
{
  return oxp__fail(error, OXP_NOT_AVAILABLE, "this build of onnxport reads and writes files only, not -");
}

oxp_status oxp__streams_open(oxp__arguments *arguments, oxp_error *error)
{
  for (int i = 0; i < arguments->operand_count; i++)
    if (oxp__is_stream(arguments->operands[i]))
      return stream_refuse(error);
  for (size_t i = 0; i < arguments->given_count; i++)
    if (oxp__is_stream(arguments->given[i].value))
      return stream_refuse(error);
  return OXP_OK;
}

void oxp__streams_name(const oxp__arguments *arguments, oxp_error *error)
{
  (void)arguments;
  (void)error;
}

oxp_status oxp__stream_take_output(int *descriptor, oxp_error *error)
{
  (void)descriptor;
  return stream_refuse(error);
}

oxp_status oxp__stream_write(void *descriptor, const void *bytes, size_t count, oxp_error *error)
{
  (void)descriptor;
  (void)bytes;
  (void)count;
  return stream_refuse(error);
}

void oxp__stream_close(int descriptor)
{
  (void)descriptor;
}

oxp_status oxp__stream_write_file(int descriptor, const char *path, oxp_error *error)
{
  (void)descriptor;
  (void)path;
  return stream_refuse(error);
}
