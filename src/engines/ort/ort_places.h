// ort_places.h: where ONNX Runtime's library may lie on this machine. Place: engines/ort.
#ifndef OXP_ENGINES_ORT_PLACES_H
#define OXP_ENGINES_ORT_PLACES_H

#include "core/arena.h"

enum { OXP__ORT_PLACES_MAX = 16 };

typedef struct oxp__ort_place {
  const char *what;  // in sentences: "the loader's path,"
  const char *path;  // absolute, but for what was asked for and for the loader's bare name
  const char *fault; // why it is not even tried; NULL: try it
} oxp__ort_place;

typedef struct oxp__ort_places {
  oxp__ort_place at[OXP__ORT_PLACES_MAX];
  int count;
} oxp__ort_places;

// Lists them in the order in which they are tried; strings live in `arena`. What was asked for (`asked`, NULL: nothing; else the
// environment's ONNXPORT_ORT_LIBRARY) is the only place then. Else: beside the installed onnxport, the project's folder, the
// loader's, and pip's packages. Nothing depends on the current folder, and no file is named that others could have written.
oxp_status oxp__ort_places_list(oxp__arena *arena, const char *asked, oxp__ort_places *places, oxp_error *error);

#endif
