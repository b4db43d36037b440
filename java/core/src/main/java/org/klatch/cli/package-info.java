/**
 * The command line of {@code klatch.jar}: options in, events and results out; no logic of its own.
 */
package org.klatch.cli;
