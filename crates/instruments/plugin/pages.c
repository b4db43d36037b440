#include "pages.h"

#include <string.h>

/* invlpg and its kin are 0f 01, moves to control registers 0f 22, invpcid 66 0f 38 82. What else begins so is harmless here. */
bool ends_translations(const unsigned char *bytes, size_t size)
{
    size_t at = 0;

    while (at < size && (bytes[at] == 0x66 || (bytes[at] & 0xf0) == 0x40))
        at++;
    if (at + 1 >= size || bytes[at] != 0x0f)
        return false;
    return bytes[at + 1] == 0x01 || bytes[at + 1] == 0x22 || (bytes[at + 1] == 0x38 && at + 2 < size && bytes[at + 2] == 0x82);
}

void pages_clear(struct pages *pages)
{
    memset(pages, 0, sizeof(*pages));
}
