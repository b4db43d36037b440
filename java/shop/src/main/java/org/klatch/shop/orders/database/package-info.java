/** Workload orders on a database, by plain JDBC: H2 and PostgreSQL. */
package org.klatch.shop.orders.database;
