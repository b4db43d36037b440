// Package site is workload web on net/http: a site whose every byte is a function of a seed. The definition is
// docs/reference/web.md.
package site

// splitMixStep is the increment of SplitMix64.
const splitMixStep = 0x9e3779b97f4a7c15

// part is a part of the workload that draws from the seed. Each has a sequence of its own.
type part uint64

const (
	partText part = iota + 1
	partFiles
	partUsers
	partAds
)

// output returns output number index, from 0, of a SplitMix64 generator with this seed.
func output(seed, index uint64) uint64 {
	z := seed + (index+1)*splitMixStep
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func partSeed(seed uint64, p part) uint64 {
	return output(seed, uint64(p))
}

// scale scales 32 random bits to a number below limit.
func scale(bits uint32, limit int) int {
	return int(uint64(bits) * uint64(limit) >> 32)
}
