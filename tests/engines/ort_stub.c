// A library that looks like ONNX Runtime and is not: one is built for each way to be wrong (STUB_...).
#include <stdint.h>
#include <stdlib.h>

typedef void (*slot)(void);

static slot table[512];

static void *stub_nothing(void)
{
  return NULL;
}

static void stub_crash(void)
{
  abort();
}

static const void *stub_get_api(uint32_t version)
{
  (void)version;
#if defined STUB_OLD
  return NULL;
#else
  for (int i = 0; i < 512; i++) {
#if defined STUB_EMPTY
    table[i] = i == 130 ? NULL : (slot)stub_nothing;
#elif defined STUB_OUTSIDE
    table[i] = i == 99 ? (slot)abort : (slot)stub_nothing;
#elif defined STUB_CRASH
    table[i] = stub_crash;
#else // every call "works" and does nothing
    table[i] = (slot)stub_nothing;
#endif
  }
  return table;
#endif
}

static const char *stub_get_version(void)
{
  return "0.9";
}

static const struct {
  const void *(*get_api)(uint32_t);
  const char *(*get_version)(void);
} base = { stub_get_api, stub_get_version };

const void *OrtGetApiBase(void);
const void *OrtGetApiBase(void)
{
  (void)stub_crash;
#if defined STUB_NO_BASE
  return NULL;
#else
  return &base;
#endif
}
