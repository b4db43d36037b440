// The tables User.Personality and Custom.Ads, and the search for the ad that a page shows to a user.

import { ADS_COUNT } from './content.js';
import { ADS, output, partSeed, scale, USERS } from './random.js';

// The number in the cookie of the first user.
export const FIRST_USER = 10_000;
// Users that the five digits of a record can number.
export const USERS_MAX = 100_000;
// Latest time that the ten digits of a record can hold.
const TIME_MAX_S = 9_999_999_999;
const MINIMUM_MAX = 30;

// The groups of characteristics: gender, age, region and two interests. Each has bits from first on.
const GROUPS = [
  { mask: 0x30000000, first: 28, bits: 2 },
  { mask: 0x0f000000, first: 24, bits: 4 },
  { mask: 0x00f00000, first: 20, bits: 4 },
  { mask: 0x000ffc00, first: 10, bits: 10 },
  { mask: 0x000003ff, first: 0, bits: 10 },
];

// The options before the first Reset. nowS is the time of reference in seconds since 1970, the present of this server;
// expiryS are the two distances from it to an ad's expiry.
export const DEFAULT_TABLES = { users: 1000, nowS: 1_000_000_000, expiryS: [-86_400, 86_400] };

const NO_AD = { ad: -1, weight: 0, expired: true };

// Whether all options fit into the records.
export function fit({ users, nowS, expiryS }) {
  const times = [nowS, nowS + expiryS[0], nowS + expiryS[1]];
  return users >= 1 && users <= USERS_MAX && times.every((timeS) => timeS >= 0 && timeS <= TIME_MAX_S);
}

export class AdTables {
  // The options must fit; the seed is a BigInt.
  constructor(seed, { users, nowS, expiryS }) {
    const usersSeed = partSeed(seed, USERS);
    this.nowS = nowS;
    // The characteristics of each user.
    this.users = Uint32Array.from({ length: users }, (_, user) => demographics(output(usersSeed, user)));
    const adsSeed = partSeed(seed, ADS);
    this.ads = Array.from({ length: ADS_COUNT }, (_, number) => {
      const random = output(adsSeed, 2 * number + 1);
      return {
        demographics: demographics(output(adsSeed, 2 * number)),
        weights: GROUPS.map((_group, group) => 1 + pick(random, group, 15)),
        minimum: 1 + pick(random, 5, MINIMUM_MAX),
        expiresS: nowS + expiryS[pick(random, 6, 2)],
      };
    });
  }

  // Returns the first ad after lastAd whose weights for the user add up to its minimum: { ad, weight, expired }. ad is
  // -1 if none matches or the user does not exist.
  choose(user, lastAd) {
    if (user >= this.users.length) {
      return NO_AD;
    }
    for (let ad = (lastAd + 1) % ADS_COUNT; ad !== lastAd; ad = (ad + 1) % ADS_COUNT) {
      const { demographics: wanted, weights, minimum, expiresS } = this.ads[ad];
      const weight = weigh(this.users[user] & wanted, weights);
      if (weight >= minimum) {
        return { ad, weight, expired: this.nowS > expiresS };
      }
    }
    return NO_AD;
  }
}

// Scales byte number of random, from the lowest, to a number below limit.
function pick(random, number, limit) {
  return scale(Number((random >> BigInt(8 * number)) & 255n) * 2 ** 24, limit);
}

// One characteristic of each group.
function demographics(random) {
  return GROUPS.reduce((all, { first, bits }, number) => all | (1 << (first + pick(random, number, bits))), 0);
}

// Adds up the weights of the groups that share a characteristic.
export function weigh(shared, weights) {
  let sum = 0;
  for (let group = 0; group < GROUPS.length; group += 1) {
    if (shared & GROUPS[group].mask) {
      sum += weights[group];
    }
  }
  return sum;
}

// The value of the header Set-Cookie.
export function adCookie({ ad, weight, expired }) {
  return `found_cookie=Ad_id=${ad}&Ad_weight=${weight}&Expired=${expired ? 1 : 0}`;
}
