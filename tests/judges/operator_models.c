// operator_models.c: what we make of ONNX files that others wrote. Opens, checks and writes each model that the standard input
// names, one path a line, and prints one line for each: the status, and what is wrong or whether the written bytes are those
// that were read. operators_judge.py decides whether that is right.
#include <onnxport.h>

#include <stdio.h>
#include <string.h>

// The bytes of the file, as far as they were found again.
typedef struct file_comparison {
  FILE *file;
  bool same;
} file_comparison;

static oxp_status compare_bytes(void *context, const void *bytes, size_t byte_count, oxp_error *error)
{
  (void)error;
  file_comparison *comparison = context;
  const unsigned char *written = bytes;
  for (size_t i = 0; i < byte_count && comparison->same; i++)
    comparison->same = getc(comparison->file) == written[i];
  return OXP_OK;
}

static oxp_status write_again(const oxp_graph *graph, const char *path, bool *same, oxp_error *error)
{
  file_comparison comparison = { .file = fopen(path, "rb"), .same = true };
  if (!comparison.file)
    return OXP_IO;
  oxp_status status = oxp_graph_write_to(graph, compare_bytes, &comparison, error);
  *same = comparison.same && getc(comparison.file) == EOF;
  fclose(comparison.file);
  return status;
}

static void judge(const char *path)
{
  oxp_error error = { 0 };
  oxp_graph *graph = NULL;
  bool same = false;
  oxp_status status = oxp_graph_open(path, &graph, &error);
  if (status == OXP_OK)
    status = oxp_graph_check(graph, &error);
  if (status == OXP_OK)
    status = write_again(graph, path, &same, &error);
  printf("%s\t%s\n", oxp_status_name(status), status != OXP_OK ? error.message : same ? "same" : "changed");
  oxp_graph_free(graph);
}

int main(void)
{
  char path[4096];
  while (fgets(path, sizeof path, stdin)) {
    path[strcspn(path, "\n")] = '\0';
    judge(path);
  }
  return 0;
}
