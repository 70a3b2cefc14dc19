// The three streams that a program is given: there from the first line of main() on, and checked at its end.
#pragma once

namespace tessera::tool {

/// Opens the null device in place of standard input, output or error where the program was started without: otherwise
/// the next file that is opened would take the number, and be written as if it were that stream.
void open_closed_streams();

/// Writes out what std::cout still holds. Error invalid_argument if that, or anything before it, could not be written.
void finish_standard_output();

}  // namespace tessera::tool
