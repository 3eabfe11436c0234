package admin

var tCSV = both("Download as CSV", "Download als CSV")
