// What the shared libraries export. Everything else is hidden.
#pragma once

#if defined(_WIN32)
#error "holdfast supports Linux only"
#endif

#define HOLDFAST_EXPORT [[gnu::visibility("default")]]
