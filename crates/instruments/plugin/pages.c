#include "pages.h"

#include <string.h>

#include "guest.h"

/* invlpg and its kin are 0f 01, moves to control registers 0f 22, invpcid 66 0f 38 82. What else begins so is harmless here. */
static bool ends_translations_x86(const unsigned char *bytes, size_t size)
{
    size_t at = 0;

    while (at < size && (bytes[at] == 0x66 || (bytes[at] & 0xf0) == 0x40))
        at++;
    if (at + 1 >= size || bytes[at] != 0x0f)
        return false;
    return bytes[at + 1] == 0x01 || bytes[at + 1] == 0x22 || (bytes[at + 1] == 0x38 && at + 2 < size && bytes[at + 2] == 0x82);
}

/* System instructions of TLBs (tlbi), and writes to the registers that choose translation tables (ttbr0, ttbr1, tcr). */
static bool ends_translations_aarch64(uint32_t word)
{
    return (word & 0xfff8f000) == 0xd5088000 || (word & 0xfff8f000) == 0xd5182000;
}

bool ends_translations(const unsigned char *bytes, size_t size)
{
    uint32_t word;

    if (architecture == X86_64)
        return ends_translations_x86(bytes, size);
    memcpy(&word, bytes, sizeof(word));
    return ends_translations_aarch64(word);
}

void pages_clear(struct pages *pages)
{
    memset(pages, 0, sizeof(*pages));
}
