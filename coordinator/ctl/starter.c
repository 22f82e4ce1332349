/* The starter plan: deploy/plans/starter.yaml, taken in when this is compiled (from the top
 * folder). */
#include "coordinator/ctl/starter.h"

__asm__(".pushsection .rodata\n"
	".global starter_plan\n"
	".type starter_plan, @object\n"
	"starter_plan:\n"
	".incbin \"deploy/plans/starter.yaml\"\n"
	".byte 0\n"
	".size starter_plan, . - starter_plan\n"
	".popsection\n");
