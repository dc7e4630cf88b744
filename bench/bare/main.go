// Command bare does nothing: it measures what any Go program takes to start and end.
package main

func main() {}
