/**
 * WebSocket (RFC 6455) without extensions: frames, the opening handshake, and a service that
 * carries IRC lines as messages. It does no input or output.
 */
package org.klatch.websocket;
