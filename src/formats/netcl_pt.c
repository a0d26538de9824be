// netcl_pt.c: PyTorch's zip container as netcl's export_model writes it, and state dicts of torch itself: named tensors, no layers,
// so it needs a description. Its pickle is read by a machine that can only make tensors. Place: formats.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/common/netcl_save.h"
#include "formats/common/netcl_source.h"
#include "formats/common/state_dict.h"
#include "formats/containers/bytes.h"
#include "formats/containers/pickle.h"

enum {
  PT_BATCH = 1000,       // dict entries per instruction, as Python's pickler does it
  PT_WINDOW_BYTES = 4096 // read at once of a tensor with gaps
};

// What was read last, of any view.
typedef struct pt_window {
  uint64_t offset; // in the file
  size_t count;
  unsigned char bytes[PT_WINDOW_BYTES];
} pt_window;

// A tensor that is a part of its storage, or the storage in another order: the context of pt_read_view. The storage was verified.
typedef struct pt_view {
  oxp__file *file;
  oxp_extent extent; // from the view's first byte to its last
  pt_window *window; // of the store
} pt_view;

typedef struct pt_store {
  oxp__arena *arena;
  const oxp__zip *zip;
  const char *root; // folder of data.pkl, with a slash; "" when it lies outside of all
  bool big_endian;
  const oxp__pickle_value *pickle; // the outermost dict
  oxp__state_dict found;           // where in it the weights are
  bool *used;                      // one per entry of the dict that was found
  bool *verified;                  // one per member of the archive: its checksum was compared
  pt_window window;
  const oxp_network *network; // borrowed, as are the next two: whose weights they are
  const oxp__netcl_config *config;
  const char *variable;
  oxp__weights weights; // the store as others see it
} pt_store;

// --- Recognising ---

// The first data.pkl; NULL when there is none.
static const oxp__zip_member *pt_find_pickle(const oxp__zip *zip)
{
  for (size_t i = 0; zip && i < zip->member_count; i++) {
    const char *name = zip->members[i].name, *slash = strrchr(name, '/');
    if (strcmp(slash ? slash + 1 : name, "data.pkl") == 0)
      return &zip->members[i];
  }
  return NULL;
}

static int netcl_pt_probe(const oxp__candidate *candidate)
{
  return pt_find_pickle(candidate->zip) ? 95 : 0;
}

// --- Tensors ---

// Fails unless the last element that the strides reach lies inside the storage, and so everything before it.
static oxp_status pt_check_range(const oxp__pickle_tensor *view, oxp_error *error)
{
  int64_t last = view->offset, count, bytes;
  bool fits = true, empty = false;
  for (int i = 0; i < view->rank; i++) {
    int64_t reach;
    empty = empty || view->shape[i] == 0;
    fits = fits && oxp__mul_i64(view->shape[i] - 1, view->strides[i], &reach) && oxp__add_i64(last, reach, &last);
  }
  fits = fits && oxp__shape_count(view->rank, view->shape, &count) &&
         oxp__mul_i64(count, (int64_t)oxp_dtype_bytes(view->storage->dtype), &bytes);
  if (empty || (fits && last < view->storage->count))
    return OXP_OK;
  return oxp__fail(error, OXP_BAD_FILE, "the tensor reaches element %lld of a storage with %lld", (long long)last,
                   (long long)view->storage->count);
}

static oxp_status pt_find_storage(const pt_store *store, const oxp__pickle_storage *storage,
                                  const oxp__zip_member **member, oxp_error *error)
{
  char name[1024]; // not in the arena: many tensors may ask for one long name
  int length = snprintf(name, sizeof name, "%sdata/%s", store->root, storage->key);
  if (length < 0 || length >= (int)sizeof name)
    return oxp__fail(error, OXP_BAD_FILE, "the storage's name has %d bytes, at most %zu are read", length,
                     sizeof name - 1);
  *member = oxp__zip_find(store->zip, name);
  if (!*member)
    return oxp__fail(error, OXP_BAD_FILE, "the archive has no member %s, where the tensor's values should be", name);
  int64_t bytes;
  if (oxp__mul_i64(storage->count, (int64_t)oxp_dtype_bytes(storage->dtype), &bytes) &&
      (uint64_t)bytes == (*member)->plain_bytes)
    return OXP_OK;
  return oxp__fail(error, OXP_BAD_FILE, "the storage should have %lld elements of %s, its member %s has %llu bytes",
                   (long long)storage->count, oxp_dtype_name(storage->dtype), name,
                   (unsigned long long)(*member)->plain_bytes);
}

