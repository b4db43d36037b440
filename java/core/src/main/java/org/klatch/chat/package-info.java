/**
 * The IRC protocol, from bytes to sessions and rooms. It uses no socket, no file and no clock, and
 * is safe to use from many threads.
 */
package org.klatch.chat;
