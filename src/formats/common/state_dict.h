// state_dict.h: where in a dictionary that a training loop saved the weights of a network are: they may lie in an inner dictionary
// ("model", "state_dict"), and all their names may begin with the same letters ("module.", "_orig_mod."). Place: formats/common.
#ifndef OXP_FORMATS_COMMON_STATE_DICT_H
#define OXP_FORMATS_COMMON_STATE_DICT_H

#include "core/names.h"
#include "core/text.h"
#include "formats/containers/pickle.h"

typedef struct oxp__state_dict {
  const oxp__pickle_value *dict; // where the weights are
  const char *path;   // the keys that lead there, with a slash between two: "model"; "" for the outermost dictionary
  const char *prefix; // what the name of every weight begins with: "module."; "" for nothing
  oxp__names names;   // the text keys of the dictionary, each with the number of its entry
  size_t found;       // so many of the wanted names are there
} oxp__state_dict;

// Finds the one dictionary and beginning with which all `wanted` names are there: *found, in `arena`. Where there is none *found is what
// comes nearest. `choice` is the path, or the path and the beginning, that the user wants ("ema"; "/" for the outermost); NULL: any.
// OXP_BAD_FILE where several fit, all of them named, where a wanted name is also in the outermost dictionary, which others would take,
// and where a key of *found stands twice. OXP_BAD_ARGUMENT where nothing is called `choice`.
// Looks at no more than 32 dictionaries, 4 levels deep, and at 16 beginnings in each.
oxp_status oxp__state_dict_find(oxp__arena *arena, const oxp__pickle_value *root, const char *const *wanted,
                                size_t wanted_count, const char *choice, oxp__state_dict *found, oxp_error *error);

// "the file has the names a, b, ... and 7 more": the first 20 keys of the dictionary.
void oxp__state_dict_describe(const oxp__state_dict *found, oxp__text *text);

#endif
