"""The command line: one short function per command, which parses, calls the library and prints."""
