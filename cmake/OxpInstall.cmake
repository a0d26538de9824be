# What `cmake --install` puts where: command, libraries, header, pkg-config file, CMake package, manual page, documentation,
# completion for shells.
include(CMakePackageConfigHelpers)

# Two components, for packages: runtime (the command and its pages) and development (library, header and what finds them).
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set(oxp_runtime COMPONENT runtime)
install(TARGETS onnxport RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} ${oxp_runtime})
install(FILES docs/onnxport.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 ${oxp_runtime})
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} ${oxp_runtime})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} ${oxp_runtime} FILES_MATCHING PATTERN "*.md")
install(FILES docs/completion/onnxport.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME onnxport ${oxp_runtime})
install(FILES docs/completion/_onnxport DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions ${oxp_runtime})
install(FILES docs/completion/onnxport.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d ${oxp_runtime})

install(TARGETS onnxport_shared onnxport_static EXPORT onnxport_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/onnxport.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN photos EXCLUDE)

set(oxp_cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/onnxport)
install(EXPORT onnxport_targets NAMESPACE onnxport:: DESTINATION ${oxp_cmake_folder} FILE onnxportTargets.cmake)
file(CONFIGURE OUTPUT onnxportConfig.cmake @ONLY
     CONTENT "# onnxport::onnxport is the shared library, onnxport::static the static one.\ninclude(\"\${CMAKE_CURRENT_LIST_DIR}/onnxportTargets.cmake\")\n")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/onnxportConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/onnxportConfig.cmake" "${PROJECT_BINARY_DIR}/onnxportConfigVersion.cmake"
        DESTINATION ${oxp_cmake_folder})

file(RELATIVE_PATH oxp_pc_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(packaging/onnxport.pc.in "${PROJECT_BINARY_DIR}/onnxport.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/onnxport.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
