// onnxport.h: the whole public interface of libonnxport.
//
// What the library does. A trained network is *described*, not loaded: a tensor says where its bytes lie, and
// they are read only when somebody needs them, in small pieces. A network comes out of a file
// (oxp_network_open) or is built call by call (oxp_network_new ...). It is turned into an ONNX graph
// (oxp_graph_lower), which can be written (oxp_graph_write), or run and compared (oxp_session_open, oxp_verify).
//
//     file --open--> network --lower--> graph --write--> model.onnx
//                       |                  |
//                       +--- session ------+--- compare
//
// Rules that hold everywhere
//   Errors    Every function that can fail returns an oxp_status and takes an `oxp_error *` as its last argument
//             (NULL is allowed). On failure nothing is handed out and the error names file, layer, key and the
//             two values that disagree. The library never prints, never exits and never asserts on input.
//   Ownership Comments say *borrows* (the pointer must outlive the object), *copies* or *takes* (ours from now
//             on). What a function hands out through `T **out` belongs to the caller and goes back to the `free`
//             function of the same noun. Strings handed out belong to the object they were asked from.
//   Lifetimes A network outlives the graphs that were lowered from it; a graph outlives nothing but itself.
//             Sessions copy what they need when they are opened.
//   NULL      A `free` function takes NULL and does nothing. Any other function fails with OXP_BAD_ARGUMENT when it is given
//             NULL for an object, a name or a place to put something, unless it says that NULL is allowed. Functions
//             without a status then return what they return for nothing: 0, NULL, false, a negative value. Builder
//             functions remember it as a mistake (and do nothing without a network).
//   Callbacks A function of the caller's that fails returns a status and fills in the error. One that fills in nothing
//             still leads to an error with that status and its general meaning.
//   Options   Option structs are plain data; all zero means all defaults (`oxp_export_options o = { 0 };`).
//   Threads   No globals. Different objects may be used on different threads at once. One network may be *looked
//             at* by several threads; opening sessions on it, lowering or writing it is for one thread at a time.
//             One session runs on one thread at a time.
//   Units     Sizes are in elements unless the name says `_bytes`; times say `_ns`.
//   Shapes    int64, batch first, channels second (NCHW). A negative dimension is symbolic (OXP_DIM_*).
//   Bytes     The same input and options give the same output bytes on every machine.
//   Files     What is written replaces its target at once and whole. The new file has owner, group, access list and
//             permissions of the old one; what the system does not allow to keep is made up for by narrower
//             permissions. A file that something is still read from is never replaced or removed. Symbolic links
//             to a target are followed, unless they are somebody else's in a folder like /tmp.
#ifndef ONNXPORT_H
#define ONNXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Marks what the shared library exports; everything else is hidden.
#if defined(__GNUC__)
#define OXP_API __attribute__((visibility("default")))
#else
#define OXP_API
#endif

// The version of the header, and that of the library that was loaded (they differ when the two were built apart).
#define OXP_VERSION_MAJOR 0
#define OXP_VERSION_MINOR 1
#define OXP_VERSION_PATCH 0
#define OXP_VERSION       "0.1.0"
OXP_API const char *oxp_version(void);

// ---------------------------------------------------------------------------------------------------------------
// Status and errors
// ---------------------------------------------------------------------------------------------------------------

// One row per status: name, exit code of the command, meaning. This list is the only place; the enum below, the
// texts, the exit codes and the reference page are all made from it.
#define OXP_STATUS_LIST(X)                                                                                             \
  X(OXP_OK, 0, "done")                                                                                                 \
  X(OXP_DIFFERENT, 1, "compared, and the two sides differ")                                                            \
  X(OXP_NOTHING_SHOWN, 1, "compared, but on this input the outputs do not move: a wrong model would have matched")     \
  X(OXP_BAD_ARGUMENT, 2, "wrong usage: an argument or option is missing or out of range")                              \
  X(OXP_UNSUPPORTED, 3, "the network holds something that cannot be exported exactly")                                 \
  X(OXP_BAD_NETWORK, 3, "the network's layers do not fit each other or their input")                                   \
  X(OXP_BAD_FILE, 4, "the input file is damaged or not understood")                                                    \
  X(OXP_IO, 5, "a file could not be read or written")                                                                  \
  X(OXP_NO_MEMORY, 5, "memory ran out")                                                                                \
  X(OXP_CANCELLED, 5, "stopped on request before it was finished; nothing was written")                                \
  X(OXP_NOT_AVAILABLE, 6, "an engine, a library or a program that was asked for is not here")                          \
  X(OXP_ENGINE_FAILED, 6, "an engine refused the model or failed while it ran")

