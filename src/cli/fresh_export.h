// fresh_export.h: is a model, byte for byte, what export writes? Place: cli.
#ifndef OXP_CLI_FRESH_EXPORT_H
#define OXP_CLI_FRESH_EXPORT_H

#include "net/network.h"
#include "onnx/graph.h"

// The profile under which a fresh export of the network has the bytes of the file that `model` was read from; NULL when none has.
// The batch is the one that the model declares; opset, IR version, type, names and documentation are too, unless `asked` says other.
// Both forms of batch normalization are tried. Models whose weights lie in a data file are not compared.
const char *oxp__fresh_export_profile(const oxp_network *network, const oxp_graph *model,
                                      const oxp_lower_options *asked);

#endif
