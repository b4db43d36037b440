/** The interface of HTTP servers of other projects, which serve the site of workload web. */
package org.klatch.web;
