package org.klatch.shop;

/**
 * An account.
 *
 * @param user number of its user
 * @param balance cents
 * @param openBalance the balance before any order, cents
 * @param logins logins so far; the registration is one
 * @param logouts logouts so far
 */
public record Account(long user, long balance, long openBalance, int logins, int logouts) {}
