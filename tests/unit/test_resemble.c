// Unit tests of core/resemble: what a file is that was taken for another, by its first bytes.
#include "formats_support.h"

#include "core/resemble.h"

#define HEAD(bytes) bytes, sizeof(bytes) - 1

static const struct {
  const char *head;
  size_t count;
  const char *words; // "": nothing that is known
} heads[] = {
  { HEAD("version https://git-lfs.github.com/spec/v1\noid sha256:0"), "Git LFS pointer|git lfs pull" },
  { HEAD("<!DOCTYPE html>\n<html>"), "web page" },
  { HEAD("\xEF\xBB\xBF\n <HTML lang=en>"), "web page" },
  { HEAD("<?xml version=\"1.0\"?><Error>"), "XML" },
  { HEAD("PK\3\4"), "a zip archive" },
  { HEAD("\x1f\x8b\x08"), "gzip|unpack it first" },
  { HEAD("BZh9"), "bzip2" },
  { HEAD("\xfd\x37zXZ\0"), "xz" },
  { HEAD("\x28\xb5\x2f\xfd\x04"), "zstd" },
  { HEAD("7z\xbc\xaf\x27\x1c"), "7z" },
  { HEAD("Rar!\x1a\x07\x01\0"), "RAR" },
  { HEAD("\x93NUMPY\1\0"), "a NumPy array" },
  { HEAD("\x89HDF\r\n\x1a\n"), "HDF5|Keras" },
  { HEAD("MATLAB 5.0 MAT-file"), "MATLAB 5" },
  { HEAD("\x20\0\0\0\0\0\0\0{\"weight\":{"), "safetensors" },
  { HEAD("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."), "old form|torch.save" },
  { HEAD("\x80\4\x95"), "pickle" },
  { HEAD("\x1c\0\0\0TFL3"), "TensorFlow Lite" },
  { HEAD("GGUF\3\0\0\0"), "GGUF" },
  { HEAD("\x89PNG\r\n\x1a\n\0"), "PNG" },
  { HEAD("\xff\xd8\xff\xe0"), "JPEG" },
  { HEAD("RIFF\1\2\3\4WEBPVP8 "), "WebP" },
  { HEAD("\x7f"
         "ELF\2"),
    "program" },
  { HEAD("%PDF-1.7"), "PDF" },
  { HEAD("\x08\x08\x12\x07pytorch"), "an ONNX model" },
  { HEAD(" [1, 2]"), "JSON" },
  { HEAD("\xEF\xBB\xBF{\"a\": 1}"), "JSON" },
  { HEAD("input: \"data\"\n"), "a text file" },
  { HEAD("gr\xc3\xbc\xc3"), "a text file" }, // cut inside a character
  { HEAD("\xff\xfe{\0"), "UTF-16" },
  { HEAD("text with \0 in it"), "" },
  { HEAD("\1\2\3\4"), "" },
  { HEAD("latin \xfc\xfc\xfc\xfc\xfc"), "" },
  { HEAD("\x20\0\0\0\0\0\0\1{\"weight\":{"), "" }, // a header of more than 2^32 bytes
  { HEAD(""), "" },
};

static void files_are_named(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
    char *copy = malloc(heads[i].count ? heads[i].count : 1); // so that a byte too many is seen
    memcpy(copy, heads[i].head, heads[i].count);
    const char *what = oxp__resembles(copy, heads[i].count);
    if ((what == NULL) != (heads[i].words[0] == 0))
      fail_msg("head %zu is taken for %s", i, what ? what : "nothing");
    assert_all_words(what ? what : "", heads[i].words);
    free(copy);
  }
  unsigned char tar[512] = "notes.txt";
  memcpy(tar + 257, "ustar", 5);
  assert_words(oxp__resembles(tar, sizeof tar), "tar");
}

static void every_beginning_can_be_looked_at(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
    for (size_t count = 0; count <= heads[i].count; count++) {
      char *copy = malloc(count ? count : 1);
      memcpy(copy, heads[i].head, count);
      oxp_error error = { 0 };
      assert_int_equal(oxp__fail_resembling(copy, count, "not this", &error), OXP_BAD_FILE);
      assert_words(error.message, count == 0 ? "not this: the file is empty" : "not this: ");
      free(copy);
    }
}

static oxp_error blame(const char *content, size_t count, const char *own)
{
  oxp__arena arena = { 0 };
  oxp__file *file;
  oxp_error error = { 0 };
  write_bytes("blamed", content, count);
  assert_int_equal(oxp__file_open(&arena, "blamed", &file, &error), OXP_OK);
  oxp__fail(&error, OXP_BAD_FILE, "the reader's own words");
  assert_int_equal(oxp__blame_resembling(file, own, OXP_BAD_FILE, &error), OXP_BAD_FILE);
  assert_int_equal(oxp__blame_resembling(file, own, OXP_IO, NULL), OXP_IO);
  assert_int_equal(oxp__blame_resembling(file, own, OXP_OK, NULL), OXP_OK);
  oxp__arena_fini(&arena);
  return error;
}

static void a_reader_keeps_its_words_for_its_own_files(void **state)
{
  (void)state;
  assert_string_equal(blame(HEAD("\x08\x08\x12\x07pytorch"), "an ONNX model").message, "the reader's own words");
  assert_string_equal(blame(HEAD("\1\2\3\4"), "an ONNX model").message, "the reader's own words");
  assert_string_equal(blame(HEAD("{\"a\": }"), "JSON text").message, "the reader's own words");
  assert_string_equal(blame(HEAD("%PDF-1.7"), "an ONNX model").message, "not an ONNX model: this is a PDF document");
  assert_string_equal(blame("", 0, "a NumPy array").message, "not a NumPy array: the file is empty");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(files_are_named),
    cmocka_unit_test(every_beginning_can_be_looked_at),
    cmocka_unit_test(a_reader_keeps_its_words_for_its_own_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
