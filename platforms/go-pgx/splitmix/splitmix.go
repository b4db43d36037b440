// Package splitmix draws the random numbers of populations. The definition is docs/reference/trade.md.
package splitmix

// Output returns output number index, from 0, of SplitMix64 with this seed.
func Output(seed, index uint64) uint64 {
	z := seed + (index+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Sequence is a sequence of random numbers with a seed of its own.
type Sequence struct {
	seed, index uint64
}

// NewSequence returns the sequence of the thing with this number. A part is a kind of things.
func NewSequence(seed, part uint64, number int) *Sequence {
	return &Sequence{seed: Output(Output(seed, part), uint64(number))}
}

// Below draws the next number, from 0 and below limit.
func (s *Sequence) Below(limit int) int {
	s.index++
	return s.BelowAt(s.index-1, limit)
}

// BelowAt returns the number that draw number index, from 0, has. It draws nothing.
func (s *Sequence) BelowAt(index uint64, limit int) int {
	return int(Output(s.seed, index) >> 32 * uint64(limit) >> 32)
}
