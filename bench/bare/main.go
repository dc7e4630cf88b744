// Command bare does nothing: it is what any Go program takes to start and end.
package main

func main() {}
