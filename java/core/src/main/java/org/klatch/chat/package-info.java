/**
 * The protocol: bytes to messages, sessions and rooms. No socket, no file, no clock; safe to use
 * from many threads.
 */
package org.klatch.chat;
