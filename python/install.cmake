# Installs the tree of the wheel, for scikit-build-core. Man pages go where man looks beside a PATH.
install(DIRECTORY ${LOTUS_WHEEL_TREE}/lotus_trace DESTINATION . COMPONENT wheel EXCLUDE_FROM_ALL USE_SOURCE_PERMISSIONS
  PATTERN __pycache__ EXCLUDE)
if(SKBUILD)
  install(DIRECTORY ${LOTUS_WHEEL_TREE}/share/man DESTINATION ${SKBUILD_DATA_DIR}/share COMPONENT wheel EXCLUDE_FROM_ALL)
endif()
