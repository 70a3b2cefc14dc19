// A shared library that has a plug-in's name and no entry.
extern "C" __attribute__((visibility("default"))) int tessera_backend_entrance() {
  return 1;
}
