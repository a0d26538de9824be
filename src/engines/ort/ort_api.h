// ort_api.h: the part of ONNX Runtime's C interface that is used here, declared by slot number, and how a library is found.
// No header of the runtime is needed: its table of functions only ever grows at the end. Place: engines/ort.
#ifndef OXP_ENGINES_ORT_ORT_API_H
#define OXP_ENGINES_ORT_ORT_API_H

#include "core/arena.h"
#include "core/text.h"

// The table version that is asked for. Old enough for every runtime since 1.17, and holds every slot below.
#define OXP__ORT_API_VERSION 17

// Things of the runtime; only handled through pointers.
typedef struct oxp__ort_status oxp__ort_status;
typedef struct oxp__ort_env oxp__ort_env;
typedef struct oxp__ort_session oxp__ort_session;
typedef struct oxp__ort_options oxp__ort_options;
typedef struct oxp__ort_value oxp__ort_value;
typedef struct oxp__ort_memory oxp__ort_memory;
typedef struct oxp__ort_allocator oxp__ort_allocator;
typedef struct oxp__ort_type oxp__ort_type;     // of an input or output of a model
typedef struct oxp__ort_tensor oxp__ort_tensor; // element type and shape; owned by a type, or by the caller

// Slot, our name, what it returns, arguments. A call that can fail returns a status: NULL means that it worked, else it
// holds a code and a text and must be released. Element types are ONNX's numbers, and so ours (oxp_dtype).
// clang-format off
#define OXP__ORT_SLOTS(X)                                                                                              \
  /* statuses: the texts belong to the status */                                                                       \
  X(  0, create_status,          oxp__ort_status *, (int code, const char *message))                                   \
  X(  1, get_error_code,         int,               (const oxp__ort_status *status))                                   \
  X(  2, get_error_message,      const char *,      (const oxp__ort_status *status))                                   \
  X( 93, release_status,         void,              (oxp__ort_status *status))                                         \
  /* environment; severity 4 logs fatal messages only, so nothing is printed */                                        \
  X(  3, create_env,             oxp__ort_status *, (int severity, const char *name, oxp__ort_env **out))              \
  X( 92, release_env,            void,              (oxp__ort_env *env))                                               \
  /* session options; levels: 0 off, 1 basic, 2 extended, 99 all */                                                    \
  X( 10, create_options,         oxp__ort_status *, (oxp__ort_options **out))                                          \
  X( 23, set_optimization_level, oxp__ort_status *, (oxp__ort_options *options, int level))                            \
  X( 24, set_intra_op_threads,   oxp__ort_status *, (oxp__ort_options *options, int count))                            \
  X(130, add_config_entry,       oxp__ort_status *, (oxp__ort_options *options, const char *key, const char *value))   \
  X(100, release_options,        void,              (oxp__ort_options *options))                                       \
  /* sessions; the bytes of a model may go away once its session is made */                                            \
  X(  7, create_session,         oxp__ort_status *, (const oxp__ort_env *env, const char *path,                        \
                                                     const oxp__ort_options *options, oxp__ort_session **out))         \
  X(  8, create_session_from,    oxp__ort_status *, (const oxp__ort_env *env, const void *model, size_t byte_count,    \
                                                     const oxp__ort_options *options, oxp__ort_session **out))         \
  X(  9, run,                    oxp__ort_status *, (oxp__ort_session *session, const void *run_options,               \
                                                     const char *const *input_names,                                   \
                                                     const oxp__ort_value *const *inputs, size_t input_count,          \
                                                     const char *const *output_names, size_t output_count,             \
                                                     oxp__ort_value **outputs))                                        \
  X( 95, release_session,        void,              (oxp__ort_session *session))                                       \
  /* what a model declares; names come from the allocator and go back to it, types belong to the caller */             \
  X( 30, get_input_count,        oxp__ort_status *, (const oxp__ort_session *session, size_t *out))                    \
  X( 31, get_output_count,       oxp__ort_status *, (const oxp__ort_session *session, size_t *out))                    \
  X( 33, get_input_type,         oxp__ort_status *, (const oxp__ort_session *session, size_t i, oxp__ort_type **out))  \
  X( 34, get_output_type,        oxp__ort_status *, (const oxp__ort_session *session, size_t i, oxp__ort_type **out))  \
  X( 36, get_input_name,         oxp__ort_status *, (const oxp__ort_session *session, size_t i,                        \
                                                     oxp__ort_allocator *allocator, char **out))                       \
  X( 37, get_output_name,        oxp__ort_status *, (const oxp__ort_session *session, size_t i,                        \
                                                     oxp__ort_allocator *allocator, char **out))                       \
  X( 55, cast_to_tensor,         oxp__ort_status *, (const oxp__ort_type *type, const oxp__ort_tensor **out))          \
  X( 98, release_type,           void,              (oxp__ort_type *type))                                             \
  /* values over our memory (borrowed), and what is in a value */                                                      \
  X( 49, create_tensor,          oxp__ort_status *, (const oxp__ort_memory *memory, void *data, size_t byte_count,     \
                                                     const int64_t *dims, size_t rank, int element_type,               \
                                                     oxp__ort_value **out))                                            \
  X( 51, get_data,               oxp__ort_status *, (oxp__ort_value *value, void **out))                               \
  X( 65, get_tensor,             oxp__ort_status *, (const oxp__ort_value *value, oxp__ort_tensor **out))              \
  X( 60, get_element_type,       oxp__ort_status *, (const oxp__ort_tensor *tensor, int *out))                         \
  X( 61, get_rank,               oxp__ort_status *, (const oxp__ort_tensor *tensor, size_t *out))                      \
  X( 62, get_dims,               oxp__ort_status *, (const oxp__ort_tensor *tensor, int64_t *dims, size_t rank))       \
  X( 64, get_element_count,      oxp__ort_status *, (const oxp__ort_tensor *tensor, size_t *out))                      \
  X( 99, release_tensor,         void,              (oxp__ort_tensor *tensor))                                         \
  X( 96, release_value,          void,              (oxp__ort_value *value))                                           \
  /* memory; (1, 0) is the arena of the CPU */                                                                         \
  X( 69, create_cpu_memory,      oxp__ort_status *, (int allocator, int kind, oxp__ort_memory **out))                  \
  X( 94, release_memory,         void,              (oxp__ort_memory *memory))                                         \
  X( 78, get_allocator,          oxp__ort_status *, (oxp__ort_allocator **out))                                        \
  X( 76, free_memory,            oxp__ort_status *, (oxp__ort_allocator *allocator, void *memory))
