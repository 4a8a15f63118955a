// Pieces of HTML and SVG. Everything that is text goes through html().
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli::demo {

/// Text as content or as the value of a quoted attribute; hostile bytes are made visible.
std::string html(std::string_view text);

struct point {
    double x = 0;
    double y = 0;
};

struct box {
    point at;
    double width = 0;
    double height = 0;
};

/// Class names are ours, never a user's text.
std::string rectangle(std::string_view css, const box& where);
std::string line(std::string_view css, point from, point to);
std::string label(std::string_view css, point at, std::string_view text);

/// A line that goes across and then up or down, as values do that stay until they change.
class steps {
  public:
    explicit steps(point start);
    void go_to(point next);
    /// The line.
    std::string open(std::string_view css) const;
    /// The area between the line and this height.
    std::string closed(std::string_view css, double base) const;

  private:
    point start_;
    point last_;
    std::string path_;
};

}  // namespace holdfast::cli::demo
