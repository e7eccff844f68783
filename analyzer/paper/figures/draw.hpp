// Draws figures with Matplotlib, the usual library for papers. Users of PyTorch have Python, and one more
// Python package is less to install than a chart library or a browser. The scripts are installed with the
// program (share/lotus/figures) and read only the CSV file beside each picture.
#pragma once

#include <string>
#include <vector>

namespace lotus::analyzer {

// Draws the data in the file `csv` as the figure of that number to each of `pictures`, by suffix .svg or
// .png. Throws Unusable, with what to install, where there is no Python with Matplotlib.
void draw_figure(const std::string& number, const std::string& title, const std::string& csv,
                 const std::vector<std::string>& pictures);

}  // namespace lotus::analyzer