typedef enum oxp_status {
#define OXP_STATUS_ENUM(name, exit_code, text) name,
  OXP_STATUS_LIST(OXP_STATUS_ENUM)
#undef OXP_STATUS_ENUM
} oxp_status;

// What went wrong. Lives in the caller's storage; zero it once ({ 0 }) and pass it to any number of calls. A
// failing call fills it anew, a succeeding one leaves it alone. Fields that do not apply are empty strings.
typedef struct oxp_error {
  oxp_status status;
  char file[512];     // the file that was being read or written
  char layer[256];    // the layer's index, name and kind, as in `layer 3 "conv1" (Conv2d)`
  char key[128];      // the member, parameter or option
  char message[4096]; // one complete sentence, with file, layer and key in it; UTF-8, no line break
} oxp_error;

// The name (`OXP_BAD_FILE`) and the meaning of a status; never NULL, also for values outside the list.
OXP_API const char *oxp_status_name(oxp_status status);
OXP_API const char *oxp_status_text(oxp_status status);

// The exit code that the command line uses for a status (0 to 6).
OXP_API int oxp_status_exit_code(oxp_status status);

// ---------------------------------------------------------------------------------------------------------------
// Element types, arrays, tensors
// ---------------------------------------------------------------------------------------------------------------

// Element types carry ONNX's numbers (TensorProto.DataType). Networks compute in FLOAT32 or FLOAT64; the others
// appear in files that are read and in ONNX files that are looked at.
typedef enum oxp_dtype {
  OXP_DTYPE_NONE = 0,
  OXP_FLOAT32 = 1,
  OXP_UINT8 = 2,
  OXP_INT8 = 3,
  OXP_UINT16 = 4,
  OXP_INT16 = 5,
  OXP_INT32 = 6,
  OXP_INT64 = 7,
  OXP_STRING = 8,
  OXP_BOOL = 9,
  OXP_FLOAT16 = 10,
  OXP_FLOAT64 = 11,
  OXP_UINT32 = 12,
  OXP_UINT64 = 13,
  OXP_COMPLEX64 = 14,
  OXP_COMPLEX128 = 15,
  OXP_BFLOAT16 = 16,
  OXP_FLOAT8E4M3FN = 17, // from here on: named in what is looked at, but no arrays of theirs are made
  OXP_FLOAT8E4M3FNUZ = 18,
  OXP_FLOAT8E5M2 = 19,
  OXP_FLOAT8E5M2FNUZ = 20,
  OXP_UINT4 = 21,
  OXP_INT4 = 22,
  OXP_FLOAT4E2M1 = 23,
  OXP_FLOAT8E8M0 = 24,
  OXP_UINT2 = 25,
  OXP_INT2 = 26,
  OXP_FLOAT6E2M3 = 27,
  OXP_FLOAT6E3M2 = 28
} oxp_dtype;

// `float32`, `int64`, `float8e4m3fn`, ...; `unknown` for numbers outside the enum. And the size of one element in bytes; 0 for
// strings, for FLOAT8E4M3FN and what follows it, and for unknown types.
OXP_API const char *oxp_dtype_name(oxp_dtype dtype);
OXP_API size_t oxp_dtype_bytes(oxp_dtype dtype);

// The largest number of axes of any array or tensor here.
#define OXP_MAX_RANK 8

// Symbolic dimensions. BATCH, HEIGHT and WIDTH are the same number wherever they occur in one network; two
// UNKNOWN dimensions need not be equal.
#define OXP_DIM_BATCH   INT64_C(-1)
#define OXP_DIM_HEIGHT  INT64_C(-2)
#define OXP_DIM_WIDTH   INT64_C(-3)
#define OXP_DIM_UNKNOWN INT64_C(-4)

// An array in memory: row-major, native byte order, no gaps. `data` came from oxp_array_new and goes back with
// oxp_array_free, or belongs to the caller when the caller filled the struct by hand (the library only reads it).
typedef struct oxp_array {
  oxp_dtype dtype;
  int rank;
  int64_t shape[OXP_MAX_RANK];
  void *data;
} oxp_array;

// Allocates a zeroed array (*array is overwritten). Fails with OXP_BAD_ARGUMENT for negative dimensions and for
// more bytes than the address space holds, OXP_NO_MEMORY when there is none.
OXP_API oxp_status oxp_array_new(oxp_array *array, oxp_dtype dtype, int rank, const int64_t *shape, oxp_error *error);

// Frees the data and zeroes the struct; an all-zero struct is fine.
OXP_API void oxp_array_free(oxp_array *array);

// The number of elements (1 for rank 0), and of bytes.
OXP_API int64_t oxp_array_count(const oxp_array *array);
OXP_API size_t oxp_array_bytes(const oxp_array *array);

