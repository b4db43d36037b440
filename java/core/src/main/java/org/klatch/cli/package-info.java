/**
 * The command line of {@code klatch.jar}. It parses options and prints events and results; it has
 * no logic of its own.
 */
package org.klatch.cli;
