// use.cc: the header in a C++17 program: opens a network, lowers it, and writes the model to a function.
#include <onnxport.h>

#include <cstdio>
#include <memory>
#include <string>

namespace {

struct Free {
  void operator()(oxp_network *network) const
  {
    oxp_network_free(network);
  }
  void operator()(oxp_graph *graph) const
  {
    oxp_graph_free(graph);
  }
};

oxp_status append(void *context, const void *bytes, size_t count, oxp_error *)
{
  static_cast<std::string *>(context)->append(static_cast<const char *>(bytes), count);
  return OXP_OK;
}

int fail(const oxp_error &error)
{
  std::fprintf(stderr, "%s\n", error.message);
  return oxp_status_exit_code(error.status);
}

} // namespace

int main(int argc, char **argv)
{
  if (argc != 2)
    return 2;
  oxp_error error = {};
  oxp_network *opened = nullptr;
  if (oxp_network_open(argv[1], nullptr, &opened, &error) != OXP_OK)
    return fail(error);
  std::unique_ptr<oxp_network, Free> network(opened);

  oxp_lower_options options = {};
  options.opset = 18;
  oxp_graph *lowered = nullptr;
  if (oxp_graph_lower(network.get(), &options, &lowered, &error) != OXP_OK)
    return fail(error);
  std::unique_ptr<oxp_graph, Free> graph(lowered);

  std::string model;
  if (oxp_graph_write_to(graph.get(), append, &model, &error) != OXP_OK)
    return fail(error);
  std::printf("onnxport %s, opset %d, %d layers, %zu bytes\n", oxp_version(), oxp_graph_opset(graph.get()),
              oxp_network_layer_count(network.get()), model.size());
  return oxp_graph_opset(graph.get()) == 18 && !model.empty() ? 0 : 1;
}