// Reads a NumPy `.npy` file (any byte order, C or Fortran order, versions 1 to 3) into a new array; up to 16 MiB of something
// else may follow the array in the file, as NumPy lets them. Or writes one
// (version 1.0, C order; atomically, like every file written here).
OXP_API oxp_status oxp_array_read(const char *path, oxp_array *array, oxp_error *error);
OXP_API oxp_status oxp_array_write(const oxp_array *array, const char *path, oxp_error *error);

// Fills a FLOAT32 or FLOAT64 array with values in [-1, 1) from `seed`; the same on every machine.
OXP_API oxp_status oxp_array_fill_random(oxp_array *array, uint64_t seed, oxp_error *error);

// A caller's way to hand over bytes that are somewhere else (on a device, in another process, behind a database):
// copies `byte_count` bytes that start `offset` bytes into the array to `buffer`. Called from the thread that
// lowers, writes or opens a session, with growing offsets unless the tensor is a strided view. Two tensors with the same
// function, context, offset and layout are the same array: layers that use both share one. Anything but OXP_OK
// ends the operation with that status and the error it filled in.
typedef oxp_status (*oxp_read_function)(void *context, uint64_t offset, void *buffer, size_t byte_count,
                                        oxp_error *error);

// Where the bytes of a tensor lie in an open file, when they lie there as they are; known to the library only.
typedef struct oxp_extent oxp_extent;

// Where an array lies: element type, shape, distance in bytes between neighbours on each axis, and a way to get
// at the bytes. A plain value; copying it copies no weights. *Borrows* `context`, which must outlive every network
// that the tensor was given to. Make one with the two functions below instead of filling it by hand.
typedef struct oxp_tensor {
  oxp_dtype dtype;
  int rank;
  int64_t shape[OXP_MAX_RANK];
  int64_t strides_bytes[OXP_MAX_RANK]; // row-major and gapless unless it is a view
  bool big_endian;                     // byte order of the stored elements
  bool forward_only;                   // reading backwards is slow (deflated) or skips a checksum: read in order
  oxp_read_function read;
  void *context;
  uint64_t offset_bytes;    // of the first element, passed on to `read`
  const char *origin;       // what messages call it (a member's name); may be NULL; borrowed
  const oxp_extent *extent; // lets large arrays be copied by several threads; NULL: only through `read`; borrowed
} oxp_tensor;

// A row-major array of native byte order in memory; *borrows* data.
OXP_API oxp_tensor oxp_tensor_from_memory(oxp_dtype dtype, int rank, const int64_t *shape, const void *data);

// A row-major little-endian array behind a read function; *borrows* context.
OXP_API oxp_tensor oxp_tensor_from_function(oxp_dtype dtype, int rank, const int64_t *shape, oxp_read_function read,
                                            void *context);

// ---------------------------------------------------------------------------------------------------------------
// Networks
// ---------------------------------------------------------------------------------------------------------------

// A directed acyclic graph of layers in our own vocabulary (`onnxport layers` prints it), for inference.
typedef struct oxp_network oxp_network;

// One array that flows through a network: an input, or what a layer computes. Small non-negative numbers; a
// negative one means that the call that should have made it failed.
typedef int oxp_value;

// Options for oxp_network_open; all zero: find everything out from the file.
typedef struct oxp_open_options {
  const char *format;                // name from `onnxport formats`; NULL: recognised by content
  const char *description;           // model description (.netcl or JSON) for files that hold weights only
  const char *variable;              // which of several in a file, such as "ema"; refused where there is one only
  int input_rank;                    // dimensions given in input_shape; 0: from the file, else found out
  int64_t input_shape[OXP_MAX_RANK]; // one sample: the batch is not part of it
} oxp_open_options;

// Opens a file of any known dialect. What is known about it afterwards is complete and consistent: shapes are
// inferred, every required weight is there with the right shape. Only the input's shape may be missing, where neither
// the file nor options say it and it does not follow from the layers (oxp_network_missing_shape). Weights stay in the
// file, which is held open (it must not be changed while the network lives). OXP_BAD_FILE for damage, OXP_UNSUPPORTED
// with every offending layer named for kinds that are not known, OXP_BAD_NETWORK where layers do not fit,
// OXP_BAD_ARGUMENT for an option that the file's format does not have, OXP_IO.
OXP_API oxp_status oxp_network_open(const char *path, const oxp_open_options *options, oxp_network **out,
                                    oxp_error *error);

// Frees the network and closes its files; NULL is fine.
OXP_API void oxp_network_free(oxp_network *network);

