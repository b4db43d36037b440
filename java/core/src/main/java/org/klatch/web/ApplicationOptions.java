package org.klatch.web;

/**
 * The options of an application.
 *
 * @param database the JDBC URL of its database
 * @param user user of the database; empty for that of the URL
 * @param password password of that user on PostgreSQL; empty for none
 * @param users users of the population of trade
 * @param quotes quotes of the population of trade
 * @param rate injection rate of the population of orders
 * @param seed seed of the population
 * @param connections connections of its pool
 * @param keepsStatements whether prepared statements are used again
 * @param loads whether it loads the population into an empty database
 */
public record ApplicationOptions(
    String database,
    String user,
    String password,
    int users,
    int quotes,
    int rate,
    long seed,
    int connections,
    boolean keepsStatements,
    boolean loads) {}