// Strides and offset of a tensor that was checked against its storage, in bytes. What no element depends on may be any number in
// the file, and is made a harmless one.
static void pt_place(const oxp__pickle_tensor *view, oxp_tensor *tensor)
{
  int64_t size = (int64_t)oxp_dtype_bytes(tensor->dtype);
  if (oxp__tensor_count(tensor) == 0) {
    oxp__tensor_set_strides(tensor, false);
    return;
  }
  tensor->offset_bytes = (uint64_t)view->offset * (uint64_t)size;
  for (int i = 0; i < view->rank; i++)
    tensor->strides_bytes[i] = view->shape[i] > 1 ? view->strides[i] * size : 0;
}

// An oxp_read_function. Tensors with gaps are read an element at a time, so what follows is read along.
static oxp_status pt_read_view(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  const pt_view *view = context;
  pt_window *window = view->window;
  uint64_t at = view->extent.offset_bytes + offset;
  if (count > sizeof window->bytes)
    return oxp__file_read(view->file, at, buffer, count, error);
  bool inside =
      at >= window->offset && at - window->offset <= window->count && count <= window->count - (at - window->offset);
  if (!inside) {
    uint64_t left = view->extent.size_bytes - offset;
    size_t more = left < sizeof window->bytes ? (size_t)left : sizeof window->bytes;
    window->count = 0;
    OXP__TRY(oxp__file_read(view->file, at, window->bytes, more, error));
    window->offset = at;
    window->count = more;
  }
  memcpy(buffer, window->bytes + (at - window->offset), count);
  return OXP_OK;
}

// Compares the checksum of a storage, once however many tensors are views of it: none of them need reach its end.
static oxp_status pt_verify(pt_store *store, const oxp__zip_member *member, oxp_error *error)
{
  bool *verified = &store->verified[member - store->zip->members];
  if (member->deflated)
    return oxp__fail(
        error, OXP_UNSUPPORTED,
        "the tensor is a part of %s or has another order, and that member is compressed, so it would have to be "
        "read from its start for every tensor; torch.save compresses nothing",
        member->name);
  if (!*verified)
    OXP__TRY(oxp__zip_verify(store->zip, member, error));
  *verified = true;
  return OXP_OK;
}

static oxp_status pt_open_view(pt_store *store, const oxp__zip_member *member, oxp_tensor *tensor, oxp_error *error)
{
  OXP__TRY(pt_verify(store, member, error));
  pt_view *view = oxp__arena_new(store->arena, 1, sizeof *view);
  if (!view)
    return oxp__fail_memory(error, sizeof *view);
  oxp__file *file = store->zip->file;
  uint64_t bytes = oxp__tensor_count(tensor) > 0 ? oxp_dtype_bytes(tensor->dtype) : 0;
  for (int i = 0; bytes > 0 && i < tensor->rank; i++)
    bytes += (uint64_t)((tensor->shape[i] - 1) * tensor->strides_bytes[i]);
  *view = (pt_view){
    .file = file,
    .extent = { .file = file, .offset_bytes = member->data_offset + tensor->offset_bytes, .size_bytes = bytes },
    .window = &store->window
  };
  tensor->offset_bytes = 0;
  tensor->read = pt_read_view;
  tensor->context = view;
  tensor->extent = &view->extent;
  return OXP_OK;
}

// A whole storage in order. Its checksum is compared when it is read, which needs its last byte.
static oxp_status pt_open_whole(const pt_store *store, const oxp__zip_member *member, oxp_tensor *tensor,
                                oxp_error *error)
{
  oxp__zip_stream *stream;
  OXP__TRY(oxp__zip_stream_open(store->arena, store->zip, member, &stream, error));
  tensor->forward_only = true;
  tensor->read = oxp__zip_read;
  tensor->context = stream;
  tensor->extent = oxp__zip_extent(store->arena, store->zip, member);
  return OXP_OK;
}

