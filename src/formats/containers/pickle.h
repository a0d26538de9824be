// pickle.h: a machine that reads Python pickles and can build numbers, texts, tuples, lists, dicts and descriptions of tensors,
// and nothing else. It imports nothing and runs nothing: a name of a class or function is only compared with a short list of
// names, those that torch.load(weights_only=True) permits and NumPy's arrays and scalars. What is harmless but no part of a network (a
// device, a complex number) is left aside; everything outside the list is refused. Place: formats/containers.
#ifndef OXP_FORMATS_CONTAINERS_PICKLE_H
#define OXP_FORMATS_CONTAINERS_PICKLE_H

#include "core/arena.h"

#define OXP__PICKLE_LIMIT_BYTES (4 * 1024 * 1024)

typedef enum oxp__pickle_type {
  OXP__PICKLE_NONE,
  OXP__PICKLE_BOOL,  // number
  OXP__PICKLE_INT,   // number
  OXP__PICKLE_LONG,  // a whole number that has more than 64 bits; it is not kept
  OXP__PICKLE_FLOAT, // real
  OXP__PICKLE_TEXT,  // text, count bytes (zero-terminated, valid UTF-8)
  OXP__PICKLE_BYTES, // what they are is not kept
  OXP__PICKLE_TUPLE, // items, count
  OXP__PICKLE_LIST,  // items, count
  OXP__PICKLE_SET,   // items, count
  OXP__PICKLE_DICT,  // items: key, value, key, value ...; count pairs
  OXP__PICKLE_NAME,  // number: which of the permitted classes and functions
  OXP__PICKLE_STORAGE,
  OXP__PICKLE_TENSOR,
  OXP__PICKLE_OBJECT, // text, count bytes: the name of what made it, without the module ("device"); no more is kept
  OXP__PICKLE_REFUSED // what a refused name would have made
} oxp__pickle_type;

typedef struct oxp__pickle_value oxp__pickle_value;

// A run of elements that lies outside the pickle, under `key`.
typedef struct oxp__pickle_storage {
  oxp_dtype dtype;
  const char *key;
  int64_t count;
} oxp__pickle_storage;

// A view of a storage; offset and strides in elements. Not checked against the storage's size.
typedef struct oxp__pickle_tensor {
  const oxp__pickle_storage *storage;
  int rank;
  int64_t offset, shape[OXP_MAX_RANK], strides[OXP_MAX_RANK];
} oxp__pickle_tensor;

struct oxp__pickle_value {
  oxp__pickle_type type;
  size_t count, capacity;
  union {
    int64_t number;
    double real;
    const char *text;
    oxp__pickle_value **items;
    oxp__pickle_storage *storage;
    oxp__pickle_tensor *tensor;
  };
};

// Runs the machine over one pickle of protocol 2 to 5. The result lives in `arena`; its parts may be shared and may even contain
// themselves, so nobody should follow them without a bound. OXP_BAD_FILE for damage, and for names that are not permitted,
// which are then all in the message; OXP_UNSUPPORTED for tensors whose values are not the stored ones.
oxp_status oxp__pickle_read(oxp__arena *arena, const void *bytes, size_t count, const oxp__pickle_value **out,
                            oxp_error *error);

// The value of a text key in a dict; NULL when it is not there or `dict` is no dict.
const oxp__pickle_value *oxp__pickle_find(const oxp__pickle_value *dict, const char *key);

#endif
