# The system interface of WebAssembly outside browsers, for a CMake that does not know it.
set(WASI 1)
set(UNIX 1)
include(Platform/UnixPaths)
set(CMAKE_EXECUTABLE_SUFFIX .wasm)
