/** The shells around the chat: what connects sockets and threads to it. */
package org.klatch.server;
