# Writes version.cpp: the release, and the commit that is built with its date, so that programs say both.
# Run at each build, as a commit needs no new configuration; the file changes only when they do.
#
#   cmake -D SOURCE=CHECKOUT -D RELEASE=0.2.0 -D OUTPUT=version.cpp -P tools/version.cmake
#
# Nothing of it depends on the clone: twelve digits of the commit, and the date in the committer's time zone.

set(commit "$Format:%H$")  # git archive puts it in, so that tarballs know it (.gitattributes)
set(date "$Format:%cs$")
if(commit MATCHES "Format")
  set(commit "")
endif()
if(EXISTS ${SOURCE}/.git)  # else git would tell of a repository around an unpacked tarball
  execute_process(COMMAND git -C ${SOURCE} log -1 --format=%H\;%cs OUTPUT_VARIABLE told ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(failed EQUAL 0)
    list(GET told 0 commit)
    list(GET told 1 date)
    execute_process(COMMAND git -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE changed ERROR_QUIET)
  endif()
endif()

if(commit STREQUAL "")
  set(words "unknown commit")
else()
  string(SUBSTRING ${commit} 0 12 commit)
  set(words "commit ${commit}, ${date}")
  if(changed EQUAL 1)
    set(words "changed since commit ${commit}, ${date}")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY NEWLINE_STYLE UNIX CONTENT [[
#include "lotus/version.hpp"

const char* lotus::version() { return "@RELEASE@ (@words@)"; }
]])
