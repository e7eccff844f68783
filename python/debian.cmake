# The Debian package: cpack -G DEB in the build directory, after the target wheel-tree. The wheel's tree lies under
# /usr/lib/lotus, with links to what others look for; as its programs are static, it fits every release.
set(links ${CMAKE_CURRENT_BINARY_DIR}/links)
file(MAKE_DIRECTORY ${links})
foreach(program IN ITEMS lotus-analyze lotus-collector)
  file(CREATE_LINK ../lib/lotus/lotus_trace/bin/${program} ${links}/${program} SYMBOLIC)
  install(FILES ${links}/${program} DESTINATION bin COMPONENT deb EXCLUDE_FROM_ALL)
endforeach()
file(CREATE_LINK ../lotus/lotus_trace/lib/liblotus.so ${links}/liblotus.so SYMBOLIC)
install(FILES ${links}/liblotus.so DESTINATION lib/${CMAKE_LIBRARY_ARCHITECTURE} COMPONENT deb EXCLUDE_FROM_ALL)
install(PROGRAMS debian/lotus DESTINATION bin COMPONENT deb EXCLUDE_FROM_ALL)
install(DIRECTORY ${LOTUS_WHEEL_TREE}/lotus_trace DESTINATION lib/lotus COMPONENT deb EXCLUDE_FROM_ALL
  USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${LOTUS_WHEEL_TREE}/share/man DESTINATION share COMPONENT deb EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/docs/licences.md DESTINATION share/doc/lotus-trace RENAME copyright
  COMPONENT deb EXCLUDE_FROM_ALL)

set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY TRUE)  # packing builds nothing
set(CPACK_PACKAGE_NAME lotus-trace)
set(CPACK_PACKAGE_CONTACT "the authors of Lotus")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL deb)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_DEB_PACKAGE_NAME lotus-trace)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3 (>= 3.9)")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)  # dpkg of Debian 11 reads no zstd
set(CPACK_STRIP_FILES OFF)
include(CPack)
