# oxp_find_archives(OUT NAME...): the static archives of libraries, and what every program needs beside them.
function(oxp_find_archives OUT)
  set(found "")
  foreach(name IN LISTS ARGN)
    find_library(OXP_ARCHIVE_${name} NAMES lib${name}.a REQUIRED)
    list(APPEND found "${OXP_ARCHIVE_${name}}")
  endforeach()
  set(${OUT} ${found} m Threads::Threads ${CMAKE_DL_LIBS} PARENT_SCOPE)
endfunction()
