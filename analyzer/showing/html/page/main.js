// Draws the page, section by section; then all charts.

for (const draw
         of [drawVerdict, drawTime, drawOps, drawBatches, drawSamples, drawNative, drawHardware, drawMemory, drawControlFlow, drawRun])
  draw();
if (onlyRegion) leaveOutEmptySections();
theme.start();
redrawCharts();
watchCharts();
document.documentElement.dataset.ready = 'yes';
