// offers.c: see offers.h. Knows nothing of layers: a size is right when the network opens with it. Place: cli.
#include "cli/offers.h"

#include <string.h>

#include "core/text.h"
#include "engines/input.h"

enum { OFFERS_MAX = 3 }; // a model's, and two readings of one --input

typedef struct offer {
  const char *from; // the file that says it, as the command line calls it; borrowed
  bool picture;
  int rank; // of one sample, without the batch
  int64_t shape[OXP_MAX_RANK];
} offer;

typedef struct offers {
  offer at[OFFERS_MAX];
  int count;
} offers;

static void offers_add(offers *list, const char *from, bool picture, int rank, const int64_t *shape)
{
  offer *added = &list->at[list->count];
  *added = (offer){ .from = from, .picture = picture, .rank = rank };
  bool whole = rank > 0 && rank < OXP_MAX_RANK;
  for (int i = 0; whole && i < rank; i++) {
    added->shape[i] = shape[i];
    whole = shape[i] > 0;
  }
  list->count += whole;
}

// What the model declares, when it declares numbers. A model that cannot be read is reported when it is opened to be
// used.
static void offers_add_model(offers *list, const char *path, const char *name)
{
  oxp_graph *graph = NULL;
  oxp_value_info input;
  if (oxp_graph_open(path, &graph, NULL) == OXP_OK && oxp_graph_input_info(graph, 0, &input) && input.rank > 1)
    offers_add(list, name, false, input.rank - 1, input.shape + 1);
  oxp_graph_free(graph);
}

// An array holds samples along its first axis, or is one. A picture has three channels or one.
static void offers_add_input(offers *list, const char *path, const char *name)
{
  oxp__input_sizes sizes = { 0 };
  if (oxp__input_look(path, &sizes, NULL) != OXP_OK)
    return;
  if (!sizes.picture) {
    offers_add(list, name, false, sizes.rank - 1, sizes.shape + 1);
    offers_add(list, name, false, sizes.rank, sizes.shape);
    return;
  }
  for (int channels = 3; channels >= 1; channels -= 2)
    offers_add(list, name, true, 3, (int64_t[]){ channels, sizes.shape[0], sizes.shape[1] });
}

static void offers_find(offers *list, const oxp__arguments *arguments)
{
  const char *model = oxp__operand_path(arguments, 1), *input = oxp__option_path_at(arguments, "input", 0);
  if (model)
    offers_add_model(list, model, oxp__operand(arguments, 1));
  if (input)
    offers_add_input(list, input, oxp__option_text_at(arguments, "input", 0));
}

// Whether samples of the offer go into an input of this shape, batch first.
static bool offer_fits(const offer *offered, int rank, const int64_t *shape)
{
  bool fits = rank == offered->rank + 1;
  for (int i = 0; fits && i < offered->rank; i++)
    fits = shape[i + 1] < 0 || shape[i + 1] == offered->shape[i];
  return fits;
}

// Whether the network takes what was offered as it is: one of an array's two readings is enough.
static bool offers_fit(const offers *list, const oxp_network *network)
{
  oxp_value_info input;
  bool fits = list->count == 0 || !oxp_network_value_info(network, oxp_network_input(network, 0), &input);
  for (int i = 0; !fits && i < list->count; i++)
    fits = list->at[i].picture || offer_fits(&list->at[i], input.rank, input.shape);
  return fits;
}

// OXP_BAD_ARGUMENT when the model takes other samples than --input-shape says.
static oxp_status offers_check_asked(const oxp_open_options *options, const char *model, oxp_error *error)
{
  offers list = { 0 };
  if (model)
    offers_add_model(&list, model, model);
  const offer *declared = &list.at[0];
  if (list.count == 0 || (declared->rank == options->input_rank &&
                          memcmp(declared->shape, options->input_shape, sizeof declared->shape) == 0))
    return OXP_OK;
  oxp__text asked = { 0 }, found = { 0 };
  oxp__text_add_shape(&asked, options->input_rank, options->input_shape);
  oxp__text_add_shape(&found, declared->rank, declared->shape);
  oxp_status status = oxp__fail(error, OXP_BAD_ARGUMENT, "samples of %s were asked for; %s takes samples of %s",
                                oxp__text_string(&asked), model, oxp__text_string(&found));
  oxp__text_fini(&asked);
  oxp__text_fini(&found);
  return oxp__at_key(error, status, "--input-shape");
}

// Opens the network with what was offered, and has it say so.
static oxp_status offer_try(const offer *offered, const char *path, const oxp_open_options *options,
                            oxp_network **network, oxp_error *error)
{
  oxp_open_options with = *options;
  with.input_rank = offered->rank;
  memcpy(with.input_shape, offered->shape, sizeof with.input_shape);
  OXP__TRY(oxp_network_open(path, &with, network, error));
  oxp__text shape = { 0 };
  oxp__text_add_shape(&shape, offered->rank, offered->shape);
  oxp__network_warn(*network, "The file does not hold the input's size; samples of %s are taken from %s.",
                    oxp__text_string(&shape), offered->from);
  oxp__text_fini(&shape);
  return OXP_OK;
}

// The first of the offers that the network opens with replaces *network; false when there is none. A picture's size
// counts only where the network has none (`open`).
static bool offers_take(const offers *list, const char *path, const oxp_open_options *options, bool open,
                        oxp_network **network)
{
  oxp_network *sized = NULL;
  for (int i = 0; !sized && i < list->count; i++)
    if (open || !list->at[i].picture)
      offer_try(&list->at[i], path, options, &sized, NULL);
  if (!sized)
    return false;
  oxp_network_free(*network);
  *network = sized;
  return true;
}

// Adds to the failure why what was offered does not help.
static void offers_add_refusals(const offers *list, oxp_error *error)
{
  if (!error)
    return;
  oxp_error before = *error;
  oxp__text shapes = { 0 };
  for (int i = 0; i < list->count; i++) {
    oxp__text_add(&shapes, i == 0 ? "" : ", ");
    oxp__text_add_shape(&shapes, list->at[i].rank, list->at[i].shape);
  }
  oxp__fail(error, before.status, "%s; samples of %s, which %s holds, do not fit them", before.message,
            oxp__text_string(&shapes), list->at[0].from);
  memcpy(error->file, before.file, sizeof error->file);
  oxp__text_fini(&shapes);
}

oxp_status oxp__offers_open(const oxp__arguments *arguments, const oxp_open_options *options, oxp_network **network,
                            oxp_error *error)
{
  const char *path = oxp__operand_path(arguments, 0);
  offers list = { 0 };
  if (options->input_rank > 0)
    OXP__TRY(offers_check_asked(options, oxp__operand_path(arguments, 1), error));
  oxp_status status = oxp_network_open(path, options, network, error);
  if (options->input_rank > 0 || (status != OXP_OK && status != OXP_BAD_NETWORK))
    return status;
  offers_find(&list, arguments);
  if (status != OXP_OK)
    *network = NULL;
  bool open = !*network || oxp_network_missing_shape(*network);
  if (!open && offers_fit(&list, *network))
    return OXP_OK;
  if (offers_take(&list, path, options, open, network) || !open || list.count == 0)
    return *network ? OXP_OK : status;
  if (*network)
    status = oxp__network_check_ready(*network, error);
  oxp_network_free(*network);
  *network = NULL;
  offers_add_refusals(&list, error);
  return status;
}