static oxp_status pt_open_tensor(pt_store *store, const oxp__pickle_tensor *view, const char *name, oxp_tensor *tensor,
                                 oxp_error *error)
{
  const oxp__zip_member *member = NULL;
  OXP__TRY(pt_check_range(view, error));
  OXP__TRY(pt_find_storage(store, view->storage, &member, error));
  *tensor = (oxp_tensor){
    .dtype = view->storage->dtype, .rank = view->rank, .big_endian = store->big_endian, .origin = name
  };
  memcpy(tensor->shape, view->shape, sizeof tensor->shape);
  pt_place(view, tensor);
  bool whole = oxp__tensor_count(tensor) == view->storage->count && oxp__tensor_is_contiguous(tensor);
  return whole ? pt_open_whole(store, member, tensor, error) : pt_open_view(store, member, tensor, error);
}

// Is it a weight that must be there? Whether layers of version 1 have a bias is what the file is asked for.
static bool pt_wants(const pt_store *store, size_t layer, int role)
{
  const oxp__layer *of = store->network->layers[layer];
  oxp__shape shape;
  if (!oxp__weights_wanted(of, role, "torch", &shape))
    return false;
  return role != oxp__role_find(of->kind, "torch", "bias") ||
         !oxp__netcl_config_bias_is_open(store->config, store->network, layer);
}

static char *pt_name(oxp__arena *arena, const char *prefix, const oxp__layer *layer, int role)
{
  return oxp__arena_printf(arena, "%s%d.%s", prefix, layer->index,
                           oxp__role_dialect_name(&layer->kind->weights[role], "torch"));
}

// The names of all weights that must be there, in `arena`.
static oxp_status pt_list_wanted(const pt_store *store, oxp__arena *arena, const char ***names, size_t *count,
                                 oxp_error *error)
{
  size_t most = 0;
  for (size_t i = 0; i < store->network->layer_count; i++)
    most += (size_t)store->network->layers[i]->kind->weight_count;
  *count = 0;
  *names = oxp__arena_new(arena, most, sizeof **names);
  bool made = *names != NULL;
  for (size_t i = 0; made && i < store->network->layer_count; i++)
    for (int role = 0; made && role < store->network->layers[i]->kind->weight_count; role++)
      if (pt_wants(store, i, role)) {
        (*names)[*count] = pt_name(arena, "", store->network->layers[i], role);
        made = (*names)[(*count)++] != NULL;
      }
  return made ? OXP_OK : oxp__fail_memory(error, most * sizeof **names);
}

// Finds out where in the pickle the network's weights are, and says so where that is not plain.
static oxp_status pt_begin(const oxp__weights *weights, oxp_error *error)
{
  pt_store *store = weights->context;
  oxp__arena arena = { 0 };
  const char **wanted;
  size_t count;
  oxp_status status = pt_list_wanted(store, &arena, &wanted, &count, error);
  if (status == OXP_OK)
    status = oxp__state_dict_find(store->arena, store->pickle, wanted, count, store->variable, &store->found, error);
  oxp__arena_fini(&arena);
  OXP__TRY(status);
  store->used = oxp__arena_new(store->arena, store->found.dict->count, sizeof(bool));
  if (!store->used)
    return oxp__fail_memory(error, store->found.dict->count);
  oxp__text hint = { 0 };
  oxp__state_dict_describe(&store->found, &hint);
  store->weights.hint = oxp__arena_copy(store->arena, oxp__text_string(&hint));
  oxp__text_fini(&hint);
  return OXP_OK;
}

