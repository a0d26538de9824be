// Runs a fuzz target over files and folders of files, without a fuzzer: TARGET PATH...
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz.h"

// Targets with a mutator refer to it; here nothing is mutated.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
  (void)data;
  (void)max_size;
  return size;
}

static int replay_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  FUZZ_CHECK(file, path);
  FUZZ_CHECK(fseek(file, 0, SEEK_END) == 0, path);
  long size = ftell(file);
  FUZZ_CHECK(size >= 0, path);
  rewind(file);
  uint8_t *data = malloc((size_t)size + (size == 0)); // exactly as many: the sanitizer sees a read beyond the end
  FUZZ_CHECK(data && fread(data, 1, (size_t)size, file) == (size_t)size, path);
  fclose(file);
  LLVMFuzzerTestOneInput(data, (size_t)size);
  free(data);
  return 1;
}

static int replay(const char *path)
{
  struct stat status;
  FUZZ_CHECK(stat(path, &status) == 0, path);
  if (!S_ISDIR(status.st_mode))
    return replay_file(path);
  struct dirent **entries;
  int count = scandir(path, &entries, NULL, alphasort), done = 0;
  FUZZ_CHECK(count >= 0, path);
  for (int i = 0; i < count; i++) {
    char inner[4096];
    FUZZ_CHECK(snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name) < (int)sizeof inner, path);
    if (entries[i]->d_name[0] != '.')
      done += replay(inner);
    free(entries[i]);
  }
  free(entries);
  return done;
}

int main(int argc, char **argv)
{
  int done = 0;
  for (int i = 1; i < argc; i++)
    done += replay(argv[i]);
  printf("%d inputs\n", done);
  return done > 0 ? 0 : 1;
}