// Building by hand. The builder functions below remember the first mistake, do nothing after it, and hand it out
// from oxp_network_finish, so a program checks once:
//
//     oxp_network *net = NULL;
//     if (oxp_network_new(OXP_FLOAT32, &net, &error)) ...
//     oxp_value x = oxp_network_add_input(net, "input", 2, (int64_t[]){ OXP_DIM_BATCH, 20 });
//     x = oxp_network_add_layer(net, "linear", "fc1", 1, &x);
//     oxp_layer_set_int(net, x, "in_features", 20);
//     oxp_layer_set_int(net, x, "out_features", 10);
//     oxp_layer_set_weight(net, x, "weight", &weight);
//     oxp_layer_set_weight(net, x, "bias", &bias);
//     oxp_network_add_output(net, x, NULL);
//     if (oxp_network_finish(net, &error)) ...

// A new, empty network that computes in FLOAT32 or FLOAT64.
OXP_API oxp_status oxp_network_new(oxp_dtype dtype, oxp_network **out, oxp_error *error);

// Adds an input; *copies* name and shape. The first dimension is the batch (OXP_DIM_BATCH, or a fixed number).
OXP_API oxp_value oxp_network_add_input(oxp_network *network, const char *name, int rank, const int64_t *shape);

// Adds a layer of `kind` (a name from `onnxport layers`) that reads `inputs`, values that exist already; *copies*
// everything. `name` may be NULL: it becomes <kind>_<index>. Returns the value that the layer computes.
OXP_API oxp_value oxp_network_add_layer(oxp_network *network, const char *kind, const char *name, int input_count,
                                        const oxp_value *inputs);

// Set a parameter of the layer that computes `value`, by its name in `onnxport layers`. A parameter with several
// numbers (kernel_shape) takes one number for all or exactly as many as it has. Booleans are ints (0, 1); choices
// are texts. Unknown names, wrong counts and values out of range are mistakes.
OXP_API void oxp_layer_set_int(oxp_network *network, oxp_value value, const char *parameter, int64_t number);
OXP_API void oxp_layer_set_ints(oxp_network *network, oxp_value value, const char *parameter, int count,
                                const int64_t *numbers);
OXP_API void oxp_layer_set_float(oxp_network *network, oxp_value value, const char *parameter, double number);
OXP_API void oxp_layer_set_floats(oxp_network *network, oxp_value value, const char *parameter, int count,
                                  const double *numbers);
OXP_API void oxp_layer_set_text(oxp_network *network, oxp_value value, const char *parameter, const char *text);

// Gives the layer that computes `value` the weight of that role; copies the tensor's description and *borrows* the
// bytes behind it until the network is freed. The shape is checked in oxp_network_finish.
OXP_API void oxp_layer_set_weight(oxp_network *network, oxp_value value, const char *role, const oxp_tensor *tensor);

// Declares `value` an output, in the order of the calls. `name` may be NULL: `output`, `output_1`, ...
OXP_API void oxp_network_add_output(oxp_network *network, oxp_value value, const char *name);

// Says that the network is meant for training (batch statistics, active dropout). Such a network is refused by
// oxp_network_finish: only the inference form can be exported exactly.
OXP_API void oxp_network_set_training(oxp_network *network, bool training);

// Ends building: reports the first mistake, checks weights against parameters and infers all shapes. After it the
// network is read-only. OXP_BAD_ARGUMENT for mistakes, OXP_BAD_NETWORK where layers do not fit.
OXP_API oxp_status oxp_network_finish(oxp_network *network, oxp_error *error);

// Looking at a finished network. Pointers stay valid until the network is freed.
typedef struct oxp_layer_info {
  const char *name;        // unique only if the source's names are
  const char *kind;        // our word: `conv2d`
  const char *source_kind; // the source's word: `Conv2d`
  int input_count;
  const oxp_value *inputs;
  oxp_value output;
  int64_t parameter_count; // elements of all its weights
} oxp_layer_info;

typedef struct oxp_value_info {
  const char *name; // inputs and outputs have names; inner values are NULL
  oxp_dtype dtype;
  int rank;             // -1: not known
  const int64_t *shape; // negative dimensions are symbolic, OXP_DIM_*
} oxp_value_info;

// NULL: the shapes of all values are known. Else a sentence, owned by the network: why the input's shape is not, and
// what to give (oxp_open_options.input_shape). Such a network can be looked at and written in another format; what
// depends on the shape has unknown dimensions, or no known rank at all (-1). It cannot be lowered, run or verified:
// those fail with OXP_BAD_NETWORK and this sentence.
OXP_API const char *oxp_network_missing_shape(const oxp_network *network);