static oxp_status pt_find(const oxp__weights *weights, const oxp__layer *layer, int role, const char **name,
                          oxp_tensor *tensor, oxp_error *error)
{
  pt_store *store = weights->context;
  *tensor = (oxp_tensor){ .rank = -1 };
  const char *full = pt_name(store->arena, store->found.prefix, layer, role);
  if (!full)
    return oxp__fail_memory(error, strlen(store->found.prefix));
  *name = full;
  const oxp__name *found = oxp__names_find(&store->found.names, full);
  if (!found)
    return OXP_OK;
  store->used[found->number] = true;
  const oxp__pickle_value *value = store->found.dict->items[2 * found->number + 1];
  oxp_status status = OXP_OK;
  if (value->type == OXP__PICKLE_TENSOR)
    status = pt_open_tensor(store, value->tensor, full, tensor, error);
  else if (value->type == OXP__PICKLE_OBJECT)
    status = oxp__fail(error, OXP_BAD_FILE, "this is made by \"%.64s\", it should be a plain tensor", value->text);
  else
    status = oxp__fail(error, OXP_BAD_FILE, "this is not a tensor");
  return status == OXP_OK ? OXP_OK : oxp__at_key(error, status, full);
}

// --- Reading ---

static oxp_status pt_read_byteorder(pt_store *store, oxp_error *error)
{
  char *text;
  size_t count;
  const char *name = oxp__arena_printf(store->arena, "%sbyteorder", store->root);
  const oxp__zip_member *member = name ? oxp__zip_find(store->zip, name) : NULL;
  if (!member)
    return OXP_OK; // files without the record are little-endian
  OXP__TRY(oxp__zip_read_all(store->arena, store->zip, member, 64, &text, &count, error));
  store->big_endian = strcmp(text, "big") == 0;
  if (store->big_endian || strcmp(text, "little") == 0)
    return OXP_OK;
  oxp__fail(error, OXP_BAD_FILE, "the byte order is \"%s\", it should be little or big", text);
  return oxp__at_key(error, OXP_BAD_FILE, member->name);
}

static oxp_status pt_read_pickle(pt_store *store, const oxp__zip_member *member, oxp_error *error)
{
  char *bytes;
  size_t count;
  OXP__TRY(oxp__zip_read_all(store->arena, store->zip, member, OXP__PICKLE_LIMIT_BYTES, &bytes, &count, error));
  oxp_status status = oxp__pickle_read(store->arena, bytes, count, &store->pickle, error);
  if (status == OXP_OK && store->pickle->type != OXP__PICKLE_DICT)
    status = oxp__fail(error, OXP_BAD_FILE, "the pickle is not a dict of named tensors");
  return status == OXP_OK ? OXP_OK : oxp__at_key(error, status, member->name);
}

static oxp_status pt_open(pt_store *store, oxp_error *error)
{
  const oxp__zip_member *member = pt_find_pickle(store->zip);
  if (!member)
    return oxp__fail(error, OXP_BAD_FILE, "this is not PyTorch's zip container: it has no data.pkl");
  size_t length = strlen(member->name) - strlen("data.pkl");
  store->root = oxp__arena_copy_bytes(store->arena, member->name, length);
  if (!store->root)
    return oxp__fail_memory(error, length);
  OXP__TRY(pt_read_byteorder(store, error));
  OXP__TRY(pt_read_pickle(store, member, error));
  store->verified = oxp__arena_new(store->arena, store->zip->member_count, sizeof(bool));
  return store->verified ? OXP_OK : oxp__fail_memory(error, store->zip->member_count);
}

static void pt_warn_place(const pt_store *store, oxp_network *network)
{
  const oxp__state_dict *found = &store->found;
  if (*found->path)
    oxp__network_warn(network, "The weights are those in the dictionary \"%.128s\" of the file.", found->path);
  if (*found->prefix)
    oxp__network_warn(network, "The weights are those whose names begin with \"%.128s\".", found->prefix);
}

// num_batches_tracked only counts training steps.
static void pt_warn_unused(const pt_store *store, oxp_network *network)
{
  enum { LISTED = 20 };
  static const char counter[] = ".num_batches_tracked";
  size_t count = 0;
  oxp__npz_warn_archive_rest(network, store->zip);
  for (size_t i = 0; i < store->found.dict->count; i++) {
    const oxp__pickle_value *key = store->found.dict->items[2 * i];
    bool counts = key->type == OXP__PICKLE_TEXT && key->count >= sizeof counter &&
                  strcmp(key->text + key->count - (sizeof counter - 1), counter) == 0;
    if (store->used[i] || counts)
      continue;
    if (count++ < LISTED)
      oxp__network_warn(network, "The entry \"%.128s\" belongs to no layer; it is not used.",
                        key->type == OXP__PICKLE_TEXT ? key->text : "(no text)");
  }
  if (count > LISTED)
    oxp__network_warn(network, "%zu more entries belong to no layer; they are not used.", count - LISTED);
}

