/* Where the pages of the guest's addresses are, for each CPU: asking QEMU at every access takes longer than all else.
 *
 * As a TLB does, this goes on with a translation until the guest ends it. Guests must do that by one of a few instructions, which
 * ends_translations() knows (Intel's manual, volume 3, "Invalidation of TLBs"; Arm's architecture reference manual, "TLB maintenance
 * instructions" and the registers of translation tables). Those of AArch64 may end translations of all CPUs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE 4096
#define PAGES_KEPT 512

struct pages {
    struct {
        uint64_t page, physical; /* addresses divided by PAGE; 0 for none */
    } kept[PAGES_KEPT];
};

/* Whether the guest may change translations by this instruction. */
bool ends_translations(const unsigned char *bytes, size_t size);

void pages_clear(struct pages *pages);

/* The physical address, UINT64_MAX if it is not known. */
static inline uint64_t pages_find(const struct pages *pages, uint64_t address)
{
    uint64_t page = address / PAGE;

    return pages->kept[page % PAGES_KEPT].page == page ? pages->kept[page % PAGES_KEPT].physical * PAGE + address % PAGE
                                                        : UINT64_MAX;
}

static inline void pages_keep(struct pages *pages, uint64_t address, uint64_t physical)
{
    uint64_t page = address / PAGE;

    pages->kept[page % PAGES_KEPT].page = page;
    pages->kept[page % PAGES_KEPT].physical = physical / PAGE;
}
