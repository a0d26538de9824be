// error.h: filling an oxp_error and passing a status up. Does not print. Place: core.
#ifndef OXP_CORE_ERROR_H
#define OXP_CORE_ERROR_H

#include <onnxport.h>

#if defined(__GNUC__)
#define OXP__PRINTF(format_index, first_index) __attribute__((format(printf, format_index, first_index)))
#else
#define OXP__PRINTF(format_index, first_index)
#endif

#define OXP__COUNT(array) (sizeof(array) / sizeof((array)[0]))

// Passes a failure on to the caller.
#define OXP__TRY(call)                                                                                                 \
  do {                                                                                                                 \
    oxp_status oxp_try_status = (call);                                                                                \
    if (oxp_try_status != OXP_OK)                                                                                      \
      return oxp_try_status;                                                                                           \
  } while (0)

// The public functions' answer to a pointer that they need and did not get (see the rules in onnxport.h).
#define OXP__NEED(pointer, error)                                                                                      \
  do {                                                                                                                 \
    if (!(pointer))                                                                                                    \
      return oxp__fail((error), OXP_BAD_ARGUMENT, "the argument %s is NULL", #pointer);                                \
  } while (0)

// Copies text into a field of `size` bytes, cut at its end without splitting a UTF-8 sequence, and makes it safe to show.
void oxp__error_copy(char *field, size_t size, const char *text);

// Fills *error (may be NULL) with status and message, clears file, layer and key, and returns status.
oxp_status oxp__fail(oxp_error *error, oxp_status status, const char *format, ...) OXP__PRINTF(3, 4);

// OXP_NO_MEMORY with the number of bytes that could not be had.
oxp_status oxp__fail_memory(oxp_error *error, uint64_t bytes);

// OXP_CANCELLED: somebody was asked whether to go on, and did not want to.
oxp_status oxp__fail_cancelled(oxp_error *error);

// OXP_IO with the system's words for errno: "PATH: cannot ACTION: No space left on device".
oxp_status oxp__fail_errno(oxp_error *error, const char *path, const char *action);

// The system's words for an errno, in a buffer of the caller's; returns it.
const char *oxp__errno_words(int code, char *words, size_t size);

// Around a call of a function that is not ours: gives it an empty error of its own, and hands on what it fills in; where
// that is nothing, or of another status than was returned, `who` and the status speak for themselves. An older failure
// in *error is not taken for the new one.
void oxp__error_clear(oxp_error *own);
oxp_status oxp__take_failure(oxp_status status, oxp_error *own, const char *who, oxp_error *error);

// Add where it happened, on the way up: each fills its field and puts the text before the message, unless the field
// is filled already. `error` may be NULL. All return error->status (or `status` when error is NULL).
oxp_status oxp__at_file(oxp_error *error, oxp_status status, const char *path);
oxp_status oxp__at_layer(oxp_error *error, oxp_status status, const char *format, ...) OXP__PRINTF(3, 4);
oxp_status oxp__at_key(oxp_error *error, oxp_status status, const char *key);

// What would be a caller's mistake was read from a file: OXP_BAD_ARGUMENT becomes OXP_BAD_FILE, with the same sentence.
oxp_status oxp__blame_file(oxp_error *error, oxp_status status);

#endif
