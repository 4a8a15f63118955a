// The page's style and script, from the files page.css and page.js.
#pragma once

namespace holdfast::cli::demo {

extern const char* const page_css;
extern const char* const page_js;

}  // namespace holdfast::cli::demo
