// input.h: arrays and photos from files as the input of a network: what `verify --input` and `run --input` need.
// Place: engines (it uses formats/containers).
#ifndef OXP_ENGINES_INPUT_H
#define OXP_ENGINES_INPUT_H

#include "core/sources.h"
#include "core/text.h"

// How the bytes of a picture become numbers: (byte * scale - mean) / std, per channel. All zero: byte / 255.
typedef struct oxp__input_options {
  double scale;          // 0: 1 / 255
  double mean[3];        // in the order of the network's channels
  double std[3];         // the same; 0: 1
  bool bgr;              // the network's channels are blue, green, red
  bool keep_size;        // refuse pictures of another size than the network's instead of resizing them
  oxp__sources *sources; // every file that is read is added; NULL: nobody wants to know
} oxp__input_options;

// Reads `.npy` arrays, PNG and JPEG pictures (told apart by content) and folders of them (in the order of the names; other
// files there are skipped) and puts all samples into one array for the network input that `input` describes: its
// element type, its sizes, batch first. An array file holds one sample, or several along its first axis. Pictures need an
// input of rank 4 with one channel (brightness) or three; where height and width are open the first picture decides.
// OXP_BAD_ARGUMENT names the file and both shapes where something does not fit, and the first value that the input's type cannot hold.
// `options` may be NULL. What was not taken as it is in a file becomes a line of `notes`, a sentence each; it may be NULL.
oxp_status oxp__input_read(const char *const *paths, int path_count, const oxp_value_info *input,
                           const oxp__input_options *options, oxp_array *array, oxp__text *notes, oxp_error *error);

// Whether a path leads to a .npy array; false for pictures, folders, and what cannot be read.
bool oxp__input_is_array(const char *path);

// The sizes of what the first file holds that `path` stands for: of an array all its axes, of a picture its height and width.
typedef struct oxp__input_sizes {
  bool picture;
  int rank;
  int64_t shape[OXP_MAX_RANK];
} oxp__input_sizes;

oxp_status oxp__input_look(const char *path, oxp__input_sizes *sizes, oxp_error *error);

#endif
