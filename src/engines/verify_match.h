// verify_match.h: what matching by name and matching by shape share. Place: engines.
#ifndef OXP_ENGINES_VERIFY_MATCH_H
#define OXP_ENGINES_VERIFY_MATCH_H

#include "core/names.h"
#include "engines/verify.h"

typedef struct oxp__match {
  oxp__verify *verify; // layer_names is what is filled in
  const oxp__graph_proto *model;
  oxp__arena arena; // of all that only matching needs
} oxp__match;

// A text of a model that was read, which may be absent.
static inline const char *oxp__match_text(const char *text)
{
  return text ? text : "";
}

// Every value that a node makes, with the node's number. The texts are borrowed.
oxp_status oxp__match_list_values(const oxp__nodes *nodes, oxp__names *made, oxp_error *error);

// A fresh export of the network as the model may have been made: under a profile (NULL: the default), and the model's opset where
// the profile has that.
oxp_status oxp__match_lower(const oxp__match *match, const char *profile, oxp_graph **fresh);

// verify_match_shapes.c: matches by shape and order. What cannot be found out is left open; fails for lack of memory only.
oxp_status oxp__match_by_shapes(oxp__match *match, oxp_error *error);

#endif
