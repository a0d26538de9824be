// reference.h: one run of the reference whose values stay, so that a layer's weights can be changed and only what follows them is
// computed again. Place: engines (for verify_power.c).
#ifndef OXP_ENGINES_REFERENCE_H
#define OXP_ENGINES_REFERENCE_H

#include "engines/engine.h"

typedef struct oxp__trace oxp__trace;

// Runs a session of the reference that was opened with expose_layers (it keeps all values). *Borrows* the session.
oxp_status oxp__trace_new(oxp_session *session, const oxp_array *inputs, oxp__trace **out, oxp_error *error);
void oxp__trace_free(oxp__trace *trace);

// The weights of a layer, by role (`at` is NULL for an absent one), as they are: to be changed in place, and put back.
oxp__f64 *oxp__trace_weights(oxp__trace *trace, int layer);

// Computes the layer anew, and of the later ones those whose inputs became other values.
oxp_status oxp__trace_rerun(oxp__trace *trace, int layer, oxp_error *error);

// A value of the first run, and of the last rerun; *borrowed* until the next rerun.
oxp_array oxp__trace_before(const oxp__trace *trace, oxp_value value);
oxp_array oxp__trace_after(const oxp__trace *trace, oxp_value value);

#endif