OXP_API const char *oxp_network_format(const oxp_network *network); // dialect it came from; `builder` by hand
OXP_API int oxp_network_layer_count(const oxp_network *network);
OXP_API int oxp_network_input_count(const oxp_network *network);
OXP_API int oxp_network_output_count(const oxp_network *network);
OXP_API int64_t oxp_network_parameter_count(const oxp_network *network);
// The value that is input (output) number `index`, or -1 when there is no such number.
OXP_API oxp_value oxp_network_input(const oxp_network *network, int index);
OXP_API oxp_value oxp_network_output(const oxp_network *network, int index);
// Fill *info; false when there is no such layer or value.
OXP_API bool oxp_network_layer_info(const oxp_network *network, int index, oxp_layer_info *info);
OXP_API bool oxp_network_value_info(const oxp_network *network, oxp_value value, oxp_value_info *info);
// Reads what the layers' statistics are, and adds a warning for each layer that gives NaN or infinity whatever goes in (a variance
// that has no root). Lowering warns of the same in the graph.
OXP_API oxp_status oxp_network_check_statistics(oxp_network *network, oxp_error *error);
// What was noticed while reading, as complete sentences: unused members, ignored arguments, sizes found out.
OXP_API int oxp_network_warning_count(const oxp_network *network);
OXP_API const char *oxp_network_warning(const oxp_network *network, int index);

// A file of named arrays (NumPy's .npz; a single .npy holds one array called ""), for networks that are built by hand from
// somebody's bare weights. The arrays stay in the file, which is held open.
typedef struct oxp_weights oxp_weights;

// OXP_BAD_FILE for damage, for members that are not arrays and for two of one name. Networks that use its tensors *borrow* the
// weights object: it must be freed after them.
OXP_API oxp_status oxp_weights_open(const char *path, oxp_weights **out, oxp_error *error);
OXP_API void oxp_weights_free(oxp_weights *weights);
OXP_API int oxp_weights_count(const oxp_weights *weights);

// The name of array number `index` (without `.npy`), in the order of the file; NULL when there is no such array.
OXP_API const char *oxp_weights_name(const oxp_weights *weights, int index);

// Describes the array called `name`; OXP_BAD_FILE when the file has none.
OXP_API oxp_status oxp_weights_find(const oxp_weights *weights, const char *name, oxp_tensor *tensor, oxp_error *error);

// Writes the network in another tool's format, by the name that `onnxport formats` gives it. OXP_UNSUPPORTED with
// every offending layer named when the format cannot hold it; OXP_BAD_ARGUMENT when a file to write is one that the network
// was read from, under whatever name. Replaces `path` atomically; nothing is left behind after a failure.
OXP_API oxp_status oxp_network_write(const oxp_network *network, const char *path, const char *format,
                                     oxp_error *error);

// ---------------------------------------------------------------------------------------------------------------
// ONNX graphs
// ---------------------------------------------------------------------------------------------------------------

// An ONNX model: lowered from a network, or read from a file. Plain data without anything of ours in it.
typedef struct oxp_graph oxp_graph;

// When is data forced to the disk before a file is replaced? AUTO: when an older file is replaced, so that a power
// cut leaves the old or the new one.
typedef enum oxp_sync { OXP_SYNC_AUTO = 0, OXP_SYNC_ALWAYS, OXP_SYNC_NEVER } oxp_sync;

// How a batch normalization is written: as the one operator, or as Sub, Div, Mul, Add, which keeps digits
// where the mean is large and the variance tiny. Neither does arithmetic on the weights.
typedef enum oxp_batchnorm_form { OXP_BATCHNORM_LITERAL = 0, OXP_BATCHNORM_EXPANDED } oxp_batchnorm_form;

// Called now and then while bytes are written; returning false cancels (OXP_CANCELLED, nothing is left behind). done_bytes never
// exceeds total_bytes, which grows once when there is a data file: by the size of the model, when the data are written.
typedef bool (*oxp_progress_function)(void *context, uint64_t done_bytes, uint64_t total_bytes);

// Receives the bytes of a model in order. Anything but OXP_OK ends the operation with that status.
typedef oxp_status (*oxp_write_function)(void *context, const void *bytes, size_t byte_count, oxp_error *error);

// How a network becomes a graph. All zero: profile `onnx`, its opset, the lowest IR version that fits, dynamic
// batch, names `input` and `output`, the network's own element type.
typedef struct oxp_lower_options {
  const char *profile;     // name from `onnxport profiles`; NULL: `onnx`
  int opset;               // 13 to 26 (profile netcl: 7 to 26); 0: the profile's
  int ir_version;          // 0: the profile's rule
  int64_t batch;           // 0: symbolic; above: fixed, in every declared shape
  const char *input_name;  // for networks with one input
  const char *output_name; // for networks with one output
  const char *doc_string;  // NULL: the profile's
  oxp_dtype dtype;         // OXP_FLOAT32 or OXP_FLOAT64: convert the weights; 0: as the network is. Weights that are
                           // stored wider, beyond the type's range, are refused unless the type is named here
  oxp_batchnorm_form batchnorm;
  bool expose_layers; // make every layer's value an output (for finding the first that departs)
} oxp_lower_options;

