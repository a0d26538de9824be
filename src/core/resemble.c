// resemble.c: see resemble.h. Looks at bytes only, and reads no format: a file may begin like another. Place: core.
#include "core/resemble.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"

typedef struct resemble_row {
  size_t offset;
  const char *bytes;
  size_t count;
  const char *what;
} resemble_row;

#define ROW(offset, bytes, what)                                                                                       \
  {                                                                                                                    \
    offset, bytes, sizeof(bytes) - 1, what                                                                             \
  }

// Whichever comes first is meant.
static const resemble_row resemble_rows[] = {
  ROW(0, "version https://git-lfs.github.com/spec/",
      "a Git LFS pointer, not the file itself; fetch that with git lfs pull"),
  ROW(0, "PK\3\4", "a zip archive"),
  ROW(0, "PK\5\6", "an empty zip archive"),
  ROW(0, "\x1f\x8b", "a file packed with gzip; unpack it first"),
  ROW(0, "BZh", "a file packed with bzip2; unpack it first"),
  ROW(0, "\xfd\x37zXZ\0", "a file packed with xz; unpack it first"),
  ROW(0, "\x28\xb5\x2f\xfd", "a file packed with zstd; unpack it first"),
  ROW(0, "\x04\x22\x4d\x18", "a file packed with lz4; unpack it first"),
  ROW(0, "7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
  ROW(0, "Rar!\x1a\x07", "a RAR archive; unpack it first"),
  ROW(257, "ustar", "a tar archive; unpack it first"),
  ROW(0, "\x93NUMPY", "a NumPy array"),
  ROW(0, "\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras and MATLAB 7.3 write them"),
  ROW(0, "MATLAB 7.3", "a MATLAB 7.3 file"),
  ROW(0, "MATLAB 5.0", "a MATLAB 5 file"),
  ROW(0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19",
      "torch's old form without a zip archive; load it with torch and save it again (torch.save(torch.load(PATH), "
      "NEW)), which "
      "writes the zip form"),
  ROW(0, "\x80\2", "a Python pickle, which is never loaded"),
  ROW(0, "\x80\3", "a Python pickle, which is never loaded"),
  ROW(0, "\x80\4", "a Python pickle, which is never loaded"),
  ROW(0, "\x80\5", "a Python pickle, which is never loaded"),
  ROW(4, "TFL3", "a TensorFlow Lite model"),
  ROW(0, "GGUF", "a GGUF file of a language model"),
  ROW(0, "\x89PNG\r\n\x1a\n", "a PNG picture"),
  ROW(0, "\xff\xd8\xff", "a JPEG picture"),
  ROW(0, "GIF8", "a GIF picture; save it as PNG or JPEG"),
  ROW(8, "WEBP", "a WebP picture; save it as PNG or JPEG"),
  ROW(0, "II*\0", "a TIFF picture; save it as PNG or JPEG"),
  ROW(0, "MM\0*", "a TIFF picture; save it as PNG or JPEG"),
  ROW(4, "ftyphei", "a HEIF picture; save it as PNG or JPEG"),
  ROW(4, "ftypavif", "an AVIF picture; save it as PNG or JPEG"),
  ROW(0,
      "\x7f"
      "ELF",
      "a program or library"),
  ROW(0, "MZ", "a program or library"),
  ROW(0, "%PDF", "a PDF document"),
  ROW(0, "SQLite format 3", "an SQLite database"),
  ROW(0, "\xff\xfe", "text in UTF-16; save it as UTF-8"),
  ROW(0, "\xfe\xff", "text in UTF-16; save it as UTF-8"),
};

static const char *resemble_signature(const unsigned char *head, size_t count)
{
  for (size_t i = 0; i < sizeof resemble_rows / sizeof resemble_rows[0]; i++) {
    const resemble_row *row = &resemble_rows[i];
    if (count >= row->offset + row->count && memcmp(head + row->offset, row->bytes, row->count) == 0)
      return row->what;
  }
  return NULL;
}

// The length of a header in JSON, in 8 bytes, and the header.
static bool resemble_safetensors(const unsigned char *head, size_t count)
{
  bool fits = count > 10 && head[8] == '{' && (head[9] == '"' || head[9] == ' ' || head[9] == '}');
  for (int i = 4; fits && i < 8; i++)
    fits = head[i] == 0;
  return fits;
}

// An ONNX model starts with its IR version (field 1, a small number) and goes on with another field's tag.
static bool resemble_onnx(const unsigned char *head, size_t count)
{
  return count > 2 && head[0] == 0x08 && head[1] < 64;
}

// No control characters but those that lay out a text; a character that the head cuts in two is no matter.
static bool resemble_text(const unsigned char *head, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (head[i] < 0x20 && !strchr("\t\r\n\f", head[i] ? head[i] : 1))
      return false;
  for (size_t cut = 0; cut < 4 && cut < count; cut++)
    if (oxp__text_is_utf8(head, count - cut))
      return true;
  return false;
}

// Does the text begin with the words, in small or large letters?
static bool resemble_begins(const char *text, size_t count, const char *words)
{
  for (size_t i = 0; words[i]; i++) {
    if (i >= count)
      return false;
    char letter = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + ('a' - 'A')) : text[i];
    if (letter != words[i])
      return false;
  }
  return true;
}

