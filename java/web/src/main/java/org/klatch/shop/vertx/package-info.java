/**
 * Workload trade on PostgreSQL by the client of Vert.x: no thread waits for the database. The
 * statements are those of {@link org.klatch.shop.database}.
 */
package org.klatch.shop.vertx;