// Turns a network into a graph: a literal, unfused translation. *Borrows* the network. Everything that cannot be
// translated exactly is named in one message (OXP_UNSUPPORTED). The graph has passed our checker.
OXP_API oxp_status oxp_graph_lower(const oxp_network *network, const oxp_lower_options *options, oxp_graph **out,
                                   oxp_error *error);

// Opens an ONNX file. Weights stay in the file, which is held open. OXP_BAD_FILE for damage.
OXP_API oxp_status oxp_graph_open(const char *path, oxp_graph **out, oxp_error *error);

// Frees a graph; NULL is fine.
OXP_API void oxp_graph_free(oxp_graph *graph);

// Checks the rules of the format that can be checked without running anything: unique names, topological order,
// known inputs, types, ranks, shapes, attributes, opset and IR version, size limits; that every operator of ONNX's own
// domains is one of the imported opset (functions that the model defines count, other domains are not looked at); that
// arrays have their values once, in the field of their type, as many as they say; and that weights in other files are where
// the model says, in its folder. OXP_BAD_FILE with all findings in one message.
OXP_API oxp_status oxp_graph_check(const oxp_graph *graph, oxp_error *error);

// Where the weights go. AUTO: into the model's file, unless it would exceed the 2 GiB that the format allows; then into
// one data file beside it, called NAME.<16 hex digits of its content>.data. A model is never left with another model's
// data: the data file has its final name before the model does, and never replaces one with other content.
// Data files of earlier models of that name are removed once the new model is in place, unless the graph was read: it may
// refer to them.
typedef enum oxp_external_data { OXP_EXTERNAL_AUTO = 0, OXP_EXTERNAL_NEVER, OXP_EXTERNAL_ALWAYS } oxp_external_data;

typedef struct oxp_write_options {
  oxp_sync sync;
  oxp_external_data external_data;
  oxp_progress_function progress; // may be NULL
  void *progress_context;
} oxp_write_options;

// What was written.
typedef struct oxp_write_report {
  uint64_t model_bytes;
  uint64_t data_bytes; // 0: everything is in the model's file
  char data_file[512]; // name of the data file beside the model; empty: none
} oxp_write_report;

// Writes the model to a file: to a temporary one beside it, which then takes its name. After any failure the
// target is as it was. OXP_UNSUPPORTED when the model is too large for one file and may have no other; OXP_BAD_ARGUMENT
// when the target is a file that the model or its network gets its bytes from, under whatever name. `report` may be NULL.
OXP_API oxp_status oxp_graph_write(const oxp_graph *graph, const char *path, const oxp_write_options *options,
                                   oxp_write_report *report, oxp_error *error);

// Writes the model, weights included, to a function, in order.
OXP_API oxp_status oxp_graph_write_to(const oxp_graph *graph, oxp_write_function write, void *context,
                                      oxp_error *error);

// Looking at a graph. Strings and shapes stay valid until it is freed. Inputs are those that must be given: in old
// models (IR version 3) weights are declared as inputs too, and do not count.
OXP_API int oxp_graph_opset(const oxp_graph *graph); // of the default domain; 0 when it has none
OXP_API int oxp_graph_ir_version(const oxp_graph *graph);
OXP_API int oxp_graph_node_count(const oxp_graph *graph);
OXP_API int oxp_graph_input_count(const oxp_graph *graph);
OXP_API int oxp_graph_output_count(const oxp_graph *graph);
OXP_API bool oxp_graph_input_info(const oxp_graph *graph, int index, oxp_value_info *info);
OXP_API bool oxp_graph_output_info(const oxp_graph *graph, int index, oxp_value_info *info);
// The name of a symbolic dimension in a graph's shapes (`batch`); NULL when it has none.
OXP_API const char *oxp_graph_dim_name(const oxp_graph *graph, int64_t dim);
// What was noticed while lowering and writing, as complete sentences: not finite weights, narrowed values,
// statistics that make a runtime lose digits.
OXP_API int oxp_graph_warning_count(const oxp_graph *graph);
OXP_API const char *oxp_graph_warning(const oxp_graph *graph, int index);

// ---------------------------------------------------------------------------------------------------------------
// Sessions: running a network or a graph on an engine
// ---------------------------------------------------------------------------------------------------------------

// Something prepared on one engine, ready to run.
typedef struct oxp_session oxp_session;

typedef struct oxp_session_options {
  int threads;             // 0: the engine's choice
  bool optimization_off;   // run the graph node by node as written (ort)
  bool expose_layers;      // hand out every layer's value, in layer order, before the outputs
  bool narrow_weights;     // float64 weights beyond the range of a float32 network become infinite; false: refused
  const char *onnxruntime; // path of the runtime's library; NULL: ONNXPORT_ORT_LIBRARY, else the usual places
  // Graphs only: hand out the values of these names, in this order, before the outputs; NULL: none. Borrowed until
  // the session is open.
  const char *const *expose;
  int expose_count;
} oxp_session_options;