static oxp_status netcl_pt_read(const oxp__candidate *candidate, const oxp_open_options *options, oxp_network *network,
                                oxp_error *error)
{
  if (!candidate->zip)
    return oxp__fail_resembling(candidate->head, candidate->head_count, "not a zip archive, as PyTorch's files are",
                                error);
  pt_store *store = oxp__arena_new(&network->arena, 1, sizeof *store);
  if (!store)
    return oxp__fail_memory(error, sizeof *store);
  *store = (pt_store){ .arena = &network->arena, .zip = candidate->zip, .variable = options->variable };
  OXP__TRY(pt_open(store, error));
  if (!options->description)
    return oxp__fail(error, OXP_BAD_FILE,
                     "a .pt file holds named tensors but no layers; give the model it belongs to with --description "
                     "MODEL.netcl");
  oxp__netcl_source source;
  OXP__TRY(oxp__netcl_source_open(network, options->description, &source, error));
  store->network = network;
  store->config = &source.config;
  store->weights = (oxp__weights){
    .dialect = "torch", .path = candidate->path, .context = store, .find = pt_find, .begin = pt_begin
  };
  OXP__TRY(oxp__netcl_load(network, &source.config, &store->weights, options, error));
  store->config = NULL; // lives no longer
  pt_warn_place(store, network);
  pt_warn_unused(store, network);
  return OXP_OK;
}

// --- Writing: the pickle ---

// Python's pickler numbers everything it may meet again. These are the numbers of what it does meet again here.
enum { PT_MEMO_ORDERED_DICT = 0, PT_MEMO_STORAGE_WORD = 4, PT_MEMO_CPU_WORD = 7 };

typedef struct pt_pickler {
  oxp__text bytes;
  uint32_t memo; // next number
} pt_pickler;

static void pt_put_number(pt_pickler *pickler, uint64_t number, int size)
{
  unsigned char bytes[8];
  oxp__put_le(bytes, number, size);
  oxp__text_add_bytes(&pickler->bytes, bytes, (size_t)size);
}

static void pt_put_memo(pt_pickler *pickler)
{
  bool small = pickler->memo < 256;
  oxp__text_add(&pickler->bytes, small ? "q" : "r");
  pt_put_number(pickler, pickler->memo++, small ? 1 : 4);
}

static void pt_get_memo(pt_pickler *pickler, uint32_t number)
{
  oxp__text_add(&pickler->bytes, "h");
  pt_put_number(pickler, number, 1);
}

static void pt_put_text(pt_pickler *pickler, const char *text)
{
  oxp__text_add(&pickler->bytes, "X");
  pt_put_number(pickler, strlen(text), 4);
  oxp__text_add(&pickler->bytes, text);
  pt_put_memo(pickler);
}

static void pt_put_global(pt_pickler *pickler, const char *module_and_name)
{
  oxp__text_printf(&pickler->bytes, "c%s\n", module_and_name);
  pt_put_memo(pickler);
}

static void pt_put_int(pt_pickler *pickler, int64_t number)
{
  bool byte = number < 256, word = number<65536, wide = number> INT32_MAX;
  int size = byte ? 1 : word ? 2 : 4;
  if (wide) { // LONG1: as many bytes as a signed number needs
    for (size = 5; size < 8 && number >> (8 * size - 1) != 0;)
      size++;
    oxp__text_add(&pickler->bytes, "\x8a");
    pt_put_number(pickler, (uint64_t)size, 1);
  } else
    oxp__text_add(&pickler->bytes, byte ? "K" : word ? "M" : "J");
  pt_put_number(pickler, (uint64_t)number, size);
}