static const char *resemble_kind_of_text(const unsigned char *head, size_t count)
{
  const char *text = (const char *)head;
  size_t at = count >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  while (at < count && strchr(" \t\r\n\f", text[at]))
    at++;
  text += at;
  count -= at;
  if (resemble_begins(text, count, "<!doctype html") || resemble_begins(text, count, "<html"))
    return "a web page; what was downloaded is the page of a file, not the file";
  if (resemble_begins(text, count, "<"))
    return "text in XML or HTML";
  if (resemble_begins(text, count, "{") || resemble_begins(text, count, "["))
    return "JSON text, of a form that is not known here";
  return "a text file";
}

const char *oxp__resembles(const void *head, size_t count)
{
  const char *what = resemble_signature(head, count);
  if (what || count == 0)
    return what;
  if (resemble_safetensors(head, count))
    return "a safetensors file, which holds weights and no layers";
  if (resemble_onnx(head, count))
    return "an ONNX model";
  return resemble_text(head, count) ? resemble_kind_of_text(head, count) : NULL;
}

oxp_status oxp__fail_resembling(const void *head, size_t count, const char *wanted, oxp_error *error)
{
  const char *what = oxp__resembles(head, count);
  if (count == 0)
    return oxp__fail(error, OXP_BAD_FILE, "%s: the file is empty", wanted);
  if (what)
    return oxp__fail(error, OXP_BAD_FILE, "%s: this is %s", wanted, what);
  char bytes[3 * 4 + 1] = "";
  for (size_t i = 0; i < 4 && i < count; i++)
    snprintf(bytes + 3 * i, sizeof bytes - 3 * i, " %02x", ((const unsigned char *)head)[i]);
  return oxp__fail(error, OXP_BAD_FILE, "%s: it starts with the bytes%s", wanted, bytes);
}

oxp_status oxp__blame_resembling(oxp__file *file, const char *own, oxp_status status, oxp_error *error)
{
  unsigned char head[OXP__RESEMBLE_BYTES];
  size_t count = file->size_bytes < sizeof head ? (size_t)file->size_bytes : sizeof head;
  if (status != OXP_BAD_FILE || oxp__file_read(file, 0, head, count, NULL) != OXP_OK)
    return status;
  const char *what = oxp__resembles(head, count);
  if (count > 0 && (!what || strncmp(what, own, strlen(own)) == 0))
    return status;
  char wanted[64];
  snprintf(wanted, sizeof wanted, "not %s", own);
  return oxp__fail_resembling(head, count, wanted, error);
}
