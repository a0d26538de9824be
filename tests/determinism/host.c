// A program that uses the library in the locale of its environment: `host SOURCE SIZE... MODEL` exports a network to MODEL, writes it
// in netcl's format to MODEL.netcl, and prints the locale's decimal point. The library must neither be moved by the locale nor move
// it. Exit status 99: the system does not have the locale. Used by determinism.py.
#include <onnxport.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static oxp_status host_export(char **words, int size_count, oxp_error *error)
{
  oxp_network *network = NULL;
  oxp_graph *graph = NULL;
  oxp_open_options options = { .input_rank = size_count };
  for (int i = 0; i < size_count; i++)
    options.input_shape[i] = strtol(words[i + 1], NULL, 10);
  oxp_status status = oxp_network_open(words[0], &options, &network, error);
  if (status == OXP_OK)
    status = oxp_graph_lower(network, NULL, &graph, error);
  if (status == OXP_OK)
    status = oxp_graph_write(graph, words[size_count + 1], NULL, NULL, error);
  char path[4096];
  snprintf(path, sizeof path, "%s.netcl", words[size_count + 1]);
  if (status == OXP_OK)
    status = oxp_network_write(network, path, "netcl", error);
  oxp_graph_free(graph);
  oxp_network_free(network);
  return status;
}

int main(int argc, char **argv)
{
  oxp_error error = { 0 };
  if (argc < 3 || argc - 3 > OXP_MAX_RANK || !setlocale(LC_ALL, ""))
    return 99;
  char *before = strdup(setlocale(LC_ALL, NULL));
  oxp_status status = host_export(argv + 1, argc - 3, &error);
  if (status != OXP_OK)
    fprintf(stderr, "%s\n", error.message);
  int moved = !before || strcmp(before, setlocale(LC_ALL, NULL)) != 0;
  free(before);
  printf("%s\n", localeconv()->decimal_point);
  return moved ? 98 : oxp_status_exit_code(status);
}
