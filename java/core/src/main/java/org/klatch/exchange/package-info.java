/** Requests and replies, without sockets and clocks. */
package org.klatch.exchange;