// Prepares a network on `engine` (`reference`, `ort:cpu`; `onnxport engines` lists them; without a device the
// engine's first one). `reference` rounds every layer's values to the network's element type, as a runtime does;
// `reference:double` never does: the truth when two sides differ, with float64 outputs; `reference:jitter` moves its
// weights and values at random by one rounding of float32, which shows how much rounding matters. Copies or reads what it needs; the network may be freed before the session. OXP_NOT_AVAILABLE when the engine is not here (never a
// silent fallback), OXP_ENGINE_FAILED with the engine's own words when it refuses.
OXP_API oxp_status oxp_session_open(const oxp_network *network, const char *engine, const oxp_session_options *options,
                                    oxp_session **out, oxp_error *error);

// The same for a graph; only engines that run ONNX can (`ort:cpu`). A graph that was read from a file is run as that
// file, if what it refers to is in its folder (OXP_BAD_FILE else); expose_layers needs a graph that was lowered with it.
// `expose` names any values of the graph, inputs and outputs included: the engine gets a copy of the model in which they
// are outputs, the file does not change. OXP_BAD_ARGUMENT when the graph has no value of such a name.
OXP_API oxp_status oxp_session_open_graph(const oxp_graph *graph, const char *engine,
                                          const oxp_session_options *options, oxp_session **out, oxp_error *error);

OXP_API void oxp_session_free(oxp_session *session);

OXP_API int oxp_session_input_count(const oxp_session *session);
OXP_API int oxp_session_output_count(const oxp_session *session);
OXP_API const char *oxp_session_output_name(const oxp_session *session, int index);

// Runs once. `inputs` holds oxp_session_input_count arrays of the declared types and fitting shapes; `outputs`
// has room for oxp_session_output_count arrays, which the call makes anew (free each with oxp_array_free). On
// failure no output is handed out.
OXP_API oxp_status oxp_session_run(oxp_session *session, const oxp_array *inputs, oxp_array *outputs, oxp_error *error);

// ---------------------------------------------------------------------------------------------------------------
// Comparing and verifying
// ---------------------------------------------------------------------------------------------------------------

// The difference between two arrays, under allclose(expected, actual): |e - a| <= atol + rtol * |e|. NaN matches
// only NaN and infinity only the same infinity, in the same place.
typedef struct oxp_difference {
  bool match;
  double max_abs;              // largest |e - a| over places where both are finite
  double max_rel;              // |e - a| / |e| at the place `at`; NaN where |e| is below 10 atol: it would say nothing
  int64_t compared;            // places where both are finite
  double scale;                // largest finite |e|
  int64_t at;                  // flat index of the farthest mismatch, else of the largest difference
  int rank;                    // of the two arrays
  int64_t index[OXP_MAX_RANK]; // the place `at`, one index per axis
  int64_t mismatches;          // places outside the tolerance
  int64_t not_finite;          // of these: where one side or both hold NaN or infinity
  double expected, actual;     // the two values at that place
} oxp_difference;

// Compares two arrays of one shape (types may differ). OXP_BAD_ARGUMENT when shapes differ, or a limit is
// negative or not finite.
OXP_API oxp_status oxp_compare(const oxp_array *expected, const oxp_array *actual, double rtol, double atol,
                               oxp_difference *difference, oxp_error *error);

typedef struct oxp_verify_options {
  const char *engine;  // the side that is trusted; NULL: `reference`
  const char *against; // the side that is tested; NULL: `ort:cpu`
  double rtol, atol;   // both 0 (without limits_given): 1e-3 and 1e-4
  // Take rtol and atol exactly as they are, both 0 as well. Without it, atol is tightened where an output is so small
  // that atol would hide anything (docs/verification.md).
  bool limits_given;
  uint64_t seed;           // of the random input
  int64_t batch;           // 0: 1, 2 and 7 where the batch is symbolic
  const oxp_array *inputs; // one array per network input instead of random ones; NULL: random; borrowed
  // What is expected of these inputs, computed by somebody else (the tool that trained the network): one array per
  // network output, samples along the first axis; needs `inputs`; NULL: nothing is; borrowed.
  const oxp_array *expected;
  bool layers; // compare every layer; done without being asked for where outputs differ or do not move
  bool power;  // find the smallest error in each layer's weights that would have been noticed; implies layers
  oxp_lower_options lower;
  oxp_session_options session;
} oxp_verify_options;

