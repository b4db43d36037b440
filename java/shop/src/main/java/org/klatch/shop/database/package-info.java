/** Databases by plain JDBC, H2 and PostgreSQL, and workload trade on them. */
package org.klatch.shop.database;
