// bytes.h: little-endian numbers at any address. Place: formats/containers.
#ifndef OXP_FORMATS_CONTAINERS_BYTES_H
#define OXP_FORMATS_CONTAINERS_BYTES_H

#include <stdint.h>

static inline uint16_t oxp__le16(const unsigned char *at)
{
  return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t oxp__le32(const unsigned char *at)
{
  return (uint32_t)oxp__le16(at) | (uint32_t)oxp__le16(at + 2) << 16;
}

static inline uint64_t oxp__le64(const unsigned char *at)
{
  return (uint64_t)oxp__le32(at) | (uint64_t)oxp__le32(at + 4) << 32;
}

// The low `count` bytes of a number, lowest first; returns the place after them.
static inline unsigned char *oxp__put_le(unsigned char *at, uint64_t number, int count)
{
  for (int i = 0; i < count; i++, number >>= 8)
    *at++ = (unsigned char)(number & 0xFF);
  return at;
}

#endif
