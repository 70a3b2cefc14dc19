// A shared library that is no plug-in: it exports nothing that the library asks for.
extern "C" __attribute__((visibility("default"))) int tessera_something_else() {
  return 1;
}
