/* `arraymark`: process-wide settings, then ctl.c. */
#include <locale.h>
#include <signal.h>

#include "coordinator/ctl/ctl.h"

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	return ctl_main(argc, argv);
}
