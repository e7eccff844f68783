// Drawing, by Matplotlib: the library that papers' figures are made with. Where there is a PyTorch there is a
// Python, and a chart library of our own, or a browser, would be more to carry along than one Python package
// to ask for. The scripts lie beside the program (share/lotus/figures) and read only the CSV that stands
// beside each picture.
#pragma once

#include <string>
#include <vector>

namespace lotus::analyzer {

// Draws the data in the file `csv` as the figure of that number to each of `pictures`, by suffix .svg or
// .png. Throws Unusable, with what to install, where there is no Python with Matplotlib.
void draw_figure(const std::string& number, const std::string& title, const std::string& csv,
                 const std::vector<std::string>& pictures);

}  // namespace lotus::analyzer
