/* About the least that a program can do; it is linked statically. */
int main(void)
{
	return 1;
}
