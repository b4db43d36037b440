/** TLS 1.3 with one cipher suite around a service, and for a client. */
package org.klatch.tls;
