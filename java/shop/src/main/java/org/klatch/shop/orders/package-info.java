/**
 * The rules of workload orders: the population, totals, digests, requests and replies. It does no
 * input or output; {@link org.klatch.shop.orders.Company} is what a database implements.
 */
package org.klatch.shop.orders;
