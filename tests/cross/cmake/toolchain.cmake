# Builds for another machine with the C compiler that the Python package ziglang carries. The caller sets OXP_TARGET (what the
# compiler calls the machine, for example s390x-linux-musl) and OXP_CROSS (the folder with bin/ and TARGET/).
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES OXP_TARGET OXP_CROSS)
set(CMAKE_SYSTEM_NAME Linux)
if(OXP_TARGET MATCHES "wasi")
  list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}") # CMake knows this system from version 3.31 on
  set(CMAKE_SYSTEM_NAME WASI)
endif()
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR "${OXP_TARGET}")

set(CMAKE_C_COMPILER "${OXP_CROSS}/bin/cc-${OXP_TARGET}")
set(CMAKE_AR "${OXP_CROSS}/bin/ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${OXP_CROSS}/bin/ranlib" CACHE FILEPATH "")
set(CMAKE_C_FLAGS_INIT "-fno-sanitize=undefined") # this compiler traps without a word otherwise
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -L${OXP_CROSS}/${OXP_TARGET}/lib")

if(OXP_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${OXP_EMULATOR}") # runs the tests
endif()

set(CMAKE_FIND_ROOT_PATH "${OXP_CROSS}/${OXP_TARGET}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${OXP_CROSS}/${OXP_TARGET}/lib/pkgconfig")
