/**
 * Workload {@code web}, after SPECweb99: a web site whose every reply is a function of a seed and
 * of the requests before it. The definition, with the source of each number, is in
 * docs/reference/web.md. Nothing here uses a socket, a file or a clock.
 */
package org.klatch.exchange.web;
