# Packages for Debian, one a component of install.cmake: `make package` writes them. What they depend
# on is read off the libraries that their programs link.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Tessera authors <tessera@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL tessera mpi python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})  # has our own library
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(same_version "tessera (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TESSERA_PACKAGE_NAME tessera)
set(CPACK_DEBIAN_TESSERA_PACKAGE_SECTION database)
set(CPACK_COMPONENT_TESSERA_DESCRIPTION "tensor-relational database
Stores matrices and tensors as relations of tiles and computes with them by SQL.
With the shell, the library for C++, and its headers.")
# Any BLAS and LAPACK will do, and this one is fast.
set(CPACK_DEBIAN_TESSERA_PACKAGE_RECOMMENDS libopenblas0-pthread)
set(CPACK_DEBIAN_TESSERA_PACKAGE_SUGGESTS "tessera-mpi, python3-tessera, g++, cmake")

set(CPACK_DEBIAN_MPI_PACKAGE_NAME tessera-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION database)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "${same_version}, openmpi-bin")
set(CPACK_COMPONENT_MPI_DESCRIPTION "tensor-relational database on a cluster
Lets programs of Tessera that mpirun starts compute together.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-tessera)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "${same_version}, python${PYTHON_MINOR}, python3, python3-numpy")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "tensor-relational database, for Python
Tessera's tiles, relations and SQL with NumPy's arrays.")
include(CPack)
