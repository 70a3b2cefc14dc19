// Marks what the shared library exports. Everything else stays hidden.
#pragma once

#if defined(TESSERA_BUILDING)
#define TESSERA_API __attribute__((visibility("default")))
#else
#define TESSERA_API
#endif
