/**
 * Forms, JSON and refusals of all applications, and the rules of workload trade: the population,
 * prices, requests and replies. It does no input or output; {@link org.klatch.shop.Brokerage} is
 * what a database implements.
 */
package org.klatch.shop;
