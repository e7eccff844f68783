# The report page's parts, embedded into the library: D3 as Debian's node-d3 has it, and our own files.
find_file(D3_MIN_JS d3.min.js PATHS /usr/share/nodejs/d3/dist NO_DEFAULT_PATH REQUIRED
          DOC "D3 5, the charting library of the report page (Debian: node-d3)")

set(page_styles page.css charts.css narrow.css print.css)
set(page_scripts data.js format.js page.js theme.js tooltip.js axes.js verdict.js lane_levels.js lane_paint.js
    lane_model.js lanes.js box_plot.js ops.js batch_charts.js batches.js samples.js flame.js native.js hardware.js memory.js control_flow.js run.js main.js)
list(TRANSFORM page_styles PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/html/page/)
list(TRANSFORM page_scripts PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/html/page/)
set(page_directory ${CMAKE_CURRENT_BINARY_DIR}/html)
set(page_parts ${page_directory}/page_parts.o)
file(MAKE_DIRECTORY ${page_directory})
set(page_files page.html style.css script.js d3.min.js d3-licence.txt)

add_custom_command(
  OUTPUT ${page_parts}
  COMMAND ${CMAKE_COMMAND} -E cat ${page_styles} > style.css
  COMMAND ${CMAKE_COMMAND} -E cat ${page_scripts} > script.js
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/html/page/page.html ${D3_MIN_JS}
          ${CMAKE_CURRENT_SOURCE_DIR}/html/d3-licence.txt .
  COMMAND ${CMAKE_LINKER} -r -z noexecstack -b binary -o ${page_parts} ${page_files}
  DEPENDS ${page_styles} ${page_scripts} ${CMAKE_CURRENT_SOURCE_DIR}/html/page/page.html
          ${CMAKE_CURRENT_SOURCE_DIR}/html/d3-licence.txt ${D3_MIN_JS}
  WORKING_DIRECTORY ${page_directory}
  COMMENT "Embedding the report page"
  VERBATIM)
set_source_files_properties(${page_parts} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