// One compared value, the worst over all batches that were run. Strings belong to the report.
typedef struct oxp_verify_row {
  const char *name;
  const char *kind; // layer kind; `output` for outputs
  int64_t batch;    // the batch in which the worst difference was seen; 0: not compared, see the notes
  // Why the two sides cannot be compared: another element type, rank or shape; NULL: they were compared. With a
  // problem, `difference` says only that they do not match.
  const char *problem;
  oxp_difference difference; // `scale` and `compared` over all batches
  // The limits used. atol is tightened per channel (axis 1): the smallest and the largest over all channels that are
  // not only zeros, and how many of those have another one than was asked for.
  double rtol, atol_min, atol_max;
  int64_t channels, tightened;
  int64_t still; // channels that would have matched a constant: comparing them shows nothing
  // With options->power, of layers with weights: the smallest relative change of the weights that this input and the
  // outputs' limits would have noticed (1: set to zero; infinite: not even that), and the role of the weights of which
  // the largest change stays hidden. NULL: not measured.
  double power;
  const char *power_weight;
} oxp_verify_row;

// Where the values that went in came from. Random ones lie in [-scale, scale): 1, or what was tried next where 1 leaves all
// values of an activation dead or saturated.
typedef struct oxp_verify_input {
  bool given;   // by the caller: nothing was drawn
  double scale; // of random values
  const char *
      statistics; // the layer whose statistics say where the values lie (a first layer) or how large they are; NULL: none
} oxp_verify_input;

typedef struct oxp_verify_report oxp_verify_report;

// Runs the same input through both engines and compares every output. `graph` may be NULL: the network is lowered
// with options->lower; else that model is tested against the network. Returns OXP_OK, OXP_DIFFERENT or
// OXP_NOTHING_SHOWN, each with a report (free it), or another status without one. Where an output does not move, every
// layer is compared as well, as with options->layers; where that cannot be done, some layer with weights does not move
// either or the output holds no finite number, nothing is shown.
OXP_API oxp_status oxp_verify(const oxp_network *network, const oxp_graph *graph, const oxp_verify_options *options,
                              oxp_verify_report **out, oxp_error *error);
OXP_API void oxp_verify_report_free(oxp_verify_report *report);
OXP_API int oxp_verify_output_count(const oxp_verify_report *report);
OXP_API const oxp_verify_row *oxp_verify_output(const oxp_verify_report *report, int index);
OXP_API int oxp_verify_layer_count(const oxp_verify_report *report); // 0 unless layers were compared
OXP_API const oxp_verify_row *oxp_verify_layer(const oxp_verify_report *report, int index);
// How far both sides are from what was expected: two rows per output, the trusted side's and the tested side's, with the
// engine's name as their kind. 0 unless options->expected.
OXP_API int oxp_verify_expected_count(const oxp_verify_report *report);
OXP_API const oxp_verify_row *oxp_verify_expected(const oxp_verify_report *report, int index);
// One sentence on who is wrong when the sides differ (the file, the runtime's optimiser, the runtime's kernel), or on what shows
// nothing and what to do; empty when they match.
OXP_API const char *oxp_verify_finding(const oxp_verify_report *report);
// The first layer that departs (an index for oxp_verify_layer); -1: none, or layers were not compared. In a model that was given,
// the first one that departs from a fresh export of the network on the same engine, whose rounding is the same.
OXP_API int oxp_verify_departure(const oxp_verify_report *report);
// How the input was made; valid as long as the report.
OXP_API const oxp_verify_input *oxp_verify_report_input(const oxp_verify_report *report);
// What was chosen and noticed on the way, as complete sentences: batches, sizes found for open dimensions, limits
// that were tightened, layers that depart although every output matches.
OXP_API int oxp_verify_note_count(const oxp_verify_report *report);
OXP_API const char *oxp_verify_note(const oxp_verify_report *report, int index);

// ---------------------------------------------------------------------------------------------------------------
// Reference tables
// ---------------------------------------------------------------------------------------------------------------

typedef enum oxp_table {
  OXP_TABLE_LAYERS,   // kinds, their names in each dialect, parameters, weights, formula
  OXP_TABLE_PROFILES, // what each profile writes
  OXP_TABLE_FORMATS,  // dialects that can be read and written
  OXP_TABLE_ENGINES,  // engines, and whether each can be used here
  OXP_TABLE_ERRORS    // statuses and exit codes
} oxp_table;

typedef enum oxp_table_style { OXP_STYLE_TEXT, OXP_STYLE_MARKDOWN, OXP_STYLE_JSON } oxp_table_style;

// Prints a reference table, made from the tables the code itself works with, to a function.
OXP_API oxp_status oxp_table_write(oxp_table table, oxp_table_style style, oxp_write_function write, void *context,
                                   oxp_error *error);

#ifdef __cplusplus
}
#endif

#endif
