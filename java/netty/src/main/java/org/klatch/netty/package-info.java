/** An I/O model on Netty, written as a team would deploy it. */
package org.klatch.netty;