static void pt_put_tuple(pt_pickler *pickler, int count, const int64_t *numbers)
{
  static const char *const codes[] = { ")", "\x85", "\x86", "\x87" };
  if (count > 3)
    oxp__text_add(&pickler->bytes, "(");
  for (int i = 0; i < count; i++)
    pt_put_int(pickler, numbers[i]);
  oxp__text_add(&pickler->bytes, count > 3 ? "t" : codes[count]);
  if (count > 0)
    pt_put_memo(pickler);
}

// A call of _rebuild_tensor_v2 on a storage of its own, number `key`.
static void pt_put_tensor(pt_pickler *pickler, const char *storage_class, int key, int rank, const int64_t *shape)
{
  int64_t strides[OXP_MAX_RANK], count = 1;
  char key_text[16];
  for (int i = rank - 1; i >= 0; i--) {
    strides[i] = count;
    count *= shape[i];
  }
  pt_put_global(pickler, "torch._utils\n_rebuild_tensor_v2");
  oxp__text_add(&pickler->bytes, "((");
  if (key == 0)
    pt_put_text(pickler, "storage");
  else
    pt_get_memo(pickler, PT_MEMO_STORAGE_WORD);
  pt_put_global(pickler, storage_class);
  snprintf(key_text, sizeof key_text, "%d", key);
  pt_put_text(pickler, key_text);
  if (key == 0)
    pt_put_text(pickler, "cpu");
  else
    pt_get_memo(pickler, PT_MEMO_CPU_WORD);
  pt_put_int(pickler, count);
  oxp__text_add(&pickler->bytes, "t");
  pt_put_memo(pickler);
  oxp__text_add(&pickler->bytes, "Q");
  pt_put_int(pickler, 0);
  pt_put_tuple(pickler, rank, shape);
  pt_put_tuple(pickler, rank, strides);
  oxp__text_add(&pickler->bytes, "\x89"); // requires no gradient
  pt_get_memo(pickler, PT_MEMO_ORDERED_DICT);
  oxp__text_add(&pickler->bytes, ")R");
  pt_put_memo(pickler);
  oxp__text_add(&pickler->bytes, "t");
  pt_put_memo(pickler);
  oxp__text_add(&pickler->bytes, "R");
  pt_put_memo(pickler);
}

// --- Writing: entries ---

// One named tensor: a weight, or the counter that torch keeps for a BatchNorm2d.
typedef struct pt_entry {
  const oxp__layer *layer;
  int role; // -1: num_batches_tracked
} pt_entry;

// Layers with running statistics have the counter behind them.
static bool pt_has_counter(const oxp__layer *layer)
{
  return oxp__role_find(layer->kind, "torch", "running_var") >= 0;
}

static oxp_status pt_list_entries(oxp__arena *arena, const oxp_network *network, pt_entry **entries, size_t *count,
                                  oxp_error *error)
{
  size_t most = 0;
  for (size_t i = 0; i < network->layer_count; i++)
    most += (size_t)network->layers[i]->kind->weight_count + 1;
  *entries = oxp__arena_new(arena, most, sizeof **entries);
  *count = 0;
  if (!*entries)
    return oxp__fail_memory(error, most * sizeof **entries);
  for (size_t i = 0; i < network->layer_count; i++) {
    const oxp__layer *layer = network->layers[i];
    for (int role = 0; role < layer->kind->weight_count; role++)
      if (layer->weights[role].present)
        (*entries)[(*count)++] = (pt_entry){ layer, role };
    if (pt_has_counter(layer))
      (*entries)[(*count)++] = (pt_entry){ layer, -1 };
  }
  return OXP_OK;
}

static void pt_put_entry(pt_pickler *pickler, const pt_entry *entry, int key)
{
  const oxp__weight_row *rows = entry->layer->kind->weights;
  const char *role = entry->role < 0 ? "num_batches_tracked" : oxp__role_dialect_name(&rows[entry->role], "torch");
  char name[160];
  snprintf(name, sizeof name, "%d.%s", entry->layer->index, role);
  pt_put_text(pickler, name);
  if (entry->role < 0) {
    pt_put_tensor(pickler, "torch\nLongStorage", key, 0, NULL);
    return;
  }
  oxp_tensor stored = oxp__netcl_stored_view(entry->layer, entry->role, "torch");
  pt_put_tensor(pickler, "torch\nFloatStorage", key, stored.rank, stored.shape);
}

