// Scalars of a launch come in structs that the host fills. Both sides know how long each is: where it is longer or shorter
// here, the program does not compile; on the host the struct's twin says the same by a static_assert.
//
//   host    static_assert(sizeof(Twin) == 24)  --->  clSetKernelArg  --->  SIZE_ON_THE_HOST(Struct, 24)    device
//
// Members stand by their size, the longest first, and fill a struct to its end: then every compiler lays it out alike.
// A driver may leave out what a compiler adds at the end (rusticl 22.3 does).
//
// Compiles alone with: nothing
#define SIZE_ON_THE_HOST(type, size_bytes) \
  typedef char type##_is_as_long_as_on_the_host[sizeof(type) == (size_bytes) ? 1 : -1]
