/* The personalities: common/plan/wml/NAME.f, taken in when this is compiled (from the top folder). */
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/wml.h"

#define TEXT(name)                                                                                 \
	extern const char wml_text_##name[];                                                       \
	__asm__(".pushsection .rodata\n"                                                           \
		".type wml_text_" #name ", @object\n"                                              \
		"wml_text_" #name ":\n"                                                            \
		".incbin \"common/plan/wml/" #name ".f\"\n"                                        \
		".byte 0\n"                                                                        \
		".size wml_text_" #name ", . - wml_text_" #name "\n"                               \
		".popsection\n")

TEXT(varmail);
TEXT(fileserver);
TEXT(webserver);
TEXT(webproxy);
TEXT(oltp);
TEXT(videoserver);
TEXT(randomread);
TEXT(randomwrite);

const char *const wml_personality_names[] = {"varmail", "fileserver", "webserver", "webproxy", "oltp",
	"videoserver", "randomread", "randomwrite", NULL};
static const char *const texts[] = {wml_text_varmail, wml_text_fileserver, wml_text_webserver,
	wml_text_webproxy, wml_text_oltp, wml_text_videoserver, wml_text_randomread,
	wml_text_randomwrite};

const char *wml_personality(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (strcmp(wml_personality_names[i], name) == 0)
			return texts[i];
	return NULL;
}