static void pt_put_dict(pt_pickler *pickler, const pt_entry *entries, size_t count)
{
  oxp__text_add(&pickler->bytes, "\x80\x02");
  pt_put_global(pickler, "collections\nOrderedDict");
  oxp__text_add(&pickler->bytes, ")R");
  pt_put_memo(pickler);
  for (size_t i = 0; i < count; i++) {
    bool alone = i % PT_BATCH == 0 && i + 1 == count, last = (i + 1) % PT_BATCH == 0 || i + 1 == count;
    if (i % PT_BATCH == 0 && !alone)
      oxp__text_add(&pickler->bytes, "(");
    pt_put_entry(pickler, &entries[i], (int)i);
    if (last)
      oxp__text_add(&pickler->bytes, alone ? "s" : "u");
  }
  oxp__text_add(&pickler->bytes, ".");
}

static oxp_status pt_write_member(oxp__zip_writer *writer, const char *name, const void *bytes, size_t count,
                                  oxp_error *error)
{
  OXP__TRY(oxp__zip_writer_begin(writer, name, error));
  OXP__TRY(oxp__zip_writer_write(writer, bytes, count, error));
  return oxp__zip_writer_end(writer, error);
}

static oxp_status pt_write_storage(oxp__zip_writer *writer, const pt_entry *entry, size_t key, oxp_error *error)
{
  static const unsigned char zero[8] = { 0 };
  char name[48];
  snprintf(name, sizeof name, "archive/data/%zu", key);
  if (entry->role < 0)
    return pt_write_member(writer, name, zero, sizeof zero, error);
  oxp_tensor stored = oxp__netcl_stored_view(entry->layer, entry->role, "torch");
  OXP__TRY(oxp__zip_writer_begin(writer, name, error));
  OXP__TRY(oxp__tensor_stream(&stored, OXP_FLOAT32, oxp__zip_writer_sink(writer), NULL, error));
  return oxp__zip_writer_end(writer, error);
}

static oxp_status pt_write_members(oxp__zip_writer *writer, const pt_entry *entries, size_t count, oxp_error *error)
{
  pt_pickler pickler = { 0 };
  pt_put_dict(&pickler, entries, count);
  oxp_status status = oxp__text_status(&pickler.bytes, error);
  if (status == OXP_OK)
    status = pt_write_member(writer, "archive/data.pkl", pickler.bytes.bytes, pickler.bytes.length, error);
  oxp__text_fini(&pickler.bytes);
  for (size_t i = 0; status == OXP_OK && i < count; i++)
    status = pt_write_storage(writer, &entries[i], i, error);
  OXP__TRY(status);
  OXP__TRY(pt_write_member(writer, "archive/byteorder", "little", 6, error));
  OXP__TRY(pt_write_member(writer, "archive/version", "3\n", 2, error));
  return oxp__zip_writer_finish(writer, error);
}

static oxp_status netcl_pt_write(const oxp_network *network, const char *path, const oxp__output_guard *guard,
                                 oxp_error *error)
{
  OXP__TRY(oxp__netcl_check_can_hold(network, error));
  oxp__output output = { 0 };
  OXP__TRY(oxp__output_open(&output, path, guard, error));
  oxp__arena arena = { 0 };
  oxp__zip_writer *writer;
  pt_entry *entries;
  size_t count;
  oxp_status status = oxp__zip_writer_new(&arena, &output, &writer, error);
  if (status == OXP_OK)
    status = pt_list_entries(&arena, network, &entries, &count, error);
  if (status == OXP_OK)
    status = pt_write_members(writer, entries, count, error);
  oxp__arena_fini(&arena);
  if (status == OXP_OK)
    return oxp__output_commit(&output, OXP_SYNC_AUTO, error);
  oxp__output_abort(&output);
  return status;
}

const oxp__format oxp__format_netcl_pt = {
  .name = "netcl_pt",
  .doc = "PyTorch's container of named tensors, as netcl's export_model and torch.save write it: needs --description",
  .suffixes = ".pt .pth",
  .probe = netcl_pt_probe,
  .read = netcl_pt_read,
  .takes_variable = true,
  .write = netcl_pt_write,
};
