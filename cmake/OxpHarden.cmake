# Flags that make faults harder to use, where the compiler has them. Sanitizers bring their own, and clash with some.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)

# oxp_harden(TARGET): adds them to an interface target.
function(oxp_harden target)
  if(WASI) # has no addresses to guess
    return()
  endif()
  check_pie_supported(LANGUAGES C)
  if(OXP_SANITIZE OR OXP_FUZZ)
    return()
  endif()
  set(CMAKE_REQUIRED_FLAGS -Werror) # a flag that is ignored with a warning is not there
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
    string(MAKE_C_IDENTIFIER "OXP_HAS${flag}" known)
    check_c_compiler_flag(${flag} ${known})
    if(${known})
      target_compile_options(${target} INTERFACE ${flag})
    endif()
  endforeach()
  # Fortified functions need optimisation. Some systems predefine another level.
  target_compile_options(${target} INTERFACE $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
                         $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
    string(MAKE_C_IDENTIFIER "OXP_HAS${flag}" known)
    check_linker_flag(C ${flag} ${known})
    if(${known})
      target_link_options(${target} INTERFACE ${flag})
    endif()
  endforeach()
endfunction()
