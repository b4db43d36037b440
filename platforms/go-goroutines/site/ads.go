package site

import (
	"math/bits"
	"strconv"
)

const (
	// firstUser is the number in the cookie of the first user.
	firstUser = 10_000
	// usersMax is the number of users that the five digits of a record can number.
	usersMax = 100_000
	// minimumMax is the largest minimum of an ad.
	minimumMax = 30
	// timeMaxS is the latest time that the ten digits of a record can hold.
	timeMaxS = 9_999_999_999
)

// groups are the masks of the groups of characteristics: gender, age, region and two interests.
var groups = [5]uint32{0x30000000, 0x0f000000, 0x00f00000, 0x000ffc00, 0x000003ff}

// tableOptions are the parameters that the command Reset sets.
type tableOptions struct {
	users int
	// nowS is the time of reference, in seconds since 1970. It is the present of this server.
	nowS int64
	// expiryS are the two distances from the time of reference to an ad's expiry, in seconds.
	expiryS [2]int64
}

// defaultTables are the parameters before the first Reset.
var defaultTables = tableOptions{users: 1000, nowS: 1_000_000_000, expiryS: [2]int64{-86_400, 86_400}}

// fit returns whether all values fit into the records.
func (o tableOptions) fit() bool {
	for _, distance := range [...]int64{0, o.expiryS[0], o.expiryS[1]} {
		if timeS := o.nowS + distance; timeS < 0 || timeS > timeMaxS {
			return false
		}
	}
	return o.users >= 1 && o.users <= usersMax
}

// ad is a record of Custom.Ads.
type ad struct {
	demographics uint32
	weights      uint32 // five times four bits, the first group in the highest
	minimum      int
	expiresS     int64
}

// tables are User.Personality and Custom.Ads.
type tables struct {
	nowS  int64
	users []uint32 // the characteristics of each user
	ads   []ad
}

// newTables computes the tables from a seed and from options that fit.
func newTables(seed uint64, options tableOptions) *tables {
	t := &tables{options.nowS, make([]uint32, options.users), make([]ad, ads)}
	usersSeed, adsSeed := partSeed(seed, partUsers), partSeed(seed, partAds)
	for user := range t.users {
		t.users[user] = demographics(output(usersSeed, uint64(user)))
	}
	for number := range t.ads {
		random := output(adsSeed, 2*uint64(number)+1)
		weights := uint32(0)
		for group := range groups {
			weights = weights<<4 | uint32(1+pick(random, group, 15))
		}
		t.ads[number] = ad{
			demographics: demographics(output(adsSeed, 2*uint64(number))),
			weights:      weights,
			minimum:      1 + pick(random, 5, minimumMax),
			expiresS:     options.nowS + options.expiryS[pick(random, 6, 2)],
		}
	}
	return t
}

// pick scales byte number of random, from the lowest, to a number below limit.
func pick(random uint64, number, limit int) int {
	return scale(uint32(byte(random>>(8*number)))<<24, limit)
}

// demographics returns one characteristic of each group.
func demographics(random uint64) uint32 {
	characteristics := uint32(0)
	for number, mask := range groups {
		first := bits.TrailingZeros32(mask)
		characteristics |= 1 << (first + pick(random, number, bits.OnesCount32(mask)))
	}
	return characteristics
}

// adChoice is the result of a search for an ad.
type adChoice struct {
	ad      int // -1 if no ad matches
	weight  int
	expired bool
}

// choose returns the first ad after lastAd whose weights for the user add up to its minimum. User and last ad are numbers
// from 0; the user need not exist.
func (t *tables) choose(user, lastAd int) adChoice {
	if user < len(t.users) {
		for number := (lastAd + 1) % ads; number != lastAd; number = (number + 1) % ads {
			ad := &t.ads[number]
			if weight := weigh(t.users[user]&ad.demographics, ad.weights); weight >= ad.minimum {
				return adChoice{number, weight, t.nowS > ad.expiresS}
			}
		}
	}
	return adChoice{-1, 0, true}
}

// weigh adds up the weights of the groups that share a characteristic.
func weigh(shared, weights uint32) int {
	sum := uint32(0)
	for number, mask := range groups {
		if shared&mask != 0 {
			sum += weights >> (16 - 4*number) & 15
		}
	}
	return int(sum)
}

// cookie returns the value of the header Set-Cookie.
func (c adChoice) cookie() string {
	expired := "0"
	if c.expired {
		expired = "1"
	}
	return "found_cookie=Ad_id=" + strconv.Itoa(c.ad) + "&Ad_weight=" + strconv.Itoa(c.weight) + "&Expired=" + expired
}
