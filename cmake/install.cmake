# What `cmake --install` puts under a prefix: the program, the library with its headers and what
# find_package(tessera) reads, the plug-ins for MPI and LLVM, the Python package, and the documentation. Each
# component becomes a package of its own (package.cmake).
include(CMakePackageConfigHelpers)

set(libraries ${CMAKE_INSTALL_LIBDIR})
set(found_by_cmake ${libraries}/cmake/tessera)

install(TARGETS tessera EXPORT tessera
        LIBRARY DESTINATION ${libraries} COMPONENT tessera NAMELINK_COMPONENT tessera)
install(DIRECTORY include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT tessera)
# Who uses the library needs no other, so that the list of targets is all of the configuration.
install(EXPORT tessera NAMESPACE tessera:: FILE tesseraConfig.cmake DESTINATION ${found_by_cmake}
        COMPONENT tessera)
write_basic_package_version_file(tesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tesseraConfigVersion.cmake DESTINATION ${found_by_cmake}
        COMPONENT tessera)

# Where the library is, as seen from a folder below the prefix: so the prefix may be moved.
function(find_library_from target folder)
  file(RELATIVE_PATH way /prefix/${folder} /prefix/${libraries})
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${way}")
endfunction()

install(TARGETS tessera_shell RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tessera)
find_library_from(tessera_shell ${CMAKE_INSTALL_BINDIR})

if(TARGET tessera_mpi)
  install(TARGETS tessera_mpi LIBRARY DESTINATION ${libraries}/tessera COMPONENT mpi)
endif()

# Loaded from there when the first index form is compiled.
if(TARGET tessera_jit)
  install(TARGETS tessera_jit LIBRARY DESTINATION ${libraries}/tessera COMPONENT tessera)
  find_library_from(tessera_jit ${libraries}/tessera)
endif()

set(python_modules lib/python3/dist-packages/tessera)
install(TARGETS _tessera LIBRARY DESTINATION ${python_modules} COMPONENT python)
install(DIRECTORY python/tessera/ DESTINATION ${python_modules} COMPONENT python
        FILES_MATCHING PATTERN "*.py")
find_library_from(_tessera ${python_modules})

install(FILES README.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tessera)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tessera RENAME copyright)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tessera
        FILES_MATCHING PATTERN "*.md" PATTERN "*.cpp" PATTERN "*.h" PATTERN "*.py"
        REGEX "find_package/CMakeLists\\.txt$")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tessera-mpi COMPONENT mpi RENAME copyright)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/python3-tessera COMPONENT python
        RENAME copyright)