// clang-format on

typedef struct oxp__ort_api {
#define OXP__ORT_MEMBER(slot, name, result, arguments) result(*name) arguments;
  OXP__ORT_SLOTS(OXP__ORT_MEMBER)
#undef OXP__ORT_MEMBER
} oxp__ort_api;

// The one function that a runtime must export: `OrtGetApiBase`.
typedef struct oxp__ort_base {
  const void *(*get_api)(uint32_t version);
  const char *(*get_version)(void);
} oxp__ort_base;
typedef const oxp__ort_base *(*oxp__ort_get_base)(void);

// A runtime that passed the check. Stays loaded until the process ends: it keeps state of its own that does not like to go.
typedef struct oxp__ort_library {
  oxp__ort_api api;
  const char *path;
  const char *version;
} oxp__ort_library;

// ort_library.c: finds, checks and loads a runtime: the first that can be used of the places that ort_places.h lists.
// OXP_NOT_AVAILABLE names every place and why it failed. The result lives in `arena`.
oxp_status oxp__ort_library_open(oxp__arena *arena, const oxp_session_options *options, oxp__ort_library **out,
                                 oxp_error *error);

// ort_check.c: fills `api` from what dlopen returned. False, and the reason in `why`, when something is missing, or a
// function of the table lies outside the library.
bool oxp__ort_bind(void *handle, oxp__ort_api *api, const char **version, oxp__text *why);

// Tries the table out: a status, a tensor, a small model. Belongs into a process of its own, as a wrong table crashes.
bool oxp__ort_try(const oxp__ort_api *api, oxp__text *why);

// Takes the words out of a status and releases it; line breaks become spaces.
void oxp__ort_words(const oxp__ort_api *api, oxp__ort_status *status, oxp__text *words);

#endif
