/** A shell around the chat as a team would write it that deploys Netty. */
package org.klatch.netty;
