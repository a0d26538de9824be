// environment.h: variables that name a library or a folder. Place: core.
#ifndef OXP_CORE_ENVIRONMENT_H
#define OXP_CORE_ENVIRONMENT_H

// The value of a variable; NULL when it is not set or empty, and in programs that have more rights than who started them (set-user-ID):
// whoever sets the variable would have them too.
const char *oxp__environment(const char *name);

#endif
