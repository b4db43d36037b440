/** HTTP servers of other projects over the one site of workload web, a file for each. */
package org.klatch.adapters;
